/**
 * UNNEST in FROM and in the SELECT list → a row for each element.
 *
 * In FROM it reads the tables before it and stands over the one it reads; in the SELECT list it comes last, behind
 * grouping and OVER, unless GROUP BY names it: rows are then taken apart before they are grouped.
 */
import { must } from '../base/assert.ts';
import type { Span } from '../base/errors.ts';
import { INT64, typeName, type SqlType } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import { mapColumns } from '../expr/expr-tools.ts';
import type { CallExpression } from '../sql/ast-expression.ts';
import type { TableFunction, TableReference } from '../sql/ast-query.ts';
import { ExpressionBinder } from './bind-expression.ts';
import { type Environment, type Relation, joinParts } from './bind-from.ts';
import type { Diagnostics } from './diagnostics.ts';
import { type ExpressionContext, POISON, UNNEST_STAND_INS } from './expression-context.ts';
import { canonical, columnsOf } from './expressions.ts';
import type { PlanNode } from './logical.ts';
import { columnExpr, makeProject } from './nodes.ts';
import type { Scope } from './scope.ts';
import { makeUnnest } from './unnest.ts';

/** Functions whose list may stand in FROM as it is. */
const LIST_FUNCTIONS: ReadonlySet<string> = new Set(['generate_series', 'range']);

/** Whether a call in FROM takes lists apart. */
export const takesLists = ({ name }: CallExpression): boolean =>
  name.name === 'unnest' || LIST_FUNCTIONS.has(name.name);

export const isUnnest = (reference: TableReference): reference is TableFunction =>
  reference.tag === 'table_function' && takesLists(reference.call);

/** A list that is taken apart, or null after an error. */
function asList(expr: Expr, span: Span, diagnostics: Diagnostics): Expr | null {
  if (expr === POISON) return null;
  if (expr.type.tag === 'list') return expr;
  const isJson = expr.type.tag === 'json' || expr.type.tag === 'text';
  const message = `unnest() takes lists, and this is ${typeName(expr.type)}`;
  const extras = isJson ? { hint: 'an array in JSON becomes a list by CAST(… AS JSON[])' } : {};
  diagnostics.error('TYPE_ERROR', message, span, extras);
  return null;
}

function listsOf(
  { call }: { call: CallExpression },
  context: ExpressionContext,
): readonly Expr[] | null {
  const binder = new ExpressionBinder(context);
  const { diagnostics } = context;
  if (call.name.name !== 'unnest') {
    const list = asList(binder.bind(call), call.span, diagnostics);
    return list === null ? null : [list];
  }
  if (call.args.length === 0) {
    diagnostics.error('TYPE_ERROR', 'unnest() takes a list', call.span);
    return null;
  }
  const lists = call.args.map((arg) => asList(binder.bind(arg.value), arg.span, diagnostics));
  const found = lists.filter((list) => list !== null);
  return found.length < lists.length ? null : found;
}

/** The relation with UNNEST behind it. */
export function besideUnnest(
  left: Relation,
  reference: TableFunction,
  kind: 'inner' | 'left',
  environment: Environment,
): Relation {
  const { diagnostics } = environment;
  const lists = listsOf(reference, {
    scope: left.scope,
    open: left.open,
    diagnostics,
    place: 'UNNEST',
    rowTime: false,
    aggregate: null,
    window: null,
    aliases: new Map(),
    origins: new WeakMap(),
  });
  const nothing: Relation = { parts: null, conditions: [], scope: left.scope, open: true };
  if (lists === null || left.parts === null) return nothing;
  const elements = elementsOf(lists, reference, diagnostics);
  if (elements === null) return nothing;
  const standing = standsOver(left, lists, reference.span, environment);
  if (standing === null) return nothing;
  const { parts, at, from } = standing;
  const part = must(parts[at], 'a part');
  const end = from + part.schema.length;
  const node = makeUnnest(part, {
    lists: lists.map((list) => moved(list, -from, from)),
    names: [...lists.map((_, index) => `element_${index + 1}`), 'ordinality'],
    ordinality: reference.withOrdinality,
    outer: kind === 'left',
  });
  const shown = makeProject(
    node,
    [
      ...part.schema.map((_, index) => columnExpr(part.schema, index)),
      ...elements.map(({ read }) => read(part.schema.length)),
    ],
    [...part.schema.map(({ name }) => name), ...elements.map(({ name }) => name)],
  );
  const added: Scope = elements.map(({ name, type }, index) => ({
    qualifier: reference.alias?.name.name ?? reference.call.name.name,
    name,
    index: end + index,
    type,
    nullable: shown.schema[part.schema.length + index]?.nullable ?? true,
    window: null,
    broken: false,
  }));
  return {
    parts: parts.map((each, index) => (index === at ? shown : each)),
    conditions: left.conditions.map(({ expr, span }) => ({
      expr: moved(expr, elements.length, end),
      span,
    })),
    scope: [
      ...left.scope.map((column) =>
        column.index < end ? column : { ...column, index: column.index + elements.length },
      ),
      ...added,
    ],
    open: left.open,
  };
}

/** Columns from `from` on stand `by` further on. */
const moved = (expr: Expr, by: number, from: number): Expr =>
  mapColumns(expr, (column) =>
    column.index < from ? column : { ...column, index: column.index + by },
  );

/** The table that the lists are read from; of several, all of them joined. */
function standsOver(
  { parts, conditions, scope, open }: Relation,
  lists: readonly Expr[],
  span: Span,
  environment: Environment,
): { parts: readonly PlanNode[]; at: number; from: number } | null {
  if (parts === null) return null;
  const columns = [...columnsOf(lists)];
  let from = 0;
  for (const [at, part] of parts.entries()) {
    const end = from + part.schema.length;
    if (columns.every((column) => column >= from && column < end)) return { parts, at, from };
    from = end;
  }
  const node = joinParts({ parts, conditions, scope, open }, [], span, environment);
  return node === null ? null : { parts: [node], at: 0, from: 0 };
}

/** A column that FROM gets: read from the unnested row, behind the `width` columns of its table. */
type Element = { name: string; type: SqlType; read: (width: number) => Expr };

/** Structs come apart when the alias names each of their fields. */
function elementsOf(
  lists: readonly Expr[],
  { alias, call, withOrdinality, span }: TableFunction,
  diagnostics: Diagnostics,
): Element[] | null {
  const names = alias?.columns ?? [];
  const types = lists.map(({ type }) => (type.tag === 'list' ? type.element : type));
  const [only] = types;
  const ordinality = withOrdinality ? 1 : 0;
  const place: Element = {
    name: names.at(-1)?.name ?? 'ordinality',
    type: INT64,
    read: (width) => ({ tag: 'column', index: width + lists.length, type: INT64 }),
  };
  const fields = types.length === 1 && only?.tag === 'struct' ? only.fields : [];
  if (fields.length > 1 && names.length >= fields.length) {
    if (names.length > fields.length + ordinality) return refuseNames(fields.length + ordinality);
    const struct = must(only, 'a type');
    const elements = fields.map((field, index): Element => ({
      name: must(names[index], 'a name').name,
      type: field.type,
      read: (width) => ({
        tag: 'field',
        input: { tag: 'column', index: width, type: struct },
        index,
        type: field.type,
      }),
    }));
    return withOrdinality
      ? [...elements, { ...place, name: names[fields.length]?.name ?? 'ordinality' }]
      : elements;
  }
  if (names.length > types.length + ordinality) return refuseNames(types.length + ordinality);
  const own = alias?.name.name ?? call.name.name;
  const elements = types.map((type, index): Element => ({
    name: names[index]?.name ?? (types.length === 1 ? own : `${own}_${index + 1}`),
    type,
    read: (width) => ({ tag: 'column', index: width + index, type }),
  }));
  return withOrdinality
    ? [...elements, { ...place, name: names[types.length]?.name ?? 'ordinality' }]
    : elements;

  function refuseNames(count: number): null {
    diagnostics.error(
      'TYPE_ERROR',
      `"${alias?.name.text}" names ${names.length} columns, and ${call.name.name}() has ${count}`,
      names[0]?.span ?? span,
    );
    return null;
  }
}

/** Calls of unnest() in one SELECT; lists of one row go side by side. */
export class Unnests {
  readonly lists: Expr[] = [];
  readonly #base: number;

  /** @param base  columns from here on stand for the elements */
  constructor(base = UNNEST_STAND_INS) {
    this.#base = base;
  }

  /** The column of the element; lists that `before` has taken apart already are not taken apart again. */
  add(call: CallExpression, context: ExpressionContext, before?: Unnests): Expr {
    const lists = listsOf({ call }, { ...context, place: 'unnest()' });
    const [list, second] = lists ?? [];
    if (list === undefined) return POISON;
    if (second !== undefined) {
      context.diagnostics.error('TYPE_ERROR', 'unnest() takes one list here', call.span, {
        hint: 'in FROM it takes several',
      });
      return POISON;
    }
    return before?.known(list) ?? this.known(list) ?? this.#place(this.lists.push(list) - 1);
  }

  /** The column of a list's elements; null: it is not taken apart here. */
  known(list: Expr): Expr | null {
    const text = canonical(list);
    const at = this.lists.findIndex((other) => canonical(other) === text);
    return at < 0 ? null : this.#place(at);
  }

  #place(at: number): Expr {
    const { type } = must(this.lists[at], 'a list');
    const element = type.tag === 'list' ? type.element : type;
    return { tag: 'column', index: this.#base + at, type: element };
  }

  /** The rows taken apart, and the expressions over them; `lists` are those of this object over the node's columns. */
  build(
    node: PlanNode,
    lists: readonly Expr[],
    exprs: readonly Expr[],
  ): { node: PlanNode; exprs: readonly Expr[] } {
    if (lists.length === 0) return { node, exprs };
    const width = node.schema.length;
    const names = lists.map((_, at) => (at === 0 ? 'unnest' : `unnest_${at + 1}`));
    const unnest = makeUnnest(node, { lists, names, ordinality: false, outer: false });
    return {
      node: unnest,
      exprs: exprs.map((expr) => moved(expr, width - this.#base, this.#base)),
    };
  }
}
