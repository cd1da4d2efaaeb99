/**
 * State tables whose routing hashes are computed when they are first asked for: when a part is encoded, while rows flow
 * again, and not while the barrier stops them.
 *
 * Invariant: the hashes are those of the leading key columns, which nobody writes to any more. Failure: none.
 */
import { hashesOfKeys } from './group-index.ts';
import type { StateTable } from './state-table.ts';

type Unhashed = Omit<StateTable, 'hashes'>;

/** Of tables made here: how many leading columns are hashed. */
const hashedColumns = new WeakMap<StateTable, number>();

export function hashedLater(table: Unhashed, keys: number): StateTable {
  let hashes: Uint32Array | null = null;
  const later: StateTable = {
    ...table,
    get hashes() {
      hashes ??= hashesOfKeys(table.columns.slice(0, keys), table.rows);
      return hashes;
    },
  };
  hashedColumns.set(later, keys);
  return later;
}

/** Rows `[from, to)` of `table`, which `part` has the columns of; hashed later if the table is. */
export function hashedPart(
  table: StateTable,
  part: Unhashed,
  from: number,
  to: number,
): StateTable {
  const keys = hashedColumns.get(table);
  if (keys !== undefined) return hashedLater(part, keys);
  return { ...part, hashes: table.hashes.subarray(from, to) };
}
