/**
 * From key columns to dense group numbers.
 *
 * Place in the walk: stage 6, under every keyed operator. The table that suits the types of the keys does the work;
 * keys stay columnar and can be read back.
 *
 * Invariants: groups are 0..count-1 in order of first appearance; groups are never removed one by one: `retain` builds
 * a new index instead, which keeps probing free of tombstones.
 * Failure: none.
 */
import { assert, unreachable } from '../base/assert.ts';
import type { Column } from '../batch/column.ts';
import { layoutOf, type SqlType } from '../batch/types.ts';
import { routeRows } from '../kernels/route-rows.ts';
import { CompositeTable } from './composite-table.ts';
import type { KeyTable } from './key-table.ts';
import { PairTable } from './pair-table.ts';
import { StoredTable } from './stored-table.ts';
import { TextTable } from './text-table.ts';

function makeTable(types: readonly SqlType[]): KeyTable {
  const [first] = types;
  if (types.length !== 1 || first === undefined) return new CompositeTable(types);
  const layout = layoutOf(first);
  switch (layout) {
    case 'int32':
    case 'int64':
    case 'timestamp':
      return new PairTable(first, layout);
    case 'text':
      return new TextTable(first);
    case 'boolean':
    case 'float64':
    case 'decimal':
    case 'struct':
      return new CompositeTable(types);
    case 'interval':
    case 'list':
      return new StoredTable(first);
    default:
      return unreachable(layout);
  }
}

export class GroupIndex {
  readonly #types: readonly SqlType[];
  #table: KeyTable;

  constructor(types: readonly SqlType[]) {
    this.#types = types;
    this.#table = makeTable(types);
  }

  /** Number of groups. */
  get count(): number {
    return this.#table.count;
  }

  /**
   * Sets `out[r - from]` to the group of row r for r in [from, to), making groups for new keys.
   *
   * @param columns one column per key type; no columns at all means one group for every row
   */
  lookupOrInsert(columns: readonly Column[], from: number, to: number, out: Int32Array): void {
    assert(columns.length === this.#types.length, 'one column per key');
    this.#table.lookupOrInsert(columns, from, to, out);
  }

  /** As `lookupOrInsert` of all groups of another index of the same keys: `out[g]` is the group here of its group g. */
  lookupAllOf(other: GroupIndex, out: Int32Array): void {
    if (this.#table.lookupAllOf?.(other.#table, out) === true) return;
    this.lookupOrInsert(other.keyColumns(allGroups(other.count)), 0, other.count, out);
  }

  /** Forgets every group. */
  clear(): void {
    if (this.#table.clear === undefined) this.#table = makeTable(this.#types);
    else this.#table.clear();
  }

  /** Makes room for so many groups at once: for those that are about to be restored. */
  reserve(count: number): void {
    this.#table.reserve?.(count);
  }

  /** The keys of the given groups, one column per key; a copy of the buffers when groups are neighbours. */
  keyColumns(groups: Int32Array): Column[] {
    return this.#table.keyColumns(groups);
  }

  /** The routing hash of each group's key. */
  hashesOf(groups: Int32Array): Uint32Array {
    return hashesOfKeys(this.keyColumns(groups), groups.length);
  }

  /** A new index of the given groups, numbered in their order. */
  retain(groups: Int32Array): GroupIndex {
    const index = new GroupIndex(this.#types);
    const out = new Int32Array(groups.length);
    index.lookupOrInsert(this.keyColumns(groups), 0, groups.length, out);
    assert(index.count === groups.length, 'every group is named once');
    return index;
  }

  /** Bytes allocated. */
  bytes(): number {
    return this.#table.bytes();
  }
}

/** The routing hashes of keys. */
export function hashesOfKeys(keys: readonly Column[], count: number): Uint32Array {
  const hashes = new Uint32Array(count);
  routeRows(keys, count, hashes);
  return hashes;
}

/** Groups 0..count-1 in order. */
export function allGroups(count: number): Int32Array {
  const groups = new Int32Array(count);
  for (let group = 0; group < count; group++) groups[group] = group;
  return groups;
}

let first = allGroups(64);

/** Groups 0..count-1 in order, and perhaps more: shared by all, to be read only. */
export function firstGroups(count: number): Int32Array {
  if (count > first.length) first = allGroups(Math.max(count, 2 * first.length));
  return first;
}
