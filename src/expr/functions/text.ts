/**
 * Functions that make text of text. Positions and lengths are code points, counted from 1; work is
 * done on UTF-8 bytes, and a result never holds half a character.
 */
import type { Column, Int64Column, TextColumn } from '../../batch/column.ts';
import { TEXT } from '../../batch/types.ts';
import { LIMITS } from '../../base/limits.ts';
import type { ArgumentPattern, Evaluate, FunctionExample, ScalarFunction } from '../function-types.ts';
import { always } from '../function-types.ts';
import type { RowErrors } from '../row-errors.ts';
import { TextSink, codePointCount, findBytes, sequenceBytes, skipCodePoints, textAt } from '../text-sink.ts';
import { Outcome, isPresent, strideOf } from '../vector.ts';
import { int64AsNumber } from '../wide.ts';

/** Where a text value lies. */
type Slice = { bytes: Uint8Array; from: number; to: number };

const sliceAt = (column: Column, row: number): Slice => {
  const text = column as TextColumn;
  const at = row * strideOf(text);
  return { bytes: text.bytes, from: text.offsets[at] as number, to: text.offsets[at + 1] as number };
};

/** A whole number as a double: rounding beyond ±2^53 does not matter to positions. */
const numberAt = (column: Column, row: number): number => int64AsNumber((column as Int64Column).words, row * strideOf(column));

type EachRow = (args: readonly Column[], row: number, sink: TextSink, outcome: Outcome) => void;

/** Runs `each` on every row without NULL arguments; a row it fails must not have been written to. */
const perRow =
  (each: EachRow): Evaluate =>
  (args, rows, errors) => {
    const outcome = new Outcome(args, rows, errors);
    const first = args[0] as TextColumn;
    const sink = new TextSink(rows, first.tag === 'text' && strideOf(first) === 1 ? first.bytes.length : 16);
    for (let row = 0; row < rows; row++) {
      if (outcome.has(row)) each(args, row, sink, outcome);
      sink.endRow();
    }
    return sink.finish(outcome.validity);
  };

const substring: EachRow = (args, row, sink, outcome) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  const start = numberAt(args[1] as Column, row);
  const count = args.length > 2 ? numberAt(args[2] as Column, row) : Infinity;
  if (count < 0) {
    outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => `substring length ${count} is negative`);
    return;
  }
  const first = skipCodePoints(bytes, from, to, start - 1);
  const kept = start + count - Math.max(start, 1);
  sink.append(bytes, first, kept === Infinity ? to : skipCodePoints(bytes, first, to, kept));
};

const left: EachRow = (args, row, sink) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  const count = numberAt(args[1] as Column, row);
  sink.append(bytes, from, skipCodePoints(bytes, from, to, count >= 0 ? count : codePointCount(bytes, from, to) + count));
};

const right: EachRow = (args, row, sink) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  const count = numberAt(args[1] as Column, row);
  sink.append(bytes, skipCodePoints(bytes, from, to, count >= 0 ? codePointCount(bytes, from, to) - count : -count), to);
};

/** Whether the code point at `at` is one of those in `set`. */
function isOneOf(bytes: Uint8Array, at: number, set: Slice): boolean {
  const size = sequenceBytes(bytes[at] as number);
  for (let other = set.from; other < set.to; other += sequenceBytes(set.bytes[other] as number)) {
    let same = 0;
    while (same < size && bytes[at + same] === set.bytes[other + same]) same++;
    if (same === size) return true;
  }
  return false;
}

const SPACE: Slice = { bytes: new Uint8Array([32]), from: 0, to: 1 };

const trim =
  (atStart: boolean, atEnd: boolean): EachRow =>
  (args, row, sink) => {
    const slice = sliceAt(args[0] as Column, row);
    const set = args.length > 1 ? sliceAt(args[1] as Column, row) : SPACE;
    const { bytes } = slice;
    let { from, to } = slice;
    while (atStart && from < to && isOneOf(bytes, from, set)) from += sequenceBytes(bytes[from] as number);
    while (atEnd && from < to) {
      let last = to - 1;
      while (((bytes[last] as number) & 0xc0) === 0x80) last--;
      if (!isOneOf(bytes, last, set)) break;
      to = last;
    }
    sink.append(bytes, from, to);
  };

const tooLong = (outcome: Outcome, row: number): void =>
  outcome.fail(row, 'ROW_TOO_LARGE', () => `a text would be longer than ${LIMITS.ingestRowBytesMax} bytes`);

const replace: EachRow = (args, row, sink) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  const old = sliceAt(args[1] as Column, row);
  const fresh = sliceAt(args[2] as Column, row);
  let at = from;
  while (old.to > old.from) {
    const found = findBytes(bytes, at, to, old.bytes, old.from, old.to);
    if (found < 0) break;
    sink.append(bytes, at, found);
    sink.append(fresh.bytes, fresh.from, fresh.to);
    at = found + (old.to - old.from);
  }
  sink.append(bytes, at, to);
};

/** Start positions of the delimiters in a slice. */
function delimitersOf({ bytes, from, to }: Slice, delimiter: Slice): number[] {
  const found: number[] = [];
  const size = delimiter.to - delimiter.from;
  if (size === 0) return found;
  for (let at = from; ; ) {
    const next = findBytes(bytes, at, to, delimiter.bytes, delimiter.from, delimiter.to);
    if (next < 0) return found;
    found.push(next);
    at = next + size;
  }
}

const splitPart: EachRow = (args, row, sink, outcome) => {
  const slice = sliceAt(args[0] as Column, row);
  const delimiter = sliceAt(args[1] as Column, row);
  const wanted = numberAt(args[2] as Column, row);
  if (wanted === 0) {
    outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => 'split_part counts its fields from 1, or from -1 at the end');
    return;
  }
  const ends = delimitersOf(slice, delimiter);
  const index = wanted > 0 ? wanted - 1 : ends.length + 1 + wanted;
  if (index < 0 || index > ends.length) return;
  const start = index === 0 ? slice.from : (ends[index - 1] as number) + delimiter.to - delimiter.from;
  sink.append(slice.bytes, start, ends[index] ?? slice.to);
};

const reverse: EachRow = (args, row, sink) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  for (let end = to; end > from; ) {
    let start = end - 1;
    while (((bytes[start] as number) & 0xc0) === 0x80) start--;
    sink.append(bytes, start, end);
    end = start;
  }
};

const repeat: EachRow = (args, row, sink, outcome) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  const count = Math.max(0, numberAt(args[1] as Column, row));
  if ((to - from) * count > LIMITS.ingestRowBytesMax) tooLong(outcome, row);
  else if (to > from) for (let index = 0; index < count; index++) sink.append(bytes, from, to);
};

const pad =
  (atStart: boolean): EachRow =>
  (args, row, sink, outcome) => {
    const { bytes, from, to } = sliceAt(args[0] as Column, row);
    const wanted = Math.max(0, numberAt(args[1] as Column, row));
    const fill = args.length > 2 ? sliceAt(args[2] as Column, row) : SPACE;
    const count = codePointCount(bytes, from, to);
    if (wanted > LIMITS.ingestRowBytesMax / 4) {
      tooLong(outcome, row);
      return;
    }
    const cut = skipCodePoints(bytes, from, to, wanted);
    if (!atStart) sink.append(bytes, from, cut);
    let at = fill.from;
    for (let missing = wanted - count; missing > 0 && fill.to > fill.from; missing--) {
      const next = at + sequenceBytes(fill.bytes[at] as number);
      sink.append(fill.bytes, at, next);
      at = next >= fill.to ? fill.from : next;
    }
    if (atStart) sink.append(bytes, from, cut);
  };

const joined: EachRow = (args, row, sink) => {
  for (const column of args) {
    const { bytes, from, to } = sliceAt(column, row);
    sink.append(bytes, from, to);
  }
};

/** concat skips NULLs; concat_ws skips them too and is NULL only when its separator is. */
function concatenate(args: readonly Column[], rows: number, errors: RowErrors, withSeparator: boolean): Column {
  const [separator, ...rest] = args as readonly [Column, ...Column[]];
  const parts = withSeparator ? rest : args;
  const sink = new TextSink(rows, 16 * rows);
  for (let row = 0; row < rows; row++) {
    let first = true;
    for (const column of parts) {
      if (!isPresent(column, row)) continue;
      if (!first && withSeparator) {
        const between = sliceAt(separator, row);
        sink.append(between.bytes, between.from, between.to);
      }
      first = false;
      const { bytes, from, to } = sliceAt(column, row);
      sink.append(bytes, from, to);
    }
    sink.endRow();
  }
  return sink.finish(withSeparator ? new Outcome([separator], rows, errors).validity : null);
}

const chr: EachRow = (args, row, sink, outcome) => {
  const point = numberAt(args[0] as Column, row);
  const valid = point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point < 0xe000);
  if (valid) sink.appendString(String.fromCodePoint(point));
  else outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => `${textOfNumber(args[0] as Column, row)} is no Unicode code point`);
};

const textOfNumber = (column: Column, row: number): string => String(numberAt(column, row));

function fn(id: string, name: string, args: readonly ArgumentPattern[], doc: string, example: FunctionExample, evaluate: Evaluate, canFail = false): ScalarFunction {
  return { id, name, args, result: always(TEXT), nullRule: 'strict', canFail, doc, examples: [example], evaluate };
}

const substringDoc = 'the part from a position on, optionally of a length';
const SUBSTRINGS = ['substring', 'substr'].flatMap((name) => [
  fn(`${name}:from`, name, ['text', 'int64'], substringDoc, { args: ['a😀bc', '2'], gives: '😀bc' }, perRow(substring), true),
  fn(name, name, ['text', 'int64', 'int64'], substringDoc, { args: ['a😀bc', '1', '2'], gives: 'a😀' }, perRow(substring), true),
]);

const TRIMS = (
  [
    ['trim', 'both ends', true, true, 'x'],
    ['btrim', 'both ends', true, true, 'x'],
    ['ltrim', 'the start', true, false, 'x '],
    ['rtrim', 'the end', false, true, ' x'],
  ] as const
).flatMap(([name, where, atStart, atEnd, gives]) => [
  fn(name, name, ['text'], `the text without spaces at ${where}`, { args: [' x '], gives }, perRow(trim(atStart, atEnd))),
  fn(`${name}:set`, name, ['text', 'text'], `the text without the given characters at ${where}`, { args: ['éx', 'é'], gives: atStart ? 'x' : 'éx' }, perRow(trim(atStart, atEnd))),
]);

export const TEXT_FUNCTIONS: readonly ScalarFunction[] = [
  ...SUBSTRINGS,
  ...TRIMS,
  fn('left', 'left', ['text', 'int64'], 'the first n characters; all but the last -n when n is negative', { args: ['😀bc', '-1'], gives: '😀b' }, perRow(left)),
  fn('right', 'right', ['text', 'int64'], 'the last n characters; all but the first -n when n is negative', { args: ['ab😀', '2'], gives: 'b😀' }, perRow(right)),
  fn('replace', 'replace', ['text', 'text', 'text'], 'every occurrence of the second text replaced by the third', { args: ['aXbX', 'X', '--'], gives: 'a--b--' }, perRow(replace)),
  fn('split-part', 'split_part', ['text', 'text', 'int64'], 'field n between delimiters, from the end when n is negative; empty when there is none', { args: ['a,b,c', ',', '-1'], gives: 'c' }, perRow(splitPart), true),
  fn('reverse', 'reverse', ['text'], 'the characters in reverse order', { args: ['a😀b'], gives: 'b😀a' }, perRow(reverse)),
  fn('repeat', 'repeat', ['text', 'int64'], 'the text n times', { args: ['ab', '2'], gives: 'abab' }, perRow(repeat), true),
  fn('lpad', 'lpad', ['text', 'int64'], 'the text filled with spaces at the start, or cut, to n characters', { args: ['7', '3'], gives: '  7' }, perRow(pad(true)), true),
  fn('lpad:fill', 'lpad', ['text', 'int64', 'text'], 'the text filled at the start, or cut, to n characters', { args: ['7', '3', '0'], gives: '007' }, perRow(pad(true)), true),
  fn('rpad', 'rpad', ['text', 'int64'], 'the text filled with spaces at the end, or cut, to n characters', { args: ['abc', '2'], gives: 'ab' }, perRow(pad(false)), true),
  fn('rpad:fill', 'rpad', ['text', 'int64', 'text'], 'the text filled at the end, or cut, to n characters', { args: ['7', '3', '.'], gives: '7..' }, perRow(pad(false)), true),
  fn('chr', 'chr', ['int64'], 'the character of a code point', { args: ['128512'], gives: '😀' }, perRow(chr), true),
  { ...fn('join:text', '||', ['text', 'as-text'], 'both texts, one after the other; NULL when either is NULL', { args: ['a', 'b'], gives: 'ab' }, perRow(joined)), infix: '||' },
  { ...fn('join:any', '||', ['as-text', 'text'], 'both texts, one after the other; NULL when either is NULL', { args: ['a', 'b'], gives: 'ab' }, perRow(joined)), infix: '||' },
  {
    ...fn('concat', 'concat', ['as-text'], 'the texts of all arguments, NULLs left out', { args: ['a', 'b', 'c'], gives: 'abc' }, (args, rows, errors) => concatenate(args, rows, errors, false)),
    rest: 'as-text',
    nullRule: 'custom',
  },
  {
    ...fn('concat-ws', 'concat_ws', ['text', 'as-text'], 'the texts of all further arguments with the first between them, NULLs left out', { args: ['-', 'a', 'b'], gives: 'a-b' }, (args, rows, errors) => concatenate(args, rows, errors, true)),
    rest: 'as-text',
    nullRule: 'custom',
  },
];

export { sliceAt, textAt };
export type { Slice };
