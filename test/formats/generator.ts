/** Random NDJSON: sound rows in every shape, values that do not fit, and damaged bytes. */
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
import type { DecodeColumn } from '../../src/formats/format.ts';

const NAMES = ['id', 'user_name', 'a', 'price', 'dateTime', 'größe', 'x"y', 'note', 'pair'];

function anyFlatType(prng: Prng): SqlType {
  const precision = 1 + prng.below(38);
  return prng.pick<SqlType>([
    BOOLEAN,
    INT32,
    INT64,
    FLOAT64,
    TEXT,
    TEXT,
    TIMESTAMP,
    decimalType(precision, prng.below(precision + 1)),
  ]);
}

export function anyColumns(prng: Prng): DecodeColumn[] {
  return NAMES.slice(0, 1 + prng.below(NAMES.length)).map((name): DecodeColumn => {
    const nested: SqlType = {
      tag: 'struct',
      fields: [
        { name: 's', type: anyFlatType(prng), nullable: prng.chance(0.7) },
        { name: 't', type: anyFlatType(prng), nullable: true },
      ],
    };
    const type = prng.chance(0.1) ? nested : anyFlatType(prng);
    return { name, type, nullable: prng.chance(0.7), default: null };
  });
}

const digits = (prng: Prng, count: number): string =>
  Array.from({ length: count }, () => String(prng.below(10))).join('');

const wholeDigits = (prng: Prng, max: number): string =>
  digits(prng, 1 + prng.below(max)).replace(/^0+(?=.)/, '');

function anyNumber(prng: Prng): string {
  const sign = prng.chance(0.3) ? '-' : '';
  switch (prng.below(8)) {
    case 0:
      return sign + wholeDigits(prng, 22);
    case 1:
      return `${sign}${wholeDigits(prng, 18)}.${digits(prng, 1 + prng.below(20))}`;
    case 2:
      return `${sign}${wholeDigits(prng, 3)}.${digits(prng, 2)}`;
    case 3:
      return `${sign}${wholeDigits(prng, 3)}${prng.pick(['e', 'E', 'e+', 'E-', 'e-'])}${prng.below(prng.pick([5, 30, 400]))}`;
    case 4:
      return `${sign}${wholeDigits(prng, 4)}.${'0'.repeat(1 + prng.below(4))}`;
    case 5:
      return prng.pick([
        '9223372036854775807',
        '9223372036854775808',
        '-9223372036854775808',
        '-9223372036854775809',
        '2147483647',
        '2147483648',
        '-2147483648',
        '-2147483649',
        '-0',
        '0',
        '1e309',
        '5e-324',
        '0.1',
        '1.7976931348623157e308',
      ]);
    default:
      return sign + wholeDigits(prng, 6);
  }
}

const CHARACTERS = [
  'a',
  'b',
  'Z',
  '0',
  ' ',
  '"',
  '\\',
  '/',
  '\n',
  '\t',
  '\u0000',
  'é',
  '€',
  '\u2028',
  '｡',
  '😀',
  '\u007f',
  '\ufeff',
  '{',
  '}',
  ',',
  ':',
];

function anyString(prng: Prng): string {
  let text = '"';
  const length = prng.chance(0.1) ? prng.below(120) : prng.below(8);
  for (let index = 0; index < length; index++) {
    const character = prng.chance(0.6) ? 'x' : prng.pick(CHARACTERS);
    if (prng.chance(0.15))
      for (let unit = 0; unit < character.length; unit++)
        text += `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`;
    else text += JSON.stringify(character).slice(1, -1);
  }
  if (prng.chance(0.01))
    text += prng.pick([
      '\\ud800',
      '\\udc00',
      '\\ud83d\\u0041',
      '\\q',
      '\\u12',
      '\\ud83d\\ude00',
      '\\/',
    ]);
  return `${text}"`;
}

const two = (value: number): string => String(value).padStart(2, '0');

function anyTime(prng: Prng): string {
  const year = prng.chance(0.8) ? 2023 : prng.below(10000);
  const date = `${String(year).padStart(4, '0')}-${two(prng.chance(0.9) ? 11 : prng.below(14))}-${two(prng.chance(0.9) ? 14 : prng.below(33))}`;
  if (prng.chance(0.03)) return `"${date}"`;
  const clock = `${two(prng.chance(0.9) ? 22 : prng.below(26))}:${two(prng.chance(0.8) ? 13 : prng.below(62))}`;
  const seconds = prng.chance(0.9) ? `:${two(prng.below(prng.chance(0.1) ? 70 : 60))}` : '';
  const fraction =
    seconds !== '' && prng.chance(0.6)
      ? `.${digits(prng, 1 + prng.below(prng.chance(0.2) ? 10 : 6))}`
      : '';
  const zone = prng.pick(['', 'Z', 'Z', 'z', '+02:30', '-0800', '+01', '+25', ' Z']);
  return `"${date}${prng.pick(['T', 'T', 'T', ' ', 't'])}${clock}${seconds}${fraction}${prng.chance(0.6) ? '' : zone}"`;
}

const anyJson = (prng: Prng, depth: number): string => {
  switch (prng.below(depth > 3 ? 4 : 6)) {
    case 0:
      return anyNumber(prng);
    case 1:
      return anyString(prng);
    case 2:
      return prng.pick(['true', 'false', 'null']);
    case 3:
      return prng.pick(['{}', '[]', '{ }', '[ ]']);
    case 4:
      return `[${Array.from({ length: prng.below(4) }, () => anyJson(prng, depth + 1)).join(',')}]`;
    default:
      return `{${Array.from({ length: prng.below(4) }, () => `${anyString(prng)}: ${anyJson(prng, depth + 1)}`).join(' ,')}}`;
  }
};

function valueFor(prng: Prng, type: SqlType): string {
  if (prng.chance(0.06)) return 'null';
  if (prng.chance(0.03)) return anyJson(prng, 0);
  switch (type.tag) {
    case 'boolean':
      return prng.pick(['true', 'false']);
    case 'text':
      return anyString(prng);
    case 'timestamp':
      return anyTime(prng);
    case 'int32':
    case 'int64': {
      const plain = prng.chance(0.7)
        ? wholeDigits(prng, prng.pick([3, 9, 10, 16, 19]))
        : anyNumber(prng);
      return prng.chance(0.1) ? `"${plain}"` : plain;
    }
    case 'struct':
      return objectText(
        prng,
        type.fields.map((field) => ({ ...field, default: null })),
      );
    default: {
      const plain = prng.chance(0.6) ? `${prng.below(1000)}.${digits(prng, 2)}` : anyNumber(prng);
      return prng.chance(0.1) ? `"${plain}"` : plain;
    }
  }
}

function objectText(prng: Prng, columns: readonly DecodeColumn[]): string {
  const entries = columns
    .filter(() => prng.chance(0.96))
    .map((column): [string, string] => [JSON.stringify(column.name), valueFor(prng, column.type)]);
  if (prng.chance(0.1)) entries.push([anyString(prng), anyJson(prng, 0)]);
  if (prng.chance(0.05) && entries.length > 0) {
    const column = prng.pick(columns);
    entries.push([JSON.stringify(column.name), valueFor(prng, column.type)]);
  }
  if (prng.chance(0.2)) entries.sort(() => (prng.chance(0.5) ? 1 : -1));
  const gap = prng.pick(['', '', '', ' ', '\t ', '\r']);
  return `{${gap}${entries.map(([key, value]) => `${key}:${gap}${value}`).join(`${prng.chance(0.1) ? gap : ''},${gap}`)}${gap}}`;
}

const encoder = new TextEncoder();

function mutate(prng: Prng, bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return bytes;
  const at = prng.below(bytes.length);
  switch (prng.below(4)) {
    case 0: {
      const changed = bytes.slice();
      changed[at] = prng.below(256);
      return changed;
    }
    case 1:
      return Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1)]);
    case 2:
      return Uint8Array.from([
        ...bytes.subarray(0, at),
        prng.pick([34, 44, 58, 92, 123, 125, 91, 93, 48, 45, 46, 128, 195, 240, 10, 13]),
        ...bytes.subarray(at),
      ]);
    default:
      return bytes.slice(0, at);
  }
}

/** Some lines; the last one may lack its LF. */
export function anyLines(
  prng: Prng,
  columns: readonly DecodeColumn[],
  count: number,
  damage: number,
): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let index = 0; index < count; index++) {
    let line = encoder.encode(
      prng.chance(0.02)
        ? prng.pick(['', '  ', '[]', '5', '"x"', '{}', ' {} ', '{},'])
        : objectText(prng, columns),
    );
    if (prng.chance(damage)) line = mutate(prng, line);
    parts.push(line, encoder.encode(prng.chance(0.1) ? '\r\n' : '\n'));
  }
  if (prng.chance(0.3)) parts.pop();
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
