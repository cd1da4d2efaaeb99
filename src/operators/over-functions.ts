/**
 * Values of OVER calls over rows in order.
 *
 * Place in the walk: stage 6, under the OVER operators. One loop per call over the rows of many partitions at once.
 * Failure: an aggregate that does not fit its type fails its row.
 */
import { must } from '../base/assert.ts';
import { isValid, type Column } from '../batch/column.ts';
import { concatColumns } from '../batch/concat.ts';
import { takeColumn } from '../batch/take.ts';
import { FLOAT64 } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { OverCall } from '../expr/over.ts';
import type { RowErrors } from '../expr/row-errors.ts';
import { aggregateFrames } from './over-aggregate.ts';
import { columnIndex, integerColumn, passingRows } from './over-columns.ts';
import { framesOf, type Frames, type SortedRows } from './over-rows.ts';

/** What a partition has behind it when its first rows are no longer there. */
export type Carried = {
  /** Of each row: how many rows, and how many different values of the order, its partition had before. */
  rowsBefore: Float64Array;
  groupsBefore: Float64Array;
  /** The first of the partition's new rows, at which frames without a start begin. */
  firstNew: Int32Array;
  /** States of an aggregate over the rows before, by call. */
  states: readonly (readonly Column[] | null)[];
};

/** One column per call. */
export function evaluateCalls(
  calls: readonly OverCall[],
  sorted: SortedRows,
  carried: Carried | null,
  errors: RowErrors,
): Column[] {
  const frames = new Map<string, Frames>();
  const frameOf = (call: OverCall): Frames => {
    const text = JSON.stringify(call.frame);
    const known = frames.get(text) ?? framesOf(sorted, call.frame);
    frames.set(text, known);
    return known;
  };
  return calls.map((call, at) => {
    if (call.fn === 'aggregate') return aggregate(call, sorted, frameOf(call), carried, at, errors);
    if (call.fn === 'lag' || call.fn === 'lead') return shifted(call, sorted);
    if (call.fn === 'first_value' || call.fn === 'last_value' || call.fn === 'nth_value')
      return picked(call, sorted, frameOf(call));
    return numbered(call, sorted, carried);
  });
}

function aggregate(
  call: OverCall,
  sorted: SortedRows,
  frames: Frames,
  carried: Carried | null,
  at: number,
  errors: RowErrors,
): Column {
  const inner = must(call.aggregate, 'an aggregate');
  const states = carried?.states[at] ?? null;
  const inputs = {
    call: inner,
    args: inner.args.map((arg) => columnOf(arg, sorted.columns)),
    passes: passingRows(inner.filter, sorted.columns, sorted.rows),
    rows: sorted.rows,
  };
  if (states === null || carried === null) return aggregateFrames(inputs, frames, null, errors);
  const lo = Int32Array.from(frames.lo, (bound, row) =>
    Math.max(bound, carried.firstNew[row] as number),
  );
  return aggregateFrames(inputs, { lo, hi: frames.hi }, states, errors);
}

const columnOf = (expr: Expr, columns: SortedRows['columns']): Column =>
  must(columns[columnIndex(expr)], 'a column of the rows');

/** The functions that only count rows. */
function numbered(call: OverCall, sorted: SortedRows, carried: Carried | null): Column {
  const values = new Float64Array(sorted.rows);
  let group = 0;
  for (let row = 0; row < sorted.rows; row++) {
    const start = sorted.starts[row] as number;
    const peer = sorted.peerStarts[row] as number;
    // Rows a partition keeps from earlier count among those before it.
    const first = carried === null ? start : (carried.firstNew[row] as number);
    const before = carried === null ? 0 : (carried.rowsBefore[row] as number);
    if (row === first) group = carried === null ? 0 : (carried.groupsBefore[row] as number);
    if (peer === row) group++;
    const size = (sorted.ends[row] as number) - start;
    values[row] = numberOf(
      call,
      before + row - first,
      before + peer - first,
      group,
      size,
      (sorted.peerEnds[row] as number) - start,
    );
  }
  const ratio = call.fn === 'percent_rank' || call.fn === 'cume_dist';
  if (ratio) return { tag: 'float64', type: FLOAT64, length: sorted.rows, validity: null, values };
  return integerColumn(values);
}

/**
 * @param index  rows before this one
 * @param peer  rows before its equals
 * @param group  different values of the order up to it
 * @param peers  rows up to the last of its equals
 */
function numberOf(
  call: OverCall,
  index: number,
  peer: number,
  group: number,
  size: number,
  peers: number,
): number {
  switch (call.fn) {
    case 'row_number':
      return index + 1;
    case 'rank':
      return peer + 1;
    case 'dense_rank':
      return group;
    case 'percent_rank':
      return size === 1 ? 0 : peer / (size - 1);
    case 'cume_dist':
      return peers / size;
    default:
      return tile(index, size, call.count);
  }
}

/** The first buckets are larger by one where rows do not divide evenly. */
function tile(index: number, size: number, buckets: number): number {
  const least = Math.floor(size / buckets);
  const larger = size % buckets;
  const inLarger = larger * (least + 1);
  if (index < inLarger) return Math.floor(index / (least + 1)) + 1;
  return larger + Math.floor((index - inLarger) / least) + 1;
}

/** lag and lead: the value so many rows away in the partition, else the default. */
function shifted(call: OverCall, sorted: SortedRows): Column {
  const [valueExpr, otherwise] = call.args;
  const value = columnOf(must(valueExpr, 'the value of a shift'), sorted.columns);
  const forward = (call.fn === 'lead') === call.count >= 0;
  const distance = Math.abs(call.count);
  const indices = new Int32Array(sorted.rows);
  let missing = false;
  for (let row = 0; row < sorted.rows; row++) {
    const [start, end] = [sorted.starts[row] as number, sorted.ends[row] as number];
    const at = call.ignoreNulls
      ? seek(value, row, start, end, distance, forward)
      : row + (forward ? distance : -distance);
    indices[row] = at >= start && at < end ? at : -1;
    missing ||= indices[row] === -1;
  }
  if (!missing || otherwise === undefined) return takeColumn(value, indices, sorted.rows);
  const both = concatColumns([value, columnOf(otherwise, sorted.columns)]);
  for (let row = 0; row < sorted.rows; row++)
    if (indices[row] === -1) indices[row] = sorted.rows + row;
  return takeColumn(both, indices, sorted.rows);
}

/** The row of the `distance`-th value that is not NULL, away from `row`; -1: there are not so many. */
function seek(
  value: Column,
  row: number,
  start: number,
  end: number,
  distance: number,
  forward: boolean,
): number {
  if (distance === 0) return row;
  const step = forward ? 1 : -1;
  let left = distance;
  for (let at = row + step; at >= start && at < end; at += step)
    if (isValid(value, at) && --left === 0) return at;
  return -1;
}

/** first_value, last_value, nth_value: NULL when the frame has no such row. */
function picked(call: OverCall, sorted: SortedRows, { lo, hi }: Frames): Column {
  const value = columnOf(must(call.args[0], 'the value that is picked'), sorted.columns);
  const indices = new Int32Array(sorted.rows);
  const nth = call.fn === 'nth_value' ? call.count : 1;
  const last = call.fn === 'last_value';
  for (let row = 0; row < sorted.rows; row++) {
    const [from, to] = [lo[row] as number, hi[row] as number];
    if (call.ignoreNulls)
      indices[row] = last
        ? seek(value, to, from, to, 1, false)
        : seek(value, from - 1, from - 1, to, nth, true);
    else {
      const at = last ? to - 1 : from + nth - 1;
      indices[row] = at >= from && at < to ? at : -1;
    }
  }
  return takeColumn(value, indices, sorted.rows);
}
