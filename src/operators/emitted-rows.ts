/**
 * The row of each group that is out downstream, so that a change of the group takes back exactly what was emitted, even where
 * computing it again would differ in the last bit.
 *
 * Place in the walk: stage 6, at flushes of an updating aggregate. Invariant: INV-64, its part of one row a group.
 */
import { assert, must } from '../base/assert.ts';
import { bitAt, bitmapBytes, type Column } from '../batch/column.ts';
import { concatColumns } from '../batch/concat.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { takeColumn } from '../batch/take.ts';
import { BOOLEAN, type Schema, type SqlType } from '../batch/types.ts';
import type { RowErrors } from '../expr/row-errors.ts';
import { makeColumnStore, type ColumnStore } from '../state/column-store.ts';
import { allGroups } from '../state/group-index.ts';

/** What a flush emits of some groups. */
export type RowChanges = {
  /** Rows of the output: index i < n is the old row of groups[i], index n + i its new row. */
  picked: Int32Array;
  /** The old rows; null: none of the groups was out. */
  before: readonly Column[] | null;
  /** Each group has a new row and none had an old one. */
  isAllNew: boolean;
};

export class EmittedRows {
  readonly #types: readonly SqlType[];
  /** 1: the group's row in `#stores` is out downstream. */
  #isOut = new Uint8Array(16);
  #stores: readonly ColumnStore[];
  /** Groups whose row is out. */
  #count = 0;

  /** @param types  of the results of a group */
  constructor(types: readonly SqlType[]) {
    this.#types = types;
    this.#stores = this.#emptyStores();
  }

  #emptyStores(): ColumnStore[] {
    return this.#types.map((type) => makeColumnStore(type));
  }

  get count(): number {
    return this.#count;
  }

  isOut(group: number): boolean {
    return this.#isOut[group] === 1;
  }

  /** Makes room for as many groups. */
  reach(groups: number): void {
    if (groups > this.#isOut.length) {
      const grown = new Uint8Array(Math.max(groups, this.#isOut.length * 2));
      grown.set(this.#isOut);
      this.#isOut = grown;
    }
    for (const store of this.#stores) store.reach(groups);
  }

  /** Puts the results of groups in the place of their old rows; a group whose result failed keeps what it has. */
  change(
    groups: Int32Array,
    results: readonly Column[],
    errors: RowErrors,
    rowCounts: Float64Array,
  ): RowChanges {
    const count = groups.length;
    const picked = new Int32Array(2 * count);
    let rowsOut = 0;
    /** Rows of results that are out from now on, and their groups. */
    const rows = new Int32Array(count);
    const alives = new Int32Array(count);
    const { failed } = errors;
    let news = 0;
    let olds = 0;
    for (let at = 0; at < count; at++) {
      if (failed && errors.hasFailed(at)) continue;
      const group = groups[at] as number;
      const wasOut = this.#isOut[group] === 1;
      // Without keys too: whether rows that are all gone were here does not show, whatever order they came in.
      const alive = (rowCounts[group] as number) > 0;
      if (wasOut && alive && this.#isAsEmitted(group, results, at)) continue;
      if (wasOut) {
        picked[rowsOut++] = at;
        olds++;
      }
      if (alive) picked[rowsOut++] = count + at;
      this.#count += Number(alive) - Number(wasOut);
      this.#isOut[group] = alive ? 1 : 0;
      if (!alive) continue;
      rows[news] = at;
      alives[news++] = group;
    }
    // Before what is out is overwritten.
    const before = olds === 0 ? null : this.#stores.map((store) => store.gather(groups));
    this.#stores.forEach((store, part) =>
      store.put(alives, must(results[part], 'a result'), rows, news),
    );
    return {
      picked: picked.subarray(0, rowsOut),
      before,
      isAllNew: olds === 0 && news === count,
    };
  }

  #isAsEmitted(group: number, results: readonly Column[], row: number): boolean {
    return this.#stores.every((store, part) =>
      store.equals(group, must(results[part], 'a result'), row),
    );
  }

  /** The group's row stays out downstream, and is none of its own any more. */
  forget(group: number): void {
    this.#count -= this.#isOut[group] as number;
    this.#isOut[group] = 0;
  }

  /** Keeps these groups only, numbered anew in their order. */
  retain(groups: Int32Array): void {
    const stores = this.#emptyStores();
    const all = allGroups(groups.length);
    stores.forEach((store, at) => {
      const values = must(this.#stores[at], 'a store').gather(groups);
      store.put(all, values, all, all.length);
    });
    this.#isOut = Uint8Array.from(groups, (group) => this.#isOut[group] as number);
    this.#stores = stores;
  }

  /** Whether a row is out, and its values. */
  savedColumns(groups: Int32Array): Column[] {
    const rows = groups.length;
    const bits = new Uint8Array(bitmapBytes(rows));
    const isOut = this.#isOut;
    for (let at = 0; at < rows; at++)
      bits[at >> 3] =
        (bits[at >> 3] as number) | ((isOut[groups[at] as number] as number) << (at & 7));
    return [
      { tag: 'boolean', type: BOOLEAN, length: rows, validity: null, bits },
      ...this.#stores.map((store) => store.gather(groups)),
    ];
  }

  savedSchema(): Schema {
    return [
      { name: 'out', type: BOOLEAN, nullable: false },
      ...this.#types.map((type, at) => ({ name: `emitted${at}`, type, nullable: true })),
    ];
  }

  /** Takes saved columns for groups that have room. */
  restore([out, ...emitted]: readonly Column[], groups: Int32Array, rows: number): void {
    assert(out?.tag === 'boolean', 'the columns of the table');
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      this.#isOut[group] = bitAt(out.bits, row) ? 1 : 0;
      this.#count += this.#isOut[group] as number;
    }
    const all = allGroups(rows);
    this.#stores.forEach((store, at) =>
      store.put(groups, must(emitted[at], 'an emitted column'), all, all.length),
    );
  }

  bytes(): number {
    return this.#stores.reduce((sum, store) => sum + store.bytes(), this.#isOut.byteLength);
  }
}

/** The batch of changes of groups: an old row and its new one side by side. */
export function changesBatch(
  groups: Int32Array,
  { picked, before, isAllNew }: RowChanges,
  results: readonly Column[],
  keysOf: (groups: Int32Array) => Column[],
): RecordBatch {
  const count = groups.length;
  const rows = picked.length;
  const retract = new Uint8Array(rows);
  // The results are the rows as they are.
  if (isAllNew) return { rows, columns: [...keysOf(groups), ...results], eventTime: null, retract };
  for (let row = 0; row < rows; row++) retract[row] = (picked[row] as number) < count ? 1 : 0;
  const values = (before ?? results).map((old, at) =>
    takeColumn(concatColumns([old, must(results[at], 'a result')]), picked, rows),
  );
  const groupOfRow = picked.map((index) => groups[index % count] as number);
  return { rows, columns: [...keysOf(groupOfRow), ...values], eventTime: null, retract };
}
