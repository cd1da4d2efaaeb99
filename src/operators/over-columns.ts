/** What the OVER and Top-N operators read of their rows: columns only, computed by a projection before them. */
import { assert } from '../base/assert.ts';
import { bitAt, isValid, type Column } from '../batch/column.ts';
import { INT64 } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { OverCall } from '../expr/over.ts';

/** The column that an expression is. */
export function columnIndex(expr: Expr): number {
  assert(expr.tag === 'column', 'the planner computes what OVER reads beforehand');
  return expr.index;
}

/** The columns that calls read, beside those they are ordered by. */
export function columnsRead(calls: readonly OverCall[]): number[] {
  return calls.flatMap(({ args, aggregate }) => {
    const filter = aggregate?.filter ?? null;
    const inner = [...(aggregate?.args ?? []), ...(filter === null ? [] : [filter])];
    return [...args, ...inner].map(columnIndex);
  });
}

/** 1 for each row for which the filter is true; null: no filter. */
export function passingRows(
  filter: Expr | null,
  columns: readonly (Column | null)[],
  rows: number,
): Uint8Array | null {
  if (filter === null) return null;
  const column = columns[columnIndex(filter)];
  assert(column?.tag === 'boolean', 'a filter is a condition');
  const passes = new Uint8Array(rows);
  for (let row = 0; row < rows; row++)
    passes[row] = isValid(column, row) && bitAt(column.bits, row) ? 1 : 0;
  return passes;
}

/** BIGINT values of whole numbers below 2^53. */
export function integerColumn(values: Float64Array): Column {
  const words = new Int32Array(values.length * 2);
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number;
    words[row * 2] = value | 0;
    words[row * 2 + 1] = Math.floor(value / 4294967296);
  }
  return { tag: 'int64', type: INT64, length: values.length, validity: null, words };
}
