/** Maps, which are lists of entries: made of keys and values, and read. Keys are not NULL and differ. */
import type { Column, ListColumn, StructColumn } from '../../batch/column.ts';
import { LIMITS } from '../../base/limits.ts';
import { valueBytes } from '../../batch/batch-bytes.ts';
import { takeColumn } from '../../batch/take.ts';
import { listType, type ListType, type SqlType, type StructType } from '../../batch/types.ts';
import type { Evaluate } from '../function-types.ts';
import { tooLargeMessage } from '../row-errors.ts';
import { Outcome, isPresent, strideOf } from '../vector.ts';
import {
  ListMaker,
  elementOf,
  endOf,
  equal,
  isNullAt,
  occurs,
  sizeOf,
  startOf,
} from './list-rows.ts';

const ENTRY = (key: SqlType, value: SqlType): StructType => ({
  tag: 'struct',
  fields: [
    { name: 'key', type: key, nullable: false },
    { name: 'value', type: value, nullable: true },
  ],
});

export const entriesType = ([keys, values]: readonly SqlType[]): SqlType | null =>
  keys?.tag === 'list' && values?.tag === 'list'
    ? listType(ENTRY(keys.element, values.element))
    : null;

export const entryOf = ([type]: readonly SqlType[]): StructType | null =>
  type?.tag === 'list' && type.element.tag === 'struct' && type.element.fields.length === 2
    ? type.element
    : null;

export const makeMap: Evaluate = (args, rows, errors, type) => {
  const [keys, values] = args as readonly [ListColumn, ListColumn];
  const outcome = new Outcome(args, rows, errors);
  const picked: [number[], number[]] = [[], []];
  const offsets = new Int32Array(rows + 1);
  for (let row = 0; row < rows; row++) {
    const size = sizeOf(keys, row);
    if (outcome.has(row) && size !== sizeOf(values, row))
      outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => 'a map has as many keys as values');
    for (let at = 0; outcome.has(row) && at < size; at++) {
      const key = startOf(keys, row) + at;
      if (isNullAt(keys.child, key) || occurs(keys.child, startOf(keys, row), key, keys.child, key))
        outcome.fail(
          row,
          'NUMERIC_OUT_OF_RANGE',
          () => 'the keys of a map are not NULL and differ',
        );
      picked[0].push(key);
      picked[1].push(startOf(values, row) + at);
    }
    boundEntry(picked, [keys, values], offsets[row] as number, row, outcome);
    offsets[row + 1] = picked[0].length;
  }
  const children = [keys.child, values.child].map((child, at) =>
    takeColumn(child, Int32Array.from(picked[at] as number[]), (picked[at] as number[]).length),
  );
  const child: StructColumn = {
    tag: 'struct',
    type: elementOf(type) as StructType,
    length: picked[0].length,
    validity: null,
    children,
  };
  return {
    tag: 'list',
    type: type as ListType,
    length: rows,
    validity: outcome.validity,
    offsets,
    child,
  };
};

/** Fails a row whose map is too large, as two lists together may be. */
function boundEntry(
  picked: readonly [number[], number[]],
  lists: readonly [ListColumn, ListColumn],
  from: number,
  row: number,
  outcome: Outcome,
): void {
  let bytes = 0;
  for (let at = from; at < picked[0].length; at++)
    for (const side of [0, 1] as const)
      bytes += Math.max(1, valueBytes(lists[side].child, picked[side][at] as number));
  if (bytes > LIMITS.valueBytesMax)
    outcome.fail(row, 'ROW_TOO_LARGE', () => tooLargeMessage('list'));
  if (!outcome.has(row)) for (const indices of picked) indices.length = from;
}

/** The keys or the values of maps. */
export const side =
  (at: 0 | 1): Evaluate =>
  (args, rows, errors, type) => {
    const [map] = args as readonly [ListColumn];
    const child = (map.child as StructColumn).children[at] as Column;
    const maker = new ListMaker(rows, [child], errors);
    for (let row = 0; row < rows; row++) {
      const present = isPresent(map, row);
      if (present) maker.pushAll(0, startOf(map, row), endOf(map, row));
      maker.endRow(present);
    }
    return maker.finish(type);
  };

export const extract: Evaluate = (args, rows, errors, type) => {
  const [map, key] = args as readonly [ListColumn, Column];
  const [keys, values] = (map.child as StructColumn).children as readonly [Column, Column];
  const maker = new ListMaker(rows, [values], errors);
  for (let row = 0; row < rows; row++) {
    const present = isPresent(map, row);
    if (present)
      for (let index = startOf(map, row); index < endOf(map, row); index++)
        if (equal(keys, index, key, row * strideOf(key))) maker.push(0, index);
    maker.endRow(present);
  }
  return maker.finish(type);
};
