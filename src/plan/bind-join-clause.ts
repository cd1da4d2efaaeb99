/** JOIN … ON, USING and NATURAL, and tables one after the other with commas → joins in an order that has keys. */
import type { Span } from '../base/errors.ts';
import { must } from '../base/assert.ts';
import type { Expr } from '../expr/expr.ts';
import { mapColumns } from '../expr/expr-tools.ts';
import type { Identifier } from '../sql/ast.ts';
import type { Expression } from '../sql/ast-expression.ts';
import type { Join, JoinConstraint } from '../sql/ast-query.ts';
import { ExpressionBinder } from './bind-expression.ts';
import { type ExpressionContext, POISON } from './expression-context.ts';
import { type Environment, type Relation, joinParts } from './bind-from.ts';
import {
  type Condition,
  type JoinContext,
  allOf,
  isLookup,
  isSingleRow,
  planJoin,
} from './bind-join.ts';
import { planAsOfJoin } from './bind-as-of.ts';
import { filterBySubquery } from './bind-subquery.ts';
import { hasSubquery, writtenConjuncts } from './bind-where.ts';
import { nearestName } from './name-text.ts';
import { Rows } from './subquery-rows.ts';
import { withSuggestion } from './diagnostics.ts';
import { columnsOf, conjunctsOf } from './expressions.ts';
import { resolveCall } from './functions.ts';
import { padsLeft, padsRight } from './join.ts';
import type { PlanNode } from './logical.ts';
import { columnExpr, makeFilter, makeProject } from './nodes.ts';
import { functionById } from '../expr/registry.ts';
import type { Scope, ScopeColumn } from './scope.ts';

/** Two relations, their columns one after the other; how they are joined is told by WHERE. */
export function sideBySide(left: Relation, right: Relation): Relation {
  const width = widthOf(left);
  return {
    parts: left.parts === null || right.parts === null ? null : [...left.parts, ...right.parts],
    conditions: [
      ...left.conditions,
      ...right.conditions.map(({ expr, span }) => ({ expr: moved(expr, width), span })),
    ],
    scope: [...left.scope, ...movedScope(right.scope, width)],
    open: left.open || right.open,
  };
}

const moved = (expr: Expr, by: number): Expr =>
  mapColumns(expr, (column) => ({ ...column, index: column.index + by }));

const movedScope = (scope: Scope, by: number): Scope =>
  scope.map((column) => ({ ...column, index: column.index + by }));

/** How many columns the parts have; of a relation that was refused, as many as its names need. */
function widthOf({ parts, scope }: Relation): number {
  if (parts !== null) return parts.reduce((sum, part) => sum + part.schema.length, 0);
  return scope.reduce((most, column) => Math.max(most, column.index + 1), 0);
}

/** The relation with what ON says, for WHERE to apply. */
export function withCondition(
  relation: Relation,
  { condition, span }: JoinConstraint & { tag: 'on' },
  environment: Environment,
): Relation {
  const context = conditionContext(relation, environment);
  const bound = new ExpressionBinder(context).bindCondition(condition);
  if (bound === POISON) return { ...relation, parts: null };
  const more = conjunctsOf(bound).map((expr) => ({ expr, span }));
  return { ...relation, conditions: [...relation.conditions, ...more] };
}

export function bindJoin(
  join: Join,
  left: Relation,
  right: Relation,
  environment: Environment,
): Relation {
  const width = widthOf(left);
  const both = sideBySide(left, right);
  const bound = bindConstraint(join, left, { ...both, scope: both.scope }, width, environment);
  const scope = outerScope(join, bound.scope, width);
  if (bound.conditions === null) return { ...both, parts: null, scope };
  if (isPlainInner(join)) {
    const joined = { ...both, conditions: [...both.conditions, ...bound.conditions], scope };
    return bound.subqueries.length === 0
      ? joined
      : filteredBySubqueries(joined, bound.subqueries, join.span, environment);
  }
  const sides = [left, right].map((side) => joinParts(side, [], join.span, environment));
  const [one, other] = sides;
  if (one === undefined || one === null || other === undefined || other === null)
    return { ...both, parts: null, scope };
  const context = {
    diagnostics: environment.diagnostics,
    span: join.span,
    ttlMicros: environment.settings.updatingTtlMicros,
  };
  const node = isAsOf(join)
    ? planAsOfJoin(
        join,
        one,
        other,
        bound.conditions,
        versionTime(join, left, environment),
        context,
      )
    : planJoin(join.kind === 'cross' ? 'inner' : join.kind, one, other, bound.conditions, context);
  const merged = node === null ? null : mergeFull(join, node, scope, bound.pairs);
  return {
    parts: merged === null ? null : [merged.node],
    conditions: [],
    scope: merged?.scope ?? scope,
    open: both.open,
  };
}

/** Whether what ON says could stand in WHERE as well. */
const isPlainInner = (join: Join): boolean =>
  (join.kind === 'inner' || join.kind === 'cross') && !isAsOf(join);

/** The joined rows for which conditions that hold subqueries are true. */
function filteredBySubqueries(
  relation: Relation,
  conditions: readonly Expression[],
  span: Span,
  environment: Environment,
): Relation {
  const rows = new Rows(joinParts(relation, [], span, environment));
  const context = conditionContext(relation, environment);
  for (const condition of conditions) filterBySubquery(condition, rows, context, environment);
  return { ...relation, parts: rows.node === null ? null : [rows.node], conditions: [] };
}

/** Whether only the last right row counts, by either spelling. */
const isAsOf = ({ asOf, right }: Join): boolean =>
  asOf || (right.tag === 'table' && right.asOf !== null);

/** What FOR SYSTEM_TIME AS OF says, over the left side; null: nothing, or an error. */
function versionTime(join: Join, left: Relation, environment: Environment): Expr | null {
  if (join.right.tag !== 'table' || join.right.asOf === null) return null;
  const bound = new ExpressionBinder(conditionContext(left, environment)).bind(join.right.asOf);
  return bound === POISON ? null : bound;
}

/** Columns of a side that may be missing can be NULL; a semi join shows its left side only. */
function outerScope({ kind }: Join, scope: Scope, width: number): Scope {
  if (kind === 'semi' || kind === 'anti') return scope.filter(({ index }) => index < width);
  if (kind === 'inner' || kind === 'cross') return scope;
  return scope.map((column) =>
    (column.index < width ? padsLeft(kind) : padsRight(kind))
      ? { ...column, nullable: true, window: null }
      : column,
  );
}

/** A pair of columns that USING or NATURAL makes one. */
type Pair = { left: ScopeColumn; right: ScopeColumn };

type Constraint = {
  conditions: Condition[] | null;
  /** Conditions of an inner join that hold subqueries. */
  subqueries: readonly Expression[];
  scope: Scope;
  pairs: readonly Pair[];
};

function bindConstraint(
  join: Join,
  left: Relation,
  both: Relation,
  width: number,
  environment: Environment,
): Constraint {
  const { constraint } = join;
  const none = { subqueries: [], scope: both.scope, pairs: [] };
  if (constraint === null) return { ...none, conditions: [] };
  if (constraint.tag === 'on') {
    const binder = new ExpressionBinder(conditionContext(both, environment));
    const written = writtenConjuncts(constraint.condition);
    const apart = isPlainInner(join) ? written.filter(hasSubquery) : [];
    const bound = written
      .filter((part) => !apart.includes(part))
      .map((part) => binder.bindCondition(part));
    const { span } = constraint;
    return {
      ...none,
      conditions: bound.includes(POISON)
        ? null
        : bound.flatMap(conjunctsOf).map((expr) => ({ expr, span })),
      subqueries: apart,
    };
  }
  const names = constraint.tag === 'using' ? constraint.columns : sharedNames(both.scope, width);
  const pairs = names.map((name) => pairOf(name, constraint.span, both, width, environment));
  if (left.open || both.open || pairs.includes(null)) return { ...none, conditions: null };
  const found = pairs.map((pair) => must(pair, 'a pair'));
  const conditions = found.flatMap((pair): Condition[] => {
    const [one, other] = [pair.left, pair.right].map((column) => columnOf(column));
    const call = resolveCall('=', [one as Expr, other as Expr]);
    if (call.tag === 'expr') return [{ expr: call.expr, span: constraint.span }];
    environment.diagnostics.error(call.code, call.message, constraint.span, call.extras);
    return [];
  });
  if (conditions.length < found.length) return { ...none, conditions: null };
  return { ...none, conditions, scope: mergeScope(join, both.scope, found), pairs: found };
}

const columnOf = (column: ScopeColumn): Expr => ({
  tag: 'column',
  index: column.index,
  type: column.type,
});

const conditionContext = (both: Relation, { diagnostics }: Environment): ExpressionContext => ({
  scope: both.scope,
  open: both.open,
  diagnostics,
  place: 'ON',
  rowTime: false,
  aggregate: null,
  window: null,
  aliases: new Map(),
  origins: new WeakMap(),
});

/** Names that NATURAL finds on both sides, in the order of the left one. */
function sharedNames(scope: Scope, width: number): { name: string; text: string; span: null }[] {
  const visible = scope.filter((column) => column.merged !== true);
  const right = new Set(visible.filter(({ index }) => index >= width).map(({ name }) => name));
  return visible
    .filter(({ index, name }) => index < width && right.has(name))
    .map(({ name }) => ({ name, text: name, span: null }));
}

function pairOf(
  name: Pick<Identifier, 'name' | 'text'> & { span: Span | null },
  span: Span,
  both: Relation,
  width: number,
  { diagnostics }: Environment,
): Pair | null {
  const visible = both.scope.filter((column) => column.merged !== true);
  const sideOfColumn = (isRight: boolean): ScopeColumn | null => {
    const side = visible.filter(({ index }) => index >= width === isRight);
    const found = side.filter((column) => column.name === name.name);
    const [only] = found;
    if (found.length === 1 && only !== undefined) return only.broken ? null : only;
    if (both.open) return null;
    const names = side.map((column) => column.name);
    diagnostics.error(
      found.length === 0 ? 'UNKNOWN_COLUMN' : 'AMBIGUOUS_COLUMN',
      found.length === 0
        ? `the ${isRight ? 'right' : 'left'} side has no column "${name.text}"`
        : `column "${name.text}" is ambiguous on the ${isRight ? 'right' : 'left'} side`,
      name.span ?? span,
      found.length === 0 ? withSuggestion(nearestName(name.name, names)) : { hint: 'use ON' },
    );
    return null;
  };
  const [left, right] = [sideOfColumn(false), sideOfColumn(true)];
  return left === null || right === null ? null : { left, right };
}

/** The merged columns first, under their bare name; both originals can still be named with their table. */
function mergeScope({ kind }: Join, scope: Scope, pairs: readonly Pair[]): Scope {
  const mergedPlaces = new Set(pairs.flatMap((pair) => [pair.left.index, pair.right.index]));
  const merged = pairs.map(({ left, right }) => ({
    ...(kind === 'right' ? right : left),
    qualifier: null,
  }));
  return [
    ...merged,
    ...scope.map((column) =>
      mergedPlaces.has(column.index) && column.merged !== true
        ? { ...column, merged: true }
        : column,
    ),
  ];
}

/** The merged column of a FULL JOIN has the value of whichever side is there. */
function mergeFull(
  { kind }: Join,
  node: PlanNode,
  scope: Scope,
  pairs: readonly Pair[],
): { node: PlanNode; scope: Scope } {
  if (kind !== 'full' || pairs.length === 0) return { node, scope };
  const { schema } = node;
  const exprs = schema.map((_, index) => columnExpr(schema, index));
  const names = schema.map((field) => field.name);
  const places = pairs.map(({ left, right }) => {
    const call = resolveCall('coalesce', [columnOf(left), columnOf(right)]);
    names.push(left.name);
    return exprs.push(call.tag === 'expr' ? call.expr : columnOf(left)) - 1;
  });
  const project = makeProject(node, exprs, names);
  return {
    node: project,
    scope: scope.map((column, at) => {
      const place = places[at];
      if (place === undefined) return column;
      const { type, nullable } = must(project.schema[place], 'merged column');
      return { ...column, index: place, type, nullable };
    }),
  };
}

/**
 * Joins all parts by the conditions, each as soon as its columns are there. The first part comes first, then whichever
 * has an equality with those before it; the columns of the result are those of the parts in their given order.
 */
export function joinAll(
  parts: readonly PlanNode[],
  conditions: readonly Condition[],
  context: JoinContext,
): PlanNode | null {
  const order = new JoinOrder(parts, conditions);
  const start = parts.findIndex((part) => !isLookup(part));
  let node = order.take(Math.max(0, start));
  while (!order.isDone) {
    const right = order.take(order.next(isSingleRow(node)));
    const joined = planJoin('inner', node, right, order.due(), context);
    if (joined === null) return null;
    node = joined;
  }
  return order.finish(node);
}

class JoinOrder {
  readonly #parts: readonly PlanNode[];
  readonly #starts: readonly number[];
  #waiting: readonly Condition[];
  readonly #present = new Set<number>();
  /** Column of the parts → column of what is joined so far. */
  readonly #places = new Map<number, number>();

  constructor(parts: readonly PlanNode[], conditions: readonly Condition[]) {
    let width = 0;
    this.#parts = parts;
    this.#starts = parts.map((part) => {
      width += part.schema.length;
      return width - part.schema.length;
    });
    this.#waiting = conditions;
  }

  get isDone(): boolean {
    return this.#present.size === this.#parts.length;
  }

  /** A part, filtered by the conditions on it alone. */
  take(part: number): PlanNode {
    const node = must(this.#parts[part], 'part');
    const start = must(this.#starts[part], 'part');
    const own = this.#takeDue(new Set([part])).map(({ expr }) => moved(expr, -start));
    const base = this.#places.size;
    node.schema.forEach((_, index) => this.#places.set(start + index, base + index));
    this.#present.add(part);
    const predicate = allOf(own);
    return predicate === null ? node : makeFilter(node, predicate);
  }

  /** The conditions that can be tested now, over the columns of what is joined so far. */
  due(): Condition[] {
    return this.#takeDue(this.#present).map(({ expr, span }) => ({
      expr: mapColumns(expr, (column) => ({
        ...column,
        index: must(this.#places.get(column.index), 'column that is there'),
      })),
      span,
    }));
  }

  #takeDue(present: ReadonlySet<number>): Condition[] {
    const taken = this.#waiting.filter(({ expr }) => {
      const needed = this.#partsOf(expr);
      return needed.size > 0 && [...needed].every((part) => present.has(part));
    });
    this.#waiting = this.#waiting.filter((condition) => !taken.includes(condition));
    return taken;
  }

  #partsOf(expr: Expr): Set<number> {
    const partOf = (column: number): number =>
      this.#starts.findLastIndex((start) => start <= column);
    return new Set([...columnsOf([expr])].map(partOf));
  }

  /** The part to join next: one with an equality, else one of a single row. */
  next(isSingle: boolean): number {
    const missing = [...this.#parts.keys()].filter((part) => !this.#present.has(part));
    const connected = missing.find((part) =>
      this.#waiting.some(({ expr }) => this.#connects(expr, part)),
    );
    const single = missing.find((part) => {
      const node = must(this.#parts[part], 'a part');
      return isSingle || isSingleRow(node) || isLookup(node);
    });
    return connected ?? single ?? must(missing[0], 'a part that is missing');
  }

  #connects(expr: Expr, part: number): boolean {
    if (expr.tag !== 'call') return false;
    const { name } = functionById(expr.fn);
    if (name !== '=' && name !== 'is not distinct from') return false;
    const [one, other] = expr.args.map((arg) => [...this.#partsOf(arg)]);
    if (one === undefined || other === undefined) return false;
    const isNew = (side: number[]): boolean => side.length === 1 && side[0] === part;
    const isOld = (side: number[]): boolean =>
      side.length > 0 && side.every((each) => this.#present.has(each));
    return (isNew(one) && isOld(other)) || (isNew(other) && isOld(one));
  }

  /** What is left of the conditions, and the columns in the order of the parts. */
  finish(node: PlanNode): PlanNode {
    // Conditions without columns hold for all rows or none.
    const rest = allOf(this.#waiting.map(({ expr }) => expr));
    const filtered = rest === null ? node : makeFilter(node, rest);
    const names = this.#parts.flatMap((part) => part.schema.map((field) => field.name));
    if (names.every((_, column) => this.#places.get(column) === column)) return filtered;
    const exprs = names.map((_, column) =>
      columnExpr(filtered.schema, must(this.#places.get(column), 'column of a part')),
    );
    return makeProject(filtered, exprs, names);
  }
}
