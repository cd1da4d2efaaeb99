/**
 * Rows of partitions in order, and the frames of their rows.
 *
 * Place in the walk: stage 6, under the OVER operators. Rows of a partition stand together and in order; bounds are
 * row numbers of the whole, so one pass serves many partitions.
 * Failure: none.
 */
import { must } from '../base/assert.ts';
import { isValid, wordsToNumber, type Column } from '../batch/column.ts';
import { equalRows } from '../batch/row-equal.ts';
import { valueAt } from '../batch/values.ts';
import type { Frame, FrameBound } from '../expr/over.ts';

export type SortedRows = {
  rows: number;
  /** Null: a column that no call reads. */
  columns: readonly (Column | null)[];
  /** The values rows are ordered by; none: all rows of a partition are equal. */
  keys: readonly { column: Column; descending: boolean }[];
  /** Of each row: the first row of its partition and the one behind the last. */
  starts: Int32Array;
  ends: Int32Array;
  /** The same of the rows that the order does not tell apart from it. */
  peerStarts: Int32Array;
  peerEnds: Int32Array;
};

/** @param starts  of each row the first of its partition */
export function sortedRows(
  rows: number,
  columns: SortedRows['columns'],
  keys: SortedRows['keys'],
  starts: Int32Array,
): SortedRows {
  const peerStarts = new Int32Array(rows);
  const keyColumns = keys.map(({ column }) => column);
  for (let row = 1; row < rows; row++) {
    const same = starts[row] !== row && equalRows(keyColumns, row - 1, keyColumns, row);
    peerStarts[row] = same ? (peerStarts[row - 1] as number) : row;
  }
  return {
    rows,
    columns,
    keys,
    starts,
    ends: endsOf(starts),
    peerStarts,
    peerEnds: endsOf(peerStarts),
  };
}

/** Where the runs of equal starts end. */
function endsOf(starts: Int32Array): Int32Array {
  const ends = new Int32Array(starts.length);
  let end = starts.length;
  for (let row = starts.length - 1; row >= 0; row--) {
    ends[row] = end;
    if (starts[row] === row) end = row;
  }
  return ends;
}

/** Row r sees rows `[lo[r], hi[r])`; empty when hi is not above lo. */
export type Frames = { lo: Int32Array; hi: Int32Array };

export function framesOf(sorted: SortedRows, frame: Frame): Frames {
  const { rows } = sorted;
  const bounds = { lo: new Int32Array(rows), hi: new Int32Array(rows) };
  if (frame.unit === 'rows') {
    setRowBounds(sorted, frame.start, 0, bounds.lo);
    setRowBounds(sorted, frame.end, 1, bounds.hi);
    return bounds;
  }
  const find = frame.unit === 'groups' ? groupFinder(sorted) : rangeFinder(sorted);
  for (let row = 0; row < rows; row++) {
    bounds.lo[row] = find(row, frame.start, 0);
    bounds.hi[row] = find(row, frame.end, 1);
  }
  return bounds;
}

/** The first row of a frame (`side` 0), or the row behind its last one (1). */
type Find = (row: number, bound: FrameBound, side: 0 | 1) => number;

/** One side of each row's frame, by count of rows. */
function setRowBounds(
  { rows, starts, ends }: SortedRows,
  bound: FrameBound,
  side: 0 | 1,
  out: Int32Array,
): void {
  switch (bound.tag) {
    case 'unbounded_preceding':
      out.set(starts);
      return;
    case 'unbounded_following':
      out.set(ends);
      return;
    case 'current_row':
      for (let row = 0; row < rows; row++) out[row] = row + side;
      return;
    case 'preceding': {
      const back = Number(bound.offset) - side;
      for (let row = 0; row < rows; row++) out[row] = Math.max(starts[row] as number, row - back);
      return;
    }
    case 'following': {
      const ahead = Number(bound.offset) + side;
      for (let row = 0; row < rows; row++) out[row] = Math.min(ends[row] as number, row + ahead);
    }
  }
}

/** Bounds that are no distance: the same for RANGE and GROUPS. */
function peerBound(sorted: SortedRows, row: number, tag: FrameBound['tag'], side: 0 | 1): number {
  if (tag === 'unbounded_preceding') return sorted.starts[row] as number;
  if (tag === 'unbounded_following') return sorted.ends[row] as number;
  return (side === 0 ? sorted.peerStarts[row] : sorted.peerEnds[row]) as number;
}

function groupFinder(sorted: SortedRows): Find {
  /** First rows of the groups of equals, and the group of each row. */
  const firsts: number[] = [];
  const groups = new Int32Array(sorted.rows);
  for (let row = 0; row < sorted.rows; row++) {
    if (sorted.peerStarts[row] === row) firsts.push(row);
    groups[row] = firsts.length - 1;
  }
  return (row, bound, side) => {
    if (bound.tag !== 'preceding' && bound.tag !== 'following')
      return peerBound(sorted, row, bound.tag, side);
    const step = bound.tag === 'preceding' ? -Number(bound.offset) : Number(bound.offset);
    const group = (groups[row] as number) + step + side;
    const first = group < 0 ? 0 : (firsts[Math.min(group, firsts.length)] ?? sorted.rows);
    return Math.min(sorted.ends[row] as number, Math.max(sorted.starts[row] as number, first));
  };
}

/** By distance of the one value rows are ordered by. A row whose value is NULL sees its equals only. */
function rangeFinder(sorted: SortedRows): Find {
  const [key] = sorted.keys;
  // Made when a distance is asked for: without one any type will do.
  let distance: Distance | null = null;
  return (row, bound, side) => {
    if (bound.tag !== 'preceding' && bound.tag !== 'following')
      return peerBound(sorted, row, bound.tag, side);
    const { column, descending } = must(key, 'a value to measure RANGE by');
    if (!isValid(column, row)) return peerBound(sorted, row, 'current_row', side);
    const sign = (bound.tag === 'preceding') !== descending ? -1 : 1;
    const forward = descending ? -1 : 1;
    // NULLs stand at one end and are no distance away.
    let from = sorted.starts[row] as number;
    let to = sorted.ends[row] as number;
    if (!isValid(column, from)) from = sorted.peerEnds[from] as number;
    if (to > from && !isValid(column, to - 1)) to = sorted.peerStarts[to - 1] as number;
    while (from < to) {
      const middle = (from + to) >> 1;
      distance ??= distancesOf(column);
      const order = distance(middle, row, sign, bound.offset) * forward;
      if (order < 0 || (order === 0 && side === 1)) from = middle + 1;
      else to = middle;
    }
    return from;
  };
}

/** Negative, zero or positive as value `at` lies below, at or above the value `of` moved by `sign` times `offset`. */
type Distance = (at: number, of: number, sign: number, offset: string) => number;

const SAFE = 2 ** 52;

function distancesOf(column: Column): Distance {
  switch (column.tag) {
    case 'int32':
    case 'float64': {
      const { values } = column;
      return (at, of, sign, offset) => {
        const [here, there] = [values[at] as number, values[of] as number];
        // NaN is its own equal and above all others.
        if (here !== here || there !== there)
          return Number(here !== here) - Number(there !== there);
        return here - (there + sign * Number(offset));
      };
    }
    case 'int64':
    case 'timestamp': {
      const { words } = column;
      const numberAt = (row: number): number =>
        wordsToNumber(words[row * 2] as number, words[row * 2 + 1] as number);
      return (at, of, sign, offset) => {
        const [here, there] = [numberAt(at), numberAt(of)];
        const by = Number(offset);
        if (Math.abs(here) < SAFE && Math.abs(there) < SAFE && by < SAFE)
          return here - (there + sign * by);
        const exact =
          (valueAt(column, at) as bigint) -
          (valueAt(column, of) as bigint) -
          BigInt(sign) * BigInt(offset);
        return exact < 0n ? -1 : exact > 0n ? 1 : 0;
      };
    }
    default:
      throw new Error(`the planner measures no distance of ${column.tag} values`);
  }
}
