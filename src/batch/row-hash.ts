/**
 * The routing hash of rows: which subtask owns a key.
 *
 * Invariants: values that are equal for grouping (`row-equal.ts`) have equal hashes, so -0 hashes as
 * 0, every NaN as one NaN and NULL as one value of its own. Hashes are persisted through the key
 * ranges of state files: a change here breaks every checkpoint (docs/adr/0004).
 */
import { combineHash, hashBytes, mix32 } from '../base/hash.ts';
import { unreachable } from '../base/assert.ts';
import { bitAt } from './column.ts';
import type { Column, ListColumn, TextColumn } from './column.ts';
import { measure, span } from './interval.ts';
import { sliceColumn } from './take.ts';

/** The hash of NULL, of whatever type. */
export const NULL_HASH = mix32(0x6e756c6c);
const TRUE_HASH = mix32(1);
const FALSE_HASH = mix32(0);
export const TEXT_SEED = 0x7468616c;

const floatCell = new Float64Array(1);
const floatWords = new Uint32Array(floatCell.buffer);

function hashFloat(value: number): number {
  // Adding 0 turns -0 into 0; storing the constant gives NaN one bit pattern.
  floatCell[0] = value === value ? value + 0 : Number.NaN;
  return combineHash(mix32(floatWords[0] as number), floatWords[1] as number);
}

function hashWords(words: Int32Array, width: number, rows: number, out: Uint32Array): void {
  for (let row = 0; row < rows; row++) {
    let hash = mix32(words[row * width] as number);
    for (let word = 1; word < width; word++)
      hash = combineHash(hash, words[row * width + word] as number);
    out[row] = hash;
  }
}

function hashText(column: TextColumn, rows: number, out: Uint32Array): void {
  const { offsets, bytes } = column;
  let start = offsets[0] as number;
  for (let row = 0; row < rows; row++) {
    const end = offsets[row + 1] as number;
    out[row] = hashBytes(bytes, start, end, TEXT_SEED);
    start = end;
  }
}

/** Equal lengths of time have equal hashes, however they are put. */
function hashIntervals(words: Int32Array, rows: number, out: Uint32Array): void {
  for (let row = 0; row < rows; row++) {
    measure(words, row * 4);
    out[row] = combineHash(hashFloat(span.days), hashFloat(span.micros) | 0);
  }
}

/** The count of elements and then each element, in order. */
function hashLists(column: ListColumn, rows: number, out: Uint32Array): void {
  const { offsets, child } = column;
  const first = offsets[0] as number;
  const size = (offsets[rows] as number) - first;
  const hashes = new Uint32Array(size);
  hashColumn(sliceColumn(child, first, first + size), size, hashes);
  for (let row = 0; row < rows; row++) {
    const start = (offsets[row] as number) - first;
    const end = (offsets[row + 1] as number) - first;
    let hash = mix32(end - start);
    for (let at = start; at < end; at++) hash = combineHash(hash, hashes[at] as number);
    out[row] = hash;
  }
}

/** Writes the hash of each of the first `rows` values of one column. */
function hashColumn(column: Column, rows: number, out: Uint32Array): void {
  switch (column.tag) {
    case 'boolean':
      for (let row = 0; row < rows; row++)
        out[row] = bitAt(column.bits, row) ? TRUE_HASH : FALSE_HASH;
      break;
    case 'int32':
      for (let row = 0; row < rows; row++) out[row] = mix32(column.values[row] as number);
      break;
    case 'int64':
    case 'timestamp':
      hashWords(column.words, 2, rows, out);
      break;
    case 'float64':
      for (let row = 0; row < rows; row++) out[row] = hashFloat(column.values[row] as number);
      break;
    case 'decimal':
      hashWords(column.words, 4, rows, out);
      break;
    case 'text':
      hashText(column, rows, out);
      break;
    case 'interval':
      hashIntervals(column.words, rows, out);
      break;
    case 'list':
      hashLists(column, rows, out);
      break;
    case 'struct':
      hashRows(column.children, rows, out);
      break;
    default:
      unreachable(column);
  }
  const { validity } = column;
  if (validity === null) return;
  for (let row = 0; row < rows; row++) if (!bitAt(validity, row)) out[row] = NULL_HASH;
}

/**
 * Writes the routing hash of each of the first `rows` rows of the key columns into `out`, which has
 * room for that many. Without key columns every row hashes to 0.
 */
export function hashRows(columns: readonly Column[], rows: number, out: Uint32Array): void {
  const [first, ...others] = columns;
  if (first === undefined) {
    out.fill(0, 0, rows);
    return;
  }
  hashColumn(first, rows, out);
  if (others.length === 0) return;
  const next = new Uint32Array(rows);
  for (const column of others) {
    hashColumn(column, rows, next);
    for (let row = 0; row < rows; row++)
      out[row] = combineHash(out[row] as number, next[row] as number);
  }
}
