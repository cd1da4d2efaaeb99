/** Texts by characters: translate, overlay, parts, distances, hexadecimal, quoting, format. */
import { LIMITS } from '../../base/limits.ts';
import type { Column, Int64Column } from '../../batch/column.ts';
import { INT32 } from '../../batch/types.ts';
import type {
  Evaluate,
  FunctionExample,
  ScalarFunction,
  ArgumentPattern,
} from '../function-types.ts';
import { always } from '../function-types.ts';
import {
  TextSink,
  codePointCount,
  decodeBytes,
  findBytes,
  sequenceBytes,
  skipCodePoints,
} from '../text-sink.ts';
import { Outcome, combineValidity, isPresent, makeInt32, strideOf } from '../vector.ts';
import { readInt64 } from '../wide.ts';
import type { EachRow, Slice } from './text-rows.ts';
import { numberAt, perGrowingRow, perRow, sliceAt, textFunction } from './text-rows.ts';

const sizeOf = ({ from, to }: Slice): number => to - from;

/** Whether the character at `at` of one slice is that at `other` of another. */
function sameCharacter(bytes: Uint8Array, at: number, others: Uint8Array, other: number): boolean {
  const size = sequenceBytes(bytes[at] as number);
  for (let byte = 0; byte < size; byte++)
    if (bytes[at + byte] !== others[other + byte]) return false;
  return true;
}

/** The index of a character in a set of characters, or -1. */
function characterIn(bytes: Uint8Array, at: number, set: Slice): number {
  let index = 0;
  for (let other = set.from; other < set.to; index++) {
    if (sameCharacter(bytes, at, set.bytes, other)) return index;
    other += sequenceBytes(set.bytes[other] as number);
  }
  return -1;
}

const translate: EachRow = (args, row, sink) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  const old = sliceAt(args[1] as Column, row);
  const fresh = sliceAt(args[2] as Column, row);
  for (let at = from; at < to;) {
    const next = at + sequenceBytes(bytes[at] as number);
    const index = characterIn(bytes, at, old);
    if (index < 0) sink.append(bytes, at, next);
    else {
      const start = skipCodePoints(fresh.bytes, fresh.from, fresh.to, index);
      if (start < fresh.to)
        sink.append(fresh.bytes, start, start + sequenceBytes(fresh.bytes[start] as number));
    }
    at = next;
  }
};

const overlay: EachRow = (args, row, sink, outcome) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  const fresh = sliceAt(args[1] as Column, row);
  const start = numberAt(args[2] as Column, row);
  const count =
    args.length > 3
      ? numberAt(args[3] as Column, row)
      : codePointCount(fresh.bytes, fresh.from, fresh.to);
  if (start < 1) {
    outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => 'overlay counts characters from 1');
    return;
  }
  sink.append(bytes, from, skipCodePoints(bytes, from, to, start - 1));
  sink.append(fresh.bytes, fresh.from, fresh.to);
  sink.append(bytes, skipCodePoints(bytes, from, to, Math.max(0, start - 1 + count)), to);
};

/** The part before the n-th delimiter from the start, or with a negative n behind it from the end. */
const substrIndex: EachRow = (args, row, sink) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  const delimiter = sliceAt(args[1] as Column, row);
  const wanted = numberAt(args[2] as Column, row);
  const size = sizeOf(delimiter);
  if (wanted === 0 || size === 0) return;
  const places: number[] = [];
  for (let at = from; ;) {
    const found = findBytes(bytes, at, to, delimiter.bytes, delimiter.from, delimiter.to);
    if (found < 0) break;
    places.push(found);
    at = found + size;
  }
  if (Math.abs(wanted) > places.length) sink.append(bytes, from, to);
  else if (wanted > 0) sink.append(bytes, from, places[wanted - 1] as number);
  else sink.append(bytes, (places[places.length + wanted] as number) + size, to);
};

/** The unsigned bits of a BIGINT, as Postgres writes negative ones. */
const toBase =
  (base: 2 | 8 | 16): EachRow =>
  (args, row, sink) => {
    const column = args[0] as Column;
    const at = row * strideOf(column);
    const value =
      column.tag === 'int32'
        ? BigInt((column.values[at] as number) >>> 0)
        : BigInt.asUintN(64, readInt64((column as Int64Column).words, at));
    sink.appendString(value.toString(base));
  };

const quoteLiteral: EachRow = (args, row, sink) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  const text = decodeBytes(bytes, from, to);
  const prefix = text.includes('\\') ? ' E' : '';
  sink.appendString(`${prefix}'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`);
};

const quoteIdent: EachRow = (args, row, sink) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  const text = decodeBytes(bytes, from, to);
  sink.appendString(/^[a-z_][a-z0-9_]*$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`);
};

/** %s takes the next argument, %I and %L quote it, %n$s takes argument n, %% is a per cent sign. */
const format: Evaluate = (args, rows, errors) => {
  const [pattern, ...values] = args as readonly [Column, ...Column[]];
  const outcome = new Outcome([pattern], rows, errors);
  const sink = new TextSink(rows, 16 * rows, errors);
  for (let row = 0; row < rows; row++) {
    if (outcome.has(row)) {
      const { bytes, from, to } = sliceAt(pattern, row);
      const text = formatted(decodeBytes(bytes, from, to), values, row);
      if (text === null)
        outcome.fail(
          row,
          'PARSE_ERROR',
          () => 'format knows %s, %I, %L and %%, and needs an argument for each',
        );
      else sink.appendString(text);
    }
    sink.endRow();
  }
  return sink.finish(outcome.validity);
};

/** Null: an argument is missing. What is longer than a text may be ends somewhere beyond that. */
function formatted(pattern: string, values: readonly Column[], row: number): string | null {
  let size = 0;
  let next = 0;
  let failed = false;
  const text = pattern.replace(/%(%|(?:(\d+)\$)?([sIL])|)/g, (_, all: string, place, kind) => {
    if (all === '%') return '%';
    if (place !== undefined) next = Number(place) - 1;
    const column = values[next++];
    if (all === '' || column === undefined) {
      failed = true;
      return '';
    }
    if (!isPresent(column, row)) return kind === 'L' ? 'NULL' : '';
    if (size > LIMITS.valueBytesMax) return '';
    const { bytes, from, to } = sliceAt(column, row);
    size += to - from;
    const value = decodeBytes(bytes, from, to);
    if (kind === 'L') return `'${value.replaceAll("'", "''")}'`;
    if (kind === 's' || /^[a-z_][a-z0-9_]*$/.test(value)) return value;
    return `"${value.replaceAll('"', '""')}"`;
  });
  return failed ? null : text;
}

/** The place of a text in a list with commas, from 1; 0 when it is not there. */
function findInSet(text: Slice, list: Slice): number {
  let index = 1;
  let start = list.from;
  for (let at = list.from; at <= list.to; at++) {
    if (at < list.to && list.bytes[at] !== 44) continue;
    const same =
      at - start === sizeOf(text) &&
      findBytes(list.bytes, start, at, text.bytes, text.from, text.to) === start;
    if (same || (at === start && sizeOf(text) === 0)) return index;
    start = at + 1;
    index++;
  }
  return 0;
}

const points = ({ bytes, from, to }: Slice): Int32Array =>
  Int32Array.from(decodeBytes(bytes, from, to), (point) => point.codePointAt(0) as number);

/** Edits of one character that make one text the other. */
function levenshtein(left: Slice, right: Slice): number {
  const a = points(left);
  const b = points(right);
  const costs = Int32Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    let diagonal = costs[0] as number;
    costs[0] = row;
    for (let column = 1; column <= b.length; column++) {
      const above = costs[column] as number;
      const change = diagonal + (a[row - 1] === b[column - 1] ? 0 : 1);
      costs[column] = Math.min(change, above + 1, (costs[column - 1] as number) + 1);
      diagonal = above;
    }
  }
  return costs[b.length] as number;
}

/** Characters that differ between texts of one length; NULL for others. */
const hamming: Evaluate = (args, rows, errors) => {
  const [left, right] = args as readonly [Column, Column];
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt32(rows);
  for (let row = 0; row < rows; row++) {
    if (!outcome.has(row)) continue;
    const [a, b] = [points(sliceAt(left, row)), points(sliceAt(right, row))];
    if (a.length !== b.length)
      outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => 'hamming compares texts of one length');
    else result.values[row] = a.reduce((sum, point, at) => sum + (point === b[at] ? 0 : 1), 0);
  }
  return { ...result, validity: outcome.validity };
};

const measure =
  (each: (text: Slice, other: Slice) => number): Evaluate =>
  (args, rows) => {
    const [text, other = text] = args as readonly [Column, Column?];
    const result = makeInt32(rows);
    result.validity = combineValidity(args, rows);
    for (let row = 0; row < rows; row++)
      if (isPresent(text, row) && isPresent(other, row))
        result.values[row] = each(sliceAt(text, row), sliceAt(other, row));
    return result;
  };

const number = (
  name: string,
  args: readonly ArgumentPattern[],
  doc: string,
  example: FunctionExample,
  evaluate: Evaluate,
  canFail = false,
): ScalarFunction => ({
  id: name.replaceAll('_', '-'),
  name,
  args,
  result: always(INT32),
  nullRule: 'strict',
  canFail,
  doc,
  examples: [example],
  evaluate,
});

const inBase = (name: string, base: 2 | 8 | 16, what: string): ScalarFunction[] => [
  textFunction(
    `${name}:int32`,
    name,
    ['int32'],
    what,
    { args: [10], gives: (10).toString(base) },
    perRow(toBase(base)),
  ),
  textFunction(
    `${name}:int64`,
    name,
    ['int64'],
    what,
    { args: ['10'], gives: (10).toString(base) },
    perRow(toBase(base)),
  ),
];

export const TEXT_MORE: readonly ScalarFunction[] = [
  textFunction(
    'translate',
    'translate',
    ['text', 'text', 'text'],
    'the text with each character of the second replaced by that at its place in the third, or left out',
    { args: ['a😀b', '😀b', 'x'], gives: 'ax' },
    perGrowingRow(translate),
    true,
  ),
  textFunction(
    'overlay',
    'overlay',
    ['text', 'text', 'int64'],
    'the text with the second put over it from a position on',
    { args: ['Txxxxas', 'hom', '2'], gives: 'Thomxas' },
    perGrowingRow(overlay),
    true,
  ),
  textFunction(
    'overlay:count',
    'overlay',
    ['text', 'text', 'int64', 'int64'],
    'the text with n characters from a position on replaced by the second',
    { args: ['Txxxxas', 'hom', '2', '4'], gives: 'Thomas' },
    perGrowingRow(overlay),
    true,
  ),
  textFunction(
    'substr-index',
    'substr_index',
    ['text', 'text', 'int64'],
    'what is before the n-th delimiter; with a negative n what is behind it, counted from the end',
    { args: ['www.example.com', '.', '2'], gives: 'www.example' },
    perRow(substrIndex),
  ),
  ...inBase('to_hex', 16, 'the number in hexadecimal; a negative one as its bits'),
  ...inBase('to_oct', 8, 'the number in octal; a negative one as its bits'),
  ...inBase('to_bin', 2, 'the number in binary; a negative one as its bits'),
  textFunction(
    'quote-literal',
    'quote_literal',
    ['text'],
    'the text as a constant of SQL',
    { args: ["it's"], gives: "'it''s'" },
    perGrowingRow(quoteLiteral),
    true,
  ),
  textFunction(
    'quote-ident',
    'quote_ident',
    ['text'],
    'the text as a name of SQL, in quotes where it needs them',
    { args: ['a b'], gives: '"a b"' },
    perGrowingRow(quoteIdent),
    true,
  ),
  {
    ...textFunction(
      'format',
      'format',
      ['text'],
      'the text with %s replaced by the next argument; %I quotes it as a name, %L as a constant, %2$s takes the second',
      { args: ['%s-%s', 'a', 'b'], gives: 'a-b' },
      format,
      true,
    ),
    rest: 'as-text',
    nullRule: 'custom',
  },
  number(
    'bit_length',
    ['text'],
    'the number of bits in UTF-8',
    { args: ['é'], gives: 16 },
    measure((text) => 8 * sizeOf(text)),
  ),
  number(
    'find_in_set',
    ['text', 'text'],
    'the place of the text in a list with commas, from 1; 0 when it is not there',
    { args: ['b', 'a,b,c'], gives: 2 },
    measure(findInSet),
  ),
  number(
    'levenshtein',
    ['text', 'text'],
    'how many characters must be added, dropped or changed to make one text the other',
    { args: ['kitten', 'sitting'], gives: 3 },
    measure(levenshtein),
  ),
  number(
    'hamming',
    ['text', 'text'],
    'how many characters of two texts of one length differ',
    { args: ['abc', 'abd'], gives: 1 },
    hamming,
    true,
  ),
];
