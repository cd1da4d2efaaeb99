/**
 * Evaluation on some rows only, and putting the pieces together again: what CASE, AND, OR and
 * coalesce need so that a branch not taken costs nothing and fails nothing.
 */
import { fixedBytes, valueBytes } from '../batch/batch-bytes.ts';
import { concatColumns } from '../batch/concat.ts';
import { nullColumn } from '../batch/column-builder.ts';
import { bitmapBytes, type Column, type Int64Column } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { takeColumn } from '../batch/take.ts';
import { selectRowsKernel } from '../kernels/int64-arithmetic.ts';
import type { SqlType } from '../batch/types.ts';
import type { RowErrors } from './row-errors.ts';

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

  finish(type: SqlType, errors: RowErrors): Column {
    if (this.#size === 0) return nullColumn(type, this.#source.length);
    return takeWithin(concatColumns(this.#pieces), this.#source, this.#source.length, errors);
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
