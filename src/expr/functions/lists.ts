/**
 * Lists made of values, and their elements: what `[a, b]`, `list[1]` and `list[1:2]` mean.
 *
 * Positions count from 1. A position outside the list gives NULL, as in Postgres; a slice takes what
 * there is of it.
 */
import { LIMITS } from '../../base/limits.ts';
import { fixedBytes, valueBytes } from '../../batch/batch-bytes.ts';
import { concatColumns } from '../../batch/concat.ts';
import { bitmapBytes } from '../../batch/column.ts';
import type { Column, Int64Column, ListColumn } from '../../batch/column.ts';
import { emptyColumn } from '../../batch/column-builder.ts';
import { takeColumn } from '../../batch/take.ts';
import type { ListType, SqlType } from '../../batch/types.ts';
import { ALL_TAGS, INT32, INT64, listType } from '../../batch/types.ts';
import type { Evaluate, ScalarFunction } from '../function-types.ts';
import { ofFirst } from '../function-types.ts';
import type { RowErrors } from '../row-errors.ts';
import { takeWithin } from '../select.ts';
import { Outcome, isPresent, strideOf } from '../vector.ts';
import { int64AsNumber } from '../wide.ts';

/** The list type of all arguments' type; of texts when there are none. */
const listOfArguments = (args: readonly SqlType[]): SqlType => listType(args[0] ?? { tag: 'text' });

const elementType = (args: readonly SqlType[]): SqlType => (args[0] as ListType).element;

/** Fails the rows whose values are too large for one list, and answers which they are. */
function tooLargeRows(args: readonly Column[], rows: number, errors: RowErrors): Set<number> {
  const failed = new Set<number>();
  const [first] = args;
  const each = first === undefined ? 0 : fixedBytes(first);
  let total = 0;
  for (let row = 0; row < rows; row++) {
    let bytes = args.length * each;
    if (each === 0) for (const column of args) bytes += valueBytes(column, row * strideOf(column));
    if (bytes > LIMITS.valueBytesMax) {
      errors.tooLarge(row, 'list');
      failed.add(row);
      bytes = 0;
    }
    total += bytes + args.length * INDEX_BYTES;
    errors.expect(total);
  }
  errors.spend(total);
  return failed;
}

const INDEX_BYTES = 8;

const makeArray: Evaluate = (args, rows, errors, type) => {
  const { element } = type as ListType;
  const count = args.length;
  const failed = tooLargeRows(args, rows, errors);
  const offsets = new Int32Array(rows + 1);
  for (let row = 0; row < rows; row++) offsets[row + 1] = (row + 1) * count;
  const bases: number[] = [];
  let size = 0;
  for (const column of args) {
    bases.push(size);
    size += column.length;
  }
  const indices = new Int32Array(rows * count);
  args.forEach((column, at) => {
    const stride = strideOf(column);
    for (let row = 0; row < rows; row++)
      indices[row * count + at] = failed.has(row) ? -1 : (bases[at] as number) + row * stride;
  });
  const joined = count === 0 ? emptyColumn(element) : concatColumns(args);
  const child = takeColumn(joined, indices, indices.length);
  const outcome = new Outcome([], rows, errors);
  for (const row of failed) outcome.makeNull(row);
  const { validity } = outcome;
  return { tag: 'list', type: type as ListType, length: rows, validity, offsets, child };
};

const arrayElement: Evaluate = (args, rows, errors) => {
  const [list, position] = args as readonly [ListColumn, Int64Column];
  const strideA = strideOf(list);
  const strideB = strideOf(position);
  const indices = new Int32Array(rows).fill(-1);
  for (let row = 0; row < rows; row++) {
    if (!isPresent(list, row) || !isPresent(position, row)) continue;
    const start = list.offsets[row * strideA] as number;
    const size = (list.offsets[row * strideA + 1] as number) - start;
    const at = int64AsNumber(position.words, row * strideB);
    if (at >= 1 && at <= size) indices[row] = start + at - 1;
  }
  return takeWithin(list.child, indices, rows, errors);
};

const arraySlice: Evaluate = (args, rows, errors, type) => {
  const [list, from, to] = args as readonly Column[] as readonly [
    ListColumn,
    Int64Column,
    Int64Column,
  ];
  const offsets = new Int32Array(rows + 1);
  const validity = new Uint8Array(bitmapBytes(rows));
  const elements: number[] = [];
  for (let row = 0; row < rows; row++) {
    if (args.every((column) => isPresent(column, row))) {
      validity[row >> 3] = (validity[row >> 3] as number) | (1 << (row & 7));
      const start = list.offsets[row * strideOf(list)] as number;
      const size = (list.offsets[row * strideOf(list) + 1] as number) - start;
      const first = Math.max(1, int64AsNumber(from.words, row * strideOf(from)));
      const last = Math.min(size, int64AsNumber(to.words, row * strideOf(to)));
      for (let at = first; at <= last; at++) elements.push(start + at - 1);
    }
    offsets[row + 1] = elements.length;
  }
  const child = takeWithin(list.child, Int32Array.from(elements), elements.length, errors);
  return { tag: 'list', type: type as ListType, length: rows, validity, offsets, child };
};

const base = { nullRule: 'custom', canFail: false } as const;

export const LISTS: readonly ScalarFunction[] = [
  {
    ...base,
    canFail: true,
    id: 'make-array',
    name: 'make_array',
    args: [],
    rest: 'any',
    anyOf: ALL_TAGS,
    result: listOfArguments,
    doc: 'the list of the arguments, which have one type; [a, b] and ARRAY[a, b] mean the same',
    examples: [{ args: [1, 2], gives: [1, 2] }],
    evaluate: makeArray,
  },
  {
    ...base,
    id: 'array-element',
    name: 'array_element',
    args: ['list', 'int64'],
    result: elementType,
    doc: 'the element at a position from 1, NULL outside the list; list[n] means the same',
    examples: [{ args: [[7, 8], '2'], gives: 8 }],
    evaluate: arrayElement,
  },
  {
    ...base,
    id: 'array-slice',
    name: 'array_slice',
    args: ['list', 'int64', 'int64'],
    result: ofFirst,
    doc: 'the elements from one position to another, both included; list[n:m] means the same',
    examples: [{ args: [[7, 8, 9], '2', '5'], gives: [8, 9] }],
    evaluate: arraySlice,
  },
];

/** Bounds of a slice that leaves one open. */
export const SLICE_FROM = { tag: 'literal', value: 1, type: INT32 } as const;
export const SLICE_TO = { tag: 'literal', value: '9007199254740991', type: INT64 } as const;
