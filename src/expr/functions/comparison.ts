/**
 * = <> < <= > >= and IS [NOT] DISTINCT FROM on every type, and the kernels behind them.
 *
 * Order is total: false before true, text by code point (which is byte order in UTF-8), and as in
 * Postgres NaN equals itself and comes after every other DOUBLE; -0 equals 0; intervals by their
 * length; lists and structs by their first difference. Two kernels a type suffice: the other four operators swap or negate them.
 */
import { unreachable } from '../../base/assert.ts';
import type {
  BooleanColumn,
  Column,
  DecimalColumn,
  Float64Column,
  Int32Column,
  Int64Column,
  StructColumn,
  TextColumn,
} from '../../batch/column.ts';
import { bitAt, bitmapBytes } from '../../batch/column.ts';
import { compareValues } from '../../batch/row-equal.ts';
import { ALL_TAGS, BOOLEAN } from '../../batch/types.ts';
import type { Evaluate, FunctionExample, ScalarFunction } from '../function-types.ts';
import { always } from '../function-types.ts';
import { compareFast } from './comparison-loops.ts';
import { compareBytes } from '../text-sink.ts';
import { combineValidity, isPresent, makeBoolean, strideOf } from '../vector.ts';
import { compareDecimal, compareInt64, compareUint64 } from '../wide.ts';

/** Sets the bits of the rows for which the test holds; rows that are NULL get any bit. */
type Kernel = (left: Column, right: Column, rows: number, bits: Uint8Array) => void;

const mark = (bits: Uint8Array, row: number): void => {
  bits[row >> 3] = (bits[row >> 3] as number) | (1 << (row & 7));
};

function equalNumbers(
  a: Int32Array | Float64Array,
  strideA: number,
  b: Int32Array | Float64Array,
  strideB: number,
  rows: number,
  bits: Uint8Array,
): void {
  for (let row = 0; row < rows; row++) if (a[row * strideA] === b[row * strideB]) mark(bits, row);
}

function equalFloats(
  a: Float64Array,
  strideA: number,
  b: Float64Array,
  strideB: number,
  rows: number,
  bits: Uint8Array,
): void {
  for (let row = 0; row < rows; row++) {
    const x = a[row * strideA] as number;
    const y = b[row * strideB] as number;
    if (x === y || (x !== x && y !== y)) mark(bits, row);
  }
}

function lessFloats(
  a: Float64Array,
  strideA: number,
  b: Float64Array,
  strideB: number,
  rows: number,
  bits: Uint8Array,
): void {
  for (let row = 0; row < rows; row++) {
    const x = a[row * strideA] as number;
    const y = b[row * strideB] as number;
    if (x < y || (y !== y && x === x)) mark(bits, row);
  }
}

function lessInt32(
  a: Int32Array,
  strideA: number,
  b: Int32Array,
  strideB: number,
  rows: number,
  bits: Uint8Array,
): void {
  for (let row = 0; row < rows; row++)
    if ((a[row * strideA] as number) < (b[row * strideB] as number)) mark(bits, row);
}

function equalInt64(
  a: Int32Array,
  strideA: number,
  b: Int32Array,
  strideB: number,
  rows: number,
  bits: Uint8Array,
): void {
  for (let row = 0; row < rows; row++) {
    const atA = 2 * row * strideA;
    const atB = 2 * row * strideB;
    if (a[atA] === b[atB] && a[atA + 1] === b[atB + 1]) mark(bits, row);
  }
}

function lessInt64(
  a: Int32Array,
  strideA: number,
  b: Int32Array,
  strideB: number,
  rows: number,
  bits: Uint8Array,
): void {
  for (let row = 0; row < rows; row++)
    if (compareInt64(a, row * strideA, b, row * strideB) < 0) mark(bits, row);
}

function lessUint64(
  a: Int32Array,
  strideA: number,
  b: Int32Array,
  strideB: number,
  rows: number,
  bits: Uint8Array,
): void {
  for (let row = 0; row < rows; row++)
    if (compareUint64(a, row * strideA, b, row * strideB) < 0) mark(bits, row);
}

/** Intervals, lists and whatever else has no loop of its own. NULL rows get any bit. */
function byOrder(
  left: Column,
  right: Column,
  rows: number,
  bits: Uint8Array,
  holds: (order: number) => boolean,
): void {
  const strideA = strideOf(left);
  const strideB = strideOf(right);
  for (let row = 0; row < rows; row++)
    if (holds(compareValues(left, row * strideA, right, row * strideB))) mark(bits, row);
}

const isZero = (order: number): boolean => order === 0;
const isBelow = (order: number): boolean => order < 0;

function equalText(left: TextColumn, right: TextColumn, rows: number, bits: Uint8Array): void {
  const strideA = strideOf(left);
  const strideB = strideOf(right);
  const { offsets: ends, bytes } = left;
  const { offsets: otherEnds, bytes: otherBytes } = right;
  for (let row = 0; row < rows; row++) {
    let at = ends[row * strideA] as number;
    const end = ends[row * strideA + 1] as number;
    let other = otherEnds[row * strideB] as number;
    if (end - at !== (otherEnds[row * strideB + 1] as number) - other) continue;
    while (at < end && bytes[at] === otherBytes[other]) {
      at++;
      other++;
    }
    if (at === end) mark(bits, row);
  }
}

function lessText(left: TextColumn, right: TextColumn, rows: number, bits: Uint8Array): void {
  const strideA = strideOf(left);
  const strideB = strideOf(right);
  for (let row = 0; row < rows; row++) {
    const a = row * strideA;
    const b = row * strideB;
    const order = compareBytes(
      left.bytes,
      left.offsets[a] as number,
      left.offsets[a + 1] as number,
      right.bytes,
      right.offsets[b] as number,
      right.offsets[b + 1] as number,
    );
    if (order < 0) mark(bits, row);
  }
}

/** Equality of structs: equal fields, where NULL fields equal each other. */
function equalStructs(
  left: StructColumn,
  right: StructColumn,
  rows: number,
  bits: Uint8Array,
): void {
  bits.fill(255, 0, bitmapBytes(rows));
  left.children.forEach((child, index) => {
    const fields = new Uint8Array(bitmapBytes(rows));
    // A struct constant has children of one value each, so they are constants as well.
    notDistinct(child, right.children[index] as Column, rows, fields);
    for (let byte = 0; byte < fields.length; byte++)
      bits[byte] = (bits[byte] as number) & (fields[byte] as number);
  });
}

const equal: Kernel = (left, right, rows, bits) => {
  const [strideA, strideB] = [strideOf(left), strideOf(right)];
  switch (left.tag) {
    case 'boolean': {
      const other = right as BooleanColumn;
      for (let row = 0; row < rows; row++) {
        if (bitAt(left.bits, row * strideA) === bitAt(other.bits, row * strideB)) mark(bits, row);
      }
      return;
    }
    case 'int32':
      return equalNumbers(left.values, strideA, (right as Int32Column).values, strideB, rows, bits);
    case 'int64':
    case 'timestamp':
      return equalInt64(left.words, strideA, (right as Int64Column).words, strideB, rows, bits);
    case 'float64':
      return equalFloats(
        left.values,
        strideA,
        (right as Float64Column).values,
        strideB,
        rows,
        bits,
      );
    case 'decimal': {
      const other = right as DecimalColumn;
      for (let row = 0; row < rows; row++) {
        if (compareDecimal(left.words, row * strideA, other.words, row * strideB) === 0)
          mark(bits, row);
      }
      return;
    }
    case 'interval':
    case 'list':
      return byOrder(left, right, rows, bits, isZero);
    case 'text':
      return equalText(left, right as TextColumn, rows, bits);
    case 'struct':
      return equalStructs(left, right as StructColumn, rows, bits);
    default:
      return unreachable(left);
  }
};

const less: Kernel = (left, right, rows, bits) => {
  const [strideA, strideB] = [strideOf(left), strideOf(right)];
  switch (left.tag) {
    case 'boolean': {
      const other = right as BooleanColumn;
      for (let row = 0; row < rows; row++) {
        if (!bitAt(left.bits, row * strideA) && bitAt(other.bits, row * strideB)) mark(bits, row);
      }
      return;
    }
    case 'int32':
      return lessInt32(left.values, strideA, (right as Int32Column).values, strideB, rows, bits);
    case 'int64':
      if (left.type.tag === 'uint64')
        return lessUint64(left.words, strideA, (right as Int64Column).words, strideB, rows, bits);
      return lessInt64(left.words, strideA, (right as Int64Column).words, strideB, rows, bits);
    case 'timestamp':
      return lessInt64(left.words, strideA, (right as Int64Column).words, strideB, rows, bits);
    case 'float64':
      return lessFloats(left.values, strideA, (right as Float64Column).values, strideB, rows, bits);
    case 'decimal': {
      const other = right as DecimalColumn;
      for (let row = 0; row < rows; row++) {
        if (compareDecimal(left.words, row * strideA, other.words, row * strideB) < 0)
          mark(bits, row);
      }
      return;
    }
    case 'text':
      return lessText(left, right as TextColumn, rows, bits);
    case 'interval':
    case 'list':
    case 'struct':
      return byOrder(left, right, rows, bits, isBelow);
    default:
      return unreachable(left);
  }
};

/** Sets the bits of the rows where both are NULL, or both present and equal. */
export const notDistinct: Kernel = (left, right, rows, bits) => {
  equal(left, right, rows, bits);
  if (left.validity === null && right.validity === null) return;
  for (let row = 0; row < rows; row++) {
    const here = isPresent(left, row);
    if (here && isPresent(right, row)) continue;
    if (here === isPresent(right, row)) mark(bits, row);
    else bits[row >> 3] = (bits[row >> 3] as number) & ~(1 << (row & 7));
  }
};

const invert = (bits: Uint8Array): void => {
  for (let byte = 0; byte < bits.length; byte++) bits[byte] = ~(bits[byte] as number);
};

/** left < right, NULL where either is. Same type on both sides. */
export function lessColumn(left: Column, right: Column, rows: number): BooleanColumn {
  const result = makeBoolean(rows, combineValidity([left, right], rows));
  less(left, right, rows, result.bits);
  return result;
}

/** left = right, NULL where either is. Same type on both sides. */
export function equalColumn(left: Column, right: Column, rows: number): BooleanColumn {
  const result = makeBoolean(rows, combineValidity([left, right], rows));
  if (!compareFast(left, right, 'equal', rows, result.bits)) equal(left, right, rows, result.bits);
  return result;
}

const comparison =
  (kernel: Kernel, swap: boolean, negate: boolean): Evaluate =>
  (args, rows) => {
    const [left, right] = args as readonly [Column, Column];
    const result = makeBoolean(rows, combineValidity(args, rows));
    const [first, second] = swap ? [right, left] : [left, right];
    const test = kernel === equal ? 'equal' : 'less';
    if (!compareFast(first, second, test, rows, result.bits))
      kernel(first, second, rows, result.bits);
    if (negate) invert(result.bits);
    return result;
  };

const overload = (
  name: string,
  word: string,
  doc: string,
  example: FunctionExample,
  evaluate: Evaluate,
): ScalarFunction => ({
  id: word,
  name,
  infix: name,
  args: ['any', 'any'],
  anyOf: ALL_TAGS,
  result: always(BOOLEAN),
  nullRule: word.includes('distinct') ? 'custom' : 'strict',
  canFail: false,
  doc,
  examples: [example],
  evaluate,
});

const distinct =
  (negate: boolean): Evaluate =>
  (args, rows) => {
    const result = makeBoolean(rows, null);
    notDistinct(args[0] as Column, args[1] as Column, rows, result.bits);
    if (!negate) invert(result.bits);
    return result;
  };

export const COMPARISONS: readonly ScalarFunction[] = [
  overload(
    '=',
    'equal',
    'whether both are equal; NULL when either is NULL',
    { args: ['a', 'a'], gives: true },
    comparison(equal, false, false),
  ),
  overload(
    '<>',
    'not-equal',
    'whether both differ; NULL when either is NULL',
    { args: ['a', 'b'], gives: true },
    comparison(equal, false, true),
  ),
  overload(
    '<',
    'less',
    'whether the left one comes first',
    { args: ['｡', '😀'], gives: true },
    comparison(less, false, false),
  ),
  overload(
    '<=',
    'less-equal',
    'whether the left one comes first or both are equal',
    { args: [2, 2], gives: true },
    comparison(less, true, true),
  ),
  overload(
    '>',
    'greater',
    'whether the left one comes last',
    { args: [2, 1], gives: true },
    comparison(less, true, false),
  ),
  overload(
    '>=',
    'greater-equal',
    'whether the left one comes last or both are equal',
    { args: [1, 2], gives: false },
    comparison(less, false, true),
  ),
  overload(
    'is distinct from',
    'distinct',
    'whether both differ, NULL being equal to NULL only',
    { args: [1, 2], gives: true },
    distinct(false),
  ),
  overload(
    'is not distinct from',
    'not-distinct',
    'whether both are equal, NULL being equal to NULL only',
    { args: [1, 1], gives: true },
    distinct(true),
  ),
];
