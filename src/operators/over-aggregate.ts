/**
 * Aggregates over frames: any accumulator, any frames.
 *
 * Place in the walk: stage 6, under the OVER operators. Counts and exact sums are differences of those of all rows before.
 * Of other aggregates, short frames are folded row by row. Long ones are put together from the states of blocks of 2, 4, 8, …
 * rows, so n rows cost n log n merges whatever their frames are. Parts are merged from the first row to the last, so
 * accumulators that depend on order see it.
 * Failure: a result that does not fit its type fails its row.
 */
import { must } from '../base/assert.ts';
import { concatColumns } from '../batch/concat.ts';
import type { Column } from '../batch/column.ts';
import { takeColumn } from '../batch/take.ts';
import { makeAccumulator } from '../expr/aggregate-registry.ts';
import type { AggregateCall } from '../expr/expr.ts';
import { RowErrors } from '../expr/row-errors.ts';
import { allGroups } from '../state/group-index.ts';
import type { Frames } from './over-rows.ts';

/** Frames of up to this many rows on average are folded row by row: a merge costs as much as some rows. */
const SHORT_FRAME = 16;
/** Frames that are put together at a time. */
const FRAMES_AT_ONCE = 4096;

export type FrameInputs = {
  call: AggregateCall;
  args: readonly Column[];
  /** 1 for each row that the FILTER lets through; null: every row. */
  passes: Uint8Array | null;
  rows: number;
};

/**
 * The aggregate of each row's frame.
 * @param carried  states that come before the frame of each row; null: none
 */
export function aggregateFrames(
  inputs: FrameInputs,
  frames: Frames,
  carried: readonly Column[] | null,
  errors: RowErrors,
): Column {
  const distinct = distinctFrames(frames, carried !== null);
  const failed = new RowErrors(distinct.lo.length);
  const results =
    aggregateRuns(inputs, distinct, carried, failed) ??
    aggregateChunks(inputs, distinct, carried, failed);
  if (failed.failed) passOnErrors(failed, distinct.frameOfRow, errors);
  return distinct.lo.length === inputs.rows
    ? results
    : takeColumn(results, distinct.frameOfRow, inputs.rows);
}

/** Null: the aggregate, or these values, have to be folded. */
function aggregateRuns(
  inputs: FrameInputs,
  frames: DistinctFrames,
  carried: readonly Column[] | null,
  errors: RowErrors,
): Column | null {
  const accumulator = makeAccumulator(inputs.call);
  if (accumulator.addRuns === undefined) return null;
  const count = frames.lo.length;
  accumulator.resize(count);
  if (!accumulator.addRuns(frames, inputs.rows, inputs.args, inputs.passes)) return null;
  const groups = allGroups(count);
  // Each row has a frame of its own where states come before it.
  if (carried !== null) accumulator.merge(groups, count, carried);
  return accumulator.results(groups, errors);
}

function aggregateChunks(
  inputs: FrameInputs,
  distinct: DistinctFrames,
  carried: readonly Column[] | null,
  errors: RowErrors,
): Column {
  const total = totalRows(distinct);
  const blocks = total > SHORT_FRAME * Math.max(1, distinct.lo.length) ? new Blocks(inputs) : null;
  const parts: Column[] = [];
  for (let from = 0; from < distinct.lo.length; from += FRAMES_AT_ONCE) {
    const to = Math.min(distinct.lo.length, from + FRAMES_AT_ONCE);
    const chunk = { lo: distinct.lo.subarray(from, to), hi: distinct.hi.subarray(from, to) };
    const before = carried?.map((column) =>
      takeColumn(column, distinct.firstRows.subarray(from, to), to - from),
    );
    const failed = new RowErrors(to - from);
    parts.push(aggregateChunk(inputs, chunk, blocks, before ?? null, failed));
    for (const error of failed.list)
      errors.fail(from + error.row, error.code, error.message, error.column);
  }
  return concatColumns(parts);
}

function passOnErrors(failed: RowErrors, frameOfRow: Int32Array, errors: RowErrors): void {
  const failures = new Map(failed.list.map((error) => [error.row, error]));
  for (let row = 0; row < frameOfRow.length; row++) {
    const error = failures.get(frameOfRow[row] as number);
    if (error !== undefined) errors.fail(row, error.code, error.message, error.column);
  }
}

type DistinctFrames = Frames & {
  frameOfRow: Int32Array;
  /** Of each frame the first row that has it. */
  firstRows: Int32Array;
};

/** Neighbours with one frame share one result: all rows of a partition, or all equals. */
function distinctFrames({ lo, hi }: Frames, each: boolean): DistinctFrames {
  const rows = lo.length;
  const frameOfRow = new Int32Array(rows);
  const firstRows = new Int32Array(rows);
  let count = 0;
  for (let row = 0; row < rows; row++) {
    const first = firstRows[count - 1] as number;
    const same = !each && count > 0 && lo[row] === lo[first] && hi[row] === hi[first];
    if (!same) firstRows[count++] = row;
    frameOfRow[row] = count - 1;
  }
  const own = { lo: new Int32Array(count), hi: new Int32Array(count) };
  for (let frame = 0; frame < count; frame++) {
    const row = firstRows[frame] as number;
    own.lo[frame] = lo[row] as number;
    own.hi[frame] = hi[row] as number;
  }
  return { ...own, frameOfRow, firstRows: firstRows.subarray(0, count) };
}

function totalRows({ lo, hi }: Frames): number {
  let total = 0;
  for (let frame = 0; frame < lo.length; frame++)
    total += Math.max(0, (hi[frame] as number) - (lo[frame] as number));
  return total;
}

function aggregateChunk(
  inputs: FrameInputs,
  frames: Frames,
  blocks: Blocks | null,
  carried: readonly Column[] | null,
  errors: RowErrors,
): Column {
  const count = frames.lo.length;
  const accumulator = makeAccumulator(inputs.call);
  accumulator.resize(count);
  const groups = allGroups(count);
  if (carried !== null) accumulator.merge(groups, count, carried);
  if (blocks !== null) {
    const { nodes, owners } = blocks.partsOf(frames);
    accumulator.merge(owners, owners.length, blocks.statesOf(nodes));
    return accumulator.results(groups, errors);
  }
  const total = totalRows(frames);
  const rows = new Int32Array(total);
  const owners = new Int32Array(total);
  let at = 0;
  for (let frame = 0; frame < count; frame++) {
    const hi = frames.hi[frame] as number;
    for (let row = frames.lo[frame] as number; row < hi; row++) {
      rows[at] = row;
      owners[at++] = inputs.passes === null || inputs.passes[row] === 1 ? frame : -1;
    }
  }
  const args = inputs.args.map((arg) => takeColumn(arg, rows, total));
  accumulator.update(owners, total, args, null);
  return accumulator.results(groups, errors);
}

/** States of all rows, of all pairs of rows, of all pairs of pairs, … */
class Blocks {
  readonly #states: readonly Column[];
  /** Where the nodes of each level begin. */
  readonly #levels: number[] = [0];

  constructor({ call, args, passes, rows }: FrameInputs) {
    const base = makeAccumulator(call);
    base.resize(rows);
    const owners = allGroups(rows);
    if (passes !== null)
      for (let row = 0; row < rows; row++) if (passes[row] !== 1) owners[row] = -1;
    base.update(owners, rows, args, null);
    let states = base.stateColumns(allGroups(rows));
    const all = [states];
    for (let count = rows; count > 1; count = (count + 1) >> 1) {
      const above = (count + 1) >> 1;
      const accumulator = makeAccumulator(call);
      accumulator.resize(above);
      accumulator.merge(
        Int32Array.from({ length: count }, (_, node) => node >> 1),
        count,
        states,
      );
      this.#levels.push((this.#levels.at(-1) as number) + count);
      states = accumulator.stateColumns(allGroups(above));
      all.push(states);
    }
    this.#states = states.map((_, part) =>
      concatColumns(all.map((level) => must(level[part], 'a state column'))),
    );
  }

  statesOf(nodes: Int32Array): Column[] {
    return this.#states.map((column) => takeColumn(column, nodes, nodes.length));
  }

  /** The nodes that make up each frame, from its first row to its last. */
  partsOf({ lo, hi }: Frames): { nodes: Int32Array; owners: Int32Array } {
    const nodes: number[] = [];
    const owners: number[] = [];
    const right: number[] = [];
    for (let frame = 0; frame < lo.length; frame++) {
      let from = lo[frame] as number;
      let to = hi[frame] as number;
      right.length = 0;
      const before = nodes.length;
      for (let level = 0; from < to; level++) {
        const base = this.#levels[level] as number;
        if ((from & 1) === 1) nodes.push(base + from++);
        if ((to & 1) === 1) right.push(base + --to);
        from >>= 1;
        to >>= 1;
      }
      while (right.length > 0) nodes.push(right.pop() as number);
      for (let node = before; node < nodes.length; node++) owners.push(frame);
    }
    return { nodes: Int32Array.from(nodes), owners: Int32Array.from(owners) };
  }
}
