/**
 * Aggregates that need all values of a group: the bag of tuples (`multiset.ts`), and what is made of it.
 *
 * Invertible. The answer is a function of the bag and of the order that the call names; tuples equal in its
 * keys are ordered by their values. It is computed when it is asked for, which costs a sort of the group.
 */
import { must } from '../../base/assert.ts';
import type { Column } from '../../batch/column.ts';
import { bitAt } from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import type { Accumulator, EntryTable } from '../accumulator.ts';
import type { LiteralValue, SortOrder } from '../expr.ts';
import type { RowErrors } from '../row-errors.ts';
import type { Bags } from './multiset.ts';
import { Multiset } from './multiset.ts';

export type Finish = (
  bags: Bags,
  groups: number,
  call: { type: SqlType; params: readonly LiteralValue[]; label: string },
  errors: RowErrors,
) => Column;

/** What is kept of the arguments. */
export type Prepare = (args: readonly Column[], rows: number) => readonly Column[];

export type Collected = {
  label: string;
  /** Of values and keys. */
  types: readonly SqlType[];
  orders: readonly SortOrder[];
  /** Columns whose NULLs leave a row out. */
  required: readonly number[];
  distinct: boolean;
  type: SqlType;
  params: readonly LiteralValue[];
  /** Whether `finish` wants tuples in order. */
  sorted: boolean;
  prepare?: Prepare;
  /** The answer is one end of the values, `finish` is not asked. */
  extreme?: 'smallest' | 'largest';
  finish: Finish;
};

export class CollectedAccumulator implements Accumulator {
  readonly stateTypes: readonly SqlType[];
  readonly invertible = true;
  readonly #spec: Collected;
  readonly entries: EntryTable;
  readonly #bags: Multiset;

  constructor(spec: Collected) {
    this.#spec = spec;
    this.#bags = new Multiset(spec.types, 1, true, spec.extreme ?? null);
    this.entries = this.#bags;
    this.stateTypes = this.#bags.stateTypes;
  }

  resize(count: number): void {
    this.#bags.resize(count);
  }

  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void {
    const { required, prepare } = this.#spec;
    const kept = requiring(groups, rows, args, required);
    const members = new Int32Array(rows).fill(1);
    const columns = prepare === undefined ? args : prepare(args, rows);
    this.#bags.update(kept, rows, columns, members, retract);
    this.#bags.sweep();
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    this.#bags.mergeLists(groups, rows, states);
  }

  stateColumns(groups: Int32Array): Column[] {
    return this.#bags.stateColumns(groups);
  }

  results(groups: Int32Array, errors: RowErrors): Column {
    const { orders, sorted, distinct, finish, extreme } = this.#spec;
    if (extreme !== undefined) return this.#bags.extreme(groups);
    const bags = this.#bags.bags(groups, orders, sorted);
    if (distinct) bags.counts.fill(1);
    return finish(bags, groups.length, this.#spec, errors);
  }

  bytes(): number {
    return this.#bags.bytes();
  }
}

/** The groups with -1 for rows in which a required argument is NULL. */
export function requiring(
  groups: Int32Array,
  rows: number,
  args: readonly Column[],
  required: readonly number[],
): Int32Array {
  let kept = groups;
  for (const at of required) {
    const { validity } = must(args[at], 'an argument');
    if (validity === null) continue;
    if (kept === groups) kept = groups.slice(0, rows);
    for (let row = 0; row < rows; row++) if (!bitAt(validity, row)) kept[row] = -1;
  }
  return kept;
}
