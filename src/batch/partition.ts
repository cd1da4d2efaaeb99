/** A batch split by the subtask that owns each row's key. */
import { keyRangeOf, ownerOf } from '../base/hash.ts';
import type { RecordBatch } from './record-batch.ts';
import { takeBatch } from './take.ts';

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
): (RecordBatch | null)[] {
  const parts: (RecordBatch | null)[] = new Array<RecordBatch | null>(count).fill(null);
  if (batch.rows === 0) return parts;
  const owners = new Uint16Array(batch.rows);
  const sizes = new Int32Array(count);
  assignOwners(batch.rows, hashes, count, owners, sizes);
  const starts = new Int32Array(count + 1);
  for (let owner = 0; owner < count; owner++)
    starts[owner + 1] = (starts[owner] as number) + (sizes[owner] as number);
  const next = starts.slice();
  const indices = new Int32Array(batch.rows);
  for (let row = 0; row < batch.rows; row++) {
    const owner = owners[row] as number;
    indices[next[owner] as number] = row;
    next[owner] = (next[owner] as number) + 1;
  }
  for (let owner = 0; owner < count; owner++) {
    const size = sizes[owner] as number;
    if (size === batch.rows) parts[owner] = batch;
    else if (size > 0) parts[owner] = takeBatch(batch, indices.subarray(starts[owner]), size);
  }
  return parts;
}

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
