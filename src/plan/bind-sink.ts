/** Where rows go: INSERT INTO a table, or the sink that a bare SELECT gets. */
import type { Span } from '../base/errors.ts';
import { type Schema, sameType, typeName } from '../batch/types.ts';
import { canCast } from '../expr/cast.ts';
import type { Expr } from '../expr/expr.ts';
import { JSON_FORMAT } from '../formats/format.ts';
import type { Insert } from '../sql/ast-statement.ts';
import { bindSinkFormat, checkSinkFormat } from './bind-format.ts';
import { bindPartitionOptions } from './bind-partitions.ts';
import { constantOf } from './bind-default.ts';
import { checkOwned } from './check-paths.ts';
import type { ConnectorDeclaration } from './declaration.ts';
import { type Diagnostics, withSuggestion } from './diagnostics.ts';
import { castTo } from './functions.ts';
import { isUntyped } from './literals.ts';
import type { PlanNode, SinkPlan } from './logical.ts';
import { nearestName, quoteName } from './name-text.ts';
import { columnExpr, makeProject, makeUnion } from './nodes.ts';
import { isNullable } from './nullability.ts';
import { collectOptions, readOptions } from './options.ts';
import { type BoundQuery } from './scope.ts';
import type { SinkColumn, SinkTarget, Table } from './table.ts';

/** Connectors that show or drop rows: they take updating results without being told how to write them. */
const TAKES_ANYTHING: ReadonlySet<string> = new Set(['preview', 'stdout', 'blackhole']);

/** The table as a place to write to; null after an error. */
export function bindSinkTarget(table: Table, diagnostics: Diagnostics): SinkTarget | null {
  const { connector } = table;
  if (connector === null) return null;
  const before = diagnostics.count;
  const { common, own } = readOptions(
    table.written,
    connector.options,
    'sink',
    table.span,
    diagnostics,
  );
  if (table.watermark !== null)
    diagnostics.error('INVALID_WATERMARK', 'a sink has no watermark', table.watermark.span, {
      hint: 'WATERMARK FOR belongs to the table that is read',
    });
  const columns = table.columns?.map((column): SinkColumn => {
    const { generatedAs, defaultValue, metadataFrom } = column.definition;
    if (generatedAs !== null)
      diagnostics.error(
        'INVALID_SINK',
        `column "${column.name}" of a sink can not be generated`,
        generatedAs.span,
        { hint: 'compute it in the INSERT' },
      );
    if (metadataFrom !== null)
      diagnostics.error(
        'INVALID_SINK',
        `column "${column.name}" of a sink can not be metadata`,
        metadataFrom.span,
        { hint: 'leave METADATA FROM out' },
      );
    const fallback =
      defaultValue === null || column.broken ? null : constantOf(defaultValue, column, diagnostics);
    return { name: column.name, type: column.type, notNull: column.notNull, fallback };
  });
  const options = bindPartitionOptions(table, own, diagnostics);
  checkSinkFormat(table, connector, common, diagnostics);
  checkOwned(table, options, diagnostics);
  const changes = common.get('format') === 'debezium_json';
  if (diagnostics.count > before || table.columns?.some((column) => column.broken) === true)
    return null;
  return {
    tag: 'sink',
    table: table.name.name,
    connector: connector.name,
    options,
    format: bindSinkFormat(common),
    twoPhase: connector.twoPhase,
    parallel: connector.parallel,
    changes,
    columns:
      columns ??
      connector.schema?.map((field) => ({
        name: field.name,
        type: field.type,
        notNull: !field.nullable,
        fallback: null,
      })) ??
      null,
    primaryKey: table.primaryKey,
    acceptsUpdates: changes || TAKES_ANYTHING.has(connector.name),
  };
}

/** The sink of a bare SELECT. */
export function defaultSinkTarget(
  name: string,
  connector: ConnectorDeclaration,
  place: Span,
  diagnostics: Diagnostics,
): SinkTarget {
  const { common, own } = readOptions(
    collectOptions([], diagnostics),
    connector.options,
    'sink',
    place,
    diagnostics,
  );
  return {
    tag: 'sink',
    table: name,
    connector: connector.name,
    options: own,
    format: bindSinkFormat(common),
    twoPhase: connector.twoPhase,
    parallel: connector.parallel,
    changes: false,
    columns: null,
    primaryKey: [],
    acceptsUpdates: true,
  };
}

/** A memory table as the place its INSERT is checked against. */
export const memoryTarget = (table: Table): SinkTarget => ({
  tag: 'sink',
  table: table.name.name,
  connector: 'memory',
  options: {},
  format: JSON_FORMAT,
  twoPhase: false,
  parallel: true,
  changes: false,
  columns:
    table.columns?.map(({ name, type, notNull }) => ({ name, type, notNull, fallback: null })) ??
    null,
  primaryKey: table.primaryKey,
  acceptsUpdates: true,
});

/**
 * The rows of a query as the sink wants them; null after an error.
 *
 * @param insert  the statement, when the query is written under INSERT
 */
export function bindSinkInput(
  target: SinkTarget,
  query: BoundQuery,
  insert: Insert | null,
  place: Span,
  diagnostics: Diagnostics,
): PlanNode | null {
  const { node } = query;
  if (node === null) return null;
  if (node.updating && !target.acceptsUpdates) {
    diagnostics.error(
      'INVALID_SINK',
      `the result is updated as rows come in, and the sink "${target.table}" only adds rows`,
      place,
      target.format.tag === 'parquet'
        ? {
            hint: "a row of a Parquet file is never taken back: group by a window such as tumble(interval '1 minute'), or write the changes with format = 'debezium_json'",
          }
        : {
            hint: "set format = 'debezium_json' on the sink, or group by a window such as tumble(interval '1 minute')",
            suggestion: "format = 'debezium_json'",
          },
    );
    return null;
  }
  const columns = target.columns;
  return columns === null
    ? inferredInput(query, node, insert, place, diagnostics)
    : assignedInput(target, columns, query, node, insert, place, diagnostics);
}

/** A sink without columns takes those of its first query. */
function inferredInput(
  query: BoundQuery,
  node: PlanNode,
  insert: Insert | null,
  place: Span,
  diagnostics: Diagnostics,
): PlanNode | null {
  const names =
    insert === null || insert.columns.length === 0
      ? query.columns.map((column) => column.name)
      : insert.columns.map((column) => column.name);
  if (names.length !== query.columns.length) {
    diagnostics.error(
      'TYPE_ERROR',
      `INSERT names ${names.length} columns, and its query has ${query.columns.length}`,
      place,
    );
    return null;
  }
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) {
    diagnostics.error('DUPLICATE_NAME', `the result has two columns named "${twice}"`, place, {
      hint: 'rename one with AS',
    });
    return null;
  }
  if (node.schema.every((field, index) => field.name === names[index])) return node;
  return makeProject(
    node,
    node.schema.map((_, index) => columnExpr(node.schema, index)),
    names,
  );
}

function assignedInput(
  target: SinkTarget,
  columns: readonly SinkColumn[],
  query: BoundQuery,
  node: PlanNode,
  insert: Insert | null,
  place: Span,
  diagnostics: Diagnostics,
): PlanNode | null {
  const sources = assignmentOrder(target, columns, query, insert, place, diagnostics);
  if (sources === null) return null;
  const before = diagnostics.count;
  const exprs = columns.map((column, index) => {
    const source = sources[index] ?? null;
    return source === null
      ? omitted(column, target, place, diagnostics)
      : assign(column, node, source, place, diagnostics);
  });
  if (diagnostics.count > before) return null;
  return makeProject(
    node,
    exprs.flatMap((expr) => (expr === null ? [] : [expr])),
    columns.map((column) => column.name),
  );
}

/** For each column of the sink the position in the query that fills it. */
function assignmentOrder(
  target: SinkTarget,
  columns: readonly SinkColumn[],
  query: BoundQuery,
  insert: Insert | null,
  place: Span,
  diagnostics: Diagnostics,
): (number | null)[] | null {
  const listed = insert?.columns ?? [];
  const before = diagnostics.count;
  const width = query.columns.length;
  const wanted = listed.length === 0 ? columns.length : listed.length;
  if (width !== wanted) {
    const what =
      listed.length === 0
        ? `the sink "${target.table}" has ${columns.length} columns`
        : `INSERT names ${listed.length} columns`;
    diagnostics.error('TYPE_ERROR', `${what}, and the query has ${width}`, place, {
      hint: `the columns are ${(listed.length === 0 ? columns : listed).map((column) => quoteName(column.name)).join(', ')}`,
    });
    return null;
  }
  if (listed.length === 0) return columns.map((_, index) => index);
  const order: (number | null)[] = columns.map(() => null);
  for (const [position, name] of listed.entries()) {
    const index = columns.findIndex((column) => column.name === name.name);
    if (index < 0) {
      diagnostics.error(
        'UNKNOWN_COLUMN',
        `the sink "${target.table}" has no column "${name.text}"`,
        name.span,
        withSuggestion(
          nearestName(
            name.name,
            columns.map((column) => column.name),
          ),
        ),
      );
    } else if (order[index] !== null)
      diagnostics.error('DUPLICATE_NAME', `column "${name.text}" is named twice`, name.span);
    else order[index] = position;
  }
  return diagnostics.count > before ? null : order;
}

function omitted(
  column: SinkColumn,
  target: SinkTarget,
  place: Span,
  diagnostics: Diagnostics,
): Expr | null {
  if (column.fallback !== null) return column.fallback;
  if (!column.notNull) return { tag: 'literal', value: null, type: column.type };
  diagnostics.error(
    'NULL_VIOLATION',
    `column "${column.name}" of "${target.table}" is NOT NULL and gets no value`,
    place,
    { hint: 'name it in the INSERT, or give it a DEFAULT' },
  );
  return null;
}

function assign(
  column: SinkColumn,
  node: PlanNode,
  source: number,
  place: Span,
  diagnostics: Diagnostics,
): Expr | null {
  const value = columnExpr(node.schema, source);
  const name = node.schema[source]?.name ?? '';
  const constant = node.tag === 'project' ? node.exprs[source] : undefined;
  if (!isAssignable(value, column, constant)) {
    diagnostics.error(
      'TYPE_ERROR',
      `column "${column.name}" is ${typeName(column.type)}, and "${name}" is ${typeName(value.type)}`,
      place,
      { hint: `cast it: CAST(… AS ${typeName(column.type)})` },
    );
    return null;
  }
  const nullable = isNullable(value, node.schema);
  if (column.notNull && nullable) {
    diagnostics.error(
      'NULL_VIOLATION',
      `column "${column.name}" is NOT NULL, and "${name}" may be NULL`,
      place,
      { hint: `use coalesce(${name}, …), or add WHERE ${name} IS NOT NULL` },
    );
    return null;
  }
  const cast = castTo(constant?.tag === 'literal' ? constant : value, column.type, false);
  if (cast.tag === 'expr') return cast.expr;
  diagnostics.error('TYPE_ERROR', `column "${column.name}" does not fit: ${cast.message}`, place, {
    hint: cast.hint,
  });
  return null;
}

/** Numbers become other numbers and anything becomes text by itself; text is only read as something else on demand. */
function isAssignable(value: Expr, column: SinkColumn, constant: Expr | undefined): boolean {
  if (sameType(value.type, column.type)) return true;
  if (constant?.tag === 'literal' && (constant.value === null || isUntyped(constant))) return true;
  if (value.type.tag === 'text' || value.type.tag === 'boolean' || column.type.tag === 'boolean')
    return column.type.tag === 'text';
  return canCast(value.type, column.type);
}

/** One sink over everything that is written to it. */
export function finishSink(target: SinkTarget, inputs: readonly PlanNode[]): SinkPlan {
  const { columns, primaryKey, acceptsUpdates: _, ...rest } = target;
  const [first] = inputs;
  const input = inputs.length === 1 && first !== undefined ? first : makeUnion(inputs);
  const schema: Schema = input.schema.map((field, index) => ({
    ...field,
    name: columns?.[index]?.name ?? field.name,
  }));
  return { ...rest, input, schema, keyColumns: keyColumnsOf(input, schema, primaryKey) };
}

/** The declared key, else what the result is grouped by, else the whole row. */
function keyColumnsOf(input: PlanNode, schema: Schema, primaryKey: readonly string[]): number[] {
  const declared = primaryKey.map((name) => schema.findIndex((field) => field.name === name));
  if (declared.length > 0 && !declared.includes(-1)) return declared;
  if (!input.updating) return [];
  return [...(input.keys ?? schema.map((_, index) => index))];
}
