/** Functions that measure text or look into it. Positions and lengths are code points, counted from 1. */
import type { Column, TextColumn } from '../../batch/column.ts';
import { BOOLEAN, INT32 } from '../../batch/types.ts';
import type {
  ArgumentPattern,
  Evaluate,
  FunctionExample,
  ScalarFunction,
} from '../function-types.ts';
import { always } from '../function-types.ts';
import { codePointCount, findBytes, isAscii } from '../text-sink.ts';
import { combineValidity, makeBoolean, makeInt32, strideOf } from '../vector.ts';
import type { Slice } from './text-rows.ts';
import { sliceAt } from './text-rows.ts';

const measure =
  (each: (text: Slice, other: Slice) => number): Evaluate =>
  (args, rows) => {
    const result = makeInt32(rows);
    result.validity = combineValidity(args, rows);
    const [text, other = text] = args as readonly [Column, Column?];
    for (let row = 0; row < rows; row++)
      result.values[row] = each(sliceAt(text, row), sliceAt(other, row));
    return result;
  };

const test =
  (each: (text: Slice, other: Slice) => boolean): Evaluate =>
  (args, rows) => {
    const result = makeBoolean(rows, combineValidity(args, rows));
    const [text, other] = args as readonly [Column, Column];
    for (let row = 0; row < rows; row++) {
      if (each(sliceAt(text, row), sliceAt(other, row))) {
        result.bits[row >> 3] = (result.bits[row >> 3] as number) | (1 << (row & 7));
      }
    }
    return result;
  };

/** Without a slice per row: the most used of these functions. */
const length: Evaluate = (args, rows) => {
  const { offsets, bytes } = args[0] as TextColumn;
  const stride = strideOf(args[0] as Column);
  const result = makeInt32(rows);
  result.validity = combineValidity(args, rows);
  if (stride === 1 && isAscii(bytes, offsets[0] as number, offsets[rows] as number)) {
    for (let row = 0; row < rows; row++)
      result.values[row] = (offsets[row + 1] as number) - (offsets[row] as number);
    return result;
  }
  for (let row = 0; row < rows; row++) {
    result.values[row] = codePointCount(
      bytes,
      offsets[row * stride] as number,
      offsets[row * stride + 1] as number,
    );
  }
  return result;
};

const find = (text: Slice, part: Slice): number =>
  findBytes(text.bytes, text.from, text.to, part.bytes, part.from, part.to);

function position(text: Slice, part: Slice): number {
  const found = find(text, part);
  return found < 0 ? 0 : codePointCount(text.bytes, text.from, found) + 1;
}

/** Whether `part` lies at the byte position `at`. */
function liesAt(text: Slice, part: Slice, at: number): boolean {
  const size = part.to - part.from;
  if (at < text.from || at + size > text.to) return false;
  for (let index = 0; index < size; index++)
    if (text.bytes[at + index] !== part.bytes[part.from + index]) return false;
  return true;
}

function firstCodePoint({ bytes, from, to }: Slice): number {
  if (from === to) return 0;
  const lead = bytes[from] as number;
  const next = (offset: number): number => (bytes[from + offset] as number) & 63;
  if (lead < 0x80) return lead;
  if (lead < 0xe0) return ((lead & 31) << 6) | next(1);
  if (lead < 0xf0) return ((lead & 15) << 12) | (next(1) << 6) | next(2);
  return ((lead & 7) << 18) | (next(1) << 12) | (next(2) << 6) | next(3);
}

const number = (
  name: string,
  args: readonly ArgumentPattern[],
  doc: string,
  example: FunctionExample,
  evaluate: Evaluate,
): ScalarFunction => ({
  id: name.replaceAll('_', '-'),
  name,
  args,
  result: always(INT32),
  nullRule: 'strict',
  canFail: false,
  doc,
  examples: [example],
  evaluate,
});

const truth = (
  name: string,
  doc: string,
  example: FunctionExample,
  evaluate: Evaluate,
): ScalarFunction => ({
  id: name.replaceAll('_', '-'),
  name,
  args: ['text', 'text'],
  result: always(BOOLEAN),
  nullRule: 'strict',
  canFail: false,
  doc,
  examples: [example],
  evaluate,
});

export const TEXT_SEARCH: readonly ScalarFunction[] = [
  ...['length', 'char_length', 'character_length'].map((name) =>
    number(name, ['text'], 'the number of characters', { args: ['a😀bc'], gives: 4 }, length),
  ),
  number(
    'octet_length',
    ['text'],
    'the number of bytes in UTF-8',
    { args: ['😀'], gives: 4 },
    measure(({ from, to }) => to - from),
  ),
  number(
    'strpos',
    ['text', 'text'],
    'where the second text first occurs in the first; 0 when nowhere',
    { args: ['😀bc', 'c'], gives: 3 },
    measure(position),
  ),
  number(
    'ascii',
    ['text'],
    'the code point of the first character; 0 for an empty text',
    { args: ['😀'], gives: 128512 },
    measure(firstCodePoint),
  ),
  truth(
    'starts_with',
    'whether the first text begins with the second',
    { args: ['abc', 'ab'], gives: true },
    test((text, part) => liesAt(text, part, text.from)),
  ),
  truth(
    'ends_with',
    'whether the first text ends with the second',
    { args: ['abc', 'ab'], gives: false },
    test((text, part) => liesAt(text, part, text.to - (part.to - part.from))),
  ),
  truth(
    'contains',
    'whether the second text occurs in the first',
    { args: ['abc', 'b'], gives: true },
    test((text, part) => find(text, part) >= 0),
  ),
];
