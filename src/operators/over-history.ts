/**
 * What OVER by event time remembers of each partition after its rows have left: how many there were, the states of
 * aggregates without a start, and as many rows as frames reach back.
 *
 * Place in the walk: stage 6. State tables: `partitions` (keys, counts, accumulator states) and `rows` (see `kept-rows.ts`).
 * Invariant: what is remembered is a function of the partition's rows so far and of the watermark at the last checkpoint.
 */
import { assert, must } from '../base/assert.ts';
import type { Column } from '../batch/column.ts';
import { FLOAT64, type Field, type Schema } from '../batch/types.ts';
import type { Accumulator } from '../expr/accumulator.ts';
import { makeAccumulator } from '../expr/aggregate-registry.ts';
import type { Expr } from '../expr/expr.ts';
import type { OverCall, SortKey } from '../expr/over.ts';
import { allGroups } from '../state/group-index.ts';
import { grown, wider } from '../state/growth.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import { KeptRows } from './kept-rows.ts';
import { columnIndex, passingRows } from './over-columns.ts';
import type { Carried } from './over-functions.ts';

/** How far calls look back. */
export type Reach = {
  /** The last rows of a partition. */
  last: number;
  /** Rows up to so many microseconds before the watermark; null: none for that. */
  micros: number | null;
  /** The first rows of a partition. */
  first: number;
  /** Whether rows are counted or folded into accumulators. */
  counted: boolean;
};

export function reachOf(calls: readonly OverCall[]): Reach {
  const reach: Reach = { last: 0, micros: null, first: 0, counted: false };
  for (const call of calls) {
    const { unit, start, end } = call.frame;
    if (call.fn === 'row_number' || call.fn === 'rank' || call.fn === 'dense_rank')
      reach.counted = true;
    else if (call.fn === 'lag') reach.last = Math.max(reach.last, call.count);
    else {
      for (const bound of [start, end]) {
        if (bound.tag !== 'preceding') continue;
        const distance = Number(bound.offset);
        if (unit === 'rows') reach.last = Math.max(reach.last, distance);
        else reach.micros = Math.max(reach.micros ?? 0, distance);
      }
      if (start.tag !== 'unbounded_preceding') continue;
      if (call.fn === 'aggregate') reach.counted = true;
      else reach.first = Math.max(reach.first, call.fn === 'nth_value' ? call.count : 1);
    }
  }
  return reach;
}

export class OverHistory {
  readonly kept: KeptRows;
  readonly #calls: readonly OverCall[];
  readonly #reach: Reach;
  readonly #time: number | null;
  #rowCounts = new Float64Array(16);
  #groupCounts = new Float64Array(16);
  readonly #accumulators: readonly (Accumulator | null)[];
  #isTouched = new Uint8Array(16);
  #touched: number[] = [];

  constructor(
    schema: Schema,
    partitionBy: readonly Expr[],
    orderBy: readonly SortKey[],
    calls: readonly OverCall[],
  ) {
    this.kept = new KeptRows(schema, partitionBy, orderBy);
    this.#calls = calls;
    this.#reach = reachOf(calls);
    const [first] = orderBy;
    this.#time = first?.expr.tag === 'column' ? first.expr.index : null;
    this.#accumulators = calls.map((call) =>
      call.fn === 'aggregate' && call.frame.start.tag === 'unbounded_preceding'
        ? makeAccumulator(must(call.aggregate, 'an aggregate'))
        : null,
    );
  }

  groupsOf(columns: readonly Column[], rows: number): Int32Array {
    const groups = this.kept.groupsOf(columns, rows);
    this.#makeRoom();
    return groups;
  }

  #makeRoom(): void {
    const count = this.kept.groups;
    for (const accumulator of this.#accumulators) accumulator?.resize(count);
    if (count <= this.#rowCounts.length) return;
    const room = grown(this.#rowCounts.length, count);
    this.#rowCounts = wider(Float64Array, this.#rowCounts, room);
    this.#groupCounts = wider(Float64Array, this.#groupCounts, room);
    this.#isTouched = wider(Uint8Array, this.#isTouched, room);
  }

  /** @param groups  the partition of each row; @param firstNew  the first new row of its partition */
  carried(groups: Int32Array, firstNew: Int32Array): Carried {
    return {
      rowsBefore: Float64Array.from(groups, (group) => this.#rowCounts[group] as number),
      groupsBefore: Float64Array.from(groups, (group) => this.#groupCounts[group] as number),
      firstNew,
      states: this.#accumulators.map((each) => each?.stateColumns(groups) ?? null),
    };
  }

  /**
   * Takes rows in that have left, in order.
   * @param isNewGroup  1 where the order's value is another than in the row before
   */
  remember(
    columns: readonly Column[],
    rows: number,
    groups: Int32Array,
    isNewGroup: Uint8Array,
    watermark: number,
  ): void {
    if (this.#reach.counted) this.#count(columns, rows, groups, isNewGroup);
    const { last, micros, first } = this.#reach;
    if (last === 0 && micros === null && first === 0) return;
    const approximations = this.kept.approximate(columns, rows);
    const slots = this.kept.stage(columns, allGroups(rows), rows, groups, approximations);
    for (const slot of slots) this.kept.insert(slot);
    for (let row = 0; row < rows; row++)
      if (row + 1 === rows || groups[row] !== groups[row + 1])
        this.#forget(groups[row] as number, watermark);
  }

  #count(
    columns: readonly Column[],
    rows: number,
    groups: Int32Array,
    isNewGroup: Uint8Array,
  ): void {
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      this.#rowCounts[group] = (this.#rowCounts[group] as number) + 1;
      this.#groupCounts[group] = (this.#groupCounts[group] as number) + (isNewGroup[row] as number);
      if (this.#isTouched[group] === 1) continue;
      this.#isTouched[group] = 1;
      this.#touched.push(group);
    }
    this.#accumulators.forEach((accumulator, at) => {
      const call = this.#calls[at]?.aggregate;
      if (accumulator === null || call === null || call === undefined) return;
      const passes = passingRows(call.filter, columns, rows);
      const taken =
        passes === null ? groups : groups.map((group, row) => (passes[row] === 1 ? group : -1));
      const args = call.args.map((arg) => columns[columnIndex(arg)] as Column);
      accumulator.update(taken, rows, args, null);
    });
  }

  /** Drops rows of a partition that no frame reaches any more. */
  #forget(group: number, watermark: number): void {
    const { last, micros, first } = this.#reach;
    const { order } = this.kept;
    const size = order.size(group);
    const end = size - last;
    if (end <= first) return;
    const slots = new Int32Array(end - first);
    order.copy(group, first, end, slots, 0);
    for (const slot of slots) {
      if (micros !== null && this.#timeOf(slot) >= watermark - micros) break;
      this.kept.remove(slot);
      this.kept.release(slot);
    }
  }

  #timeOf(slot: number): number {
    // Event times are doubles without loss, so their approximation is the time itself.
    return this.#time === null ? -Infinity : (this.kept.order.near[slot] as number);
  }

  /** Also of partitions that no row came to: a checkpoint keeps what is needed only. */
  forgetPassed(watermark: number): void {
    if (this.#reach.micros === null) return;
    for (let group = 0; group < this.kept.groups; group++)
      if (this.kept.order.size(group) > 0) this.#forget(group, watermark);
  }

  snapshot(kind: SnapshotKind): StateTable[] {
    const tables = this.kept.snapshot(kind, [], () => []);
    const touched = Int32Array.from(this.#touched).sort();
    for (const group of touched) this.#isTouched[group] = 0;
    this.#touched = [];
    if (!this.#reach.counted) {
      if (this.kept.sweep(() => false) !== null) this.#isTouched.fill(0);
      return tables;
    }
    const keys = this.kept.partition.length;
    const whole = kind === 'whole' || keys === 0 || touched.length * 2 > this.kept.groups;
    const groups = whole ? allGroups(this.kept.groups) : touched;
    if (whole && groups.length === 0) return tables;
    const counts = (values: Float64Array): Column => ({
      tag: 'float64',
      type: FLOAT64,
      length: groups.length,
      validity: null,
      values: Float64Array.from(groups, (group) => values[group] as number),
    });
    const keyColumns = this.kept.keyColumnsOf(groups);
    const states = this.#accumulators.flatMap((each) => each?.stateColumns(groups) ?? []);
    const columns = [...keyColumns, counts(this.#rowCounts), counts(this.#groupCounts), ...states];
    const partitions: StateTable = {
      table: 'partitions',
      schema: columns.map((column, at): Field => ({
        name: `c${at}`,
        type: column.type,
        nullable: true,
      })),
      rows: groups.length,
      columns,
      hashes: this.kept.hashesOfGroups(groups),
      changes: whole ? null : { keyColumns: keys, removed: null, droppedBelow: null },
    };
    return [...tables, partitions];
  }

  restore(table: StateTable): void {
    if (table.table === 'rows') {
      this.kept.restore(table);
      this.#makeRoom();
      return;
    }
    assert(table.table === 'partitions', `unknown state table ${table.table}`);
    const keys = this.kept.partition.length;
    const groups = this.kept.groupsOfKeys(table.columns.slice(0, keys), table.rows);
    this.#makeRoom();
    const [rows, different, ...states] = table.columns.slice(keys);
    assert(rows?.tag === 'float64' && different?.tag === 'float64', 'counts of rows');
    for (let row = 0; row < table.rows; row++) {
      this.#rowCounts[groups[row] as number] = rows.values[row] as number;
      this.#groupCounts[groups[row] as number] = different.values[row] as number;
    }
    let at = 0;
    for (const accumulator of this.#accumulators) {
      if (accumulator === null) continue;
      const width = accumulator.stateTypes.length;
      accumulator.merge(groups, table.rows, states.slice(at, at + width));
      at += width;
    }
  }

  bytes(): number {
    const states = this.#accumulators.reduce((sum, each) => sum + (each?.bytes() ?? 0), 0);
    return this.kept.bytes() + states + this.#rowCounts.byteLength * 2;
  }

  rows(): number {
    return this.kept.rows + (this.#reach.counted ? this.kept.groups : 0);
  }
}
