/** One SELECT → plan: FROM, WHERE, grouping, HAVING, the list, DISTINCT, in this order. */
import type { Span } from '../base/errors.ts';
import type { Expr } from '../expr/expr.ts';
import type { Identifier } from '../sql/ast.ts';
import type { CallExpression, Expression, PathExpression } from '../sql/ast-expression.ts';
import type { Select, WildcardItem } from '../sql/ast-query.ts';
import { printExpression } from '../sql/print-query.ts';
import { ExpressionBinder } from './bind-expression.ts';
import {
  type ExpressionContext,
  POISON,
  type Subquery,
  isWindowCall,
} from './expression-context.ts';
import { type Environment, type Relation, bindFrom } from './bind-from.ts';
import { withSubqueries } from './bind-subquery.ts';
import { GroupedSubqueries } from './grouped-subqueries.ts';
import { nearestName } from './name-text.ts';
import { Rows } from './subquery-rows.ts';
import { applyWhere } from './bind-where.ts';
import { Overs } from './bind-over.ts';
import { Unnests } from './bind-unnest.ts';
import { withWindowColumns } from './windowed-table.ts';
import { type Diagnostics, withSuggestion } from './diagnostics.ts';
import { bindDistinct } from './distinct.ts';
import { Grouping, hasAggregate } from './grouping.ts';
import type { PlanNode } from './logical.ts';
import { makeFilter, makeProject, windowTypeOf } from './nodes.ts';
import { expressionsOf, SETS_MAX, setsOf } from './grouping-sets.ts';
import { isNullable } from './nullability.ts';
import { type BoundQuery, type Scope, type ScopeColumn, queryOf, resolvePath } from './scope.ts';

/** One column of the list, wildcards expanded. */
type Item = {
  name: string;
  expression: Expression | null;
  column: ScopeColumn | null;
  alias: Identifier | null;
  span: Span;
};

export const bindSelect = (select: Select, environment: Environment): BoundQuery =>
  bindWindowed(withWindowColumns(select, environment.diagnostics), environment);

const bindWindowed = (select: Select, environment: Environment): BoundQuery =>
  bindSelectOver(select, bindFrom(select, environment), environment);

/** @param relation  what FROM gives */
export function bindSelectOver(
  select: Select,
  relation: Relation,
  environment: Environment,
): BoundQuery {
  const { diagnostics } = environment;
  const origins = new WeakMap<Expr, PathExpression>();
  const [only, second] = relation.parts ?? [];
  // Tables that are yet to be joined have no one time.
  let hasRowTime = only === undefined || (second === undefined && only.eventTime);
  const contextFor = (place: string): ExpressionContext => ({
    scope: relation.scope,
    open: relation.open,
    diagnostics,
    place,
    rowTime: hasRowTime,
    aggregate: null,
    window: null,
    aliases: new Map(),
    origins,
  });
  const place = select.from[1] ?? select.from[0] ?? select;
  const rows = new Rows(
    applyWhere(select.where, relation, place.span, contextFor('WHERE'), environment).node,
  );
  hasRowTime = rows.node?.eventTime !== false;
  const items = expandItems(select, relation, diagnostics);
  const grouped =
    select.groupBy.length > 0 ||
    select.having !== null ||
    items.some((item) => item.expression !== null && hasAggregate(item.expression));
  const bound = grouped
    ? bindGrouped(select, items, rows, contextFor, environment)
    : bindPlain(select, items, rows, withSubqueries(contextFor('SELECT'), rows, environment));
  const columns = items.map((item, index) => {
    const expr = bound.exprs[index] ?? POISON;
    const known = bound.node?.schema ?? [];
    return {
      name: item.name,
      type: expr.type,
      nullable: isNullable(expr, known),
      window: null,
      broken: expr === POISON || bound.node === null,
    };
  });
  if (bound.node === null || bound.exprs.includes(POISON))
    return { node: null, columns, open: relation.open && items.length === 0 };
  const project = makeProject(
    bound.node,
    bound.exprs,
    items.map((item) => item.name),
  );
  if (!select.distinct) return queryOf(project);
  return bindDistinct(project, environment.settings);
}

function filtered(node: PlanNode | null, predicate: Expr | null): PlanNode | null {
  if (node === null || predicate === POISON) return null;
  return predicate === null ? node : makeFilter(node, predicate);
}

type BoundItems = { node: PlanNode | null; exprs: readonly Expr[] };

function bindPlain(
  select: Select,
  items: readonly Item[],
  rows: Rows,
  context: ExpressionContext,
): BoundItems {
  const overs = new Overs(select.windows, context.diagnostics);
  const unnests = new Unnests();
  const withOver = { ...context, over: (call: CallExpression) => overs.add(call, context) };
  const unnest = (call: CallExpression): Expr => unnests.add(call, withOver);
  const binder = new ExpressionBinder({ ...withOver, unnest });
  const exprs = items.map((item) => bindItem(item, binder));
  const condition = bindQualify(select, items, withOver);
  // Subqueries of the expressions are joined to the rows as they are bound.
  const { lists } = unnests;
  const { node, exprs: all } = qualified(overs, rows.node, [...exprs, ...lists], condition, null);
  return unnested(unnests, node, all, exprs.length);
}

/** The rows with lists taken apart, which stand behind the expressions. */
function unnested(
  unnests: Unnests,
  node: PlanNode | null,
  all: readonly Expr[],
  count: number,
): BoundItems {
  const exprs = all.slice(0, count);
  return node === null ? { node, exprs } : unnests.build(node, all.slice(count), exprs);
}

/** QUALIFY may use the names of the SELECT list, since it is about what is computed there. */
function bindQualify(
  select: Select,
  items: readonly Item[],
  context: ExpressionContext,
): Expr | null {
  if (select.qualify === null) return null;
  const aliases = aliasesOf(items);
  return new ExpressionBinder({ ...context, place: 'QUALIFY', aliases }).bindCondition(
    select.qualify,
  );
}

/** The rows with every call with OVER computed, and those of them that QUALIFY keeps. */
function qualified(
  overs: Overs,
  node: PlanNode | null,
  exprs: readonly Expr[],
  condition: Expr | null,
  regroup: ((expr: Expr, source: { span: Span }) => Expr) | null,
): BoundItems {
  if (node === null || condition === POISON || exprs.includes(POISON)) return { node: null, exprs };
  const built = overs.build(node, condition === null ? exprs : [...exprs, condition], regroup);
  if (built === null) return { node: null, exprs };
  if (condition === null) return built;
  return {
    node: filtered(built.node, built.exprs.at(-1) ?? null),
    exprs: built.exprs.slice(0, -1),
  };
}

const aliasesOf = (items: readonly Item[]): Map<string, Expression> =>
  new Map(
    items.flatMap((item) =>
      item.alias === null || item.expression === null
        ? []
        : [[item.alias.name, item.expression] as const],
    ),
  );

function bindItem(item: Item, binder: ExpressionBinder): Expr {
  if (item.expression !== null) return binder.bind(item.expression);
  const column = item.column;
  return column === null || column.broken
    ? POISON
    : { tag: 'column', index: column.index, type: column.type };
}

function bindGrouped(
  select: Select,
  items: readonly Item[],
  input: Rows,
  contextFor: (place: string) => ExpressionContext,
  environment: Environment,
): BoundItems {
  const { diagnostics } = environment;
  // Subqueries in keys and aggregates are joined to the rows that are grouped, others to the groups.
  const known = new Map<Subquery, Expr>();
  const base = withSubqueries(contextFor('SELECT'), input, environment, known);
  const grouping = new Grouping(base, input.node === null ? undefined : windowTypeOf(input.node));
  const aliases = aliasesOf(items);
  const width = input.node?.schema.length;
  const before = new Unnests(width);
  const keyBinder = new ExpressionBinder({
    ...base,
    place: 'GROUP BY',
    window: (call) => grouping.groupByWindow(call),
    unnest: (call) => before.add(call, base),
    aliases,
  });
  bindKeys(select, items, keyBinder, grouping, base);
  takeApart(before, input, width, select.groupBy[0] ?? select, diagnostics);
  const collect = {
    grouping: grouping.groupingOf.bind(grouping),
    aggregate: grouping.addAggregate.bind(grouping),
    window: grouping.useWindow.bind(grouping),
    keys: grouping.named,
  };
  const subqueries = new GroupedSubqueries(environment, known);
  const windowAliases = new Map([...aliases].filter(([, expression]) => isWindowCall(expression)));
  const overs = new Overs(select.windows, diagnostics);
  const inner = subqueries.within({ ...base, ...collect, aliases: windowAliases });
  const unnests = new Unnests();
  const withOver = { ...inner, over: (call: CallExpression) => overs.add(call, inner) };
  const unnest = (call: CallExpression): Expr => unnests.add(call, withOver, before);
  const binder = new ExpressionBinder({ ...withOver, unnest });
  const collected = items.map((item) => bindItem(item, binder));
  const forHaving = subqueries.within({ ...base, ...collect, place: 'HAVING', aliases });
  const having =
    select.having === null ? null : new ExpressionBinder(forHaving).bindCondition(select.having);

  const qualify = bindQualify(select, items, withOver);
  const groups = new Rows(
    input.node === null
      ? null
      : grouping.build(
          input.node,
          select.groupBy[0] ?? select,
          environment.settings.updatingTtlMicros,
        ),
  );
  const regrouped = (expr: Expr, source: { span: Span }): Expr =>
    subqueries.settle(grouping.regroup(expr, source));
  const attached = subqueries.attach(groups, (expr, source) => grouping.regroup(expr, source));
  const exprs = [...collected, ...unnests.lists].map((expr, index) =>
    regrouped(expr, items[index] ?? select),
  );
  const condition =
    having === null || select.having === null ? null : regrouped(having, select.having);
  const kept =
    qualify === null || select.qualify === null ? null : regrouped(qualify, select.qualify);
  const node = attached ? filtered(groups.node, condition) : null;
  const { node: whole, exprs: all } = qualified(overs, node, exprs, kept, regrouped);
  return unnested(unnests, whole, all, items.length);
}

/** Lists that GROUP BY names are taken apart before anything else is added to the rows. */
function takeApart(
  unnests: Unnests,
  input: Rows,
  width: number | undefined,
  { span }: { span: Span },
  diagnostics: Diagnostics,
): void {
  if (input.node === null || unnests.lists.length === 0) return;
  if (input.node.schema.length === width) {
    input.node = unnests.build(input.node, unnests.lists, []).node;
    return;
  }
  diagnostics.error('UNSUPPORTED', 'GROUP BY takes unnest() or a subquery, not both', span, {
    hint: 'compute one of them in a query in FROM',
  });
  input.node = null;
}

/** One grouping, or one for each set. */
function bindKeys(
  { groupBy }: Select,
  items: readonly Item[],
  binder: ExpressionBinder,
  grouping: Grouping,
  { scope, diagnostics }: ExpressionContext,
): void {
  const [first] = groupBy;
  if (first === undefined) return;
  const span = { ...first.span, end: (groupBy.at(-1) ?? first).span.end };
  const sets = setsOf(groupBy);
  if (sets === 'too many') {
    diagnostics.error('INVALID_GROUPING', `a query has at most ${SETS_MAX} grouping sets`, span, {
      hint: 'name the sets you need: GROUPING SETS ((a, b), (a), ())',
    });
    grouping.refuse();
    return;
  }
  if (sets === null) {
    for (const key of groupBy.flatMap((each) => expressionsOf(each as Expression)))
      bindKey(key, items, binder, grouping, diagnostics);
    return;
  }
  const known = new Map<Expression, number>();
  for (const key of new Set(sets.flat()))
    known.set(key, bindKey(key, items, binder, grouping, diagnostics, itemOf(key, items, scope)));
  grouping.groupBySets(
    sets.map((set) => set.map((key) => known.get(key) as number)),
    { span },
  );
}

/** The expression of the SELECT list that a key names by alias or position, or is a constant like; null: it names a column. */
function itemOf(key: Expression, items: readonly Item[], scope: Scope): Expression | null {
  if (key.tag === 'number') return items[Number(key.text) - 1]?.expression ?? null;
  if (key.tag === 'path') {
    if (key.parts.length > 1 || resolvePath(key.parts, scope).tag !== 'unknown') return null;
    const name = key.parts[0]?.name;
    return items.find(({ alias }) => alias?.name === name)?.expression ?? null;
  }
  const text = printExpression(key);
  const same = items.find(
    ({ expression }) => expression !== null && printExpression(expression) === text,
  );
  return same?.expression ?? null;
}

/** GROUP BY takes expressions, positions and aliases; a column of the input comes before an alias of the same name. */
function bindKey(
  key: Expression,
  items: readonly Item[],
  binder: ExpressionBinder,
  grouping: Grouping,
  diagnostics: Diagnostics,
  named: Expression | null = null,
): number {
  if (key.tag !== 'number')
    return grouping.addKey(binder.bind(key), nameOf(key) ?? 'key', key, named);
  const item = items[Number(key.text) - 1];
  if (item === undefined) {
    diagnostics.error(
      'INVALID_GROUPING',
      `GROUP BY ${key.text} names no column of the SELECT list`,
      key.span,
      { hint: `positions go from 1 to ${items.length}` },
    );
    return grouping.addKey(POISON, '', key);
  }
  return grouping.addKey(bindItem(item, binder), item.name, item.expression ?? key, named);
}

function expandItems(select: Select, relation: Relation, diagnostics: Diagnostics): Item[] {
  const items: Item[] = [];
  const taken = new Set(
    select.items.flatMap((item) =>
      item.tag === 'expression' && item.alias !== null ? [item.alias.name] : [],
    ),
  );
  for (const item of select.items) {
    if (item.tag === 'wildcard') {
      for (const column of expandWildcard(item, relation, diagnostics))
        items.push({ name: column.name, expression: null, column, alias: null, span: item.span });
      continue;
    }
    const { expression, alias, span } = item;
    const own = nameOf(expression);
    // Two columns that the author named alike are the author's to tell apart; names we made up must not collide.
    const name =
      alias?.name ??
      (expression.tag === 'path' && own !== null
        ? own
        : freeName(own ?? `column_${items.length + 1}`, taken));
    taken.add(name);
    items.push({ name, expression, column: null, alias, span });
  }
  return items;
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let count = 2; taken.has(name); count++) name = `${wanted}_${count}`;
  return name;
}

function expandWildcard(
  item: WildcardItem,
  relation: Relation,
  diagnostics: Diagnostics,
): ScopeColumn[] {
  const { qualifier, exclude } = item;
  const all = relation.scope.filter((column) =>
    qualifier === null ? column.merged !== true : column.qualifier === qualifier.name,
  );
  if (qualifier !== null && all.length === 0 && !relation.open) {
    const known = [
      ...new Set(
        relation.scope.flatMap((column) => (column.qualifier === null ? [] : [column.qualifier])),
      ),
    ];
    diagnostics.error(
      'UNKNOWN_TABLE',
      `unknown table "${qualifier.text}" in this query`,
      qualifier.span,
      withSuggestion(nearestName(qualifier.name, known)),
    );
  }
  for (const name of exclude) {
    if (all.some((column) => column.name === name.name) || relation.open) continue;
    diagnostics.error(
      'UNKNOWN_COLUMN',
      `unknown column "${name.text}"`,
      name.span,
      withSuggestion(
        nearestName(
          name.name,
          all.map((column) => column.name),
        ),
      ),
    );
  }
  return all.filter((column) => !exclude.some((name) => name.name === column.name));
}

/** The name a column gets without an alias; null: none comes to mind. */
export function nameOf(expression: Expression): string | null {
  switch (expression.tag) {
    case 'path':
      return expression.parts.at(-1)?.name ?? null;
    case 'field':
      return expression.name.name;
    case 'call':
      return expression.name.name;
    case 'cast':
      return nameOf(expression.operand);
    default:
      return null;
  }
}
