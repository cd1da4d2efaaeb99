/** Functions that put texts together: ||, concat, repeat, padding, reverse, chr. */
import type { Column } from '../../batch/column.ts';
import type { ScalarFunction } from '../function-types.ts';
import type { RowErrors } from '../row-errors.ts';
import { TextSink, codePointCount, sequenceBytes, skipCodePoints } from '../text-sink.ts';
import { Outcome, isPresent } from '../vector.ts';
import type { EachRow } from './text-rows.ts';
import { SPACE, numberAt, perGrowingRow, perRow, sliceAt, textFunction } from './text-rows.ts';

const reverse: EachRow = (args, row, sink) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  for (let end = to; end > from;) {
    let start = end - 1;
    while (((bytes[start] as number) & 0xc0) === 0x80) start--;
    sink.append(bytes, start, end);
    end = start;
  }
};

const repeat: EachRow = (args, row, sink) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  const count = Math.max(0, numberAt(args[1] as Column, row));
  sink.appendTimes(bytes, from, to, count);
};

const pad =
  (atStart: boolean): EachRow =>
  (args, row, sink) => {
    const { bytes, from, to } = sliceAt(args[0] as Column, row);
    const wanted = Math.max(0, numberAt(args[1] as Column, row));
    const fill = args.length > 2 ? sliceAt(args[2] as Column, row) : SPACE;
    const count = codePointCount(bytes, from, to);
    const cut = skipCodePoints(bytes, from, to, wanted);
    if (!atStart) sink.append(bytes, from, cut);
    let at = fill.from;
    for (
      let missing = wanted - count;
      missing > 0 && fill.to > fill.from && !sink.isFull;
      missing--
    ) {
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
function concatenate(
  args: readonly Column[],
  rows: number,
  errors: RowErrors,
  withSeparator: boolean,
): Column {
  const [separator, ...rest] = args as readonly [Column, ...Column[]];
  const parts = withSeparator ? rest : args;
  const sink = new TextSink(rows, 16 * rows, errors);
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
  else
    outcome.fail(
      row,
      'NUMERIC_OUT_OF_RANGE',
      () => `${textOfNumber(args[0] as Column, row)} is no Unicode code point`,
    );
};

const textOfNumber = (column: Column, row: number): string => String(numberAt(column, row));

export const TEXT_BUILDING: readonly ScalarFunction[] = [
  textFunction(
    'reverse',
    'reverse',
    ['text'],
    'the characters in reverse order',
    { args: ['a😀b'], gives: 'b😀a' },
    perRow(reverse),
  ),
  textFunction(
    'repeat',
    'repeat',
    ['text', 'int64'],
    'the text n times',
    { args: ['ab', '2'], gives: 'abab' },
    perGrowingRow(repeat),
    true,
  ),
  textFunction(
    'lpad',
    'lpad',
    ['text', 'int64'],
    'the text filled with spaces at the start, or cut, to n characters',
    { args: ['7', '3'], gives: '  7' },
    perGrowingRow(pad(true)),
    true,
  ),
  textFunction(
    'lpad:fill',
    'lpad',
    ['text', 'int64', 'text'],
    'the text filled at the start, or cut, to n characters',
    { args: ['7', '3', '0'], gives: '007' },
    perGrowingRow(pad(true)),
    true,
  ),
  textFunction(
    'rpad',
    'rpad',
    ['text', 'int64'],
    'the text filled with spaces at the end, or cut, to n characters',
    { args: ['abc', '2'], gives: 'ab' },
    perGrowingRow(pad(false)),
    true,
  ),
  textFunction(
    'rpad:fill',
    'rpad',
    ['text', 'int64', 'text'],
    'the text filled at the end, or cut, to n characters',
    { args: ['7', '3', '.'], gives: '7..' },
    perGrowingRow(pad(false)),
    true,
  ),
  textFunction(
    'chr',
    'chr',
    ['int64'],
    'the character of a code point',
    { args: ['128512'], gives: '😀' },
    perRow(chr),
    true,
  ),
  {
    ...textFunction(
      'join:text',
      '||',
      ['text', 'as-text'],
      'both texts, one after the other; NULL when either is NULL',
      { args: ['a', 'b'], gives: 'ab' },
      perGrowingRow(joined),
      true,
    ),
    infix: '||',
  },
  {
    ...textFunction(
      'join:any',
      '||',
      ['as-text', 'text'],
      'both texts, one after the other; NULL when either is NULL',
      { args: ['a', 'b'], gives: 'ab' },
      perGrowingRow(joined),
      true,
    ),
    infix: '||',
  },
  {
    ...textFunction(
      'concat',
      'concat',
      ['as-text'],
      'the texts of all arguments, NULLs left out',
      { args: ['a', 'b', 'c'], gives: 'abc' },
      (args, rows, errors) => concatenate(args, rows, errors, false),
      true,
    ),
    rest: 'as-text',
    nullRule: 'custom',
  },
  {
    ...textFunction(
      'concat-ws',
      'concat_ws',
      ['text', 'as-text'],
      'the texts of all further arguments with the first between them, NULLs left out',
      { args: ['-', 'a', 'b'], gives: 'a-b' },
      (args, rows, errors) => concatenate(args, rows, errors, true),
      true,
    ),
    rest: 'as-text',
    nullRule: 'custom',
  },
];
