/**
 * Rows that wait until the watermark passes their event time.
 *
 * Place in the walk: stage 6, under OVER by event time and ORDER BY. State table `waiting`: the rows and their event times.
 * Invariants: rows come out once, all that are due together. Failure: none; late rows are the caller's to report.
 */
import { must } from '../base/assert.ts';
import type { Int64Column } from '../batch/column.ts';
import { nullColumn } from '../batch/column-builder.ts';
import { concatBatches } from '../batch/concat.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { hashRows } from '../batch/row-hash.ts';
import { filterBatch } from '../batch/take.ts';
import { TIMESTAMP, type Schema } from '../batch/types.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import { constantTime, timeAt, timesOf } from './times.ts';

/** Batches that are held apart; more are joined, so that many small ones cost no more than few large ones. */
const BATCHES_MAX = 64;

type Held = { batch: RecordBatch; earliest: number };

export class DueRows {
  readonly #schema: Schema;
  #batches: Held[] = [];
  rows = 0;

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  add(batch: RecordBatch): void {
    if (batch.rows === 0) return;
    this.rows += batch.rows;
    this.#batches.push({ batch, earliest: earliestOf(batch) });
    if (this.#batches.length <= BATCHES_MAX) return;
    const joined = concatBatches(this.#batches.map((each) => each.batch));
    this.#batches = [{ batch: joined, earliest: earliestOf(joined) }];
  }

  /** Takes out every row before `watermark`; null: there is none. */
  take(watermark: number): RecordBatch | null {
    const due: RecordBatch[] = [];
    const waiting: Held[] = [];
    for (const held of this.#batches) {
      if (held.earliest >= watermark) {
        waiting.push(held);
        continue;
      }
      const [before, after] = splitAt(held.batch, watermark);
      due.push(before);
      if (after.rows > 0) waiting.push({ batch: after, earliest: earliestOf(after) });
    }
    if (due.length === 0) return null;
    this.#batches = waiting;
    const taken = concatBatches(due);
    this.rows -= taken.rows;
    return taken;
  }

  /** The whole table: what waits changes almost as a whole from one checkpoint to the next. */
  snapshot(partition: readonly number[], kind: SnapshotKind): StateTable[] {
    if (this.rows === 0 && kind === 'whole') return [];
    const { rows, columns, eventTime } = concatBatches([
      ...this.#batches.map(({ batch }) => batch),
      ...(this.rows === 0 ? [this.#nothing()] : []),
    ]);
    const hashes = new Uint32Array(rows);
    hashRows(
      partition.map((index) => must(columns[index], 'a key column')),
      rows,
      hashes,
    );
    const schema: Schema = [
      ...this.#schema.map((field, index) => ({ ...field, name: `c${index}` })),
      { name: 'event_time', type: TIMESTAMP, nullable: false },
    ];
    const all = [...columns, must(eventTime, 'event times')];
    return [{ table: 'waiting', schema, rows, columns: all, hashes, changes: null }];
  }

  #nothing(): RecordBatch {
    return {
      rows: 0,
      columns: this.#schema.map((field) => nullColumn(field.type, 0)),
      eventTime: constantTime(0, 0),
      retract: null,
    };
  }

  restore(table: StateTable): void {
    this.add({
      rows: table.rows,
      columns: table.columns.slice(0, -1),
      eventTime: table.columns.at(-1) as Int64Column,
      retract: null,
    });
  }

  bytes(): number {
    let bytes = 0;
    for (const { batch } of this.#batches) bytes += batch.rows * (8 + 16 * batch.columns.length);
    return bytes;
  }
}

function earliestOf(batch: RecordBatch): number {
  const words = timesOf(batch);
  let earliest = Infinity;
  for (let row = 0; row < batch.rows; row++) earliest = Math.min(earliest, timeAt(words, row));
  return earliest;
}

/** The rows before a time, and the others. */
export function splitAt(batch: RecordBatch, watermark: number): [RecordBatch, RecordBatch] {
  const words = timesOf(batch);
  const before = new Uint8Array(batch.rows);
  let count = 0;
  for (let row = 0; row < batch.rows; row++) {
    if (timeAt(words, row) >= watermark) continue;
    before[row] = 1;
    count++;
  }
  if (count === batch.rows) return [batch, filterBatch(batch, new Uint8Array(batch.rows))];
  const after = before.map((byte) => 1 - byte);
  return [filterBatch(batch, before), filterBatch(batch, after)];
}
