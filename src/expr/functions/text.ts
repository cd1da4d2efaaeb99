/**
 * Functions that make text of text. Positions and lengths are code points, counted from 1; work is
 * done on UTF-8 bytes, and a result never holds half a character.
 */
import type { Column } from '../../batch/column.ts';
import type { ScalarFunction } from '../function-types.ts';
import { codePointCount, sequenceBytes, skipCodePoints } from '../text-sink.ts';
import type { EachRow, Slice } from './text-rows.ts';
import { replace } from './replace-text.ts';
import { splitPart } from './split-part.ts';
import { SPACE, numberAt, perRow, sliceAt, textFunction } from './text-rows.ts';

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
  sink.append(
    bytes,
    from,
    skipCodePoints(bytes, from, to, count >= 0 ? count : codePointCount(bytes, from, to) + count),
  );
};

const right: EachRow = (args, row, sink) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  const count = numberAt(args[1] as Column, row);
  sink.append(
    bytes,
    skipCodePoints(bytes, from, to, count >= 0 ? codePointCount(bytes, from, to) - count : -count),
    to,
  );
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

const trim =
  (atStart: boolean, atEnd: boolean): EachRow =>
  (args, row, sink) => {
    const slice = sliceAt(args[0] as Column, row);
    const set = args.length > 1 ? sliceAt(args[1] as Column, row) : SPACE;
    const { bytes } = slice;
    let { from, to } = slice;
    while (atStart && from < to && isOneOf(bytes, from, set))
      from += sequenceBytes(bytes[from] as number);
    while (atEnd && from < to) {
      let last = to - 1;
      while (((bytes[last] as number) & 0xc0) === 0x80) last--;
      if (!isOneOf(bytes, last, set)) break;
      to = last;
    }
    sink.append(bytes, from, to);
  };

const substringDoc = 'the part from a position on, optionally of a length';
const SUBSTRINGS = ['substring', 'substr'].flatMap((name) => [
  textFunction(
    `${name}:from`,
    name,
    ['text', 'int64'],
    substringDoc,
    { args: ['a😀bc', '2'], gives: '😀bc' },
    perRow(substring),
    true,
  ),
  textFunction(
    name,
    name,
    ['text', 'int64', 'int64'],
    substringDoc,
    { args: ['a😀bc', '1', '2'], gives: 'a😀' },
    perRow(substring),
    true,
  ),
]);

const TRIMS = (
  [
    ['trim', 'both ends', true, true, 'x'],
    ['btrim', 'both ends', true, true, 'x'],
    ['ltrim', 'the start', true, false, 'x '],
    ['rtrim', 'the end', false, true, ' x'],
  ] as const
).flatMap(([name, where, atStart, atEnd, gives]) => [
  textFunction(
    name,
    name,
    ['text'],
    `the text without spaces at ${where}`,
    { args: [' x '], gives },
    perRow(trim(atStart, atEnd)),
  ),
  textFunction(
    `${name}:set`,
    name,
    ['text', 'text'],
    `the text without the given characters at ${where}`,
    { args: ['éx', 'é'], gives: atStart ? 'x' : 'éx' },
    perRow(trim(atStart, atEnd)),
  ),
]);

export const TEXT_FUNCTIONS: readonly ScalarFunction[] = [
  ...SUBSTRINGS,
  ...TRIMS,
  textFunction(
    'left',
    'left',
    ['text', 'int64'],
    'the first n characters; all but the last -n when n is negative',
    { args: ['😀bc', '-1'], gives: '😀b' },
    perRow(left),
  ),
  textFunction(
    'right',
    'right',
    ['text', 'int64'],
    'the last n characters; all but the first -n when n is negative',
    { args: ['ab😀', '2'], gives: 'b😀' },
    perRow(right),
  ),
  textFunction(
    'replace',
    'replace',
    ['text', 'text', 'text'],
    'every occurrence of the second text replaced by the third',
    { args: ['aXbX', 'X', '--'], gives: 'a--b--' },
    replace,
    true,
  ),
  textFunction(
    'split-part',
    'split_part',
    ['text', 'text', 'int64'],
    'field n between delimiters, from the end when n is negative; empty when there is none',
    { args: ['a,b,c', ',', '-1'], gives: 'c' },
    splitPart,
    true,
  ),
];
