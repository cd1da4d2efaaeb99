/** Queries: WITH, set operations and nesting around SELECT. */
import type { Span } from '../base/errors.ts';
import { type SqlType, sameType, typeName } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { Query, SetExpression, SetOperation } from '../sql/ast-query.ts';
import { type Environment, renameColumns } from './bind-from.ts';
import { bindSelect } from './bind-select.ts';
import type { Diagnostics } from './diagnostics.ts';
import { bindDistinct } from './distinct.ts';
import { castTo, sharedType } from './functions.ts';
import type { PlanNode } from './logical.ts';
import { columnExpr, makeProject, makeUnion } from './nodes.ts';
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
  const bound = bindSet(query.body, inner);
  return refuseOrder(query, diagnostics) ? { ...bound, node: null } : bound;
}

/** A stream has no end to sort: what would need one is refused by name. */
function refuseOrder(query: Query, diagnostics: Diagnostics): boolean {
  const [order] = query.orderBy;
  if (order !== undefined) {
    diagnostics.error('UNSUPPORTED', 'ORDER BY is not supported yet', order.span, {
      hint: 'rows of an endless stream have no last place; sort where you read the result',
    });
  }
  const limit = query.limit ?? query.offset;
  if (limit !== null) {
    diagnostics.error(
      'UNSUPPORTED',
      `${query.limit === null ? 'OFFSET' : 'LIMIT'} is not supported yet`,
      limit.span,
      { hint: 'bound the source instead, or take what you need where you read the result' },
    );
  }
  return order !== undefined || limit !== null;
}

function bindSet(body: SetExpression, environment: Environment): BoundQuery {
  switch (body.tag) {
    case 'select':
      return bindSelect(body, environment);
    case 'nested':
      return bindQuery(body.query, environment);
    case 'values':
      environment.diagnostics.error('UNSUPPORTED', 'VALUES is not supported yet', body.span, {
        hint: "read a file instead: connector = 'single_file'",
      });
      return UNKNOWN_QUERY;
    case 'set_operation':
      return bindUnion(body, environment);
  }
}

function bindUnion(operation: SetOperation, environment: Environment): BoundQuery {
  const { diagnostics } = environment;
  if (operation.operator !== 'union') {
    bindSet(operation.left, environment);
    bindSet(operation.right, environment);
    diagnostics.error(
      'UNSUPPORTED',
      `${operation.operator.toUpperCase()} is not supported yet`,
      operation.span,
      { hint: 'UNION and UNION ALL are' },
    );
    return UNKNOWN_QUERY;
  }
  const branches = unionBranches(operation).map((branch) => ({
    query: bindSet(branch, environment),
    span: branch.span,
  }));
  const [first] = branches;
  if (first === undefined || branches.some(({ query }) => query.open)) return UNKNOWN_QUERY;
  for (const { query, span } of branches) {
    if (query.columns.length === first.query.columns.length) continue;
    diagnostics.error(
      'TYPE_ERROR',
      `the queries of a UNION have ${first.query.columns.length} and ${query.columns.length} columns`,
      span,
    );
    return { ...first.query, node: null };
  }
  const nodes = branches.flatMap(({ query }) =>
    query.node === null ? [] : [named(query, query.node)],
  );
  if (nodes.length < branches.length)
    return {
      ...first.query,
      node: null,
      columns: first.query.columns.map((column) => ({ ...column, broken: true })),
    };
  const types = unifyTypes(
    nodes,
    branches.map(({ span }) => span),
    diagnostics,
  );
  if (types === null)
    return {
      ...first.query,
      node: null,
      columns: first.query.columns.map((column) => ({ ...column, broken: true })),
    };
  const union = makeUnion(nodes.map((node) => castColumns(node, types)));
  return operation.all ? queryOf(union) : bindDistinct(union);
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
        `column ${index + 1} of the UNION is ${typeName(first.type)} in one query and ${typeName(clash.type)} in another`,
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
