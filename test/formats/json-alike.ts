/** Rows that are alike, as a producer writes them, for the decoder's kernel and its twin. */
import type { Prng } from '../../src/base/prng.ts';
import {
  BOOLEAN,
  FLOAT64,
  INT32,
  INT64,
  TEXT,
  TIMESTAMP,
  decimalType,
} from '../../src/batch/types.ts';
import type { SqlType } from '../../src/batch/types.ts';
import { JSON_FORMAT } from '../../src/formats/format.ts';
import type { DecodeColumn } from '../../src/formats/format.ts';
import type { Case } from './json-differential.ts';

/** A part of a row: its text before the value, and the value as a producer writes it most of the time. */
type Part = { column: DecodeColumn | null; name: string; usual: (prng: Prng) => string };

const quoted = (prng: Prng, most: number): string => `"${'abc'.repeat(1 + prng.below(most))}"`;

const PARTS: readonly { type: SqlType | null; usual: (prng: Prng) => string }[] = [
  {
    type: INT64,
    usual: (prng) => String(prng.below(10) === 0 ? -prng.below(99) : prng.below(1e9)),
  },
  { type: TEXT, usual: (prng) => quoted(prng, 5) },
  {
    type: TIMESTAMP,
    usual: (prng) => `"2026-01-01T10:0${prng.below(2)}:00.${100 + prng.below(900)}Z"`,
  },
  { type: INT32, usual: (prng) => String(prng.below(100)) },
  { type: FLOAT64, usual: (prng) => `${prng.below(100)}.5` },
  { type: BOOLEAN, usual: (prng) => (prng.chance(0.5) ? 'true' : 'false') },
  { type: decimalType(10, 2), usual: (prng) => `${prng.below(100)}.25` },
  { type: null, usual: (prng) => quoted(prng, 30) },
  { type: null, usual: (prng) => String(prng.below(1e6)) },
  { type: null, usual: (prng) => `{"k":[${prng.below(10)},"x"]}` },
];

/** What stands in for a usual value now and then. */
const UNUSUAL: readonly string[] = [
  'null',
  'nul',
  '0',
  '-0',
  '01',
  '-17',
  '123456789012345678',
  '9223372036854775808',
  '"a\\"b"',
  '"\\u0041\\n"',
  '"é€😀"',
  '"\u0001"',
  '"open',
  // Strings that end otherwise than by a quote.
  '"abc\\',
  '"abc\u0001',
  '"abcé',
  // For bytes that are no UTF-8.
  '"a\ue000b"',
  '["\ue000"]',
  '{"k":"\ue000"}',
  'open"',
  '"2026-02-30T00:00:00Z"',
  '[1,"é"]',
  '{"k":"é"}',
  'true',
  '',
];

/**
 * Rows of one shape and of nearly one length, as a producer writes them, which the kernel reads two at once; among them now and
 * then one that departs in a value, a byte or its end. Cut also right before and behind line ends.
 */
export function alikeCase(prng: Prng): Case {
  const parts = Array.from({ length: 1 + prng.below(7) }, (_, index): Part => {
    const { type, usual } = prng.pick(PARTS);
    const name = `k${index}`;
    const nullable = prng.chance(0.7);
    return { column: type && { name, type, nullable, default: null }, name, usual };
  });
  const columns = parts.flatMap(({ column }) => (column === null ? [] : [column]));
  // Rows of the shape may not name it.
  if (columns.length === 0 || prng.chance(0.3))
    columns.push({
      name: 'absent',
      type: prng.pick([INT64, TEXT, INT32]),
      nullable: true,
      default: null,
    });
  const oddity = prng.pick([0, 0, 0.01, 0.05, 0.2]);
  const end = prng.pick(['}\n', '}\n', '}\r\n', ' } \n']);
  const startsEmpty = prng.chance(0.2);
  const lines = Array.from({ length: 2 + prng.below(60) }, (_, row) => {
    const values = parts.map(({ name, usual }) => {
      // The second row is the first that the kernel learns from.
      const isEmpty = row < 2 && startsEmpty;
      const value = isEmpty ? 'null' : prng.chance(oddity) ? prng.pick(UNUSUAL) : usual(prng);
      return `"${name}":${value}`;
    });
    const line = `{${values.join(',')}${end}`;
    return prng.chance(oddity / 4)
      ? prng.pick([line.slice(1), `${line}\n`, line.trimEnd(), ` ${line}`])
      : line;
  });
  const bytes = new TextEncoder().encode(lines.join(''));
  breakUtf8(bytes);
  if (prng.chance(oddity)) bytes[prng.below(bytes.length)] = prng.below(256);
  const ends = [...bytes.keys()].filter((at) => bytes[at] === 10);
  const cuts = Array.from({ length: prng.below(4) }, () =>
    Math.min(bytes.length, Math.max(0, prng.pick(ends) - 1 + prng.below(4))),
  );
  return {
    columns,
    spec: JSON_FORMAT,
    options: { unknownByRow: prng.chance(0.1) },
    bytes,
    cuts: [...cuts.toSorted((left, right) => left - right), bytes.length],
    rowsMax: prng.pick([2, 3, 8, 1000]),
  };
}

/** Makes each U+E000, which is EE 80 80, bytes that are no UTF-8. */
function breakUtf8(bytes: Uint8Array): void {
  bytes.forEach((byte, at) => {
    if (byte === 0xee) bytes[at + 1] = 0x41;
  });
}

/** A text that rows begin without, and the first or second of two rows in which it is awkward. */
export function awkwardCases(): Case[] {
  return ['null', '"a\ue000b"', '"a\\', '"a\\nb"', '"é"'].flatMap((value) =>
    [8, 9].map((before): Case => {
      const values = ['null', 'null', ...Array(before).fill('"abcdef"'), value];
      const rows = [...values, ...Array(20).fill('"abcdef"')].map((each) => `{"k":${each}}\n`);
      const bytes = new TextEncoder().encode(rows.join(''));
      breakUtf8(bytes);
      return {
        columns: [{ name: 'k', type: TEXT, nullable: true, default: null }],
        spec: JSON_FORMAT,
        options: {},
        bytes,
        cuts: [bytes.length],
        rowsMax: 1000,
      };
    }),
  );
}

/** A row that is refused, and behind it one with a NULL: nothing of the NULL may stay where the second one was first put. */
export function refusedCases(): Case[] {
  return [8, 9].map((before): Case => {
    const good = '{"k":1,"m":2}\n';
    const odd = ['{"k":1,"m":"x"}\n', '{"k":null,"m":2}\n'];
    const rows = [...Array(before).fill(good), ...odd, ...Array(20).fill(good)];
    const bytes = new TextEncoder().encode(rows.join(''));
    return {
      columns: ['k', 'm'].map((name) => ({ name, type: INT64, nullable: true, default: null })),
      spec: JSON_FORMAT,
      options: {},
      bytes,
      cuts: [bytes.length],
      rowsMax: 1000,
    };
  });
}

/**
 * Rows of one length, then one that is longer by up to 40 bytes, and a last one whose line end is cut off: it may be looked for
 * where the row before it ends, and is no row yet.
 */
export function cutCases(): Case[] {
  return Array.from({ length: 80 }, (_, index): Case => {
    const row = (size: number): string => `{"k":"${'x'.repeat(size)}"}\n`;
    const before = Array.from({ length: 8 + (index & 1) }, () => row(50));
    const bytes = new TextEncoder().encode([...before, row(50 + (index >> 1)), row(50)].join(''));
    return {
      columns: [{ name: 'k', type: TEXT, nullable: true, default: null }],
      spec: JSON_FORMAT,
      options: {},
      bytes,
      cuts: [bytes.length - 1, bytes.length],
      rowsMax: 1000,
    };
  });
}
