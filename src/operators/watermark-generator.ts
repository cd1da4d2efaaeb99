/**
 * Event times and watermarks of one source subtask.
 *
 * Place in the walk: between stages 5 and 6. Each partition has its own watermark: the largest value of the watermark
 * expression so far. The merged one is their minimum over partitions that are neither idle nor ended, and never goes
 * back. A batch is cut exactly before rows that may be late, so that what is late depends on the order of rows alone
 * and never on how they were batched.
 *
 *     partition   silent idleMs →  idle, does not hold the others back; a row brings it back
 *                 silent idleAdvanceMs →  its watermark runs on with the clock from where it stood
 *                 ended →  does not count any more
 *
 * Invariants: INV-60 the merged watermark is null until every partition has reported, is idle or has ended;
 * INV-61 in a segment, a row whose event time lies below the merged watermark of all rows before it lies below
 * `watermarkBefore`; when all partitions are idle, the largest of their watermarks counts, for nobody is waited for.
 * Not guaranteed: the same merged watermark after a replay when partitions are read at other speeds.
 * Failure: a row without event time is a problem of its own (NULL_VIOLATION) and goes no further; rows whose
 * expressions fail likewise.
 */
import { fixedMicros, intervalOfLiteral } from '../batch/interval.ts';
import { assert, must } from '../base/assert.ts';
import { isValid, wordsToNumber, type Int64Column } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { filterBatch, sliceBatch } from '../batch/take.ts';
import { scalarText } from '../batch/scalar-text.ts';
import type { Schema } from '../batch/types.ts';
import { compileExpr, type CompiledExpr } from '../expr/compile.ts';
import { RowErrors } from '../expr/row-errors.ts';
import type { Expr } from '../expr/expr.ts';
import type { WatermarkSpec } from '../graph/graph.ts';
import { withDeletionTimes } from './deletion-times.ts';
import type { RowProblem, Watermark } from './operator.ts';
import { problemsOf, rowJson } from './row-json.ts';
import { constantTime, EVENT_TIME_MAX, timeAt, timesOf } from './times.ts';

/** Rows and the merged watermark that stood before the first of them; null: unknown. */
export type Segment = { batch: RecordBatch; watermarkBefore: Watermark | null };

export type PartitionStatus = {
  watermark: Watermark | null;
  /** Event time of the row that came last; null before the first. */
  lastEventTime: number | null;
  idle: boolean;
  ended: boolean;
};

/** Per partition: microseconds, 'end', or null before the first row. */
export type WatermarkState = Record<string, number | 'end' | null>;

/** Without a WATERMARK clause, the watermark stands this far behind the newest event time. */
const DEFAULT_LAG_MICROS = 1_000_000;

/** Rows with their event times; the watermark of a row is its value in `watermarks` less `lag`. */
type Timed = {
  rows: RecordBatch;
  watermarks: Int64Column;
  lag: number;
  problems: RowProblem[];
  /** The watermark after the rows when that is known already, and they need no cut. */
  reached?: Watermark;
};

type Partition = {
  watermark: Watermark | null;
  /** Where the watermark stood at the last row: silence is added to this. */
  base: Watermark | null;
  lastEventTime: number | null;
  /** Last row, or when this generator first saw the clock. */
  heardMs: number | null;
  idle: boolean;
  ended: boolean;
};

export class WatermarkGenerator {
  readonly #schema: Schema;
  readonly #eventTime: CompiledExpr | null;
  readonly #watermark: CompiledExpr | null;
  /** The watermark of a row is its event time less this; null: only the expression knows. */
  readonly #lag: number | null;
  readonly #idleMs: number | null;
  readonly #idleAdvanceMs: number | null;
  readonly #partitions = new Map<number, Partition>();
  #merged: Watermark | null = null;

  /**
   * @param spec null: event time is what the source set, else the time of arrival
   * @param schema of the batches, for messages
   */
  constructor(spec: WatermarkSpec | null, schema: Schema, partitions: readonly number[]) {
    this.#schema = schema;
    this.#eventTime = spec === null ? null : compileExpr(spec.eventTime);
    this.#watermark = spec === null ? null : compileExpr(spec.watermark);
    this.#lag = spec === null ? DEFAULT_LAG_MICROS : constantLag(spec);
    this.#idleMs = spec?.idleMs ?? null;
    this.#idleAdvanceMs = spec?.idleAdvanceMs ?? null;
    for (const partition of partitions) {
      this.#partitions.set(partition, {
        watermark: null,
        base: null,
        lastEventTime: null,
        heardMs: null,
        idle: false,
        ended: false,
      });
    }
    this.#merge();
  }

  /** The merged watermark; +Infinity when every partition has ended. */
  get watermark(): Watermark | null {
    return this.#merged;
  }

  /** Whether this source holds nobody back: all its partitions that have not ended are idle. */
  get idle(): boolean {
    const open = [...this.#partitions.values()].filter((partition) => !partition.ended);
    return open.length > 0 && open.every((partition) => partition.idle);
  }

  status(): Map<number, PartitionStatus> {
    return new Map(
      [...this.#partitions].map(([number, { watermark, lastEventTime, idle, ended }]) => [
        number,
        { watermark, lastEventTime, idle, ended },
      ]),
    );
  }

  /**
   * Gives the batch its event times and cuts it.
   *
   * @returns segments in row order; announce each `watermarkBefore` ahead of its rows, and `watermark` after the last
   */
  onBatch(
    partition: number,
    batch: RecordBatch,
    nowMs: number,
  ): { segments: Segment[]; problems: RowProblem[] } {
    const state = must(this.#partitions.get(partition), `partition ${partition}`);
    assert(!state.ended, 'an ended partition has no rows');
    state.heardMs = nowMs;
    state.idle = false;
    const timed = this.#withTimes(batch, nowMs, state.watermark ?? -Infinity);
    const segments = timed.rows.rows === 0 ? [] : this.#cut(state, timed);
    state.base = state.watermark;
    const { rows } = timed.rows;
    if (rows > 0) state.lastEventTime = timeAt(timesOf(timed.rows), rows - 1);
    this.#merge();
    return { segments, problems: timed.problems };
  }

  /** @param before  the watermark of the rows before */
  #withTimes(batch: RecordBatch, nowMs: number, before: Watermark): Timed {
    if (this.#eventTime === null || this.#watermark === null) {
      const eventTime = batch.eventTime ?? constantTime(nowMs * 1000, batch.rows);
      const rows = { ...batch, eventTime };
      return { rows, watermarks: eventTime, lag: DEFAULT_LAG_MICROS, problems: [] };
    }
    const errors = new RowErrors(batch.rows);
    const given = timeColumn(this.#eventTime(batch, errors));
    const latest = before + (this.#lag ?? 0);
    const eventTime = this.#lag === null ? given : withDeletionTimes(given, batch.retract, latest);
    if (this.#lag !== null && !errors.failed && eventTime.validity === null) {
      const common = { watermarks: eventTime, lag: this.#lag, problems: [] };
      const reached = climb(eventTime.words, this.#lag, batch.rows, before);
      if (reached !== null) return { rows: { ...batch, eventTime }, ...common, reached };
      if (isOrdinary(eventTime, batch.rows)) return { rows: { ...batch, eventTime }, ...common };
    }
    // Before the times of deletions, which are those of rows before them.
    if (failFar(given, batch.rows, errors))
      return this.#withoutFailed(batch, errors, nowMs, before);
    // The watermark of a deletion without a time is as far behind as that of any other row.
    const lag = given === eventTime ? 0 : (this.#lag ?? 0);
    const watermarks =
      given === eventTime
        ? timeColumn(this.#watermark({ ...batch, eventTime }, errors))
        : eventTime;
    failNulls(eventTime, batch.rows, errors, 'the event time is NULL');
    failNulls(watermarks, batch.rows, errors, 'the watermark of the row is NULL');
    if (!errors.failed) return { rows: { ...batch, eventTime }, watermarks, lag, problems: [] };
    return this.#withoutFailed(batch, errors, nowMs, before);
  }

  #withoutFailed(batch: RecordBatch, errors: RowErrors, nowMs: number, before: Watermark): Timed {
    const problems = problemsOf(errors, (row) => rowJson(batch, this.#schema, row));
    const keep = new Uint8Array(batch.rows);
    for (let row = 0; row < batch.rows; row++) keep[row] = errors.hasFailed(row) ? 0 : 1;
    const rest = this.#withTimes(filterBatch(batch, keep), nowMs, before);
    return { ...rest, problems: [...problems, ...rest.problems] };
  }

  #cut(state: Partition, { rows: batch, watermarks, lag, ...known }: Timed): Segment[] {
    const times = timesOf(batch);
    const before = state.watermark ?? -Infinity;
    const reached = known.reached ?? inOrder(times, watermarks.words, lag, batch.rows, before);
    if (reached !== null) {
      state.watermark = reached;
      return [{ batch, watermarkBefore: this.#merged }];
    }
    const others = this.#minimumOfOthers(state);
    const segments: Segment[] = [];
    let announced = this.#merged;
    let own = state.watermark;
    let from = 0;
    for (let row = 0; row < batch.rows; row++) {
      if (own !== null && others !== null) {
        const before = own < others ? own : others;
        const time = timeAt(times, row);
        if (time < before && (announced === null || before > announced)) {
          if (row > from)
            segments.push({ batch: sliceBatch(batch, from, row), watermarkBefore: announced });
          announced = before;
          from = row;
        }
      }
      const value = timeAt(watermarks.words, row) - lag;
      if (own === null || value > own) own = value;
    }
    segments.push({
      batch: from === 0 ? batch : sliceBatch(batch, from, batch.rows),
      watermarkBefore: announced,
    });
    state.watermark = own;
    return segments;
  }

  /** +Infinity: there are no others to wait for; null: one has not reported yet. */
  #minimumOfOthers(except: Partition): Watermark | null {
    let minimum = Infinity;
    for (const partition of this.#partitions.values()) {
      if (partition === except || partition.idle || partition.ended) continue;
      if (partition.watermark === null) return null;
      if (partition.watermark < minimum) minimum = partition.watermark;
    }
    return minimum;
  }

  onPartitionEnded(partition: number): void {
    must(this.#partitions.get(partition), `partition ${partition}`).ended = true;
    this.#merge();
  }

  /** Nothing was read for `ms` because nothing could be: that counts as no partition's silence. */
  forgive(ms: number): void {
    for (const partition of this.#partitions.values())
      if (partition.heardMs !== null) partition.heardMs += ms;
  }

  /** Lets the clock act: partitions fall idle or run on. Read `watermark` and `idle` afterwards. */
  onTick(nowMs: number): void {
    for (const partition of this.#partitions.values()) {
      if (partition.ended) continue;
      // Silence is counted anew when the clock was set back.
      partition.heardMs = Math.min(partition.heardMs ?? nowMs, nowMs);
      const silentMs = nowMs - partition.heardMs;
      if (this.#idleMs !== null && silentMs >= this.#idleMs) partition.idle = true;
      if (
        this.#idleAdvanceMs !== null &&
        partition.base !== null &&
        silentMs > this.#idleAdvanceMs
      ) {
        const advanced = partition.base + (silentMs - this.#idleAdvanceMs) * 1000;
        if (partition.watermark === null || advanced > partition.watermark)
          partition.watermark = advanced;
      }
    }
    this.#merge();
  }

  #merge(): void {
    const open = [...this.#partitions.values()].filter((partition) => !partition.ended);
    const active = open.filter((partition) => !partition.idle);
    let merged: Watermark | null;
    if (open.length === 0) merged = Infinity;
    else if (active.length > 0)
      merged = active.some((each) => each.watermark === null) ? null : extreme(active, Math.min);
    else merged = extreme(open, Math.max);
    if (merged !== null && (this.#merged === null || merged > this.#merged)) this.#merged = merged;
  }

  snapshot(): WatermarkState {
    return Object.fromEntries(
      [...this.#partitions].map(([number, { watermark, ended }]) => [
        String(number),
        ended ? 'end' : watermark,
      ]),
    );
  }

  /**
   * States of any partition, also of other subtasks. An ended partition comes back as one that has reported nothing:
   * whether it ends again, or has grown meanwhile, is for its source to find out.
   */
  restore(state: WatermarkState): void {
    for (const [number, partition] of this.#partitions) {
      const watermark = state[String(number)];
      if (typeof watermark !== 'number') continue;
      partition.watermark = watermark;
      partition.base = watermark;
    }
    this.#merge();
  }
}

function extreme(
  partitions: readonly Partition[],
  choose: (...values: number[]) => number,
): Watermark | null {
  const known = partitions
    .map((partition) => partition.watermark)
    .filter((watermark) => watermark !== null);
  return known.length === 0 ? null : choose(...known);
}

/** The constant that the watermark expression takes from the event time, when that is all it does. */
function constantLag({ eventTime, watermark }: WatermarkSpec): number | null {
  const isTime = (expr: Expr): boolean =>
    expr.tag === 'row-time' || JSON.stringify(expr) === JSON.stringify(eventTime);
  if (isTime(watermark)) return 0;
  if (watermark.tag !== 'call' || watermark.fn !== 'subtract:timestamp-interval') return null;
  const [time, behind] = watermark.args;
  if (time === undefined || !isTime(time) || behind?.tag !== 'literal') return null;
  if (behind.value === null) return null;
  const micros = fixedMicros(intervalOfLiteral(String(behind.value)));
  return micros === null || Math.abs(Number(micros)) >= 1e15 ? null : Number(micros);
}

/** Whether every time is present and so near to 1970 that taking a lag from it is exact. */
function isOrdinary({ validity, words }: Int64Column, rows: number): boolean {
  if (validity !== null) return false;
  let far = 0;
  for (let row = 0; row < rows; row++) {
    const high = words[2 * row + 1] as number;
    far |= high ^ (high >> 31);
  }
  return far < 0x100000;
}

/**
 * As `isOrdinary` and `inOrder`, for most batches in one pass over whole numbers: their times share the high word, for it
 * changes every 72 minutes, and no time lies below the first one. Null: others, which need a closer look.
 */
function climb(words: Int32Array, lag: number, rows: number, before: Watermark): Watermark | null {
  if (rows === 0 || lag < 0 || timeAt(words, 0) < before) return null;
  const high = words[1] as number;
  if ((high ^ (high >> 31)) >= 0x100000) return null;
  const first = (words[0] as number) >>> 0;
  let latest = first;
  for (let row = 1; row < rows; row++) {
    const low = (words[2 * row] as number) >>> 0;
    if (words[2 * row + 1] !== high) return null;
    if (low > latest) latest = low;
    else if (low < first || latest - low > lag) return null;
  }
  return Math.max(before, wordsToNumber(latest | 0, high) - lag);
}

/**
 * The watermark after rows none of which lies below the watermark of those before it; null: one does. Such rows need no
 * cut, whatever the other partitions say.
 */
function inOrder(
  times: Int32Array,
  marks: Int32Array,
  lag: number,
  rows: number,
  before: Watermark,
): Watermark | null {
  let own = before;
  if (times === marks) {
    for (let row = 0; row < rows; row++) {
      const time = timeAt(times, row);
      if (time < own) return null;
      if (time - lag > own) own = time - lag;
    }
    return own;
  }
  for (let row = 0; row < rows; row++) {
    if (timeAt(times, row) < own) return null;
    const mark = timeAt(marks, row) - lag;
    if (mark > own) own = mark;
  }
  return own;
}

function timeColumn(column: { tag: string }): Int64Column {
  assert(column.tag === 'timestamp', 'event times and watermarks are timestamps');
  return column as Int64Column;
}

/** Fails the rows whose event time is further from 1970 than windows are exact; whether there are any. */
function failFar(column: Int64Column, rows: number, errors: RowErrors): boolean {
  let found = false;
  for (let row = 0; row < rows; row++) {
    if (!isValid(column, row)) continue;
    const time = timeAt(column.words, row);
    if (Math.abs(time) <= EVENT_TIME_MAX) continue;
    found = true;
    const text = scalarText(column, row);
    errors.fail(
      row,
      'NUMERIC_OUT_OF_RANGE',
      `the event time ${text} is not of the years 1700 to 2239`,
    );
  }
  return found;
}

function failNulls(column: Int64Column, rows: number, errors: RowErrors, message: string): void {
  if (column.validity === null) return;
  for (let row = 0; row < rows; row++)
    if (!isValid(column, row)) errors.fail(row, 'NULL_VIOLATION', message);
}
