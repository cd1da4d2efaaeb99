/**
 * Lays the files of one table over each other: what was the whole table once, and what has changed since.
 *
 * Place in the walk: restore. Works from the newest layer down, so that every row is looked at once: a row counts when no
 * newer layer has named its key and none has dropped its time. A table that never changed is handed on as it is.
 *
 * Invariants: INV-70 the result equals the table the operator held at the last of the snapshots, whatever the number
 * of layers, their parts and the key range they were read with. Failure: layers with a gap are INTERNAL.
 */
import { assert, must } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { wordsToNumber, type Column } from '../batch/column.ts';
import { concatColumns } from '../batch/concat.ts';
import { takeColumn } from '../batch/take.ts';
import { GroupIndex } from './group-index.ts';
import type { StateTable } from './state-table.ts';

/** A part of a layer; several may share a number. */
export type LayerPart = { layer: number; table: StateTable };

/** @returns the whole table; `changes` is null */
export function mergeLayers(parts: readonly LayerPart[]): StateTable {
  const sorted = parts.toSorted((left, right) => right.layer - left.layer);
  const [newest] = sorted;
  assert(newest !== undefined, 'a table has layers');
  const depth = newest.layer + 1;
  for (let layer = 0; layer < depth; layer++) {
    if (!sorted.some((part) => part.layer === layer))
      throw new EngineError(
        'INTERNAL',
        `layer ${layer} of the state ${newest.table.table} is missing`,
      );
  }
  if (depth === 1) return joined(sorted.map((part) => part.table));
  const { changes } = newest.table;
  assert(changes !== null, 'a layer above the first holds changes');
  const merger = new LayerMerger(newest.table, changes.keyColumns);
  for (let layer = depth - 1; layer >= 0; layer--)
    merger.add(sorted.filter((part) => part.layer === layer).map((part) => part.table));
  return joined(merger.kept);
}

class LayerMerger {
  readonly kept: StateTable[] = [];
  /** Keys that a newer layer, or this one, has named. */
  readonly #named: GroupIndex;
  readonly #keyColumns: number;
  #droppedBelow = -Infinity;

  constructor({ schema }: StateTable, keyColumns: number) {
    this.#keyColumns = keyColumns;
    this.#named = new GroupIndex(schema.slice(0, keyColumns).map((field) => field.type));
  }

  /** All parts of the next older layer. */
  add(parts: readonly StateTable[]): void {
    for (const part of parts) this.#keep(part);
    for (const { changes } of parts) {
      if (changes === null) continue;
      const { removed, droppedBelow } = changes;
      if (droppedBelow !== null && droppedBelow > this.#droppedBelow)
        this.#droppedBelow = droppedBelow;
      if (removed !== null) this.#name(removed.columns, removed.rows);
    }
  }

  #name(columns: readonly Column[], rows: number): Int32Array {
    const keys = columns.slice(0, this.#keyColumns);
    const groups = new Int32Array(rows);
    this.#named.lookupOrInsert(keys, 0, rows, groups);
    return groups;
  }

  #keep(part: StateTable): void {
    const known = this.#named.count;
    const groups = this.#name(part.columns, part.rows);
    const picked = new Int32Array(part.rows);
    let count = 0;
    for (let row = 0; row < part.rows; row++) {
      if ((groups[row] as number) >= known && !this.#isDropped(part, row)) picked[count++] = row;
    }
    if (count > 0) this.kept.push(count === part.rows ? part : taken(part, picked, count));
    else this.kept.push(taken(part, picked, 0));
  }

  #isDropped(part: StateTable, row: number): boolean {
    if (this.#droppedBelow === -Infinity) return false;
    const column = must(part.columns[0], 'a first column');
    assert(column.tag === 'timestamp', 'what is dropped by time begins with one');
    const micros = wordsToNumber(
      column.words[row * 2] as number,
      column.words[row * 2 + 1] as number,
    );
    return micros < this.#droppedBelow;
  }
}

function taken(table: StateTable, indices: Int32Array, count: number): StateTable {
  const hashes = new Uint32Array(count);
  for (let at = 0; at < count; at++) hashes[at] = table.hashes[indices[at] as number] as number;
  const columns = table.columns.map((column) => takeColumn(column, indices, count));
  return { ...table, rows: count, columns, hashes, changes: null };
}

function joined(tables: readonly StateTable[]): StateTable {
  const [first] = tables;
  assert(first !== undefined, 'a table has layers');
  const filled = tables.filter((table) => table.rows > 0);
  if (filled.length <= 1) return { ...(filled[0] ?? first), changes: null };
  const rows = filled.reduce((sum, table) => sum + table.rows, 0);
  const hashes = new Uint32Array(rows);
  let at = 0;
  for (const table of filled) {
    hashes.set(table.hashes.subarray(0, table.rows), at);
    at += table.rows;
  }
  const columns = first.schema.map((_, column) =>
    concatColumns(filled.map((table) => must(table.columns[column], 'a state column'))),
  );
  return { table: first.table, schema: first.schema, rows, columns, hashes, changes: null };
}
