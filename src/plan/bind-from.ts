/** FROM → the rows a SELECT reads and the names it may use. */
import type { NamedTable, Query, Select, TableAlias, TableReference } from '../sql/ast-query.ts';
import type { Span } from '../base/errors.ts';
import type { Condition } from './bind-join.ts';
import { bindJoin, joinAll, sideBySide } from './bind-join-clause.ts';
import { oneRow } from './bind-values.ts';
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
  /** A SELECT whose FROM has been bound. */
  bindSelect: (select: Select, relation: Relation, environment: Environment) => BoundQuery;
  /** What SET said so far. */
  settings: Settings;
};

export type Settings = {
  /** Rows of unbounded joins are forgotten when event time passes theirs by this much; null: never. */
  updatingTtlMicros: number | null;
};

/** What FROM gives: tables whose rows are still to be joined by what ON and WHERE say, side by side. */
export type Relation = {
  /** The scope's indices count their columns one part after the other; null after an error. */
  parts: readonly PlanNode[] | null;
  /** What ON said. */
  conditions: readonly Condition[];
  scope: Scope;
  open: boolean;
};

const NOTHING: Relation = { parts: null, conditions: [], scope: [], open: true };

export function bindFrom(select: Select, environment: Environment): Relation {
  const [first, ...others] = select.from;
  if (first === undefined) return { parts: [oneRow()], conditions: [], scope: [], open: false };
  return others.reduce(
    (left, reference) => sideBySide(left, bindReference(reference, environment)),
    bindReference(first, environment),
  );
}

/** The rows of FROM, joined and filtered by `where`; null after an error. */
export function joinParts(
  relation: Relation,
  where: readonly Condition[],
  span: Span,
  environment: Environment,
): PlanNode | null {
  if (relation.parts === null) return null;
  const context = {
    diagnostics: environment.diagnostics,
    span,
    ttlMicros: environment.settings.updatingTtlMicros,
  };
  return joinAll(relation.parts, [...relation.conditions, ...where], context);
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
        return NOTHING;
      }
      return named(
        environment.bindQuery(reference.query, environment),
        reference.alias,
        null,
        diagnostics,
      );
    case 'table_function': {
      const windowed = ['tumble', 'hop', 'cumulate', 'session'].includes(reference.call.name.name);
      const hint = windowed
        ? `use ${reference.call.name.name}(interval '1 minute') in GROUP BY`
        : 'read from a table';
      diagnostics.error(
        'UNSUPPORTED',
        `${reference.call.name.name}() in FROM is not supported yet`,
        reference.span,
        { hint },
      );
      return NOTHING;
    }
    case 'join':
      return bindJoin(
        reference,
        bindReference(reference.left, environment),
        bindReference(reference.right, environment),
        environment,
      );
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
    parts: renamed.node === null ? null : [renamed.node],
    conditions: [],
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
