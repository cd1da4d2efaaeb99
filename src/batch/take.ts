/**
 * Rows picked, sliced, filtered and joined end to end.
 *
 * Results may share buffers with their input (slices do); a text or list column made by
 * `sliceColumn` has a first offset that is not zero.
 */
import { assert, unreachable } from '../base/assert.ts';
import { bitAt, bitmapBytes, setBit } from './column.ts';
import type { BooleanColumn, Column, Int64Column, ListColumn, TextColumn } from './column.ts';
import { copyText, SLACK } from './copy-text.ts';
import type { RecordBatch } from './record-batch.ts';

function takeValidity(
  column: Column,
  indices: Int32Array,
  count: number,
  padded: boolean,
): Uint8Array | null {
  const source = column.validity;
  if (source === null && !padded) return null;
  let nulls = false;
  for (let row = 0; row < count && !nulls; row++) {
    const index = indices[row] as number;
    nulls = index < 0 || (source !== null && !bitAt(source, index));
  }
  if (!nulls) return null;
  const validity = new Uint8Array(bitmapBytes(count));
  for (let row = 0; row < count; row++) {
    const index = indices[row] as number;
    if (index >= 0 && (source === null || bitAt(source, index))) setBit(validity, row);
  }
  return validity;
}

function takeBits(bits: Uint8Array, indices: Int32Array, count: number): Uint8Array {
  const taken = new Uint8Array(bitmapBytes(count));
  for (let row = 0; row < count; row++) {
    const index = indices[row] as number;
    if (index >= 0 && bitAt(bits, index)) setBit(taken, row);
  }
  return taken;
}

function takeValues(values: Int32Array, indices: Int32Array, count: number): Int32Array {
  const taken = new Int32Array(count);
  for (let row = 0; row < count; row++) {
    const index = indices[row] as number;
    if (index >= 0) taken[row] = values[index] as number;
  }
  return taken;
}

function takePairs(
  words: Int32Array,
  indices: Int32Array,
  count: number,
  padded: boolean,
): Int32Array {
  const taken = new Int32Array(count * 2);
  if (!padded) {
    for (let row = 0, to = 0; row < count; row++, to += 2) {
      const from = (indices[row] as number) * 2;
      taken[to] = words[from] as number;
      taken[to + 1] = words[from + 1] as number;
    }
    return taken;
  }
  for (let row = 0; row < count; row++) {
    const index = indices[row] as number;
    if (index < 0) continue;
    taken[row * 2] = words[index * 2] as number;
    taken[row * 2 + 1] = words[index * 2 + 1] as number;
  }
  return taken;
}

function takeQuads(words: Int32Array, indices: Int32Array, count: number): Int32Array {
  const taken = new Int32Array(count * 4);
  for (let row = 0; row < count; row++) {
    const index = indices[row] as number;
    if (index < 0) continue;
    for (let word = 0; word < 4; word++) taken[row * 4 + word] = words[index * 4 + word] as number;
  }
  return taken;
}

function takeText(
  column: TextColumn,
  indices: Int32Array,
  count: number,
): { offsets: Int32Array; bytes: Uint8Array } {
  const source = column.offsets;
  const offsets = new Int32Array(count + 1);
  let size = 0;
  for (let row = 0; row < count; row++) {
    const index = indices[row] as number;
    if (index >= 0) size += (source[index + 1] as number) - (source[index] as number);
    offsets[row + 1] = size;
  }
  const bytes = new Uint8Array(size + SLACK);
  const to = new DataView(bytes.buffer);
  const from = column.bytes;
  const view = new DataView(from.buffer, from.byteOffset, from.byteLength);
  for (let row = 0; row < count;) {
    const index = indices[row] as number;
    const at = offsets[row++] as number;
    if (index < 0) continue;
    // Texts that lie one behind the other are one copy.
    let next = index + 1;
    while (row < count && indices[row] === next) {
      row++;
      next++;
    }
    const start = source[index] as number;
    copyText(from, view, start, (source[next] as number) - start, bytes, to, at);
  }
  return { offsets, bytes: bytes.subarray(0, size) };
}

function takeLists(
  column: ListColumn,
  indices: Int32Array,
  count: number,
): { offsets: Int32Array; child: Column } {
  const source = column.offsets;
  const offsets = new Int32Array(count + 1);
  let size = 0;
  for (let row = 0; row < count; row++) {
    const index = indices[row] as number;
    if (index >= 0) size += (source[index + 1] as number) - (source[index] as number);
    offsets[row + 1] = size;
  }
  const elements = new Int32Array(size);
  let at = 0;
  for (let row = 0; row < count; row++) {
    const index = indices[row] as number;
    if (index < 0) continue;
    const end = source[index + 1] as number;
    for (let element = source[index] as number; element < end; element++) elements[at++] = element;
  }
  return { offsets, child: takeColumn(column.child, elements, size, false) };
}

/**
 * The first `count` of `indices`, in that order, as a new column; a negative index gives NULL.
 *
 * @param padded  whether an index may be negative
 */
export function takeColumn(
  column: Column,
  indices: Int32Array,
  count: number,
  padded = true,
): Column {
  const validity = takeValidity(column, indices, count, padded);
  const common = { length: count, validity };
  switch (column.tag) {
    case 'boolean':
      return { ...column, ...common, bits: takeBits(column.bits, indices, count) };
    case 'int32':
      return { ...column, ...common, values: takeValues(column.values, indices, count) };
    case 'int64':
    case 'timestamp':
      return { ...column, ...common, words: takePairs(column.words, indices, count, padded) };
    case 'float64': {
      const values = new Float64Array(count);
      for (let row = 0; row < count; row++) {
        const index = indices[row] as number;
        if (index >= 0) values[row] = column.values[index] as number;
      }
      return { ...column, ...common, values };
    }
    case 'decimal':
      return { ...column, ...common, words: takeQuads(column.words, indices, count) };
    case 'interval':
      return { ...column, ...common, words: takeQuads(column.words, indices, count) };
    case 'text':
      return { ...column, ...common, ...takeText(column, indices, count) };
    case 'list':
      return { ...column, ...common, ...takeLists(column, indices, count) };
    case 'struct': {
      const children = column.children.map((child) => takeColumn(child, indices, count, padded));
      return { ...column, ...common, children };
    }
    default:
      return unreachable(column);
  }
}

/** The first `count` rows of `indices` as a new batch; no index may be negative. */
/** The same rows in buffers of their own. */
export function copyBatch(batch: RecordBatch): RecordBatch {
  const rows = new Int32Array(batch.rows);
  for (let row = 0; row < rows.length; row++) rows[row] = row;
  return takeBatch(batch, rows, batch.rows);
}

export function takeBatch(batch: RecordBatch, indices: Int32Array, count: number): RecordBatch {
  let retract: Uint8Array | null = null;
  if (batch.retract !== null) {
    retract = new Uint8Array(count);
    for (let row = 0; row < count; row++)
      retract[row] = batch.retract[indices[row] as number] as number;
  }
  return {
    rows: count,
    columns: batch.columns.map((column) => takeColumn(column, indices, count, false)),
    eventTime:
      batch.eventTime === null
        ? null
        : (takeColumn(batch.eventTime, indices, count, false) as Int64Column),
    retract,
  };
}

function sliceBits(bits: Uint8Array, from: number, to: number): Uint8Array {
  if ((from & 7) === 0) return bits.subarray(from >> 3, bitmapBytes(to));
  const sliced = new Uint8Array(bitmapBytes(to - from));
  const shift = from & 7;
  const first = from >> 3;
  for (let at = 0; at < sliced.length; at++) {
    sliced[at] =
      ((bits[first + at] as number) >> shift) | ((bits[first + at + 1] ?? 0) << (8 - shift));
  }
  return sliced;
}

/** Rows `[from, to)` of a column; shares buffers. */
export function sliceColumn(column: Column, from: number, to: number): Column {
  const validity = column.validity === null ? null : sliceBits(column.validity, from, to);
  const common = { length: to - from, validity };
  switch (column.tag) {
    case 'boolean':
      return { ...column, ...common, bits: sliceBits(column.bits, from, to) };
    case 'int32':
      return { ...column, ...common, values: column.values.subarray(from, to) };
    case 'int64':
    case 'timestamp':
      return { ...column, ...common, words: column.words.subarray(from * 2, to * 2) };
    case 'float64':
      return { ...column, ...common, values: column.values.subarray(from, to) };
    case 'decimal':
      return { ...column, ...common, words: column.words.subarray(from * 4, to * 4) };
    case 'interval':
      return { ...column, ...common, words: column.words.subarray(from * 4, to * 4) };
    case 'text':
      return { ...column, ...common, offsets: column.offsets.subarray(from, to + 1) };
    case 'list':
      return { ...column, ...common, offsets: column.offsets.subarray(from, to + 1) };
    case 'struct': {
      const children = column.children.map((child) => sliceColumn(child, from, to));
      return { ...column, ...common, children };
    }
    default:
      return unreachable(column);
  }
}

/** Rows `[from, to)`; shares buffers. */
export function sliceBatch(batch: RecordBatch, from: number, to: number): RecordBatch {
  assert(from >= 0 && from <= to && to <= batch.rows, 'a slice lies within its batch');
  if (from === 0 && to === batch.rows) return batch;
  return {
    rows: to - from,
    columns: batch.columns.map((column) => sliceColumn(column, from, to)),
    eventTime:
      batch.eventTime === null ? null : (sliceColumn(batch.eventTime, from, to) as Int64Column),
    retract: batch.retract === null ? null : batch.retract.subarray(from, to),
  };
}

/** The rows whose byte in `keep` is not zero; the batch itself when all are. */
export function filterBatch(batch: RecordBatch, keep: Uint8Array): RecordBatch {
  const indices = new Int32Array(batch.rows);
  let count = 0;
  for (let row = 0; row < batch.rows; row++) if (keep[row] !== 0) indices[count++] = row;
  return count === batch.rows ? batch : takeBatch(batch, indices, count);
}

/** The rows where a condition is true: neither false nor NULL. */
export function filterBatchWhere(batch: RecordBatch, condition: BooleanColumn): RecordBatch {
  const { bits, validity } = condition;
  const indices = new Int32Array(batch.rows);
  let count = 0;
  for (let row = 0; row < batch.rows; row++) {
    if (bitAt(bits, row) && (validity === null || bitAt(validity, row))) indices[count++] = row;
  }
  return count === batch.rows ? batch : takeBatch(batch, indices, count);
}
