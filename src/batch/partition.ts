/** A batch split by the subtask that owns each row's key. */
import { keyRangeOf, ownerOf } from '../base/hash.ts';
import type { RecordBatch } from './record-batch.ts';
import { takeBatch } from './take.ts';

/** Rows by owner: those of owner o are `indices[starts[o], starts[o + 1])`, ascending. */
export type OwnedRows = { starts: Int32Array; indices: Int32Array };

/** Sorts rows by the range of `keyRangeOf` that holds their hash. */
export type SplitRows = (hashes: Uint32Array, rows: number, count: number) => OwnedRows;

/**
 * Splits `batch` by destination.
 *
 * @param hashes  the routing hash of each row
 * @param count   number of subtasks; their key ranges are those of `keyRangeOf`
 * @returns       `count` batches in range order, null where no row goes; row order is kept within
 *                each, row counts sum to that of the input, which is returned itself when one owner has all
 */
export function partitionBatch(
  batch: RecordBatch,
  hashes: Uint32Array,
  count: number,
  split: SplitRows = splitRows,
): (RecordBatch | null)[] {
  const parts: (RecordBatch | null)[] = new Array<RecordBatch | null>(count).fill(null);
  if (batch.rows === 0) return parts;
  const { starts, indices } = split(hashes, batch.rows, count);
  for (let owner = 0; owner < count; owner++) {
    const start = starts[owner] as number;
    const size = (starts[owner + 1] as number) - start;
    if (size === batch.rows) parts[owner] = batch;
    else if (size > 0) parts[owner] = takeBatch(batch, indices.subarray(start), size);
  }
  return parts;
}

export const splitRows: SplitRows = (hashes, rows, count) => {
  const owners = new Uint16Array(rows);
  const sizes = new Int32Array(count);
  assignOwners(rows, hashes, count, owners, sizes);
  const starts = new Int32Array(count + 1);
  for (let owner = 0; owner < count; owner++)
    starts[owner + 1] = (starts[owner] as number) + (sizes[owner] as number);
  const next = starts.slice();
  const indices = new Int32Array(rows);
  for (let row = 0; row < rows; row++) {
    const owner = owners[row] as number;
    indices[next[owner] as number] = row;
    next[owner] = (next[owner] as number) + 1;
  }
  return { starts, indices };
};

function assignOwners(
  rows: number,
  hashes: Uint32Array,
  count: number,
  owners: Uint16Array,
  sizes: Int32Array,
): void {
  // Neighbouring rows often share a key, so the last range is tried first.
  let owner = 0;
  let { lower, upper } = keyRangeOf(0, count);
  for (let row = 0; row < rows; row++) {
    const hash = hashes[row] as number;
    if (hash < lower || hash >= upper) {
      owner = ownerOf(hash, count);
      ({ lower, upper } = keyRangeOf(owner, count));
    }
    owners[row] = owner;
    sizes[owner] = (sizes[owner] as number) + 1;
  }
}
