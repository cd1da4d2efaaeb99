/**
 * A state table as the bytes of one state file.
 *
 * Place in the walk: between stages 7 and 8, and on restore. Format, all integers little-endian:
 *
 *     8 bytes   magic "THLWGTAB"
 *     4 bytes   version, 2 (1: without changes)
 *     4 bytes   n, the size of the header
 *     n bytes   header: JSON {table, schema, rows, chunks: byte sizes, changes: null or
 *               {keyColumns, droppedBelow, removed: null or {rows, chunks}}}
 *     chunks    Arrow IPC streams, each padded to 8 bytes; the column after the schema's holds the routing hashes.
 *               Those of the rows come first, those of the removed keys follow.
 *
 * Invariants: the row order and the columns' values survive exactly; decoding with key ranges that cover the hash
 * space without overlap gives every row exactly once over all of them, whatever the number of ranges.
 * Failure: bytes that are no such file throw INTERNAL; the size and hash in the manifest are the first line of defence.
 */
import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { HASH_SPACE, type KeyRange } from '../base/hash.ts';
import type { Column } from '../batch/column.ts';
import { concatBatches } from '../batch/concat.ts';
import { decodeBatch, encodeBatch } from '../batch/ipc.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { sliceBatch, takeBatch } from '../batch/take.ts';
import { INT32, type Field, type Schema } from '../batch/types.ts';
import { emptyColumn } from '../batch/column-builder.ts';
import type { StateChanges, StateTable } from './state-table.ts';

const MAGIC = 'THLWGTAB';
const VERSION = 2;
const PREAMBLE_BYTES = 16;
const CHUNK_ROWS = 32_768;
const HASH_FIELD: Field = { name: '_hash', type: INT32, nullable: false };

type Header = {
  table: string;
  schema: Schema;
  rows: number;
  chunks: number[];
  changes?: {
    keyColumns: number;
    droppedBelow: number | null;
    removed: { rows: number; chunks: number[] } | null;
  } | null;
};

/** Rows with their hashes: the table itself, or the keys that were removed from it. */
type Rows = { rows: number; columns: readonly Column[]; hashes: Uint32Array };

/** The file's bytes. */
export function encodeStateTable(table: StateTable): Uint8Array {
  const { changes } = table;
  const chunks = chunksOf(table.schema, table);
  const removed =
    changes === null || changes.removed === null
      ? null
      : chunksOf(table.schema.slice(0, changes.keyColumns), changes.removed);
  const header: Header = {
    table: table.table,
    schema: table.schema,
    rows: table.rows,
    chunks: chunks.map((chunk) => chunk.length),
    changes:
      changes === null
        ? null
        : {
            keyColumns: changes.keyColumns,
            droppedBelow: changes.droppedBelow,
            removed:
              removed === null
                ? null
                : {
                    rows: changes.removed?.rows ?? 0,
                    chunks: removed.map((chunk) => chunk.length),
                  },
          },
  };
  return fileOf(header, [...chunks, ...(removed ?? [])]);
}

function chunksOf(schema: Schema, rows: Rows): Uint8Array[] {
  const batch = batchOf(rows);
  const chunks: Uint8Array[] = [];
  for (let from = 0; from < rows.rows; from += CHUNK_ROWS) {
    const to = Math.min(from + CHUNK_ROWS, rows.rows);
    chunks.push(encodeBatch([...schema, HASH_FIELD], sliceBatch(batch, from, to)));
  }
  return chunks;
}

function fileOf(header: Header, chunks: readonly Uint8Array[]): Uint8Array {
  const head = new TextEncoder().encode(JSON.stringify(header));
  let size = padded(PREAMBLE_BYTES + head.length);
  for (const chunk of chunks) size += padded(chunk.length);
  const bytes = new Uint8Array(size);
  new TextEncoder().encodeInto(MAGIC, bytes);
  const view = new DataView(bytes.buffer);
  view.setUint32(8, VERSION, true);
  view.setUint32(12, head.length, true);
  bytes.set(head, PREAMBLE_BYTES);
  let at = padded(PREAMBLE_BYTES + head.length);
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += padded(chunk.length);
  }
  return bytes;
}

/**
 * The rows of the file whose hash lies in `range`, and the removed keys of that range.
 *
 * @returns columns may share memory with `bytes`
 * @throws INTERNAL when the bytes are no state file of a version this code reads
 */
export function decodeStateTable(bytes: Uint8Array, range: KeyRange): StateTable {
  const header = readHeader(bytes);
  const start = padded(PREAMBLE_BYTES + headerBytes(bytes));
  const rows = readRows(bytes, start, header.chunks, header.schema, range);
  return {
    table: header.table,
    schema: header.schema,
    ...rows,
    changes: readChanges(bytes, start, header, range),
  };
}

function readChanges(
  bytes: Uint8Array,
  start: number,
  header: Header,
  range: KeyRange,
): StateChanges | null {
  const { changes } = header;
  if (changes === null || changes === undefined) return null;
  const { keyColumns, droppedBelow, removed } = changes;
  const behindRows = header.chunks.reduce((at, size) => at + padded(size), start);
  const keys = header.schema.slice(0, keyColumns);
  return {
    keyColumns,
    droppedBelow,
    removed: removed === null ? null : readRows(bytes, behindRows, removed.chunks, keys, range),
  };
}

function readRows(
  bytes: Uint8Array,
  start: number,
  sizes: readonly number[],
  schema: Schema,
  range: KeyRange,
): Rows {
  const parts: RecordBatch[] = [];
  let at = start;
  for (const size of sizes) {
    if (at + size > bytes.length) throw corrupt('it is cut short');
    const chunk = decodeBatch([...schema, HASH_FIELD], bytes.subarray(at, at + size));
    const owned = ownedRows(chunk, range);
    if (owned.rows > 0) parts.push(owned);
    at += padded(size);
  }
  if (parts.length === 0) {
    const columns = schema.map((field) => emptyColumn(field.type));
    return { rows: 0, columns, hashes: new Uint32Array(0) };
  }
  const batch = parts.length === 1 ? (parts[0] as RecordBatch) : concatBatches(parts);
  const hashes = new Uint32Array(hashColumn(batch).subarray(0, batch.rows));
  return { rows: batch.rows, columns: batch.columns.slice(0, -1), hashes };
}

function batchOf({ rows, columns, hashes }: Rows): RecordBatch {
  assert(hashes.length >= rows, 'a hash for every row');
  const values = new Int32Array(hashes.buffer, hashes.byteOffset, rows);
  const column: Column = { tag: 'int32', type: INT32, length: rows, validity: null, values };
  return { rows, columns: [...columns, column], eventTime: null, retract: null };
}

function ownedRows(batch: RecordBatch, range: KeyRange): RecordBatch {
  if (range.lower === 0 && range.upper === HASH_SPACE) return batch;
  const hashes = hashColumn(batch);
  const picked = new Int32Array(batch.rows);
  let count = 0;
  for (let row = 0; row < batch.rows; row++) {
    const hash = (hashes[row] as number) >>> 0;
    if (hash >= range.lower && hash < range.upper) picked[count++] = row;
  }
  return count === batch.rows ? batch : takeBatch(batch, picked, count);
}

function hashColumn(batch: RecordBatch): Int32Array {
  const column = batch.columns.at(-1);
  assert(column?.tag === 'int32', 'the last column holds hashes');
  return column.values;
}

function readHeader(bytes: Uint8Array): Header {
  if (bytes.length < PREAMBLE_BYTES || new TextDecoder().decode(bytes.subarray(0, 8)) !== MAGIC) {
    throw corrupt('it does not begin like one');
  }
  const version = new DataView(bytes.buffer, bytes.byteOffset).getUint32(8, true);
  if (version < 1 || version > VERSION)
    throw corrupt(`it has version ${version}, this code reads versions up to ${VERSION}`);
  const head = bytes.subarray(PREAMBLE_BYTES, PREAMBLE_BYTES + headerBytes(bytes));
  try {
    return JSON.parse(new TextDecoder().decode(head)) as Header;
  } catch (cause) {
    throw corrupt('its header is unreadable', cause);
  }
}

const headerBytes = (bytes: Uint8Array): number =>
  new DataView(bytes.buffer, bytes.byteOffset).getUint32(12, true);

const padded = (size: number): number => (size + 7) & ~7;

const corrupt = (why: string, cause?: unknown): EngineError =>
  new EngineError('INTERNAL', `not a state file: ${why}`, {}, cause);
