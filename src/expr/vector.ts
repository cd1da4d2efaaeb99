/**
 * What every column function needs: strides, validity and empty result columns.
 *
 * Inside this folder an argument may be a *constant*: a column of length 1 stands for that value in
 * every row (`strideOf` is 0). Constants never leave the folder: `compileExpr` expands them.
 * A result's validity is the conjunction of its arguments' unless the function says otherwise.
 */
import type { ErrorCode } from '../base/errors.ts';
import type {
  BooleanColumn,
  Column,
  DecimalColumn,
  Float64Column,
  Int32Column,
  Int64Column,
  IntervalColumn,
} from '../batch/column.ts';
import { bitAt, bitmapBytes, clearBit } from '../batch/column.ts';
import type { SqlType } from '../batch/types.ts';
import { BOOLEAN, FLOAT64, INT32, INTERVAL, layoutOf } from '../batch/types.ts';
import type { RowErrors } from './row-errors.ts';

/** 0 for a constant, 1 for a full column: row r is at `r * strideOf(column)`. */
export const strideOf = (column: Column): 0 | 1 => (column.length === 1 ? 0 : 1);

/** The words of an operand as kernels take them. */
export const operandOf = (column: {
  length: number;
  words: Int32Array;
}): { words: Int32Array; isConstant: boolean } => ({
  words: column.words,
  isConstant: column.length === 1,
});

/** Whether row `row` of a column or constant is present. */
export const isPresent = (column: Column, row: number): boolean =>
  column.validity === null || bitAt(column.validity, row * strideOf(column));

/** The bytewise conjunction of two bitmaps over `rows` bits, four bytes at a time where both are aligned. */
export function andBitmaps(left: Uint8Array, right: Uint8Array, rows: number): Uint8Array {
  const bytes = bitmapBytes(rows);
  const result = new Uint8Array((bytes + 3) & ~3);
  let done = 0;
  if ((left.byteOffset & 3) === 0 && (right.byteOffset & 3) === 0) {
    const words = Math.min(left.byteLength, right.byteLength, bytes) >> 2;
    const leftWords = new Int32Array(left.buffer, left.byteOffset, words);
    const rightWords = new Int32Array(right.buffer, right.byteOffset, words);
    const resultWords = new Int32Array(result.buffer, 0, words);
    for (let word = 0; word < words; word++) {
      resultWords[word] = (leftWords[word] as number) & (rightWords[word] as number);
    }
    done = words << 2;
  }
  for (let byte = done; byte < bytes; byte++)
    result[byte] = (left[byte] as number) & (right[byte] as number);
  return result;
}

/** Rows in which every argument is present; null = all rows. May share an argument's buffer. */
export function combineValidity(args: readonly Column[], rows: number): Uint8Array | null {
  let combined: Uint8Array | null = null;
  for (const column of args) {
    if (column.validity === null) continue;
    if (strideOf(column) === 0) {
      if (!bitAt(column.validity, 0)) return new Uint8Array(bitmapBytes(rows));
    } else {
      combined = combined === null ? column.validity : andBitmaps(combined, column.validity, rows);
    }
  }
  return combined;
}

/**
 * The validity of a result under construction. A failed row is reported once and becomes null;
 * failures of rows that are null anyway are ignored, so kernels may compute on the rubbish of null rows.
 */
export class Outcome {
  validity: Uint8Array | null;
  #owned = false;
  readonly #rows: number;
  readonly #errors: RowErrors;

  constructor(args: readonly Column[], rows: number, errors: RowErrors) {
    this.validity = combineValidity(args, rows);
    this.#rows = rows;
    this.#errors = errors;
  }

  has(row: number): boolean {
    return this.validity === null || bitAt(this.validity, row);
  }

  /** Reports a row and makes it null. `message` is only called for rows that count. */
  fail(row: number, code: ErrorCode, message: () => string): void {
    if (!this.has(row)) return;
    this.#errors.fail(row, code, message());
    this.makeNull(row);
  }

  makeNull(row: number): void {
    if (!this.#owned) {
      const bytes = bitmapBytes(this.#rows);
      this.validity =
        this.validity === null ? new Uint8Array(bytes).fill(255) : this.validity.slice(0, bytes);
      this.#owned = true;
    }
    clearBit(this.validity as Uint8Array, row);
  }
}

export const makeBoolean = (rows: number, validity: Uint8Array | null): BooleanColumn => ({
  tag: 'boolean',
  type: BOOLEAN,
  length: rows,
  validity,
  bits: new Uint8Array(bitmapBytes(rows)),
});

export const makeInt32 = (rows: number): Int32Column => ({
  tag: 'int32',
  type: INT32,
  length: rows,
  validity: null,
  values: new Int32Array(rows),
});

/** An empty column of a type of the layout int64 or timestamp. */
export const makeInt64 = (rows: number, type: SqlType): Int64Column => ({
  tag: layoutOf(type) === 'timestamp' ? 'timestamp' : 'int64',
  type,
  length: rows,
  validity: null,
  words: new Int32Array(rows * 2),
});

export const makeInterval = (rows: number): IntervalColumn => ({
  tag: 'interval',
  type: INTERVAL,
  length: rows,
  validity: null,
  words: new Int32Array(rows * 4),
});

export const makeFloat64 = (rows: number): Float64Column => ({
  tag: 'float64',
  type: FLOAT64,
  length: rows,
  validity: null,
  values: new Float64Array(rows),
});

export const makeDecimal = (rows: number, type: SqlType & { tag: 'decimal' }): DecimalColumn => ({
  tag: 'decimal',
  type,
  length: rows,
  validity: null,
  words: new Int32Array(rows * 4),
});
