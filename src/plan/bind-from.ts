/** FROM → the rows a SELECT reads and the names it may use. */
import type {
  DerivedTable,
  Join,
  NamedTable,
  Query,
  Select,
  TableAlias,
  TableReference,
  WindowedTable,
} from '../sql/ast-query.ts';
import type { MatchRecognize } from '../sql/ast-match.ts';
import type { Span } from '../base/errors.ts';
import { bindLateral } from './bind-lateral.ts';
import { besideUnnest, isUnnest, takesLists } from './bind-unnest.ts';
import type { Condition } from './bind-join.ts';
import { bindJoin, joinAll, sideBySide, withCondition } from './bind-join-clause.ts';
import { bindTableFunction, isUserTable } from './bind-table-function.ts';
import { bindMatch } from './bind-match.ts';
import { oneRow } from './bind-values.ts';
import { eventOrderOf } from './event-order.ts';
import type { Diagnostics } from './diagnostics.ts';
import type { PlanNode } from './logical.ts';
import { type BoundQuery, type Scope, UNKNOWN_QUERY, queryOf, scopeOf } from './scope.ts';

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

/** One row without columns. */
const nothingRead = (): Relation => ({
  parts: [oneRow()],
  conditions: [],
  scope: [],
  open: false,
});

const NOTHING: Relation = { parts: null, conditions: [], scope: [], open: true };

export function bindFrom(select: Select, environment: Environment): Relation {
  const [first, ...others] = select.from;
  if (first === undefined) return nothingRead();
  return others.reduce(
    (left, reference) => besideLeft(left, reference, 'inner', environment),
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

const isLateral = (reference: TableReference): reference is DerivedTable =>
  reference.tag === 'derived' && reference.lateral;

/** A further table of FROM; a LATERAL one may read those before it. */
function besideLeft(
  left: Relation,
  reference: TableReference,
  kind: 'inner' | 'left',
  environment: Environment,
): Relation {
  if (isUnnest(reference)) return besideUnnest(left, reference, kind, environment);
  if (isUserTable(reference, environment))
    return bindTableFunction(reference, left, kind, environment);
  if (!isLateral(reference)) return sideBySide(left, bindReference(reference, environment));
  const lateral = bindLateral(reference, left, kind, environment);
  if (lateral.tag === 'joined') return lateral.relation;
  const query = lateral.node === null ? UNKNOWN_QUERY : queryOf(lateral.node);
  return sideBySide(left, named(query, reference.alias, null, environment.diagnostics));
}

/** `JOIN LATERAL (…) ON …`: what ON says holds for rows that are there, so with LEFT it must be TRUE. */
function lateralJoin(join: Join, environment: Environment): Relation {
  const { constraint, kind, span } = join;
  const left = bindReference(join.left, environment);
  const isTrue =
    constraint?.tag === 'on' &&
    constraint.condition.tag === 'boolean' &&
    constraint.condition.value;
  if ((kind === 'inner' || kind === 'cross') && (constraint === null || constraint.tag === 'on')) {
    const both = besideLeft(left, join.right, 'inner', environment);
    return isTrue || constraint === null ? both : withCondition(both, constraint, environment);
  }
  if (kind === 'left' && isTrue) return besideLeft(left, join.right, 'left', environment);
  environment.diagnostics.error(
    'UNSUPPORTED',
    'LATERAL is joined by JOIN, CROSS JOIN or LEFT JOIN … ON TRUE',
    span,
    { hint: 'write the condition in WHERE of the subquery' },
  );
  return NOTHING;
}

/** The rows of a table whose windows the query names; they are cut by the table's event time. */
function windowedTable(reference: WindowedTable, environment: Environment): Relation {
  const { table, alias, span, column } = reference;
  const relation = bindReference(
    { tag: 'table', name: table, asOf: null, alias, span },
    environment,
  );
  const [node] = relation.parts ?? [];
  const found = relation.scope.find(({ name }) => name === column.name);
  if (node === undefined) return relation;
  const order =
    found === undefined
      ? null
      : eventOrderOf({ tag: 'column', index: found.index, type: found.type }, node);
  if (order === 'exact') return relation;
  environment.diagnostics.error(
    found === undefined ? 'UNKNOWN_COLUMN' : 'INVALID_WINDOW',
    found === undefined
      ? `unknown column "${column.text}"`
      : `"${column.text}" is not the event time of "${table.text}"`,
    column.span,
    { hint: `windows are cut by event time: WATERMARK FOR ${column.text} in its CREATE TABLE` },
  );
  return NOTHING;
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
      return named(
        environment.bindQuery(reference.query, environment),
        reference.alias,
        null,
        diagnostics,
      );
    case 'table_function': {
      const { call, span } = reference;
      if (takesLists(call)) return besideUnnest(nothingRead(), reference, 'inner', environment);
      if (isUserTable(reference, environment))
        return bindTableFunction(reference, nothingRead(), 'inner', environment);
      const windowed = ['tumble', 'hop', 'cumulate', 'session'].includes(call.name.name);
      const hint = windowed
        ? `use ${call.name.name}(interval '1 minute') in GROUP BY`
        : 'read from a table';
      diagnostics.error('UNSUPPORTED', `${call.name.name}() in FROM is not supported yet`, span, {
        hint,
      });
      return NOTHING;
    }
    case 'windowed':
      return windowedTable(reference, environment);
    case 'match':
      return matchOf(reference, environment);
    case 'join':
      if (
        isLateral(reference.right) ||
        isUnnest(reference.right) ||
        isUserTable(reference.right, environment)
      )
        return lateralJoin(reference, environment);
      return bindJoin(
        reference,
        bindReference(reference.left, environment),
        bindReference(reference.right, environment),
        environment,
      );
  }
}

function matchOf(reference: MatchRecognize, environment: Environment): Relation {
  const relation = bindReference(reference.input, environment);
  const rows = joinParts(relation, [], reference.span, environment);
  const query = bindMatch(reference, relation.scope, rows, environment.diagnostics);
  return named(query, reference.alias, null, environment.diagnostics);
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
