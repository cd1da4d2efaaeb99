/** `FROM t, LATERAL f(t.a) AS r`: a function of the user's own that gives rows, over the tables before it. */
import type { TableReference } from '../sql/ast-query.ts';
import { tableColumns } from '../expr/user-function.ts';
import { ExpressionBinder } from './bind-expression.ts';
import { type Environment, type Relation, joinParts, renameColumns } from './bind-from.ts';
import { bindUserArguments } from './bind-user-call.ts';
import { functionsOf } from './declared-functions.ts';
import { POISON, tableContext } from './expression-context.ts';
import { makeTableFunction } from './user-function-nodes.ts';
import { scopeOf } from './scope.ts';

export type TableFunction = Extract<TableReference, { tag: 'table_function' }>;

export const isUserTable = (
  reference: TableReference,
  { diagnostics }: Environment,
): reference is TableFunction =>
  reference.tag === 'table_function' && functionsOf(diagnostics).has(reference.call.name.name);

/** @param kind  `left`: a row for which the function gives none stays, with NULL in its columns */
export function bindTableFunction(
  reference: TableFunction,
  left: Relation,
  kind: 'inner' | 'left',
  environment: Environment,
): Relation {
  const { diagnostics } = environment;
  const { call, alias, span } = reference;
  const failed: Relation = { parts: null, conditions: [], scope: left.scope, open: true };
  const declared = functionsOf(diagnostics).get(call.name.name);
  if (declared === undefined) return failed;
  const { fn } = declared;
  if (fn.kind !== 'table' || reference.withOrdinality) {
    const message =
      fn.kind === 'table'
        ? `WITH ORDINALITY is not supported for ${fn.name}()`
        : `${fn.name}() gives one value, and FROM wants rows`;
    diagnostics.error('TYPE_ERROR', message, span, {
      hint: 'a function of rows is declared RETURNS TABLE (…); let it give the number as a column',
    });
    return failed;
  }
  const input = joinParts(left, [], span, environment);
  const context = { ...tableContext(left.scope, 'FROM', diagnostics), open: left.open };
  const binder = new ExpressionBinder({ ...context, rowTime: input?.eventTime ?? false });
  const bound = call.args.map((arg) => binder.bind(arg.value));
  if (bound.includes(POISON) || input === null) return failed;
  const args = bindUserArguments(declared, bound, call.span, diagnostics);
  if (args === null) return failed;
  const rows = kind === 'left' ? 'outer' : 'inner';
  const node = makeTableFunction(input, { fn, args, guard: null }, rows);
  const columns = tableColumns(fn).map(({ name, type }) => ({
    name,
    type,
    nullable: true,
    window: null,
    broken: false,
  }));
  const query = { node, columns, open: false };
  const renamed = alias === null ? query : renameColumns(query, alias, diagnostics);
  const own = scopeOf(alias?.name.name ?? fn.name, renamed).map((column) => ({
    ...column,
    index: column.index + input.schema.length,
  }));
  return { parts: [node], conditions: [], scope: [...left.scope, ...own], open: left.open };
}
