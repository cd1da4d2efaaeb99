/**
 * EXCEPT and INTERSECT, with and without ALL, kept up to date.
 *
 * Place in the walk: stage 6. For each different row it counts how often each side has it; from the two counts follows
 * how often the result has it. Changes are emitted every `flushMs`, at barriers and at the end of the input.
 *
 * State table `rows`: the columns, both counts, and how often the row is out downstream.
 * Invariants: INV-85 the rows emitted less those taken back are the result as of the last flush.
 * Not guaranteed: anything about a side that takes back more rows than it gave; its count is then below zero.
 * Failure: none.
 */
import { assert, must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import type { Column } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { FLOAT64, type Schema } from '../batch/types.ts';
import type { OperatorSpec } from '../graph/graph.ts';
import { allGroups, GroupIndex } from '../state/group-index.ts';
import { grown, wider } from '../state/growth.ts';
import { hashedLater } from '../state/hashed-later.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import type { Operator, Output, Watermark } from './operator.ts';

export type SetOperationSpec = OperatorSpec & { tag: 'set-operation' };

/** Rows that neither side has are swept when there are more of them than this and than the others. */
const DEAD_ROWS_MAX = 1024;

export class SetOperation implements Operator {
  readonly copiesRows = true;
  readonly keepsChanges = true;
  readonly #spec: SetOperationSpec;
  readonly #schema: Schema;
  #index: GroupIndex;
  /** Of each row: how often the left and the right side have it, and how often it is out. */
  #left = new Float64Array(16);
  #right = new Float64Array(16);
  #out = new Float64Array(16);
  /** 1: to be emitted; 2: to be saved again. */
  #isDirty = new Uint8Array(16);
  #dirty: number[] = [];
  #touched: number[] = [];
  #flushedMs: number | null = null;

  constructor(spec: SetOperationSpec, schema: Schema) {
    this.#spec = spec;
    this.#schema = schema;
    this.#index = new GroupIndex(schema.map((field) => field.type));
  }

  onBatch(port: number, batch: RecordBatch, _output: Output): void {
    const { rows, columns, retract } = batch;
    const groups = new Int32Array(rows);
    this.#index.lookupOrInsert(columns, 0, rows, groups);
    this.#makeRoom();
    const counts = port === 0 ? this.#left : this.#right;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      const step = retract !== null && retract[row] === 1 ? -1 : 1;
      counts[group] = (counts[group] as number) + step;
      const marks = this.#isDirty[group] as number;
      if ((marks & 1) === 0) this.#dirty.push(group);
      if ((marks & 2) === 0) this.#touched.push(group);
      this.#isDirty[group] = 3;
    }
  }

  #makeRoom(): void {
    const { count } = this.#index;
    if (count <= this.#left.length) return;
    const room = grown(this.#left.length, count);
    this.#left = wider(Float64Array, this.#left, room);
    this.#right = wider(Float64Array, this.#right, room);
    this.#out = wider(Float64Array, this.#out, room);
    this.#isDirty = wider(Uint8Array, this.#isDirty, room);
  }

  /** How often the result has a row. */
  #wanted(group: number): number {
    const left = Math.max(0, this.#left[group] as number);
    const right = Math.max(0, this.#right[group] as number);
    if (this.#spec.operator === 'intersect') {
      const both = Math.min(left, right);
      return this.#spec.all ? both : Math.min(1, both);
    }
    if (this.#spec.all) return Math.max(0, left - right);
    return left > 0 && right === 0 ? 1 : 0;
  }

  onWatermark(watermark: Watermark, output: Output): void {
    if (watermark === Infinity) this.#flush(output);
  }

  onTick(nowMs: number, output: Output): void {
    this.#flushedMs ??= nowMs;
    if (Math.abs(nowMs - this.#flushedMs) < this.#spec.flushMs) return;
    this.#flushedMs = nowMs;
    this.#flush(output);
  }

  onBarrier(output: Output): void {
    this.#flush(output);
  }

  #flush(output: Output): void {
    const dirty = this.#dirty;
    this.#dirty = [];
    let groups: number[] = [];
    let retract: number[] = [];
    const emit = (): void => {
      const rows = groups.length;
      if (rows === 0) return;
      const columns = this.#index.keyColumns(Int32Array.from(groups));
      output.emit({ rows, columns, eventTime: null, retract: Uint8Array.from(retract) });
      groups = [];
      retract = [];
    };
    for (const group of dirty) {
      this.#isDirty[group] = (this.#isDirty[group] as number) & 2;
      const wanted = this.#wanted(group);
      const step = wanted > (this.#out[group] as number) ? 1 : -1;
      while (this.#out[group] !== wanted) {
        this.#out[group] = (this.#out[group] as number) + step;
        groups.push(group);
        retract.push(step < 0 ? 1 : 0);
        if (groups.length >= LIMITS.batchRowsDefault) emit();
      }
    }
    emit();
  }

  #isDead(group: number): boolean {
    return this.#left[group] === 0 && this.#right[group] === 0 && this.#out[group] === 0;
  }

  snapshot(kind: SnapshotKind): StateTable[] {
    assert(this.#dirty.length === 0, 'onBarrier comes before a snapshot');
    const touched = Int32Array.from(this.#touched);
    this.#touched = [];
    for (const group of touched) this.#isDirty[group] = 0;
    const whole = kind === 'whole' || touched.length * 2 > this.#index.count;
    const among = whole ? allGroups(this.#index.count) : touched;
    const groups = among.filter((group) => !this.#isDead(group));
    const gone = whole ? new Int32Array(0) : touched.filter((group) => this.#isDead(group));
    const table = {
      table: 'rows',
      schema: [
        ...this.#schema.map((field, at) => ({ ...field, name: `c${at}`, nullable: true })),
        ...['left', 'right', 'out'].map((name) => ({ name, type: FLOAT64, nullable: false })),
      ],
      rows: groups.length,
      columns: [
        ...this.#index.keyColumns(groups),
        countsOf(this.#left, groups),
        countsOf(this.#right, groups),
        countsOf(this.#out, groups),
      ],
      changes: whole
        ? null
        : {
            keyColumns: this.#schema.length,
            removed:
              gone.length === 0
                ? null
                : {
                    rows: gone.length,
                    columns: this.#index.keyColumns(gone),
                    hashes: this.#index.hashesOf(gone),
                  },
            droppedBelow: null,
          },
    };
    this.#sweep();
    return groups.length === 0 && kind === 'whole' ? [] : [hashedLater(table, this.#schema.length)];
  }

  /** Forgets rows that nobody has when there are many; right after a snapshot has named them. */
  #sweep(): void {
    const { count } = this.#index;
    if (count <= DEAD_ROWS_MAX) return;
    const alive = allGroups(count).filter((group) => !this.#isDead(group));
    if (count - alive.length <= Math.max(DEAD_ROWS_MAX, alive.length)) return;
    this.#left = Float64Array.from(alive, (group) => this.#left[group] as number);
    this.#right = Float64Array.from(alive, (group) => this.#right[group] as number);
    this.#out = Float64Array.from(alive, (group) => this.#out[group] as number);
    this.#isDirty = new Uint8Array(alive.length);
    this.#index = this.#index.retain(alive);
  }

  restore(tables: readonly StateTable[]): void {
    for (const { table, columns, rows } of tables) {
      assert(table === 'rows', `unknown state table ${table}`);
      const width = this.#schema.length;
      const groups = new Int32Array(rows);
      this.#index.lookupOrInsert(columns.slice(0, width), 0, rows, groups);
      this.#makeRoom();
      const stores = [this.#left, this.#right, this.#out];
      stores.forEach((store, at) => {
        const counts = must(columns[width + at], 'a column of counts');
        assert(counts.tag === 'float64', 'counts are doubles');
        for (let row = 0; row < rows; row++)
          store[groups[row] as number] = counts.values[row] as number;
      });
    }
  }

  stateBytes(): number {
    return this.#index.bytes() + this.#left.byteLength * 3 + this.#isDirty.byteLength;
  }

  stateRows(): number {
    return this.#index.count;
  }
}

function countsOf(counts: Float64Array, groups: Int32Array): Column {
  const values = Float64Array.from(groups, (group) => counts[group] as number);
  return { tag: 'float64', type: FLOAT64, length: groups.length, validity: null, values };
}
