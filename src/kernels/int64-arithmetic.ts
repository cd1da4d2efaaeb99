/**
 * Arithmetic and comparison of 64-bit columns by the kernel `columns`; the twins are the loops of
 * src/expr/functions/arithmetic.ts, arithmetic-decimal.ts, comparison-loops.ts and src/expr/casts/to-decimal.ts.
 *
 * Every function answers false when there is no kernel or the batch is too small to pay for the way in and out; then
 * nothing has been done. Rows that the kernel cannot compute, also those that are NULL, are handed to `hard`.
 */
import {
  columnsKernel,
  putWords,
  reserveBits,
  reserveWords,
  type ColumnsKernel,
} from './columns-kernel.ts';

/** Below this the copies cost more than the loop. */
const ROWS_MIN = 64;

export type Int64Operator = '+' | '-' | '*' | '/' | '%';

const FUNCTIONS = {
  '+': 'addInt64',
  '-': 'subtractInt64',
  '*': 'multiplyInt64',
  '/': 'divideInt64',
  '%': 'moduloInt64',
} as const;

/** The words of an operand, and whether they are one constant for all rows. */
export type Operand = { words: Int32Array; isConstant: boolean };

function put(
  { memory }: ColumnsKernel,
  { words, isConstant }: Operand,
  rows: number,
  width: number,
): number {
  return putWords(memory, words, isConstant ? width : rows * width);
}

function visitBits(
  bits: Uint8Array,
  from: number,
  rows: number,
  visit: (row: number) => void,
): void {
  for (let row = 0; row < rows; row++)
    if (((bits[from + (row >> 3)] as number) >> (row & 7)) & 1) visit(row);
}

/** Fills `out` with the results; `hard` may write the rows that have none yet. */
export function int64Kernel(
  operator: Int64Operator,
  left: Operand,
  right: Operand,
  rows: number,
  out: Int32Array,
  hard: (row: number) => void,
): boolean {
  const found = rows < ROWS_MIN ? null : columnsKernel();
  if (found === null) return false;
  const { exports, memory } = found;
  const a = put(found, left, rows, 2);
  const b = put(found, right, rows, 2);
  const to = reserveWords(memory, rows * 2);
  const bits = reserveBits(memory, rows);
  const compute = exports[FUNCTIONS[operator]];
  const count = compute(a, left.isConstant ? 0 : 8, b, right.isConstant ? 0 : 8, rows, to, bits);
  out.set(memory.words.subarray(to >> 2, (to >> 2) + rows * 2));
  if (count > 0) visitBits(memory.bytes.slice(bits, bits + ((rows + 7) >> 3)), 0, rows, hard);
  return true;
}

/** 10^precision where 64 bits hold more digits than that, else 0. */
const limitOf = (precision: number): bigint => (precision > 18 ? 0n : 10n ** BigInt(precision));

/** Products of decimals whose scales add up to that of the result. */
export function multiplyDecimalKernel(
  left: Operand,
  right: Operand,
  rows: number,
  precision: number,
  out: Int32Array,
  hard: (row: number) => void,
): boolean {
  const found = rows < ROWS_MIN ? null : columnsKernel();
  if (found === null) return false;
  const { exports, memory } = found;
  const a = put(found, left, rows, 4);
  const b = put(found, right, rows, 4);
  const to = reserveWords(memory, rows * 4);
  const bits = reserveBits(memory, rows);
  const stepA = left.isConstant ? 0 : 16;
  const stepB = right.isConstant ? 0 : 16;
  const count = exports.multiplyDecimal(a, stepA, b, stepB, rows, limitOf(precision), to, bits);
  out.set(memory.words.subarray(to >> 2, (to >> 2) + rows * 4));
  if (count > 0) visitBits(memory.bytes.slice(bits, bits + ((rows + 7) >> 3)), 0, rows, hard);
  return true;
}

/** Whole numbers as decimals of `scale` more digits, at most 18. */
export function scaleInt64Kernel(
  words: Int32Array,
  rows: number,
  scale: number,
  precision: number,
  out: Int32Array,
  hard: (row: number) => void,
): boolean {
  const found = rows < ROWS_MIN || scale > 18 ? null : columnsKernel();
  if (found === null) return false;
  const { exports, memory } = found;
  const a = putWords(memory, words, rows * 2);
  const to = reserveWords(memory, rows * 4);
  const bits = reserveBits(memory, rows);
  const count = exports.scaleInt64(a, rows, 10n ** BigInt(scale), limitOf(precision), to, bits);
  out.set(memory.words.subarray(to >> 2, (to >> 2) + rows * 4));
  if (count > 0) visitBits(memory.bytes.slice(bits, bits + ((rows + 7) >> 3)), 0, rows, hard);
  return true;
}

const TESTS = { below: 0, above: 1, is: 2 } as const;

/** Writes the bits of the rows that are below, above or equal to a constant. */
export function compareInt64Kernel(
  words: Int32Array,
  constant: bigint,
  test: keyof typeof TESTS,
  rows: number,
  out: Uint8Array,
): boolean {
  const found = rows < ROWS_MIN ? null : columnsKernel();
  if (found === null) return false;
  const { exports, memory } = found;
  const values = putWords(memory, words, rows * 2);
  const bits = reserveBits(memory, rows + 8);
  exports.compareInt64(values, constant, rows, TESTS[test], bits);
  out.set(memory.bytes.subarray(bits, bits + ((rows + 7) >> 3)));
  return true;
}

/** The rows whose bit is set and that are present, ascending, into `out`; their number, or -1: take the twin. */
export function selectRowsKernel(
  bits: Uint8Array,
  present: Uint8Array | null,
  rows: number,
  out: Int32Array,
): number {
  const found = rows < ROWS_MIN ? null : columnsKernel();
  if (found === null) return -1;
  const { exports, memory } = found;
  const bytes = (rows + 7) >> 3;
  const at = reserveBits(memory, rows);
  memory.bytes.set(bits.subarray(0, bytes), at);
  const mask = present === null ? 0 : reserveBits(memory, rows);
  if (present !== null) memory.bytes.set(present.subarray(0, bytes), mask);
  const to = reserveWords(memory, rows);
  const count = exports.selectRows(at, mask, rows, to);
  out.set(memory.words.subarray(to >> 2, (to >> 2) + count));
  return count;
}
