/**
 * DISTINCT inside an aggregate: each tuple of arguments reaches the inner aggregate once.
 *
 * The inner aggregate must be invertible: when the last of equal tuples is taken back, so is the one that the
 * inner aggregate saw. State: that of the multiset; the inner aggregate is computed again from it.
 */
import type { Column } from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import type { Accumulator } from '../accumulator.ts';
import type { RowErrors } from '../row-errors.ts';
import { requiring } from './collected.ts';
import { Multiset } from './multiset.ts';

export class DistinctAccumulator implements Accumulator {
  readonly stateTypes: readonly SqlType[];
  readonly invertible = true;
  readonly #inner: Accumulator;
  readonly #seen: Multiset;
  readonly #all: readonly number[];

  constructor(types: readonly SqlType[], inner: Accumulator) {
    this.#inner = inner;
    this.#seen = new Multiset(types);
    this.#all = types.map((_, at) => at);
    this.stateTypes = this.#seen.stateTypes;
  }

  resize(count: number): void {
    this.#seen.resize(count);
    this.#inner.resize(count);
  }

  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void {
    const changes = this.#seen.update(
      requiring(groups, rows, args, this.#all),
      rows,
      args,
      retract,
    );
    if (changes.changed) this.#inner.update(changes.groups, rows, args, changes.retract);
  }

  merge(groups: Int32Array, _rows: number, states: readonly Column[]): void {
    const { rows, columns, transitions } = this.#seen.merge(groups, _rows, states);
    if (transitions.changed)
      this.#inner.update(transitions.groups, rows, columns, transitions.retract);
  }

  stateColumns(groups: Int32Array): Column[] {
    return this.#seen.stateColumns(groups);
  }

  results(groups: Int32Array, errors: RowErrors): Column {
    return this.#inner.results(groups, errors);
  }

  bytes(): number {
    return this.#seen.bytes() + this.#inner.bytes();
  }
}
