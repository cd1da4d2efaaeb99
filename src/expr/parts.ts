/**
 * Parts of CASE, AND, OR and coalesce, which are evaluated on the rows that need them. How depends on what a part costs: one that
 * can fail, or that few rows need, on those rows gathered; one that takes long for rows that are there, with the other rows
 * hidden; any other on all rows.
 */
import type { Column } from '../batch/column.ts';
import { bitmapBytes, setBit } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { canFail, childrenOf, exprColumns, isConstant, usesRowTime } from './expr-tools.ts';
import type { Expr } from './expr.ts';
import { functionById } from './registry.ts';
import type { RowErrors } from './row-errors.ts';
import { gatherBatch, hideRows, withRowsMapped } from './select.ts';
import { strideOf } from './vector.ts';

/** A compiled expression that may answer a constant. */
export type Node = (batch: RecordBatch, errors: RowErrors) => Column;

/** A part that is evaluated for some rows only. */
export type Part = {
  /** The part on all rows of a batch. */
  node: Node;
  mayFail: boolean;
  /** The part on all rows that are set, and anything on the others; null: it takes no less time than on all of them. */
  onShown: ((batch: RecordBatch, shown: Uint8Array, errors: RowErrors) => Column) | null;
  /** The value of row `indices[i]` is at i of the result when `gathered`, at that row otherwise. */
  run: (
    batch: RecordBatch,
    indices: Int32Array,
    count: number,
    errors: RowErrors,
  ) => { column: Column; gathered: boolean };
};

/** @param isShared  whether the value of an expression on all rows is kept, for others that have it as a part */
export function makePart(expr: Expr, node: Node, isShared: (expr: Expr) => boolean): Part {
  const used = exprColumns(expr);
  const withTime = usesRowTime(expr);
  const mayFail = canFail(expr);
  const constant = isConstant(expr);
  // What is shared has been computed on all rows, or will be.
  const hides = !mayFail && skipsNulls(expr) && !hasShared(expr, isShared);
  return {
    node,
    mayFail,
    onShown: hides ? (batch, shown, errors) => node(hideRows(batch, used, shown), errors) : null,
    run: (batch, indices, count, errors) => {
      const all = count === batch.rows;
      if (all || (!mayFail && constant)) return { column: node(batch, errors), gathered: false };
      if (hides && count * 16 > batch.rows) {
        const shown = bitmapOf(indices, count, batch.rows);
        return { column: node(hideRows(batch, used, shown), errors), gathered: false };
      }
      if (!mayFail && count * 4 > batch.rows)
        return { column: node(batch, errors), gathered: false };
      const column = withRowsMapped(count, indices, errors, (inner) =>
        node(gatherBatch(batch, used, indices, count, withTime), inner),
      );
      return { column, gathered: true };
    },
  };
}

/** Whether a call in it takes long for rows whose arguments are there. */
const skipsNulls = (expr: Expr): boolean =>
  (expr.tag === 'call' && functionById(expr.fn).skipsNulls === true) ||
  childrenOf(expr).some(skipsNulls);

const hasShared = (expr: Expr, isShared: (expr: Expr) => boolean): boolean =>
  isShared(expr) || childrenOf(expr).some((part) => hasShared(part, isShared));

function bitmapOf(indices: Int32Array, count: number, rows: number): Uint8Array {
  const bits = new Uint8Array(bitmapBytes(rows));
  for (let at = 0; at < count; at++) setBit(bits, indices[at] as number);
  return bits;
}

/** Where the value of row `indices[i]` lies in a part's result. */
export const positionIn = (column: Column, gathered: boolean, i: number, row: number): number =>
  strideOf(column) === 0 ? 0 : gathered ? i : row;

export const allRows = (rows: number): Int32Array => {
  const indices = new Int32Array(rows);
  for (let row = 0; row < rows; row++) indices[row] = row;
  return indices;
};
