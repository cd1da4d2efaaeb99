/**
 * DISTINCT inside aggregates: each tuple of arguments reaches the inner aggregate once.
 *
 * The inner aggregate must be invertible: when the last of equal tuples is taken back, so is the one that the
 * inner aggregate saw. Aggregates over the same arguments share one table of tuples; the first of them has its state,
 * and what goes into it moves the inner aggregates of all. Those are computed again from the state.
 */
import { assert } from '../../base/assert.ts';
import type { Column } from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import type { Accumulator, EntryTable } from '../accumulator.ts';
import type { RowErrors } from '../row-errors.ts';
import { requiring } from './collected.ts';
import { CountAccumulator } from './count.ts';
import type { Flips } from './multiset.ts';
import { Multiset } from './multiset.ts';

/** One table of tuples, and the inner aggregates that see them. */
export class SharedDistinct {
  readonly inners: readonly Accumulator[];
  readonly seen: Multiset;
  readonly #all: readonly number[];

  /** @param retracts  rows may be taken back */
  constructor(types: readonly SqlType[], inners: readonly Accumulator[], retracts: boolean) {
    this.inners = inners;
    this.seen = new Multiset(types, inners.length, retracts);
    this.#all = types.map((_, at) => at);
  }

  resize(count: number): void {
    this.seen.resize(count);
    for (const inner of this.inners) inner.resize(count);
  }

  /** @param members  of each row the bits of the aggregates that see it */
  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    members: Int32Array,
    retract: Uint8Array | null,
  ): void {
    assert(retract === null || this.seen.counts, 'a table without counts takes nothing back');
    const kept = requiring(groups, rows, args, this.#all);
    this.#pass(kept, rows, args, this.seen.update(kept, rows, args, members, retract), retract);
    this.seen.sweep();
  }

  /** Hands each inner aggregate the rows that changed what it has. */
  #pass(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    { bits, union, rows: flipped }: Flips,
    retract: Uint8Array | null,
  ): void {
    if (union === 0) return;
    const passed = new Int32Array(rows);
    this.inners.forEach((inner, member) => {
      if (((union >> member) & 1) === 0) return;
      // Arguments are there: rows without were never put in.
      if (inner instanceof CountAccumulator)
        return inner.countFlips(groups, flipped, bits, member, retract);
      for (let row = 0; row < rows; row++)
        passed[row] = (((bits[row] as number) >> member) & 1) === 1 ? (groups[row] as number) : -1;
      inner.update(passed, rows, args, retract);
    });
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    const merged = this.seen.mergeLists(groups, rows, states);
    this.#pass(merged.owners, merged.rows, merged.columns, merged.flips, null);
  }

  mergeEntries(groups: Int32Array, rows: number, columns: readonly Column[]): void {
    this.#pass(groups, rows, columns, this.seen.merge(groups, rows, columns), null);
  }

  bytes(): number {
    return this.inners.reduce((sum, inner) => sum + inner.bytes(), this.seen.bytes());
  }
}

export class DistinctAccumulator implements Accumulator {
  readonly stateTypes: readonly SqlType[];
  /** Only a table that counts how often a tuple came knows when the last of equal ones went. */
  readonly invertible: boolean;
  readonly shared: SharedDistinct;
  readonly member: number;
  readonly entries?: EntryTable;

  constructor(shared: SharedDistinct, member: number) {
    this.shared = shared;
    this.member = member;
    const { seen } = shared;
    this.invertible = seen.counts;
    this.stateTypes = member === 0 ? seen.stateTypes : [];
    if (member === 0)
      this.entries = {
        valueTypes: seen.valueTypes,
        countTypes: seen.countTypes,
        takeEntries: (all) => seen.takeEntries(all),
        mergeEntries: (groups, rows, columns) => shared.mergeEntries(groups, rows, columns),
      };
  }

  resize(count: number): void {
    if (this.member === 0) this.shared.resize(count);
  }

  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void {
    const members = new Int32Array(rows).fill(1 << this.member);
    this.shared.update(groups, rows, args, members, retract);
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    if (this.member === 0) this.shared.merge(groups, rows, states);
  }

  stateColumns(groups: Int32Array): Column[] {
    return this.member === 0 ? this.shared.seen.stateColumns(groups) : [];
  }

  results(groups: Int32Array, errors: RowErrors): Column {
    return (this.shared.inners[this.member] as Accumulator).results(groups, errors);
  }

  bytes(): number {
    return this.member === 0 ? this.shared.bytes() : 0;
  }
}
