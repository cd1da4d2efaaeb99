/** Queries: WITH, set operations and nesting around SELECT. */
import type { Span } from '../base/errors.ts';
import { type SqlType, sameType, typeName } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { Query, SetExpression, SetOperation } from '../sql/ast-query.ts';
import { type Environment, renameColumns } from './bind-from.ts';
import { bindOrdered, hasOrder } from './bind-order.ts';
import { bindSelect } from './bind-select.ts';
import { bindValues } from './bind-values.ts';
import type { Diagnostics } from './diagnostics.ts';
import { bindDistinct } from './distinct.ts';
import { castTo, sharedType } from './functions.ts';
import type { PlanNode } from './logical.ts';
import { columnExpr, makeProject, makeUnion } from './nodes.ts';
import { makeSetOperation } from './over-nodes.ts';
import { type BoundQuery, UNKNOWN_QUERY, queryOf } from './scope.ts';

export function bindQuery(query: Query, environment: Environment): BoundQuery {
  const { diagnostics } = environment;
  let inner = environment;
  const names = new Set<string>();
  for (const common of query.with) {
    const { name } = common.name;
    if (names.has(name))
      diagnostics.error(
        'DUPLICATE_NAME',
        `"${common.name.text}" is defined twice in this WITH`,
        common.name.span,
      );
    names.add(name);
    const bound = renameColumns(bindQuery(common.query, inner), common, diagnostics);
    inner = { ...inner, commonTables: new Map([...inner.commonTables, [name, bound]]) };
  }
  const { body } = query;
  if (hasOrder(query)) return bindOrdered(query, inner, (ordered) => bindSet(ordered, inner));
  return bindSet(body, inner);
}

function bindSet(body: SetExpression, environment: Environment): BoundQuery {
  switch (body.tag) {
    case 'select':
      return bindSelect(body, environment);
    case 'nested':
      return bindQuery(body.query, environment);
    case 'values':
      return bindValues(body, environment);
    case 'set_operation':
      return bindSetOperation(body, environment);
  }
}

function bindSetOperation(operation: SetOperation, environment: Environment): BoundQuery {
  const { operator, all } = operation;
  const parts = operator === 'union' ? unionBranches(operation) : [operation.left, operation.right];
  const branches = parts.map((branch) => ({
    query: bindSet(branch, environment),
    span: branch.span,
  }));
  const sides = alike(branches, operator.toUpperCase(), environment.diagnostics);
  if ('columns' in sides) return sides;
  if (operator === 'union') {
    const union = makeUnion(sides.nodes);
    return all ? queryOf(union) : bindDistinct(union, environment.settings);
  }
  const [left, right] = sides.nodes;
  return left === undefined || right === undefined
    ? UNKNOWN_QUERY
    : queryOf(makeSetOperation(operator, all, [left, right]));
}

/** The queries with columns of the same types; or what the result looks like after an error. */
function alike(
  branches: readonly { query: BoundQuery; span: Span }[],
  word: string,
  diagnostics: Diagnostics,
): { nodes: readonly PlanNode[] } | BoundQuery {
  const [first] = branches;
  if (first === undefined || branches.some(({ query }) => query.open)) return UNKNOWN_QUERY;
  const broken = {
    ...first.query,
    node: null,
    columns: first.query.columns.map((column) => ({ ...column, broken: true })),
  };
  for (const { query, span } of branches) {
    if (query.columns.length === first.query.columns.length) continue;
    diagnostics.error(
      'TYPE_ERROR',
      `the queries of ${/^[AEIOU]/.test(word) && word !== 'UNION' ? 'an' : 'a'} ${word} have ${first.query.columns.length} and ${query.columns.length} columns`,
      span,
    );
    return { ...first.query, node: null };
  }
  const nodes = branches.flatMap(({ query }) =>
    query.node === null ? [] : [named(query, query.node)],
  );
  if (nodes.length < branches.length) return broken;
  const spans = branches.map(({ span }) => span);
  const types = unifyTypes(nodes, spans, word, diagnostics);
  return types === null ? broken : { nodes: nodes.map((node) => castColumns(node, types)) };
}

/** `a UNION ALL b UNION ALL c` is one union of three. */
function unionBranches(operation: SetOperation): SetExpression[] {
  const { left, right } = operation;
  const nested =
    left.tag === 'set_operation' && left.operator === 'union' && left.all === operation.all;
  return nested ? [...unionBranches(left), right] : [left, right];
}

/** The node under the names its query gives to its columns. */
function named(query: BoundQuery, node: PlanNode): PlanNode {
  const same = query.columns.every((column, index) => column.name === node.schema[index]?.name);
  if (same) return node;
  return makeProject(
    node,
    node.schema.map((_, index) => columnExpr(node.schema, index)),
    query.columns.map((column) => column.name),
  );
}

function unifyTypes(
  nodes: readonly PlanNode[],
  spans: readonly Span[],
  word: string,
  diagnostics: Diagnostics,
): SqlType[] | null {
  const width = nodes[0]?.schema.length ?? 0;
  const types: SqlType[] = [];
  for (let index = 0; index < width; index++) {
    const columns = nodes.map((node) => unionColumn(node, index));
    const type = sharedType(columns);
    if (type === null) {
      const first = columns[0] as Expr;
      const at = columns.findIndex((column) => sharedType([first, column]) === null);
      const clash = columns[at] ?? first;
      diagnostics.error(
        'TYPE_ERROR',
        `column ${index + 1} of the ${word} is ${typeName(first.type)} in one query and ${typeName(clash.type)} in another`,
        spans[at] ?? (spans[0] as Span),
        { hint: 'cast one of them' },
      );
    } else types.push(type);
  }
  return types.length === width ? types : null;
}

/** A constant of a projection keeps that it has no type of its own. */
function unionColumn(node: PlanNode, index: number): Expr {
  const expr = node.tag === 'project' ? node.exprs[index] : undefined;
  return expr?.tag === 'literal' ? expr : columnExpr(node.schema, index);
}

function castColumns(node: PlanNode, types: readonly SqlType[]): PlanNode {
  if (node.schema.every((field, index) => sameType(field.type, types[index] as SqlType)))
    return node;
  const exprs = types.map((type, index) => {
    const column = columnExpr(node.schema, index);
    const cast = castTo(column, type, false);
    return cast.tag === 'expr' ? cast.expr : column;
  });
  return makeProject(
    node,
    exprs,
    node.schema.map((field) => field.name),
  );
}
