/**
 * Order and equality of values within columns of one type.
 *
 * NULL equals NULL (grouping) and sorts after everything else; NaN equals NaN and sorts after every
 * number; -0 equals 0; text sorts by code point, which is the order of its UTF-8 bytes; intervals by
 * their length with months of 30 days; lists and structs by their first difference, and of two lists
 * that agree as far as the shorter one goes, that one first.
 */
import { bitAt, isValid } from './column.ts';
import type {
  Column,
  DecimalColumn,
  Float64Column,
  Int32Column,
  Int64Column,
  IntervalColumn,
  ListColumn,
  StructColumn,
  TextColumn,
} from './column.ts';
import { unreachable } from '../base/assert.ts';
import type { BooleanColumn } from './column.ts';
import { compareIntervals } from './interval.ts';

function compareFloats(left: number, right: number): number {
  if (left < right) return -1;
  if (left > right) return 1;
  if (left === right) return 0;
  const leftNaN = left !== left;
  return leftNaN === (right !== right) ? 0 : leftNaN ? 1 : -1;
}

/** Compares signed numbers of `width` words, low word first. */
function compareWords(
  left: Int32Array,
  at: number,
  right: Int32Array,
  other: number,
  width: number,
): number {
  const top = (left[at + width - 1] as number) - (right[other + width - 1] as number);
  if (top !== 0) return top;
  for (let word = width - 2; word >= 0; word--) {
    const difference =
      ((left[at + word] as number) >>> 0) - ((right[other + word] as number) >>> 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Compares 64-bit numbers without sign. */
function compareUnsigned(left: Int32Array, at: number, right: Int32Array, other: number): number {
  const high = ((left[at + 1] as number) >>> 0) - ((right[other + 1] as number) >>> 0);
  return high === 0 ? ((left[at] as number) >>> 0) - ((right[other] as number) >>> 0) : high;
}

function compareLists(left: ListColumn, at: number, right: ListColumn, other: number): number {
  const start = left.offsets[at] as number;
  const otherStart = right.offsets[other] as number;
  const size = (left.offsets[at + 1] as number) - start;
  const otherSize = (right.offsets[other + 1] as number) - otherStart;
  const shared = Math.min(size, otherSize);
  for (let index = 0; index < shared; index++) {
    const order = compareValues(left.child, start + index, right.child, otherStart + index);
    if (order !== 0) return order;
  }
  return size - otherSize;
}

function compareTexts(left: TextColumn, at: number, right: TextColumn, other: number): number {
  const start = left.offsets[at] as number;
  const otherStart = right.offsets[other] as number;
  const size = (left.offsets[at + 1] as number) - start;
  const otherSize = (right.offsets[other + 1] as number) - otherStart;
  const shared = Math.min(size, otherSize);
  for (let index = 0; index < shared; index++) {
    const difference =
      (left.bytes[start + index] as number) - (right.bytes[otherStart + index] as number);
    if (difference !== 0) return difference;
  }
  return size - otherSize;
}

/** Negative, zero or positive as value `at` of `left` sorts before, with or after value `other` of `right`. */
export function compareValues(left: Column, at: number, right: Column, other: number): number {
  const present = isValid(left, at);
  if (present !== isValid(right, other)) return present ? -1 : 1;
  if (!present) return 0;
  switch (left.tag) {
    case 'boolean':
      return Number(bitAt(left.bits, at)) - Number(bitAt((right as BooleanColumn).bits, other));
    case 'int32':
      return (left.values[at] as number) - ((right as Int32Column).values[other] as number);
    case 'int64':
      if (left.type.tag === 'uint64')
        return compareUnsigned(left.words, at * 2, (right as Int64Column).words, other * 2);
      return compareWords(left.words, at * 2, (right as Int64Column).words, other * 2, 2);
    case 'timestamp':
      return compareWords(left.words, at * 2, (right as Int64Column).words, other * 2, 2);
    case 'float64':
      return compareFloats(
        left.values[at] as number,
        (right as Float64Column).values[other] as number,
      );
    case 'decimal':
      return compareWords(left.words, at * 4, (right as DecimalColumn).words, other * 4, 4);
    case 'interval':
      return compareIntervals(left.words, at * 4, (right as IntervalColumn).words, other * 4);
    case 'text':
      return compareTexts(left, at, right as TextColumn, other);
    case 'list':
      return compareLists(left, at, right as ListColumn, other);
    case 'struct': {
      const { children } = right as StructColumn;
      for (let child = 0; child < left.children.length; child++) {
        const order = compareValues(
          left.children[child] as Column,
          at,
          children[child] as Column,
          other,
        );
        if (order !== 0) return order;
      }
      return 0;
    }
    default:
      return unreachable(left);
  }
}

/** Whether two rows have equal values in all of these columns, NULL being equal to NULL. */
export function equalRows(
  left: readonly Column[],
  at: number,
  right: readonly Column[],
  other: number,
): boolean {
  for (let index = 0; index < left.length; index++) {
    if (compareValues(left[index] as Column, at, right[index] as Column, other) !== 0) return false;
  }
  return true;
}
