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
import { bitAt, bitmapBytes, setBit, wordsToNumber, type Column } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { BOOLEAN, INT64, type Schema } from '../batch/types.ts';
import type { OperatorSpec } from '../graph/graph.ts';
import { allGroups } from '../state/group-index.ts';
import { grown, wider } from '../state/growth.ts';
import { NONE } from '../state/ordered-slots.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import { KeptRows } from './kept-rows.ts';
import type { Operator, Output, Watermark } from './operator.ts';
import { integerColumn } from './over-columns.ts';
import { nothingToRetract } from './row-json.ts';
import { TopNChanges } from './top-n-changes.ts';

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
  #shown = new Int32Array(16);
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
  /** Of each row of a batch. */
  #groups = new Int32Array(0);
  #nears = new Float64Array(0);
  /** Whether many rows of the last batch had to be compared column by column. */
  #looksDeep = false;
  /** Slots of one partition. */
  #top = new Int32Array(16);
  #moved = new Int32Array(16);
  readonly #changes: TopNChanges;
  readonly #compareKeys = (left: number, right: number): number =>
    this.#rows.compareKeys(left, right);

  constructor(spec: TopNSpec, inputSchema: Schema) {
    this.#spec = spec;
    this.#inputSchema = inputSchema;
    this.#keep = spec.limit + spec.offset;
    this.#rows = new KeptRows(inputSchema, spec.partitionBy, spec.orderBy);
    this.#changes = new TopNChanges(this.#rows.store, spec.ranked);
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    const { rows, columns } = batch;
    if (rows > this.#groups.length) {
      this.#groups = new Int32Array(rows);
      this.#nears = new Float64Array(rows);
    }
    this.#rows.groupsOf(columns, rows, this.#groups);
    this.#rows.approximate(columns, rows, this.#nears);
    this.#makeRoom(this.#rows.store.limit + rows);
    if (this.#spec.retracting) this.#takeChanges(batch, output);
    else this.#takeRows(batch);
  }

  #takeChanges(batch: RecordBatch, output: Output): void {
    const all = allGroups(batch.rows);
    const slots = this.#rows.stage(batch.columns, all, batch.rows, this.#groups, this.#nears);
    for (let row = 0; row < batch.rows; row++) {
      const slot = slots[row] as number;
      if (batch.retract === null || batch.retract[row] !== 1) {
        this.#rows.insert(slot);
        this.#markDirty(this.#groups[row] as number);
      } else if (!this.#takeBack(slot))
        output.fail([nothingToRetract(batch, this.#inputSchema, row)]);
    }
  }

  /** Rows behind the last of a partition that is full are not even stored. */
  #takeRows({ rows, columns }: RecordBatch): void {
    if (this.#keep === 1) this.#foresee(rows);
    const kept = this.#rows;
    const [groups, nears, bounds] = [this.#groups, this.#nears, this.#bounds];
    // Looking at columns costs the less the more rows are copied at once.
    const together = this.#looksDeep ? new Int32Array(rows) : null;
    const deep = kept.deepComparisons;
    let count = 0;
    kept.beginPlacing(columns, rows);
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      const near = nears[row] as number;
      if (near > (bounds[group] as number)) continue;
      const slot = kept.place(row, group, near);
      if (together === null) this.#add(slot, group);
      else together[count++] = slot;
    }
    if (together !== null)
      for (let at = 0; at < count; at++) {
        const slot = together[at] as number;
        this.#add(slot, kept.groupOf[slot] as number);
      }
    kept.endPlacing();
    this.#looksDeep = (kept.deepComparisons - deep) * 32 > rows;
  }

  /** Of several rows of a batch only the first can stay: the others need not be stored for it. */
  #foresee(rows: number): void {
    const [groups, nears, bounds] = [this.#groups, this.#nears, this.#bounds];
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      const near = nears[row] as number;
      if (near < (bounds[group] as number)) bounds[group] = near;
    }
  }

  #makeRoom(slots: number): void {
    const { groups } = this.#rows;
    if (slots > this.#shown.length)
      this.#shown = wider(Int32Array, this.#shown, grown(this.#shown.length, slots));
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

  #add(slot: number, group: number): void {
    const rows = this.#rows;
    const { ties } = this.#spec;
    const last = this.#last[group] as number;
    if (last !== NONE) {
      const order = ties ? rows.compareKeys(slot, last) : rows.compareRows(slot, last);
      if (order > 0 || (order === 0 && !ties)) {
        rows.release(slot);
        return;
      }
      // It goes first, so that the others do not need more room.
      if (!ties) this.#drop(last);
    }
    rows.insert(slot);
    this.#markDirty(group);
    this.#trim(group);
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
    this.#bounds[group] = rows.order.near[last] as number;
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
    this.#changes.begin(output);
    this.#settleLeaving();
    const dirty = this.#dirty;
    this.#dirty = [];
    for (const group of dirty) {
      this.#isDirty[group] = 0;
      this.#flushGroup(group);
    }
    this.#changes.end();
    for (const slot of this.#leaving) this.#rows.release(slot);
    this.#leaving = [];
  }

  /** Rows that left are taken back, unless an equal one came in their place: that one is then out already. */
  #settleLeaving(): void {
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
      this.#changes.push(slot, shown, 1);
    }
  }

  #show(slot: number, rank: number): void {
    this.#shown[slot] = rank;
    this.#rows.touch(slot);
  }

  #flushGroup(group: number): void {
    const { offset, ties, ranked } = this.#spec;
    const end = this.#topSize(group);
    const count = this.#readTop(group, offset, end);
    const missing = (this.#outCount[group] as number) - this.#countShown(count);
    if (missing > 0) {
      this.#takeOutside(group, Math.min(offset, end), end, missing);
      this.#readTop(group, offset, end);
    }
    this.#outCount[group] = count;
    const [top, moved, shown] = [this.#top, this.#moved, this.#shown];
    let movedCount = 0;
    let rank = offset;
    for (let at = 0; at < count; at++) {
      const slot = top[at] as number;
      const sharesRank =
        ties && at > 0 && this.#rows.compareKeys(top[at - 1] as number, slot) === 0;
      if (!sharesRank) rank = offset + at + 1;
      const before = shown[slot] as number;
      if (before === rank || (before > 0 && !ranked)) continue;
      if (before > 0) this.#changes.push(slot, before, 1);
      this.#show(slot, rank);
      moved[movedCount++] = slot;
    }
    // Only now, so that a rank is free before it is taken again.
    for (let at = 0; at < movedCount; at++) {
      const slot = moved[at] as number;
      this.#changes.push(slot, shown[slot] as number, 0);
    }
  }

  /** How many of the rows that were read are out. */
  #countShown(count: number): number {
    const [top, shown] = [this.#top, this.#shown];
    let out = 0;
    for (let at = 0; at < count; at++) if ((shown[top[at] as number] as number) > 0) out++;
    return out;
  }

  /** Reads slots `[from, to)` of a partition into `#top`; how many there were. */
  #readTop(group: number, from: number, to: number): number {
    if (to - from > this.#top.length) {
      this.#top = new Int32Array(grown(this.#top.length, to - from));
      this.#moved = new Int32Array(this.#top.length);
    }
    return this.#rows.order.copy(group, from, to, this.#top, 0);
  }

  /** Takes back so many rows that are out and stand before or behind the top. */
  #takeOutside(group: number, start: number, end: number, count: number): void {
    let missing = this.#retractFrom(group, 0, start, count);
    // Rows leave the top at its end, pushed by as many as came: the search is no longer than the changes were many.
    for (let from = end; missing > 0; from += 64)
      missing = this.#retractFrom(group, from, from + 64, missing);
  }

  /** Rows up to the end of the top, those that are skipped included. */
  #topSize(group: number): number {
    const { order } = this.#rows;
    const size = order.size(group);
    if (size <= this.#keep || !this.#spec.ties) return Math.min(size, this.#keep);
    const boundary = order.at(group, this.#keep - 1);
    return order.countUpTo(group, boundary, this.#compareKeys);
  }

  #retractFrom(group: number, from: number, to: number, missing: number): number {
    const count = this.#readTop(group, from, to);
    let left = missing;
    for (let at = 0; at < count; at++) {
      const slot = this.#top[at] as number;
      const shown = this.#shown[slot] as number;
      if (shown === 0) continue;
      this.#changes.push(slot, shown, 1);
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
      this.#makeRoom(this.#rows.store.limit);
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
