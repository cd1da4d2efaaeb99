/** Rows of tuples: which of them count, in what order they are, and how they become lists of their groups and rows again. */
import type { Column, Float64Column, Int32Column, ListColumn } from '../../batch/column.ts';
import { compareValues } from '../../batch/row-equal.ts';
import { takeColumn } from '../../batch/take.ts';
import { INT32, listType } from '../../batch/types.ts';
import { allGroups } from '../../state/group-index.ts';
import type { SortOrder } from '../expr.ts';

export const int32Column = (values: Int32Array, length: number): Int32Column => ({
  tag: 'int32',
  type: INT32,
  length,
  validity: null,
  values,
});

/** The rows that have a group; null: all. */
export function pickRows(groups: Int32Array, rows: number): Int32Array | null {
  let count = 0;
  for (let row = 0; row < rows; row++) if ((groups[row] as number) >= 0) count++;
  if (count === rows) return null;
  const picked = new Int32Array(count);
  let at = 0;
  for (let row = 0; row < rows; row++) if ((groups[row] as number) >= 0) picked[at++] = row;
  return picked;
}

/** Equal values must not be told apart by the first of them that came. */
export function withoutNegativeZero(column: Column): Column {
  if (column.tag !== 'float64') return column;
  const { values } = column;
  for (let row = 0; row < column.length; row++) {
    if (values[row] === 0 && Object.is(values[row], -0)) {
      const clean: Float64Column = { ...column, values: values.map((value) => value + 0) };
      return clean;
    }
  }
  return column;
}

/** Compares rows by their keys, which are the last columns, then by every column. */
export function tupleOrder(
  columns: readonly Column[],
  orders: readonly SortOrder[],
): (left: number, right: number) => number {
  const keys = columns.slice(columns.length - orders.length);
  return (left, right) => {
    for (let key = 0; key < keys.length; key++) {
      const order = compareKey(
        keys[key] as Column,
        left,
        keys[key] as Column,
        right,
        orders[key] as SortOrder,
      );
      if (order !== 0) return order;
    }
    for (let at = 0; at < columns.length - orders.length; at++) {
      const order = compareValues(columns[at] as Column, left, columns[at] as Column, right);
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** Compares one key of ORDER BY. */
export function compareKey(
  left: Column,
  at: number,
  right: Column,
  other: number,
  { descending, nullsFirst }: SortOrder,
): number {
  const present = isPresentAt(left, at);
  if (present !== isPresentAt(right, other)) return present === nullsFirst ? 1 : -1;
  if (!present) return 0;
  const order = compareValues(left, at, right, other);
  return descending ? -order : order;
}

const isPresentAt = ({ validity }: Column, at: number): boolean =>
  validity === null || ((validity[at >> 3] as number) & (1 << (at & 7))) !== 0;

/** The rows of each group, rows [offsets[i], offsets[i + 1]), in order, as lists. */
export function listsOf(
  columns: readonly Column[],
  offsets: Int32Array,
  compare: (left: number, right: number) => number,
): ListColumn[] {
  const groups = offsets.length - 1;
  const order = allGroups(offsets[groups] as number);
  for (let at = 0; at < groups; at++) order.subarray(offsets[at], offsets[at + 1]).sort(compare);
  return columns.map((column): ListColumn => ({
    tag: 'list',
    type: listType(column.type),
    length: groups,
    validity: null,
    offsets,
    child: takeColumn(column, order, order.length),
  }));
}

/** The rows of lists of equal lengths, and the group of each. */
export function rowsOfLists(
  groups: Int32Array,
  rows: number,
  lists: readonly ListColumn[],
): { owners: Int32Array; columns: Column[] } {
  const { offsets } = lists[0] as ListColumn;
  const from = offsets[0] as number;
  const total = (offsets[rows] as number) - from;
  const owners = new Int32Array(total);
  for (let row = 0; row < rows; row++)
    owners.fill(
      groups[row] as number,
      (offsets[row] as number) - from,
      (offsets[row + 1] as number) - from,
    );
  const columns = lists.map(({ child, offsets: own }) => {
    const picked = new Int32Array(total);
    for (let at = 0; at < total; at++) picked[at] = (own[0] as number) + at;
    return takeColumn(child, picked, total);
  });
  return { owners, columns };
}
