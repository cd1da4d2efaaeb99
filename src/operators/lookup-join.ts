/**
 * Joins a stream with a table that has an end: the table is read first, and then each row looks up what it meets.
 *
 * Place in the walk: stage 6, behind a shuffle of both sides by their keys. Left rows that come before the table has
 * been read wait for it; event time waits with them, so that nothing comes out late. Afterwards left rows pass without
 * being kept. Of several rows with the table's PRIMARY KEY the last one to be read counts. A left row that is taken back
 * takes back what it met, since the table stays as it is. After a restore the table has to end once more: what is taken
 * back until then may have passed before, and waits as well.
 *
 * State tables `right`, the whole table, and `left`, the rows that wait; their number of matches is 1 where they take back.
 * Invariants: what comes out has the left row's event time and depends on the rows only.
 * Failure: rows that cannot be computed are errors.
 */
import { must } from '../base/assert.ts';
import { RowLists } from '../state/row-lists.ts';
import { LIMITS } from '../base/limits.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import type { Schema } from '../batch/types.ts';
import type { JoinSpec } from '../graph/graph.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import { type KeyedBatch, JoinInputs } from './join-inputs.ts';
import { JoinOutput, timeColumn } from './join-output.ts';
import { JoinPairs } from './join-pairs.ts';
import { JoinSide } from './join-side.ts';
import type { Operator, Output, Watermark } from './operator.ts';
import { timeAt } from './times.ts';

const PAIRS_MAX = 8192;
/** The `matches` of a waiting row that takes another back. */
const TAKES_BACK = 1;

export class LookupJoin implements Operator {
  readonly copiesRows = true;
  readonly keepsChanges = true;
  readonly waitsForEnd = 1;
  readonly #kind: JoinSpec['kind'];
  readonly #timed: boolean;
  readonly #lastWins: boolean;
  readonly #inputs: readonly [JoinInputs, JoinInputs];
  readonly #lists: RowLists;
  readonly #waiting: JoinSide;
  readonly #table: JoinSide;
  readonly #pairs: JoinPairs;
  readonly #out: JoinOutput;
  #isRead = false;

  constructor(spec: JoinSpec, schemas: readonly [Schema, Schema]) {
    this.#kind = spec.kind;
    this.#timed = spec.eventTime[0];
    this.#lastWins = spec.time.tag === 'lookup' && spec.time.lastWins === true;
    const lists = new RowLists(spec.keys[0].map((key) => key.type));
    this.#lists = lists;
    this.#inputs = [
      new JoinInputs(spec.keys[0], spec.nullsMeet, schemas[0], lists),
      new JoinInputs(spec.keys[1], spec.nullsMeet, schemas[1], lists),
    ];
    this.#waiting = new JoinSide('left', schemas[0], spec.keys[0], lists, false);
    this.#table = new JoinSide('right', schemas[1], spec.keys[1], lists, false);
    this.#pairs = new JoinPairs(spec.residual, schemas);
    const leftOnly = spec.kind === 'semi' || spec.kind === 'anti';
    this.#out = new JoinOutput(schemas, leftOnly, this.#timed);
  }

  onBatch(port: number, batch: RecordBatch, output: Output): void {
    const keyed = this.#inputs[port === 0 ? 0 : 1].evaluate(batch, output);
    if (keyed.batch.rows === 0) return;
    if (port === 1) this.#load(keyed);
    else if (this.#isRead) this.#lookUp(keyed, output);
    else this.#wait(keyed);
    this.#lists.tidy();
  }

  #load({ batch, keys, nulls }: KeyedBatch): void {
    for (let row = 0; row < batch.rows; row++) {
      if (nulls !== null && nulls[row] === 1) continue;
      const key = keys[row] as number;
      const back = batch.retract !== null && batch.retract[row] === 1;
      if (back || this.#lastWins) {
        const first = this.#table.rows.first(key);
        const gone = back ? this.#table.locate(first, batch.columns, row, 0) : first;
        if (gone >= 0) this.#table.remove(gone);
      }
      if (!back) this.#table.insert(batch.columns, row, key, 0, 0);
    }
  }

  #wait({ batch, keys }: KeyedBatch): void {
    const { rows, columns, retract, eventTime } = batch;
    for (let row = 0; row < rows; row++) {
      const time = eventTime === null ? 0 : timeAt(eventTime.words, row);
      const key = keys[row] as number;
      if (retract === null || retract[row] === 0) {
        this.#waiting.insert(columns, row, key, time, 0);
        continue;
      }
      const first = this.#waiting.rows.first(key);
      let gone = this.#waiting.locate(first, columns, row, time);
      while (gone >= 0 && this.#waiting.matchesOf(gone) === TAKES_BACK)
        gone = this.#waiting.locate(this.#waiting.rows.next(gone), columns, row, time);
      if (gone >= 0) this.#waiting.remove(gone);
      else this.#waiting.insert(columns, row, key, time, TAKES_BACK);
    }
  }

  onPortEnd(output: Output): void {
    if (this.#isRead) return;
    this.#isRead = true;
    const ids = this.#waiting.ids();
    const takesBack = (id: number): boolean => this.#waiting.matchesOf(id) === TAKES_BACK;
    // First what is taken back: it was there before what is new.
    this.#release(ids.filter(takesBack), true, output);
    this.#release(
      ids.filter((id) => !takesBack(id)),
      false,
      output,
    );
    for (const id of ids) this.#waiting.remove(id);
    this.#lists.tidy();
  }

  #release(ids: Int32Array, takenBack: boolean, output: Output): void {
    for (let from = 0; from < ids.length; from += LIMITS.batchRowsDefault) {
      const some = ids.subarray(from, from + LIMITS.batchRowsDefault);
      const times = Float64Array.from(some, (id) => this.#waiting.timeOf(id));
      const batch: RecordBatch = {
        rows: some.length,
        columns: this.#waiting.gather(some),
        eventTime: this.#timed ? timeColumn(times, 0, some.length) : null,
        retract: takenBack ? new Uint8Array(some.length).fill(1) : null,
      };
      this.#lookUp(this.#inputs[0].evaluate(batch, output), output);
    }
  }

  #lookUp(keyed: KeyedBatch, output: Output): void {
    const { batch } = keyed;
    for (let from = 0; from < batch.rows;) {
      const to = this.#collect(keyed, from);
      this.#pairs.test(0, batch, this.#table, output);
      this.#emit(batch, from, to);
      this.#out.flush(0, batch, this.#table, output);
      from = to;
    }
  }

  #collect({ batch, keys, nulls }: KeyedBatch, from: number): number {
    this.#pairs.clear();
    return this.#table.rows.meet(keys, nulls, from, batch.rows, PAIRS_MAX, this.#pairs);
  }

  #emit({ eventTime, retract }: RecordBatch, from: number, to: number): void {
    const kind = this.#kind;
    const { rows, ids, count } = this.#pairs;
    let pair = 0;
    for (let row = from; row < to; row++) {
      const first = pair;
      const time = eventTime === null ? 0 : timeAt(eventTime.words, row);
      const back = retract !== null && retract[row] === 1 ? 1 : 0;
      while (pair < count && rows[pair] === row) pair++;
      const met = pair > first;
      if (kind === 'semi' || kind === 'anti') {
        if (met === (kind === 'semi')) this.#out.push(row, -1, back, time);
        continue;
      }
      for (let at = first; at < pair; at++) this.#out.push(row, ids[at] as number, back, time);
      if (!met && kind === 'left') this.#out.push(row, -1, back, time);
    }
  }

  onWatermark(_watermark: Watermark, _output: Output): void {}

  onTick(_nowMs: number, _output: Output): void {}

  onBarrier(_output: Output): void {}

  snapshot(kind: SnapshotKind): StateTable[] {
    return [...this.#waiting.snapshot(kind), ...this.#table.snapshot(kind)];
  }

  restore(tables: readonly StateTable[]): void {
    for (const table of tables) {
      const sides = [this.#waiting, this.#table];
      must(
        sides.find((side) => side.table === table.table),
        `state table ${table.table}`,
      ).restore(table);
    }
  }

  stateBytes(): number {
    return this.#waiting.bytes() + this.#table.bytes() + this.#lists.bytes();
  }

  stateRows(): number {
    return this.#waiting.count + this.#table.count;
  }
}
