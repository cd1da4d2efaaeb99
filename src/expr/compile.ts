/**
 * Compiles a typed expression to a closure over columns. There is no interpretation per row: each
 * node is one call per batch.
 *
 * Invariants:
 * - a constant part is computed once, on first use, and stays a column of one value;
 * - CASE, AND, OR and coalesce evaluate a part only on the rows that need it when that part can fail
 *   or few rows need it, so a branch not taken never fails a row;
 * - AND and OR look at their arguments from left to right and stop at the first that decides the row;
 * - a row in `errors` is NULL in the result, whatever the expression says about NULL.
 * Failure: of rows only, through `RowErrors`. A wrong plan is an assertion.
 */
import { assert, must } from '../base/assert.ts';
import { constantColumn } from '../batch/constant-column.ts';
import type { BooleanColumn, Column, StructColumn } from '../batch/column.ts';
import { bitAt } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { castColumn } from './cast.ts';
import { caseNode } from './compile-case.ts';
import { junctionNode } from './compile-junction.ts';
import { canFail, childrenOf, isConstant, isSteady, literalOf, mapChildren } from './expr-tools.ts';
import type { Expr } from './expr.ts';
import { functionById } from './registry.ts';
import { RowErrors } from './row-errors.ts';
import { Assembly, expandConstant, selectRows } from './select.ts';
import { allRows, makePart, positionIn, type Node, type Part } from './parts.ts';
import { simplify } from './simplify.ts';
import { Outcome, combineValidity, isPresent, strideOf } from './vector.ts';

/** A column of `batch.rows` values; rows that fail are reported in `errors` and NULL. */
export type CompiledExpr = (batch: RecordBatch, errors: RowErrors) => Column;

/** The rows `indices[0, count)`, ascending. The array belongs to the caller of the predicate. */
export type Selection = { indices: Int32Array; count: number };

/** The rows for which a condition is true: not false, not NULL, not failed. */
export type CompiledPredicate = (batch: RecordBatch, errors: RowErrors) => Selection;

export function compileExpr(expr: Expr): CompiledExpr {
  const node = compileShared(simplify(expr));
  return (batch, errors) => {
    const column = expandConstant(node(batch, errors), batch.rows, errors);
    return errors.failed ? withoutFailed(column, batch.rows, errors) : column;
  };
}

function withoutFailed(column: Column, rows: number, errors: RowErrors): Column {
  const outcome = new Outcome([column], rows, errors);
  for (const { row } of errors.list) outcome.makeNull(row);
  return { ...column, length: rows, validity: outcome.validity };
}

export function compilePredicate(expr: Expr): CompiledPredicate {
  assert(expr.type.tag === 'boolean', 'a predicate is boolean');
  const node = compileShared(simplify(expr));
  return (batch, errors) => {
    const column = node(batch, errors) as BooleanColumn;
    const indices = new Int32Array(batch.rows);
    let count = 0;
    if (strideOf(column) === 0) {
      if (!isPresent(column, 0) || !bitAt(column.bits, 0)) return { indices, count };
      for (let row = 0; row < batch.rows; row++) if (!errors.hasFailed(row)) indices[count++] = row;
      return { indices, count };
    }
    const { bits, validity } = column;
    const selected = selectRows(bits, validity, batch.rows, indices);
    if (!errors.failed) return { indices, count: selected };
    for (let at = 0; at < selected; at++) {
      const row = indices[at] as number;
      if (!errors.hasFailed(row)) indices[count++] = row;
    }
    return { indices, count };
  };
}

const NO_ROWS: RecordBatch = { rows: 1, columns: [], eventTime: null, retract: null };

/** Evaluates once, on one imaginary row; a failure is repeated for every row of every batch. */
function constantNode(node: Node): Node {
  let known: Column | null = null;
  let errors: RowErrors | null = null;
  return (batch, outer) => {
    if (known === null || errors === null) {
      errors = new RowErrors(1);
      known = node(NO_ROWS, errors);
    }
    for (const { code, message, column } of errors.list) {
      for (let row = 0; row < batch.rows; row++) outer.fail(row, code, message, column);
    }
    return known;
  };
}

/** Parts of the expression under compilation that stand in it several times; the node of each when it is compiled. */
let shared = new Map<string, Node | null>();

/** Compiles a whole expression; parts of it that are the same are computed once for each batch. */
function compileShared(expr: Expr): Node {
  const outer = shared;
  shared = repeatedParts(expr);
  try {
    return compileNode(expr);
  } finally {
    shared = outer;
  }
}

/** Parts that stand in an expression more than once, cannot fail, and are more than a column. */
function repeatedParts(expr: Expr): Map<string, Node | null> {
  const met = new Set<string>();
  const repeated = new Map<string, Node | null>();
  const visit = (part: Expr): void => {
    if (isWorthSharing(part)) {
      const text = JSON.stringify(part);
      if (met.has(text)) {
        repeated.set(text, null);
        return;
      }
      met.add(text);
    }
    for (const child of childrenOf(part)) visit(child);
  };
  visit(expr);
  return repeated;
}

const isWorthSharing = (expr: Expr): boolean =>
  (expr.tag === 'call' || expr.tag === 'cast') &&
  !isConstant(expr) &&
  !canFail(expr) &&
  isSteady(expr);

/** Batches never change, so the column of the one seen last is known. */
function remembered(node: Node): Node {
  let last: RecordBatch | null = null;
  let known: Column | null = null;
  return (batch, errors) => {
    if (batch !== last || known === null) {
      known = node(batch, errors);
      last = batch;
    }
    return known;
  };
}

function compileNode(expr: Expr): Node {
  if (expr.tag === 'literal') {
    const column = constantColumn(expr.type, expr.value, 1);
    return () => column;
  }
  if (shared.size > 0 && isWorthSharing(expr)) {
    const text = JSON.stringify(expr);
    const known = shared.get(text);
    if (known !== undefined) {
      const node = known ?? remembered(compileVariable(expr));
      shared.set(text, node);
      return node;
    }
  }
  const node = compileVariable(expr);
  return isConstant(expr) ? constantNode(node) : node;
}

function compileVariable(expr: Exclude<Expr, { tag: 'literal' }>): Node {
  switch (expr.tag) {
    case 'column': {
      const { index } = expr;
      return (batch) => must(batch.columns[index], `column ${index}`);
    }
    case 'row-time':
      return (batch) => must(batch.eventTime, 'event times');
    case 'call':
      return expr.fn === 'coalesce' ? compileCoalesce(expr) : compileCall(expr);
    case 'cast': {
      const input = compileNode(expr.input);
      return (batch, errors) => castColumn(input(batch, errors), expr.type, expr.orNull, errors);
    }
    case 'case':
      return caseNode(expr, compileNode, compilePart);
    case 'and':
    case 'or':
      return junctionNode(expr.args.map(compilePart), expr.tag === 'or');
    case 'field':
      return compileField(expr);
    case 'struct': {
      const children = expr.args.map(compileNode);
      return (batch, errors) => ({
        tag: 'struct',
        type: expr.type,
        length: batch.rows,
        validity: null,
        children: children.map((child) => expandConstant(child(batch, errors), batch.rows, errors)),
      });
    }
  }
}

function compileCall(expr: Expr & { tag: 'call' }): Node {
  const fn = functionById(expr.fn);
  const args = expr.args.map(compileNode);
  return (batch, errors) => {
    const columns = args.map((arg) => arg(batch, errors));
    // Constants among full columns stay constants; only the batch's row count may be 1 for both.
    return fn.evaluate(columns, batch.rows, errors, expr.type);
  };
}

function compileField(expr: Expr & { tag: 'field' }): Node {
  const input = compileNode(expr.input);
  return (batch, errors) => {
    const struct = input(batch, errors) as StructColumn;
    const child = must(struct.children[expr.index], 'a field of the struct');
    if (struct.validity === null) return child;
    return { ...child, validity: combineValidity([struct, child], struct.length) };
  };
}

const compilePart = (expr: Expr): Part =>
  makePart(
    expr,
    compileNode(expr),
    // What is shared has been computed on all rows, or will be.
    (part) => shared.size > 0 && isWorthSharing(part) && shared.has(JSON.stringify(part)),
  );

/** coalesce, whose later arguments are evaluated only where the earlier ones are NULL. */
function compileCoalesce(expr: Expr & { tag: 'call' }): Node {
  const parts = expr.args.map(compilePart);
  return (batch, errors) => {
    const assembly = new Assembly(batch.rows);
    let open = allRows(batch.rows);
    let openCount = batch.rows;
    for (const part of parts) {
      if (openCount === 0) break;
      const { column, gathered } = part.run(batch, open, openCount, errors);
      const piece = assembly.add(column);
      if (column.validity === null && openCount === batch.rows && strideOf(column) === 1)
        return column;
      const left = new Int32Array(openCount);
      let leftCount = 0;
      for (let i = 0; i < openCount; i++) {
        const row = open[i] as number;
        const at = positionIn(column, gathered, i, row);
        if (column.validity === null || bitAt(column.validity, at)) assembly.place(row, piece, at);
        else if (!errors.hasFailed(row)) left[leftCount++] = row;
      }
      open = left;
      openCount = leftCount;
    }
    return assembly.finish(expr.type, errors);
  };
}

/**
 * The expression with its constant parts computed. A part that fails stays as it is, so that it
 * fails at run time, and only for rows that reach it.
 */
export function foldConstants(expr: Expr): Expr {
  if (expr.tag === 'literal') return expr;
  if (isConstant(expr)) {
    const errors = new RowErrors(1);
    const column = compileNode(expr)(NO_ROWS, errors);
    if (!errors.failed && column.length === 1)
      return { tag: 'literal', value: literalOf(column), type: expr.type };
    return expr;
  }
  return mapChildren(expr, foldConstants);
}
