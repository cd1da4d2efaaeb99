/**
 * Rows a join emits, gathered as places and turned into batches: a row of the batch at hand, a row the other side
 * keeps, or NULLs in place of either.
 */
import { inRoom, takenBytes } from '../batch/batch-bytes.ts';
import { nullColumn } from '../batch/column-builder.ts';
import type { Column, Int64Column } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { sliceColumn, takeColumn } from '../batch/take.ts';
import { sameType, type Schema, type SqlType, TIMESTAMP } from '../batch/types.ts';
import { must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import type { Expr } from '../expr/expr.ts';
import type { JoinSpec } from '../graph/graph.ts';
import { grown, wider } from '../state/growth.ts';
import type { RowTimes } from '../state/row-lists.ts';
import type { JoinSide } from './join-side.ts';
import type { Output } from './operator.ts';

export class JoinOutput {
  /** Row of the batch; -1: none. */
  #own: Int32Array = new Int32Array(4096);
  /** Place in the other side; -1: none. */
  #other: Int32Array = new Int32Array(4096);
  #retract = new Uint8Array(4096);
  #times = new Float64Array(4096);
  #count = 0;
  #retracts = 0;
  readonly #schemas: readonly [Schema, Schema];
  readonly #leftOnly: boolean;
  readonly #timed: boolean;
  /** By the side of a batch, for each column of the other side: the column of the batch that it equals in every pair; or -1. */
  readonly #equals: readonly [Int32Array, Int32Array];

  /**
   * @param leftOnly  whether only the left side's columns come out
   * @param keys      equal in every pair that `emitPairs` is given
   */
  constructor(
    schemas: readonly [Schema, Schema],
    leftOnly: boolean,
    timed: boolean,
    keys: JoinSpec['keys'] = [[], []],
  ) {
    this.#schemas = schemas;
    this.#equals = [
      equalColumns(schemas[1], keys[1], keys[0]),
      equalColumns(schemas[0], keys[0], keys[1]),
    ];
    this.#leftOnly = leftOnly;
    this.#timed = timed;
  }

  push(own: number, other: number, retract: 0 | 1, time: number): void {
    const at = this.#count;
    if (at === this.#own.length) {
      const room = grown(at, at + 1);
      this.#own = wider(Int32Array, this.#own, room);
      this.#other = wider(Int32Array, this.#other, room);
      this.#retract = wider(Uint8Array, this.#retract, room);
      this.#times = wider(Float64Array, this.#times, room);
    }
    this.#own[at] = own;
    this.#other[at] = other;
    this.#retract[at] = retract;
    this.#retracts += retract;
    this.#times[at] = time;
    this.#count = at + 1;
  }

  /** Emits pairs as they are: row `rows[i]` of the batch with row `ids[i]` of the other side. */
  emitPairs(
    port: number,
    batch: RecordBatch,
    other: JoinSide,
    rows: Int32Array,
    ids: Int32Array,
    times: RowTimes,
    output: Output,
  ): void {
    const bytesOf = (from: number, to: number): number =>
      bytesOfRows(batch, rows.subarray(from, to)) + other.gatheredBytes(ids.subarray(from, to));
    const emit = (from: number, to: number): void => {
      const picked = rows.subarray(from, to);
      const met = ids.subarray(from, to);
      const count = picked.length;
      const own = ownColumns(batch, picked);
      const others = other.gatherRows(met, this.#equals[port === 0 ? 0 : 1], own);
      output.emit({
        rows: count,
        columns: port === 0 ? [...own, ...others] : [...others, ...own],
        eventTime: this.#timed ? timesFrom(other.rows.laterTimes(times, picked, met)) : null,
        retract: null,
      });
    };
    for (let from = 0; from < rows.length; from += LIMITS.batchRowsMax)
      inRoom(from, Math.min(rows.length, from + LIMITS.batchRowsMax), bytesOf, emit);
  }

  /**
   * Emits what was gathered.
   *
   * @param port   the side of the batch
   * @param batch  null: only rows the other side keeps were gathered
   */
  flush(port: number, batch: RecordBatch | null, other: JoinSide, output: Output): void {
    const count = this.#count;
    const retracts = this.#retracts;
    this.#count = 0;
    this.#retracts = 0;
    const bytesOf = (from: number, to: number): number =>
      (batch === null ? 0 : bytesOfRows(batch, this.#own.subarray(from, to))) +
      other.gatheredBytes(this.#other.subarray(from, to));
    const emit = (from: number, to: number): void =>
      output.emit({
        rows: to - from,
        columns: this.#columns(port, batch, other, from, to),
        eventTime: this.#timed ? timeColumn(this.#times, from, to) : null,
        retract: retracts === 0 ? null : this.#retract.slice(from, to),
      });
    for (let from = 0; from < count; from += LIMITS.batchRowsMax)
      inRoom(from, Math.min(count, from + LIMITS.batchRowsMax), bytesOf, emit);
  }

  #columns(
    port: number,
    batch: RecordBatch | null,
    other: JoinSide,
    from: number,
    to: number,
  ): Column[] {
    const rows = to - from;
    const ownWanted = !this.#leftOnly || port === 0;
    const otherWanted = !this.#leftOnly || port === 1;
    const picked = this.#own.subarray(from, to);
    const own = !ownWanted
      ? []
      : batch === null
        ? this.#schemas[port === 0 ? 0 : 1].map((field) => nullColumn(field.type, rows))
        : batch.columns.map((column) => takeColumn(column, picked, rows));
    const others = otherWanted ? other.gather(this.#other.subarray(from, to)) : [];
    return port === 0 ? [...own, ...others] : [...others, ...own];
  }
}

/** Types whose equal values have equal bytes. */
const EXACT: ReadonlySet<SqlType['tag']> = new Set(['int32', 'int64', 'timestamp', 'date', 'text']);

/** For each column of a side: the column of the other side that is the other half of its key; -1: it is not compared as it is. */
function equalColumns(schema: Schema, own: readonly Expr[], other: readonly Expr[]): Int32Array {
  const columns = new Int32Array(schema.length).fill(-1);
  own.forEach((key, at) => {
    const half = must(other[at], 'the other half of a key');
    if (key.tag !== 'column' || half.tag !== 'column') return;
    if (EXACT.has(key.type.tag) && sameType(key.type, half.type)) columns[key.index] = half.index;
  });
  return columns;
}

/** The rows picked of the batch; nothing is copied where they are neighbours, as when each row met one. */
function ownColumns(batch: RecordBatch, picked: Int32Array): readonly Column[] {
  const count = picked.length;
  const first = picked[0] ?? 0;
  for (let at = 1; at < count; at++)
    if (picked[at] !== first + at)
      return batch.columns.map((column) => takeColumn(column, picked, count, false));
  if (first === 0 && count === batch.rows) return batch.columns;
  return batch.columns.map((column) => sliceColumn(column, first, first + count));
}

const bytesOfRows = (batch: RecordBatch, rows: Int32Array): number =>
  batch.columns.reduce((sum, column) => sum + takenBytes(column, rows), 0);

export function timeColumn(times: Float64Array, from: number, to: number): Int64Column {
  const length = to - from;
  const words = new Int32Array(length * 2);
  for (let at = 0; at < length; at++) {
    const time = times[from + at] as number;
    words[at * 2] = time | 0;
    words[at * 2 + 1] = Math.floor(time / 4294967296);
  }
  return timesFrom(words);
}

const timesFrom = (words: Int32Array): Int64Column => ({
  tag: 'timestamp',
  type: TIMESTAMP,
  length: words.length >> 1,
  validity: null,
  words,
});
