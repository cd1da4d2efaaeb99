/** The order of rows within a partition by event time: one that depends on the rows only. */
import { isValid, type Column } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { compareValues } from '../batch/row-equal.ts';
import { allGroups } from '../state/group-index.ts';
import { approximate, type KeyColumn } from './sort-approximation.ts';
import { timeAt, timesOf } from './times.ts';

/** The rows by partition, time, the keys, then all columns. */
export function timedOrder(
  batch: RecordBatch,
  groups: Int32Array,
  keys: readonly KeyColumn[],
): Int32Array {
  const { rows, columns } = batch;
  const times = timesOf(batch);
  const [first] = keys;
  const near = new Float64Array(rows);
  if (first !== undefined) approximate(columns[first.index] as Column, rows, first, near);
  return allGroups(rows).sort((left, right) => {
    const group = (groups[left] as number) - (groups[right] as number);
    if (group !== 0) return group;
    const time = timeAt(times, left) - timeAt(times, right);
    if (time !== 0) return time;
    if (near[left] !== near[right])
      return (near[left] as number) < (near[right] as number) ? -1 : 1;
    for (const key of keys) {
      const order = compareKey(columns[key.index] as Column, left, right, key);
      if (order !== 0) return order;
    }
    for (const column of columns) {
      const order = compareValues(column, left, column, right);
      if (order !== 0) return order;
    }
    return 0;
  });
}

function compareKey(column: Column, left: number, right: number, key: KeyColumn): number {
  const present = isValid(column, left);
  if (present !== isValid(column, right)) return present === key.nullsFirst ? 1 : -1;
  const order = compareValues(column, left, column, right);
  return key.descending ? -order : order;
}
