/**
 * The first rows of each partition, kept up to date.
 *
 * Place in the walk: stage 6. Over rows that only come, a partition keeps no more than its first rows: what is behind
 * them can never come back. Over rows that may be taken back it keeps all of them, so that the next one is there when
 * one of the first leaves. Changes are gathered and emitted every `flushMs`, at barriers and at the end of the input:
 * rows that left the top are taken back and rows that entered it are added; where the rank is shown, rows that moved
 * are replaced. A row that left and came back in between is not mentioned.
 *
 * State table `rows`: see `kept-rows.ts`; added are whether the row is out downstream and under which rank.
 * Invariants: INV-81 the rows emitted less those taken back are the first rows of each partition as of the last flush;
 * INV-82 which rows are first depends on the rows only: equals are told apart by all their columns.
 * Failure: a retraction of a row that never came is an error of that row.
 */
import { must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import { bitAt, bitmapBytes, setBit, wordsToNumber, type Column } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { BOOLEAN, INT64, type Schema } from '../batch/types.ts';
import type { OperatorSpec } from '../graph/graph.ts';
import { grown, wider } from '../state/growth.ts';
import { NONE } from '../state/ordered-slots.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import { KeptRows } from './kept-rows.ts';
import type { Operator, Output, Watermark } from './operator.ts';
import { integerColumn } from './over-columns.ts';
import { nothingToRetract } from './row-json.ts';

export type TopNSpec = OperatorSpec & { tag: 'top-n' };

export class TopN implements Operator {
  readonly copiesRows = true;
  readonly keepsChanges = true;
  readonly #spec: TopNSpec;
  readonly #inputSchema: Schema;
  readonly #rows: KeptRows;
  /** Rows that a partition must keep: those shown and those skipped before them. */
  readonly #keep: number;
  /** Of each slot: the rank it is out downstream under; 0: it is not out. */
  #shown = new Float64Array(16);
  /** Of each partition: its last row when it is full and keeps no others. */
  #last = new Int32Array(16).fill(NONE);
  /** Of each partition: what a row's approximation must not exceed to be among the first. */
  #bounds = new Float64Array(16).fill(Infinity);
  /** Of each partition: rows that are out. */
  #outCount = new Int32Array(16);
  #isDirty = new Uint8Array(16);
  #dirty: number[] = [];
  /** Rows that are out and in no order any more. */
  #leaving: number[] = [];
  #flushedMs: number | null = null;

  constructor(spec: TopNSpec, inputSchema: Schema) {
    this.#spec = spec;
    this.#inputSchema = inputSchema;
    this.#keep = spec.limit + spec.offset;
    this.#rows = new KeptRows(inputSchema, spec.partitionBy, spec.orderBy);
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    const rows = this.#rows;
    const groups = rows.groupsOf(batch.columns, batch.rows);
    this.#makeRoom();
    const approximations = rows.approximate(batch.columns, batch.rows);
    const picked = new Int32Array(batch.rows);
    const count = this.#pick(groups, approximations, picked);
    const slots = rows.stage(batch.columns, picked, count, groups, approximations);
    this.#makeRoom();
    for (let at = 0; at < count; at++) {
      const slot = slots[at] as number;
      const row = picked[at] as number;
      if (batch.retract !== null && batch.retract[row] === 1) {
        if (!this.#takeBack(slot)) output.fail([nothingToRetract(batch, this.#inputSchema, row)]);
      } else this.#add(slot);
    }
  }

  /** The rows that may be among the first; the others are behind the last of a partition that is full. */
  #pick(groups: Int32Array, approximations: Float64Array, picked: Int32Array): number {
    if (this.#keep === 1 && !this.#spec.retracting) this.#foresee(groups, approximations);
    let count = 0;
    for (let row = 0; row < groups.length; row++) {
      const bound = this.#bounds[groups[row] as number] as number;
      if ((approximations[row] as number) <= bound) picked[count++] = row;
    }
    return count;
  }

  /** Of several rows of a batch only the first can stay: the others need not be stored for it. */
  #foresee(groups: Int32Array, approximations: Float64Array): void {
    const bounds = this.#bounds;
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      const near = approximations[row] as number;
      if (near < (bounds[group] as number)) bounds[group] = near;
    }
  }

  #makeRoom(): void {
    const { groups, store } = this.#rows;
    if (store.limit > this.#shown.length)
      this.#shown = wider(Float64Array, this.#shown, grown(this.#shown.length, store.limit));
    if (groups <= this.#last.length) return;
    const before = this.#last.length;
    const room = grown(before, groups);
    this.#last = wider(Int32Array, this.#last, room).fill(NONE, before);
    this.#bounds = wider(Float64Array, this.#bounds, room).fill(Infinity, before);
    this.#outCount = wider(Int32Array, this.#outCount, room);
    this.#isDirty = wider(Uint8Array, this.#isDirty, room);
  }

  #markDirty(group: number): void {
    if (this.#isDirty[group] === 1) return;
    this.#isDirty[group] = 1;
    this.#dirty.push(group);
  }

  #add(slot: number): void {
    const rows = this.#rows;
    const group = rows.groupOf[slot] as number;
    const last = this.#last[group] as number;
    if (last !== NONE) {
      const order = this.#spec.ties ? rows.compareKeys(slot, last) : rows.compareRows(slot, last);
      if (order > 0 || (order === 0 && !this.#spec.ties)) {
        rows.release(slot);
        return;
      }
    }
    rows.insert(slot);
    this.#markDirty(group);
    if (!this.#spec.retracting) this.#trim(group);
  }

  /** Drops what can never be among the first again. */
  #trim(group: number): void {
    const rows = this.#rows;
    const size = rows.order.size(group);
    if (size < this.#keep) return;
    let last = rows.order.last(group);
    if (size > this.#keep) {
      const boundary = rows.order.at(group, this.#keep - 1);
      while (
        rows.order.size(group) > this.#keep &&
        !(this.#spec.ties && rows.compareKeys(last, boundary) === 0)
      ) {
        this.#drop(last);
        last = rows.order.last(group);
      }
    }
    this.#last[group] = last;
    this.#bounds[group] = rows.approximations[last] as number;
  }

  #drop(slot: number): void {
    this.#rows.remove(slot);
    if ((this.#shown[slot] as number) > 0) this.#leaving.push(slot);
    else this.#rows.release(slot);
  }

  #takeBack(slot: number): boolean {
    const rows = this.#rows;
    const found = rows.find(slot);
    rows.release(slot);
    if (found === NONE) return false;
    this.#markDirty(rows.groupOf[found] as number);
    this.#drop(found);
    return true;
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
    if (this.#dirty.length === 0) return;
    const changes = new Changes(this.#rows, this.#spec.ranked, output);
    this.#settleLeaving(changes);
    const dirty = this.#dirty;
    this.#dirty = [];
    for (const group of dirty) {
      this.#isDirty[group] = 0;
      this.#flushGroup(group, changes);
    }
    changes.emit();
    for (const slot of this.#leaving) this.#rows.release(slot);
    this.#leaving = [];
  }

  /** Rows that left are taken back, unless an equal one came in their place: that one is then out already. */
  #settleLeaving(changes: Changes): void {
    const rows = this.#rows;
    for (const slot of this.#leaving) {
      const shown = this.#shown[slot] as number;
      this.#shown[slot] = 0;
      const equal = rows.find(slot);
      if (equal !== NONE && this.#shown[equal] === 0) {
        this.#show(equal, shown);
        continue;
      }
      const group = rows.groupOf[slot] as number;
      this.#outCount[group] = (this.#outCount[group] as number) - 1;
      changes.retract(slot, shown);
    }
  }

  #show(slot: number, rank: number): void {
    this.#shown[slot] = rank;
    this.#rows.touch(slot);
  }

  #flushGroup(group: number, changes: Changes): void {
    const { order } = this.#rows;
    const { offset } = this.#spec;
    const end = this.#topSize(group);
    const top: number[] = [];
    order.slots(group, offset, end, top);
    let out = 0;
    for (const slot of top) if ((this.#shown[slot] as number) > 0) out++;
    let missing = (this.#outCount[group] as number) - out;
    if (missing > 0) missing = this.#retractFrom(group, 0, Math.min(offset, end), missing, changes);
    // Rows leave the top at its end, pushed by as many as came: the search is no longer than the changes were many.
    for (let from = end; missing > 0; from += 64)
      missing = this.#retractFrom(group, from, from + 64, missing, changes);
    this.#outCount[group] = top.length;
    const moved: number[] = [];
    let rank = offset;
    for (let at = 0; at < top.length; at++) {
      const slot = top[at] as number;
      const sharesRank =
        this.#spec.ties && at > 0 && this.#rows.compareKeys(top[at - 1] as number, slot) === 0;
      if (!sharesRank) rank = offset + at + 1;
      const shown = this.#shown[slot] as number;
      if (shown === rank || (shown > 0 && !this.#spec.ranked)) continue;
      if (shown > 0) changes.retract(slot, shown);
      this.#show(slot, rank);
      moved.push(slot);
    }
    // Only now, so that a rank is free before it is taken again.
    for (const slot of moved) changes.append(slot, this.#shown[slot] as number);
  }

  /** Rows up to the end of the top, those that are skipped included. */
  #topSize(group: number): number {
    const { order } = this.#rows;
    const size = order.size(group);
    if (size <= this.#keep || !this.#spec.ties) return Math.min(size, this.#keep);
    const boundary = order.at(group, this.#keep - 1);
    return order.countBefore(group, (slot) => this.#rows.compareKeys(slot, boundary) <= 0);
  }

  #retractFrom(group: number, from: number, to: number, missing: number, changes: Changes): number {
    const slots: number[] = [];
    this.#rows.order.slots(group, from, to, slots);
    let left = missing;
    for (const slot of slots) {
      const shown = this.#shown[slot] as number;
      if (shown === 0) continue;
      changes.retract(slot, shown);
      this.#show(slot, 0);
      left--;
    }
    return left;
  }

  snapshot(kind: SnapshotKind): StateTable[] {
    const fields: Schema = [
      { name: 'out', type: BOOLEAN, nullable: false },
      { name: 'rank', type: INT64, nullable: false },
    ];
    const tables = this.#rows.snapshot(kind, fields, (slots) => this.#shownColumns(slots));
    const kept = this.#rows.sweep(() => false);
    if (kept !== null) {
      this.#outCount = Int32Array.from(kept, (group) => this.#outCount[group] as number);
      this.#last = Int32Array.from(kept, (group) => this.#last[group] as number);
      this.#bounds = Float64Array.from(kept, (group) => this.#bounds[group] as number);
      this.#isDirty = new Uint8Array(kept.length);
    }
    return tables;
  }

  #shownColumns(slots: Int32Array): Column[] {
    const bits = new Uint8Array(bitmapBytes(slots.length));
    const ranks = new Float64Array(slots.length);
    for (let at = 0; at < slots.length; at++) {
      ranks[at] = this.#shown[slots[at] as number] as number;
      if ((ranks[at] as number) > 0) setBit(bits, at);
    }
    return [
      { tag: 'boolean', type: BOOLEAN, length: slots.length, validity: null, bits },
      integerColumn(ranks),
    ];
  }

  restore(tables: readonly StateTable[]): void {
    for (const table of tables) {
      const { slots, added } = this.#rows.restore(table);
      const [out, ranks] = added;
      this.#makeRoom();
      for (let row = 0; row < table.rows; row++) {
        const slot = slots[row] as number;
        const isOut = out?.tag === 'boolean' && bitAt(out.bits, row);
        const words = must(ranks?.tag === 'int64' ? ranks.words : null, 'ranks');
        this.#shown[slot] = isOut
          ? wordsToNumber(words[row * 2] as number, words[row * 2 + 1] as number)
          : 0;
        if (!isOut) continue;
        const group = this.#rows.groupOf[slot] as number;
        this.#outCount[group] = (this.#outCount[group] as number) + 1;
      }
    }
    if (!this.#spec.retracting)
      for (let group = 0; group < this.#rows.groups; group++) this.#trim(group);
  }

  stateBytes(): number {
    return this.#rows.bytes() + this.#shown.byteLength + this.#last.byteLength * 2;
  }

  stateRows(): number {
    return this.#rows.rows;
  }
}

/** The changes of one flush, in order, emitted in batches. */
class Changes {
  readonly #rows: KeptRows;
  readonly #ranked: boolean;
  readonly #output: Output;
  #slots: number[] = [];
  #ranks: number[] = [];
  #retract: number[] = [];

  constructor(rows: KeptRows, ranked: boolean, output: Output) {
    this.#rows = rows;
    this.#ranked = ranked;
    this.#output = output;
  }

  retract(slot: number, rank: number): void {
    this.#push(slot, rank, 1);
  }

  append(slot: number, rank: number): void {
    this.#push(slot, rank, 0);
  }

  #push(slot: number, rank: number, retract: number): void {
    this.#slots.push(slot);
    this.#ranks.push(rank);
    this.#retract.push(retract);
    if (this.#slots.length >= LIMITS.batchRowsDefault) this.emit();
  }

  emit(): void {
    const rows = this.#slots.length;
    if (rows === 0) return;
    const columns = this.#rows.store.gather(Int32Array.from(this.#slots));
    this.#output.emit({
      rows,
      columns: this.#ranked ? [...columns, integerColumn(Float64Array.from(this.#ranks))] : columns,
      eventTime: null,
      retract: Uint8Array.from(this.#retract),
    });
    this.#slots = [];
    this.#ranks = [];
    this.#retract = [];
  }
}
