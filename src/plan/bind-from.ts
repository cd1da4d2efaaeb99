/** FROM → the rows a SELECT reads and the names it may use. */
import type { NamedTable, Query, Select, TableAlias, TableReference } from '../sql/ast-query.ts';
import type { Diagnostics } from './diagnostics.ts';
import type { PlanNode } from './logical.ts';
import { type BoundQuery, type Scope, UNKNOWN_QUERY, scopeOf } from './scope.ts';

/** What a query may read. */
export type Environment = {
  diagnostics: Diagnostics;
  /** Common tables in sight, by name. */
  commonTables: ReadonlyMap<string, BoundQuery>;
  /** A table or view of the program; reports what is wrong with reading it. */
  read: (table: NamedTable) => BoundQuery;
  bindQuery: (query: Query, environment: Environment) => BoundQuery;
};

export type Relation = { node: PlanNode | null; scope: Scope; open: boolean };

export function bindFrom(select: Select, environment: Environment): Relation {
  const { diagnostics } = environment;
  const [first, second] = select.from;
  if (first === undefined) {
    diagnostics.error('UNSUPPORTED', 'SELECT without FROM is not supported yet', select.span, {
      hint: 'read from a table',
    });
    return { node: null, scope: [], open: false };
  }
  if (second === undefined) return bindReference(first, environment);
  const all = select.from.map((reference) => bindReference(reference, environment));
  diagnostics.error('UNSUPPORTED', 'several tables in FROM are not supported yet', second.span, {
    hint: 'joins are not supported yet; read one table, or put them one after the other with UNION ALL',
  });
  return combined(all);
}

/** Relations side by side: enough to check the names that are used. */
function combined(relations: readonly Relation[]): Relation {
  const scope: Scope[number][] = [];
  for (const relation of relations)
    for (const column of relation.scope) scope.push({ ...column, index: scope.length });
  return { node: null, scope, open: relations.some((relation) => relation.open) };
}

function bindReference(reference: TableReference, environment: Environment): Relation {
  const { diagnostics } = environment;
  switch (reference.tag) {
    case 'table': {
      const common = environment.commonTables.get(reference.name.name);
      return named(
        common ?? environment.read(reference),
        reference.alias,
        reference.name.name,
        diagnostics,
      );
    }
    case 'derived':
      if (reference.lateral) {
        diagnostics.error('UNSUPPORTED', 'LATERAL is not supported yet', reference.span, {
          hint: 'leave the word out: with one table in FROM there is nothing to refer to',
        });
        return { node: null, scope: [], open: true };
      }
      return named(
        environment.bindQuery(reference.query, environment),
        reference.alias,
        null,
        diagnostics,
      );
    case 'table_function': {
      const windowed = ['tumble', 'hop', 'session'].includes(reference.call.name.name);
      const hint = windowed
        ? `use ${reference.call.name.name}(interval '1 minute') in GROUP BY`
        : 'read from a table';
      diagnostics.error(
        'UNSUPPORTED',
        `${reference.call.name.name}() in FROM is not supported yet`,
        reference.span,
        { hint },
      );
      return { node: null, scope: [], open: true };
    }
    case 'join': {
      const sides = [
        bindReference(reference.left, environment),
        bindReference(reference.right, environment),
      ];
      diagnostics.error('UNSUPPORTED', 'joins are not supported yet', reference.span, {
        hint: 'read one table, or put them one after the other with UNION ALL',
      });
      return { ...combined(sides), open: true };
    }
  }
}

function named(
  query: BoundQuery,
  alias: TableAlias | null,
  ownName: string | null,
  diagnostics: Diagnostics,
): Relation {
  const renamed = alias === null ? query : renameColumns(query, alias, diagnostics);
  return {
    node: renamed.node,
    scope: scopeOf(alias?.name.name ?? ownName, renamed),
    open: renamed.open,
  };
}

/** New names for the columns of a query, as `AS t (a, b)` and `WITH t (a, b)` give them. */
export function renameColumns(
  query: BoundQuery,
  renaming: Pick<TableAlias, 'columns' | 'name'>,
  diagnostics: Diagnostics,
): BoundQuery {
  const names = renaming.columns;
  if (names.length === 0 || query.open) return query;
  if (names.length !== query.columns.length) {
    const place = names[0] ?? renaming.name;
    diagnostics.error(
      'TYPE_ERROR',
      `"${renaming.name.text}" names ${names.length} columns, and its query has ${query.columns.length}`,
      place.span,
    );
    return UNKNOWN_QUERY;
  }
  const columns = query.columns.map((column, index) => ({
    ...column,
    name: names[index]?.name ?? column.name,
  }));
  return { ...query, columns };
}
