/**
 * Evaluation on some rows only, and putting the pieces together again: what CASE, AND, OR and
 * coalesce need so that a branch not taken costs nothing and fails nothing.
 */
import { fixedBytes, valueBytes } from '../batch/batch-bytes.ts';
import { concatColumns } from '../batch/concat.ts';
import { nullColumn } from '../batch/column-builder.ts';
import {
  bitAt,
  bitmapBytes,
  clearBit,
  type Column,
  type Int64Column,
  type TextColumn,
} from '../batch/column.ts';
import { copyText, SLACK } from '../batch/copy-text.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { takeColumn } from '../batch/take.ts';
import { selectRowsKernel } from '../kernels/int64-arithmetic.ts';
import type { SqlType } from '../batch/types.ts';
import type { RowErrors } from './row-errors.ts';
import { andBitmaps } from './vector.ts';

/** A full column from a constant; full columns pass through. */
export function expandConstant(column: Column, rows: number, errors: RowErrors): Column {
  if (column.length === rows) return column;
  return takeWithin(column, new Int32Array(rows), rows, errors);
}

/** Copies values by their places, of which some may be taken many times; -1: NULL. */
export function takeWithin(
  column: Column,
  indices: Int32Array,
  count: number,
  errors: RowErrors,
): Column {
  if (errors.isDivisible) errors.spend(bytesTaken(column, indices, count));
  return takeColumn(column, indices, count);
}

/** The rows `indices[0, count)` of the columns in `used`; other columns are left as they are and must not be read. */
export function gatherBatch(
  batch: RecordBatch,
  used: ReadonlySet<number>,
  indices: Int32Array,
  count: number,
  withTime: boolean,
): RecordBatch {
  return {
    rows: count,
    columns: batch.columns.map((column, index) =>
      used.has(index) ? takeColumn(column, indices, count) : column,
    ),
    eventTime:
      withTime && batch.eventTime !== null
        ? (takeColumn(batch.eventTime, indices, count) as Int64Column)
        : null,
    retract: null,
  };
}

/** The batch with the values of some rows hidden: NULL in the columns of `used`. */
export function hideRows(
  batch: RecordBatch,
  used: ReadonlySet<number>,
  shown: Uint8Array,
): RecordBatch {
  const columns = batch.columns.map((column, index): Column => {
    if (!used.has(index)) return column;
    const { validity } = column;
    const kept = validity === null ? shown : andBitmaps(validity, shown, batch.rows);
    return { ...column, validity: kept };
  });
  return { ...batch, columns };
}

/**
 * Runs an evaluation on its own error list and reports row i of it as row `indices[i]`.
 */
export function withRowsMapped(
  rows: number,
  indices: Int32Array,
  errors: RowErrors,
  run: (inner: RowErrors) => Column,
): Column {
  const inner = errors.some(rows);
  const column = run(inner);
  for (const error of inner.list)
    errors.fail(indices[error.row] as number, error.code, error.message, error.column);
  return column;
}

/** Bytes of values that are not all of one size; those that are cannot grow. */
function bytesTaken(column: Column, indices: Int32Array, count: number): number {
  let bytes = 0;
  if (column.tag === 'text') {
    const { offsets } = column;
    for (let at = 0; at < count; at++) {
      const index = indices[at] as number;
      if (index >= 0) bytes += (offsets[index + 1] as number) - (offsets[index] as number);
    }
  } else if (fixedBytes(column) === 0)
    for (let at = 0; at < count; at++) {
      const index = indices[at] as number;
      if (index >= 0) bytes += valueBytes(column, index);
    }
  return bytes;
}

/** Collects per row which piece and which row of it holds the value. */
export class Assembly {
  readonly #pieces: Column[] = [];
  readonly #bases: number[] = [];
  #size = 0;
  /** Position in the joined pieces; -1 = NULL. */
  readonly #source: Int32Array;

  constructor(rows: number) {
    this.#source = new Int32Array(rows).fill(-1);
  }

  /** Adds a column or constant; the number to name it by. */
  add(piece: Column): number {
    this.#pieces.push(piece);
    this.#bases.push(this.#size);
    this.#size += piece.length;
    return this.#pieces.length - 1;
  }

  /** Row `row` of the result is row `at` of a piece (0 for a constant). */
  place(row: number, piece: number, at: number): void {
    this.#source[row] = (this.#bases[piece] as number) + at;
  }

  /**
   * Rows `rows[0, count)` of the result are a piece's.
   *
   * @param gathered  its rows are these and no others
   */
  placeAll(rows: Int32Array, count: number, piece: number, gathered: boolean): void {
    const source = this.#source;
    const base = this.#bases[piece] as number;
    const isConstant = (this.#pieces[piece] as Column).length === 1;
    for (let at = 0; at < count; at++) {
      const row = rows[at] as number;
      source[row] = base + (isConstant ? 0 : gathered ? at : row);
    }
  }

  finish(type: SqlType, errors: RowErrors): Column {
    const source = this.#source;
    if (this.#size === 0) return nullColumn(type, source.length);
    const [first] = this.#pieces;
    if (first?.tag === 'text' && this.#pieces.length > 1) {
      const pieces = this.#pieces as TextColumn[];
      return takeTexts(first, pieces, this.#bases, source, errors);
    }
    return takeWithin(concatColumns(this.#pieces), source, source.length, errors);
  }
}

/** As `takeWithin` from texts that lie in several columns, without joining them first. */
function takeTexts(
  like: TextColumn,
  pieces: readonly TextColumn[],
  bases: readonly number[],
  source: Int32Array,
  errors: RowErrors,
): TextColumn {
  const rows = source.length;
  const offsets = new Int32Array(rows + 1);
  const pieceOf = new Int32Array(rows);
  let validity: Uint8Array | null = null;
  let size = 0;
  let piece = 0;
  for (let row = 0; row < rows; row++) {
    const at = source[row] as number;
    if (at >= 0) {
      while (at < (bases[piece] as number)) piece--;
      while (at >= (bases[piece + 1] ?? Infinity)) piece++;
      pieceOf[row] = piece;
    }
    const text = pieces[piece] as TextColumn;
    const own = at - (bases[piece] as number);
    if (at >= 0 && (text.validity === null || bitAt(text.validity, own)))
      size += (text.offsets[own + 1] as number) - (text.offsets[own] as number);
    else {
      validity ??= new Uint8Array(bitmapBytes(rows)).fill(255);
      clearBit(validity, row);
    }
    offsets[row + 1] = size;
  }
  if (errors.isDivisible) errors.spend(size);
  const bytes = new Uint8Array(size + SLACK);
  copyTexts(pieces, bases, pieceOf, source, offsets, bytes);
  return { ...like, length: rows, validity, offsets, bytes: bytes.subarray(0, size) };
}

function copyTexts(
  pieces: readonly TextColumn[],
  bases: readonly number[],
  pieceOf: Int32Array,
  source: Int32Array,
  offsets: Int32Array,
  bytes: Uint8Array,
): void {
  const to = new DataView(bytes.buffer);
  const views = pieces.map(
    ({ bytes: own }) => new DataView(own.buffer, own.byteOffset, own.byteLength),
  );
  for (let row = 0; row < source.length; row++) {
    const at = offsets[row] as number;
    const size = (offsets[row + 1] as number) - at;
    if (size === 0) continue;
    const piece = pieceOf[row] as number;
    const text = pieces[piece] as TextColumn;
    const start = text.offsets[(source[row] as number) - (bases[piece] as number)] as number;
    copyText(text.bytes, views[piece] as DataView, start, size, bytes, to, at);
  }
}

/** Writes the rows whose bits are set in `bits` and `validity`, ascending; how many there are. */
export function selectRows(
  bits: Uint8Array,
  validity: Uint8Array | null,
  rows: number,
  out: Int32Array,
): number {
  const found = selectRowsKernel(bits, validity, rows, out);
  if (found >= 0) return found;
  const bytes = bitmapBytes(rows);
  let count = 0;
  for (let byte = 0; byte < bytes; byte++) {
    let set = (bits[byte] as number) & (validity === null ? 255 : (validity[byte] as number));
    while (set !== 0) {
      const row = (byte << 3) + 31 - Math.clz32(set & -set);
      // What lies behind the last row may be anything.
      if (row >= rows) break;
      out[count++] = row;
      set &= set - 1;
    }
  }
  return count;
}
