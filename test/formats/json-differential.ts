/** Inputs for the decoder's kernel and its twin, and what differs between their results. */
import { isDeepStrictEqual } from 'node:util';
import { Prng } from '../../src/base/prng.ts';
import {
  BOOLEAN,
  FLOAT64,
  INT32,
  INT64,
  TEXT,
  TIMESTAMP,
  TIMESTAMPTZ,
  decimalType,
} from '../../src/batch/types.ts';
import type { SqlType } from '../../src/batch/types.ts';
import { JSON_FORMAT } from '../../src/formats/format.ts';
import type { DecodeColumn, FormatSpec } from '../../src/formats/format.ts';
import { JsonDecoder } from '../../src/formats/json-decoder.ts';
import type { DecodeOptions, DecodeResult } from '../../src/formats/json-decoder.ts';
import { StreamHash } from '../../src/lineage/stream-hash.ts';
import { anyColumns, anyLines } from './generator.ts';

export type Case = {
  columns: readonly DecodeColumn[];
  spec: FormatSpec;
  options: DecodeOptions;
  bytes: Uint8Array;
  /** Ends of the pieces that the input comes in. */
  cuts: readonly number[];
  rowsMax: number;
};

export type Totals = { rows: number; errors: number };

const encoder = new TextEncoder();

function run(given: Case, kernelBytesMin: number, totals: Totals | null, lends = false): unknown[] {
  const { columns, spec, options, bytes, cuts, rowsMax } = given;
  const decoder = new JsonDecoder(columns, spec, { ...options, kernelBytesMin });
  if (lends) decoder.lend();
  const results: unknown[] = [];
  const hash = new StreamHash();
  let at = 0;
  for (const [index, cut] of cuts.entries()) {
    const final = index === cuts.length - 1;
    for (;;) {
      const result: DecodeResult = decoder.decode(bytes, at, cut, rowsMax, final, hash);
      results.push(lends ? copyOf(result) : result);
      if (totals !== null) {
        totals.rows += result.batch.rows;
        totals.errors += result.errors.length;
      }
      if (result.consumed === at) break;
      at = result.consumed;
    }
  }
  const consumed = new StreamHash();
  consumed.update(bytes.subarray(0, at));
  const isHashed = hash.digest() === consumed.digest();
  return [...results, isHashed || `another hash, the kernel from ${kernelBytesMin}, ${lends}`];
}

/** Rows of several windows of the kernel's input, read at once, and one line that no window holds among them. */
export function windowsCase(): Case {
  const prng = new Prng('windows');
  const row = (size: number): string => `{"x":${prng.below(1000)},"t":"${'y'.repeat(size)}"}\n`;
  const rows = (count: number): string[] =>
    Array.from({ length: count }, () => row(prng.below(900)));
  const bytes = encoder.encode([...rows(1200), row(300_000), ...rows(400)].join(''));
  return {
    columns: [{ name: 'x', type: INT64, nullable: true, default: null }],
    spec: JSON_FORMAT,
    options: {},
    bytes,
    cuts: [bytes.length],
    rowsMax: 8192,
  };
}

/** The same with memory of its own for each buffer. */
function copyOf(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return (value as Uint8Array).slice();
  if (Array.isArray(value)) return value.map(copyOf);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copyOf(part)]));
}

/** The same for a decoder that lends its memory, with the kernel or without, beside one that does not. */
export function lendingDifference(
  given: Case,
  kernelBytesMin: number,
): { lent: unknown; own: unknown } | null {
  const lent = run(given, kernelBytesMin, null, true);
  const own = run(given, Infinity, null);
  for (let index = 0; index < Math.max(lent.length, own.length); index++) {
    if (!isDeepStrictEqual(lent[index], own[index])) return { lent: lent[index], own: own[index] };
  }
  return null;
}

/** Null when kernel and twin give equal results, otherwise the first that differ. */
export function firstDifference(
  given: Case,
  totals: Totals | null = null,
): { kernel: unknown; twin: unknown } | null {
  const kernel = run(given, 0, totals);
  const twin = run(given, Infinity, null);
  for (let index = 0; index < Math.max(kernel.length, twin.length); index++) {
    if (!isDeepStrictEqual(kernel[index], twin[index]))
      return { kernel: kernel[index], twin: twin[index] };
  }
  return null;
}

/** The same when nobody reads texts that are NOT NULL, beside a decoder that keeps them and whose texts are emptied afterwards. */
export function unreadDifference(
  given: Case,
  kernelBytesMin: number,
  totals: Totals,
): { unread: unknown; read: unknown } | null {
  const isUnread = ({ type, nullable }: DecodeColumn): boolean => type.tag === 'text' && !nullable;
  const read = given.columns.map(({ name, type, nullable, default: fallback }): DecodeColumn => ({
    name,
    type,
    nullable,
    default: fallback,
  }));
  const columns = read.map((column) =>
    isUnread(column) ? { ...column, unread: true as const } : column,
  );
  const results = run({ ...given, columns }, kernelBytesMin, totals);
  const kept = run({ ...given, columns: read }, Infinity, null).map((result) =>
    typeof result === 'object'
      ? withEmptyTexts(result as DecodeResult, read.map(isUnread))
      : result,
  );
  for (let index = 0; index < Math.max(results.length, kept.length); index++) {
    if (!isDeepStrictEqual(results[index], kept[index]))
      return { unread: results[index], read: kept[index] };
  }
  return null;
}

function withEmptyTexts(result: DecodeResult, emptied: readonly boolean[]): DecodeResult {
  const columns = result.batch.columns.map((column, at) =>
    emptied[at] === true && column.tag === 'text'
      ? { ...column, offsets: new Int32Array(result.batch.rows + 1), bytes: new Uint8Array(0) }
      : column,
  );
  return { ...result, batch: { ...result.batch, columns } };
}

const FORMATS: readonly Partial<FormatSpec>[] = [
  {},
  {},
  {},
  { timestampFormat: 'unix_seconds' },
  { timestampFormat: 'unix_millis' },
  { timestampFormat: 'unix_micros' },
  { timestampFormat: 'unix_nanos' },
];

export function hostileCase(prng: Prng): Case {
  const spec = { ...JSON_FORMAT, ...prng.pick(FORMATS) };
  const steady = prng.chance(0.6);
  const columns = steady ? steadyColumns(prng) : anyColumns(prng);
  const count = 1 + prng.below(prng.chance(0.03) ? 900 : 40);
  const bytes = steady
    ? steadyLines(prng, columns, count)
    : anyLines(prng, columns, count, prng.pick([0, 0.1, 0.6]));
  const cuts = Array.from({ length: prng.below(4) }, () => prng.below(bytes.length + 1));
  return {
    columns,
    spec,
    options: { unknownByRow: prng.chance(0.2) },
    bytes,
    cuts: [...cuts.toSorted((left, right) => left - right), bytes.length],
    rowsMax: prng.pick([1, 7, 64, 1000]),
  };
}

const STEADY_TYPES: readonly SqlType[] = [
  INT64,
  INT32,
  TEXT,
  TIMESTAMP,
  TIMESTAMPTZ,
  FLOAT64,
  BOOLEAN,
];

const literalOf = (type: SqlType): number | string | boolean =>
  type.tag === 'boolean' ? true : type.tag === 'text' ? 'a default text' : 7;

function steadyColumns(prng: Prng): DecodeColumn[] {
  // Names that begin alike put what tells them apart at any byte of a vector, or behind the first one.
  const prefix = prng.chance(0.4)
    ? 'a_name_that_begins_like_others'.slice(0, prng.pick([13, prng.below(30)]))
    : 'c';
  return Array.from({ length: 1 + prng.below(9) }, (_, index): DecodeColumn => {
    const precision = 1 + prng.below(prng.chance(0.7) ? 19 : 38);
    const type = prng.chance(0.2)
      ? decimalType(precision, prng.below(precision + 1))
      : prng.pick(STEADY_TYPES);
    const hasDefault = prng.chance(0.1) && type.tag !== 'decimal';
    const nullable = prng.chance(0.7);
    return {
      name: `${prefix}${index}`,
      type,
      nullable,
      default: hasDefault ? literalOf(type) : null,
      ...(type.tag === 'text' && !nullable && index % 2 === 1 ? { unread: true } : {}),
    };
  });
}

const digits = (prng: Prng, count: number): string =>
  Array.from({ length: count }, () => String(prng.below(10))).join('');

const two = (value: number): string => String(value).padStart(2, '0');

const PIECES = [
  'x',
  'plain text ',
  'é',
  '€',
  '😀',
  '\\"',
  '\\\\',
  '\\/',
  '\\b\\f\\n\\r\\t',
  '\\u0041',
  '\\u00e9',
  '\\u20AC',
  '\\ud83d\\ude00',
  '}',
  '{',
  ',',
  ':',
];
const BAD_PIECES = [
  '\\ud83d',
  '\\ude00',
  '\\ud83dx',
  '\\ud83d\\u0041',
  '\\x',
  '\\u12g4',
  '\t',
  '\u0000',
  '\u001f',
];

function textOf(prng: Prng): string {
  let text = '';
  const count = prng.below(prng.pick([2, 6, 30]));
  for (let index = 0; index < count; index++) {
    text += prng.chance(0.8) ? 'abcdefghijklmnopq'.slice(prng.below(17)) : prng.pick(PIECES);
    if (prng.chance(0.001)) text += prng.pick(BAD_PIECES);
  }
  return `"${text}"`;
}

function wholeOf(prng: Prng): string {
  const sign = prng.chance(0.2) ? '-' : '';
  if (prng.chance(0.05))
    return prng.pick([
      '9223372036854775807',
      '9223372036854775808',
      '-9223372036854775808',
      '-9223372036854775809',
      '18446744073709551615',
      '18446744073709551616',
      '2147483647',
      '2147483648',
      '-2147483648',
      '-2147483649',
      '-0',
      '0',
      '00',
      '01',
      '-',
      '12345678',
      '123456789',
      '1234567.',
      '01234567',
      '012345678',
    ]);
  return sign + digits(prng, 1 + prng.below(prng.pick([4, 9, 17, 20]))).replace(/^0+(?=.)/, '');
}

function fractionOf(prng: Prng): string {
  const text = `${wholeOf(prng)}.${digits(prng, 1 + prng.below(prng.pick([3, 6, 18])))}`;
  if (!prng.chance(0.15)) return text;
  return `${text}${prng.pick(['e', 'E', 'e+', 'e-', 'E-'])}${prng.chance(0.05) ? '' : prng.below(prng.pick([4, 30, 330]))}`;
}

function timeOf(prng: Prng): string {
  // Mostly the same few minutes, so that the one seen last is met again.
  const day = prng.chance(0.9) ? '2023-11-14' : dateOf(prng);
  const clock = prng.chance(0.9)
    ? `22:1${prng.below(2)}`
    : `${two(prng.below(26))}:${two(prng.below(62))}`;
  const seconds = prng.chance(0.95) ? `:${two(prng.below(prng.chance(0.05) ? 80 : 60))}` : '';
  const fraction =
    prng.chance(0.7) && seconds !== ''
      ? `.${prng.chance(0.8) ? digits(prng, 3) : digits(prng, prng.below(11))}`
      : '';
  const zone = prng.chance(0.7)
    ? prng.pick(['', 'Z'])
    : prng.pick([
        'Z',
        'Z',
        'z',
        '+02:00',
        '-08:30',
        '+0100',
        '-03',
        '+24:00',
        '+01:60',
        '+1',
        '+01:',
        'Zx',
        ' ',
      ]);
  return `"${day}${prng.pick(['T', 'T', 'T', 'T', ' ', 't', 'x'])}${clock}${seconds}${fraction}${zone}"`;
}

function dateOf(prng: Prng): string {
  const year = prng.pick([
    0,
    1,
    99,
    1600,
    1677,
    1700,
    1900,
    1969,
    1970,
    2000,
    2024,
    2100,
    2262,
    9999,
    prng.below(10000),
  ]);
  const month = prng.chance(0.3) ? 2 : prng.below(14);
  const day = prng.chance(0.4) ? 28 + prng.below(4) : prng.below(33);
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
}

function valueOf(prng: Prng, type: SqlType): string {
  if (prng.chance(0.05)) return 'null';
  if (prng.chance(0.01))
    return prng.pick([
      'nul',
      'nulL',
      'tru',
      'falsy',
      'true',
      '{}',
      '[]',
      '""',
      '"null"',
      '1',
      '-null',
    ]);
  switch (type.tag) {
    case 'boolean':
      return prng.pick(['true', 'false']);
    case 'text':
      return textOf(prng);
    case 'timestamp':
    case 'timestamptz':
      return prng.chance(0.2) ? wholeOf(prng) : timeOf(prng);
    case 'int32':
    case 'int64':
      return prng.chance(0.02) ? fractionOf(prng) : wholeOf(prng);
    default: {
      const text = prng.chance(0.3) ? wholeOf(prng) : fractionOf(prng);
      return prng.chance(0.2) ? `"${text}"` : text;
    }
  }
}

const nestedOf = (prng: Prng, depth: number): string => {
  switch (prng.below(depth > 4 ? 6 : 8)) {
    case 0:
      return wholeOf(prng);
    case 1:
      return fractionOf(prng);
    case 2:
      return textOf(prng);
    case 3:
      return prng.pick(['true', 'false', 'null']);
    case 4:
      return prng.pick(['{}', '[]', '[ ]', '{ }']);
    case 5:
      return prng.chance(0.03)
        ? prng.pick(['[1,]', '{"a"}', '{"a":1,}', '[1 2]', '{a:1}', 'nul', '.5', '1.', '1e', '-'])
        : '1';
    case 6:
      return `[${Array.from({ length: 1 + prng.below(3) }, () => nestedOf(prng, depth + 1)).join(prng.pick([',', ' , ']))}]`;
    default:
      return `{${Array.from({ length: 1 + prng.below(3) }, () => `${textOf(prng)}${prng.pick([':', ' : '])}${nestedOf(prng, depth + 1)}`).join(',')}}`;
  }
};

/** Lines of one producer: keys in one order or two, one way to space them, few accidents. */
function steadyLines(prng: Prng, columns: readonly DecodeColumn[], count: number): Uint8Array {
  const gap = prng.pick(['', '', '', ' ', '\t']);
  const loose = prng.chance(0.1);
  const missing = prng.pick([0, 0, 0.05, 0.3]);
  const strangers = prng.pick([0, 0, 0, 1, 3, prng.chance(0.1) ? 66 + prng.below(90) : 2]);
  const accidents = prng.pick([0, 0, 0.02, 0.1]);
  const shuffled = prng.chance(0.2);
  const parts: string[] = [];
  for (let row = 0; row < count; row++) {
    const fields = columns
      .filter(() => !prng.chance(missing))
      .map(({ name, type }): [string, string] => [name, valueOf(prng, type)]);
    for (let index = 0; index < strangers; index++)
      fields.splice(prng.below(fields.length + 1), 0, [`s${index}`, nestedOf(prng, 0)]);
    if (shuffled) fields.sort(() => prng.below(3) - 1);
    if (prng.chance(accidents) && fields.length > 0) fields.push(prng.pick(fields));
    const space = (): string =>
      loose && prng.chance(0.1) ? prng.pick([' ', '\t', '\r', '  ']) : '';
    const body = fields.map(([name, value]) => `"${name}":${gap}${space()}${value}${space()}`);
    let line = `${space()}{${body.join(`,${gap}`)}}${space()}`;
    // Where a row and its fields begin, another sign that a key may follow.
    if (prng.chance(accidents)) line = line.replace('{', ',');
    if (prng.chance(accidents)) line = line.replace(/,(?="[^"]*":)/, '{');
    if (prng.chance(accidents)) {
      const at = prng.below(line.length);
      const other = prng.pick(['', '"', ',', '}', '{', ':', '\\', '0', '-', 'é', ' ', '\n', 'x']);
      line = line.slice(0, at) + other + line.slice(at + prng.below(2));
    }
    parts.push(line);
    if (prng.chance(0.02)) parts.push(prng.pick(['', ' ', '\r', '\t ']));
  }
  const end = prng.chance(0.2) ? '\r\n' : '\n';
  const bytes = encoder.encode(parts.join(end) + (prng.chance(0.7) ? end : ''));
  // Some damage below the level of characters.
  if (prng.chance(0.1) && bytes.length > 0) bytes[prng.below(bytes.length)] = 128 + prng.below(128);
  return bytes;
}

const EDGES = [
  0x20, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed,
  0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
];

export function utf8Sequences(): number[][] {
  const sequences: number[][] = [];
  for (let first = 128; first < 256; first++)
    for (let second = 128; second < 256; second++) sequences.push([first, second]);
  for (const first of EDGES)
    for (const second of EDGES) for (const third of EDGES) sequences.push([first, second, third]);
  for (const first of EDGES.filter((edge) => edge >= 0xef))
    for (const second of EDGES)
      for (const third of EDGES)
        for (const last of EDGES) sequences.push([first, second, third, last]);
  return sequences;
}

/** One row for each sequence, which lies `lane` bytes behind the start of the text. */
export function utf8Case(lane: number): Case {
  const head = encoder.encode(`{"s":"${'x'.repeat(lane)}`);
  const tail = encoder.encode('"}\n');
  const sequences = utf8Sequences();
  const bytes = new Uint8Array(
    sequences.reduce((size, sequence) => size + head.length + sequence.length + tail.length, 0),
  );
  let at = 0;
  for (const part of sequences.flatMap((sequence) => [head, sequence, tail])) {
    bytes.set(part, at);
    at += part.length;
  }
  return {
    columns: [{ name: 's', type: TEXT, nullable: true, default: null }],
    spec: JSON_FORMAT,
    options: {},
    bytes,
    cuts: [bytes.length],
    rowsMax: 8192,
  };
}

/** Values of each type whose neighbours, one character away, are tried as well. */
const BASES: readonly [SqlType, Partial<FormatSpec>, readonly string[]][] = [
  [
    TEXT,
    {},
    [
      '"abc\\n\\"\\\\\\/d"',
      '"\\u00e9\\u20Ac"',
      '"0123456789abcd\\ud83d\\ude00"',
      '"\\ude80"',
      '"\\udc00\\udc00"',
      '"é€😀0123456789é"',
      '"0123456789abcde"',
      'null',
    ],
  ],
  [
    INT64,
    {},
    [
      '12345678',
      '-1234567',
      '123456789',
      '9223372036854775807',
      '-9223372036854775808',
      '18446744073709551615',
      '1000000000000000000',
      'null',
    ],
  ],
  [INT32, {}, ['2147483647', '-2147483648', '12345678', '0', '-0']],
  [
    FLOAT64,
    {},
    [
      '12.5',
      '-0.125',
      '1e22',
      '1.5E-22',
      '9007199254740993',
      '0.1e+3',
      '-0',
      '123456789012345678e-9',
    ],
  ],
  [decimalType(5, 2), {}, ['999.99', '-1000.00', '"12.5"', '100000', '0.125', '-"1"']],
  [decimalType(18, 4), {}, ['12345678901234.5678', '-99999999999999.9999', '1e3']],
  [decimalType(38, 19), {}, ['0.1', '-12345', '0.1234567890123456789']],
  [BOOLEAN, {}, ['true', 'false', 'null']],
  [
    TIMESTAMP,
    {},
    [
      '"2023-11-14T22:13:20.123456789Z"',
      '"2023-11-14T22:13:29.123Z"',
      '"1900-02-28 23:59:59.5+02:30"',
      '"2000-02-29t00:00:00-0800"',
      '"2024-03-01T00:00:00+23"',
      '"2024-03-01T00:00:60"',
      '"2024-03-01T00:60:00"',
      '"2024-03-01T24:00:00"',
      '"0000-01-01T00:00:00"',
      '"9999-12-31T23:59:59.999999"',
      '1700000000',
    ],
  ],
  [
    TIMESTAMP,
    { timestampFormat: 'unix_millis' },
    ['1700000000123', '-1', '9223372036854776', '1.5'],
  ],
  [TIMESTAMPTZ, {}, ['"2023-11-14T22:13:20.123456789+02:30"', '"2000-02-29T00:00:00Z"']],
  [TIMESTAMPTZ, { timestampFormat: 'unix_nanos' }, ['-1700000000000000001', '999']],
  [TIMESTAMP, { timestampFormat: 'unix_nanos' }, ['-1700000000000000001', '999', '-1000']],
];

/** Values that no column wants. */
const SKIPPED = [
  '[1, -2.5e+3,{"a":[],"b" : {}}]',
  '{"k\\u00e9y":[true,false,null], "é":"\\ud83d\\ude00"}',
  '-0.5E-7',
  '{"a":1}',
];

/** The last days of months and the days behind them, and times whose fraction has no digit. */
const DAYS = [1900, 2000, 2023, 2024].flatMap((year) =>
  Array.from({ length: 12 }, (_, month) =>
    [28, 29, 30, 31, 32].map(
      (day) => `"${year}-${String(month + 1).padStart(2, '0')}-${day}T00:00:00"`,
    ),
  ).flat(),
);
const NO_FRACTION = ['', 'Z', '+01:00'].map((zone) => `"2024-01-01T00:00:00.${zone}"`);

const ASCII = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).filter(
  (character) => character !== '\n',
);

/** Texts of every length up to some blocks of a vector, whole or followed by what is not plain, read and passed over. */
function textLines(): string[] {
  const lengths = Array.from({ length: 232 }, (_, length) => 'p'.repeat(length));
  const texts = [
    ...lengths,
    ...lengths.map((text) => `${text}\\n`),
    ...lengths.map((text) => `${text}\u0001`),
    ...lengths.map((text) => `${text}é`),
    ...ASCII.map((character) => `\\${character}`),
    ...ASCII.map((character) => `a${character}`),
  ];
  // Who misses the end of one of them would find that of another text behind it.
  const behind = 'q'.repeat(200);
  return [
    ...texts.flatMap((text) => [`{"x":"${text}"}`, `{"y":"${text}","x":"z"}`]),
    ...lengths.flatMap((text) => [
      `{"x":"${text}","y":"${behind}"}`,
      `{"y":"${text}","x":"${behind}"}`,
      `{"z":"${text}","y":"${behind}","x":"w"}`,
    ]),
  ];
}

/** Rows with any character where there may be a space. */
const spacedLines = (): string[] =>
  ASCII.flatMap((space) => [
    `{${space}"x"${space}:${space}1${space}}${space}`,
    `{"x":${space}1}`,
    `{"x"${space}:1}`,
    `{"x":1${space}}`,
    `{"y":[${space}1],"x":1}`,
    `{"y":{"a"${space}:1},"x":1}`,
  ]);

/** Rows with more parts than a shape has steps, of more and of fewer keys than it has room for. */
const longKeyLines = (): string[] =>
  [20, 30, 32, 40, 63, 64].flatMap((count) => {
    const keys = Array.from({ length: count }, (_, at) => `"${'k'.repeat(40)}${at}":${at}`);
    return Array.from({ length: 9 }, (_, row) => `{${keys.join()},"x":${row}}`);
  });

const NEIGHBOURS = [...'"\\{}[],: 019-+.eEZTtfnuxd', '\u0001', '\t', '\n', 'é'];

/** The text, and every text that differs from it in one character or lacks one. */
function neighbours(text: string): string[] {
  const found = [text];
  for (let at = 0; at < text.length; at++) {
    const head = text.slice(0, at);
    const tail = text.slice(at + 1);
    found.push(head + tail, ...NEIGHBOURS.map((other) => head + other + tail));
    found.push(
      ...NEIGHBOURS.filter((_, index) => index % 3 === at % 3).map(
        (other) => head + other + text.slice(at),
      ),
    );
  }
  return found;
}

function caseOf(type: SqlType, spec: Partial<FormatSpec>, lines: readonly string[]): Case {
  const bytes = encoder.encode(`${lines.join('\n')}\n`);
  return {
    columns: [{ name: 'x', type, nullable: true, default: null }],
    spec: { ...JSON_FORMAT, ...spec },
    options: {},
    bytes,
    cuts: [bytes.length],
    rowsMax: 8192,
  };
}

/** Rows one character away from sound ones, and rows for bounds that chance would not meet. */
export function neighbourCases(): Case[] {
  const values = BASES.map(([type, spec, bases]) =>
    caseOf(
      type,
      spec,
      bases.flatMap((base) => neighbours(base).map((value) => `{"x":${value}}`)),
    ),
  );
  const skipped = SKIPPED.flatMap((base) =>
    neighbours(base).map((value) => `{"y":${value},"x":1}`),
  );
  const frames = neighbours('{"x": 1 , "y" :2 }\r');
  const many = [60, 64, 65, 100].map(
    (count) => `{${Array.from({ length: count }, (_, index) => `"s${index}":1`).join()},"x":0.5e3}`,
  );
  const deep = [63, 64, 65, 512, 513].map(
    (depth) => `{"y":${'['.repeat(depth)}${']'.repeat(depth)},"x":2}`,
  );
  // Rows of one shape and then of another, each with keys of its own that no column has.
  const turns = ['{"x":1,"a":1}', '{"x":2,"b":"y"}', '{"c":[7],"x":3}', '{"x":4,"a":5}'].flatMap(
    (row) => Array.from({ length: 11 }, () => row),
  );
  const long = '{"x":3.25,"y":"'.concat('z'.repeat(200_000), '"}');
  return [
    ...values,
    caseOf(INT64, {}, [...skipped, ...frames]),
    caseOf(INT64, {}, turns),
    caseOf(
      TIMESTAMP,
      {},
      [...DAYS, ...NO_FRACTION].map((value) => `{"x":${value}}`),
    ),
    caseOf(TEXT, {}, textLines()),
    caseOf(INT64, {}, [...spacedLines(), ...longKeyLines(), ...turns]),
    caseOf(
      INT64,
      {},
      neighbours('120').map((value) => `{"y":${value},"x":1}`),
    ),
    caseOf(FLOAT64, {}, [...many, ...many, ...deep, long, ...many, '{"x":1.25e-3}']),
  ];
}
