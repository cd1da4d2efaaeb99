/** A table that is read → a scan: decoded columns, generated columns, watermark. */
import { nearest } from '../base/nearest.ts';
import {
  type Field,
  type Schema,
  type SqlType,
  TEXT,
  TIMESTAMP,
  isIntegerTag,
  sameType,
  typeName,
} from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import { type DecodeColumn, ENVELOPE_TIMES } from '../formats/format.ts';
import type { Expression, StringLiteral } from '../sql/ast-expression.ts';
import { constantOf } from './bind-default.ts';
import { ExpressionBinder } from './bind-expression.ts';
import { POISON, tableContext } from './expression-context.ts';
import { bindWatermark } from './bind-watermark.ts';
import { checkOwned } from './check-paths.ts';
import { bindFormat } from './bind-format.ts';
import { type Diagnostics, withSuggestion } from './diagnostics.ts';
import { castTo } from './functions.ts';
import type { ConnectorDeclaration } from './declaration.ts';
import type { OptionValues, ScanNode } from './logical.ts';
import { nearestName } from './name-text.ts';
import { makeNewestByKey } from './nodes.ts';
import { isNullable } from './nullability.ts';
import { type CanonicalValue, readOptions } from './options.ts';
import { type BoundQuery, type QueryColumn, type Scope, UNKNOWN_QUERY, queryOf } from './scope.ts';
import type { Table, TableColumn } from './table.ts';

/** Reports what is said of how rows are written. */
function checkReadable(
  table: Table,
  common: ReadonlyMap<string, CanonicalValue>,
  diagnostics: Diagnostics,
): void {
  const [partition] = table.partitionedBy;
  if (partition !== undefined)
    diagnostics.error(
      'INVALID_OPTION',
      `"${table.name.text}" is read, and PARTITIONED BY says how rows are written`,
      partition.span,
      { hint: 'leave it out' },
    );
  if (common.get('format') === 'parquet')
    diagnostics.error(
      'UNSUPPORTED',
      `"${table.name.text}" is read, and Parquet can only be written`,
      table.written.get('format')?.value.span ?? table.span,
      { hint: "read NDJSON: format = 'json'" },
    );
}

/** Reports made-up rows that are read as what they are not: changes as rows, or rows as changes. */
function checkChanges(
  table: Table,
  own: OptionValues,
  changes: boolean,
  diagnostics: Diagnostics,
): void {
  const choice = table.connector?.schemaByOption;
  if (choice?.changes === undefined || own[choice.option] === undefined) return;
  const chosen = String(own[choice.option]);
  const areChanges = choice.changes.includes(chosen);
  if (areChanges === changes) return;
  const format = table.written.get('format');
  const place = format ?? table.written.get(choice.option);
  diagnostics.error(
    'INVALID_OPTION',
    areChanges
      ? `the rows of ${choice.option} '${chosen}' are changes of a table`
      : `the rows of ${choice.option} '${chosen}' are no changes of a table`,
    place?.span ?? table.span,
    areChanges
      ? {
          hint: "read them with format = 'debezium_json', and declare the columns with a PRIMARY KEY",
        }
      : { hint: 'leave format out' },
  );
}

/** The rows of the table; columns that were refused are marked, and then there is no plan. */
export function bindSource(table: Table, diagnostics: Diagnostics): BoundQuery {
  const { connector } = table;
  const before = diagnostics.count;
  if (connector === null) return brokenColumns(table.columns ?? []);
  const { common, own } = readOptions(
    table.written,
    connector.options,
    'source',
    table.span,
    diagnostics,
  );
  checkReadable(table, common, diagnostics);
  checkOwned(table, own, diagnostics);
  const plain = bindFormat(common);
  const changes = common.get('format') === 'debezium_json';
  checkChanges(table, own, changes, diagnostics);
  const physical = physicalColumns(table, own, plain.unstructured, changes, diagnostics);
  if (physical === null) return brokenColumns(table.columns ?? []);
  const keys = changes ? changeKeys(table, physical, diagnostics) : [];
  const format = changes ? { ...plain, changes: { keys } } : plain;
  const outputs = outputColumns(table, physical, diagnostics);
  const watermark = bindWatermark(table, outputs, common, diagnostics);
  if (table.primaryKey.length > 0 && !changes && !table.temporary) {
    diagnostics.warn(
      'UNSUPPORTED',
      `the PRIMARY KEY of "${table.name.text}" is not enforced: the rows of a source are only added`,
      table.span,
    );
  }
  const columns = outputs.map(({ field, broken }): QueryColumn => ({
    ...field,
    window: null,
    broken,
  }));
  if (diagnostics.count > before || outputs.some(({ broken }) => broken))
    return { node: null, columns, open: false };
  const schema = outputs.map(({ field }) => field);
  const scan: ScanNode = {
    tag: 'scan',
    table: table.name.name,
    connector: connector.name,
    options: own,
    format,
    declared: physical.filter(
      ({ metadata, envelope }) => metadata === undefined && envelope === undefined,
    ),
    generated: connector.schema !== null,
    physical,
    computed: outputs.map(({ expr }) => expr),
    watermark,
    lateRows: common.get('late_rows') === 'dead_letter' ? 'dead_letter' : 'count',
    temporary: table.temporary,
    ...(table.temporary && !changes && table.primaryKey.length > 0
      ? { primaryKey: table.primaryKey.map((key) => schema.findIndex(({ name }) => name === key)) }
      : {}),
    schema,
    updating: false,
    keys: null,
    eventTime: true,
    windows: schema.map(() => null),
  };
  if (!changes) return queryOf(scan);
  return queryOf(
    makeNewestByKey(
      scan,
      keys.map((key) => schema.findIndex((field) => field.name === key)),
    ),
  );
}

/** The columns that name a row of a table of changes. */
function changeKeys(
  table: Table,
  physical: readonly DecodeColumn[],
  diagnostics: Diagnostics,
): string[] {
  if (table.primaryKey.length === 0)
    diagnostics.error(
      'MISSING_OPTION',
      `table "${table.name.text}" has no PRIMARY KEY, so its changes can not be told apart`,
      table.span,
      { hint: 'name the columns that the database identifies rows by: PRIMARY KEY (id)' },
    );
  const made = table.primaryKey.find(
    (key) => !physical.some(({ name, envelope }) => name === key && envelope === undefined),
  );
  if (made !== undefined)
    diagnostics.error(
      'UNSUPPORTED',
      `the PRIMARY KEY "${made}" of "${table.name.text}" is generated`,
      table.span,
      { hint: 'a key has to be among the columns that the changes tell' },
    );
  return [...table.primaryKey];
}

function brokenColumns(columns: readonly TableColumn[]): BoundQuery {
  if (columns.length === 0) return UNKNOWN_QUERY;
  return {
    node: null,
    columns: columns.map(({ name, type, notNull, broken }) => ({
      name,
      type,
      nullable: !notNull,
      window: null,
      broken,
    })),
    open: false,
  };
}

/** What is decoded from the connector; null after an error that leaves no columns. */
function physicalColumns(
  table: Table,
  own: OptionValues,
  unstructured: boolean,
  changes: boolean,
  diagnostics: Diagnostics,
): DecodeColumn[] | null {
  const declared = table.columns?.filter((column) => column.definition.generatedAs === null) ?? [];
  const fixed = table.connector === null ? null : fixedSchema(table.connector, own);
  if (fixed !== null) {
    if (declared.length === 0) return fixed.map((field) => ({ ...field, default: null }));
    return declared.map((column) =>
      changes && column.definition.metadataFrom !== null
        ? envelopeColumn(column, column.definition.metadataFrom, diagnostics)
        : fixedColumn(table, column, fixed, diagnostics),
    );
  }
  if (declared.length === 0 && unstructured)
    return [{ name: 'value', type: TEXT, nullable: false, default: null }];
  if (declared.length === 0) {
    diagnostics.error(
      'MISSING_OPTION',
      `table "${table.name.text}" has no columns to read`,
      table.span,
      { hint: `declare them: CREATE TABLE ${table.name.text} (a BIGINT, b TEXT) WITH (…)` },
    );
    return null;
  }
  return declared.map((column) =>
    column.definition.metadataFrom === null
      ? {
          name: column.name,
          type: column.type,
          nullable: !column.notNull,
          default: defaultOf(column, diagnostics),
        }
      : changes
        ? envelopeColumn(column, column.definition.metadataFrom, diagnostics)
        : metadataColumn(table, column, column.definition.metadataFrom, diagnostics),
  );
}

/** A column of what a change tells beside its rows. */
function envelopeColumn(
  column: TableColumn,
  key: StringLiteral,
  diagnostics: Diagnostics,
): DecodeColumn {
  const envelope = ENVELOPE_TIMES.find((name) => name === key.value);
  if (envelope === undefined)
    diagnostics.error(
      'UNKNOWN_COLUMN',
      `changes have no metadata "${key.value}"`,
      key.span,
      withSuggestion(nearest(key.value, ENVELOPE_TIMES), `they have ${ENVELOPE_TIMES.join(', ')}`),
    );
  else if (!sameType(column.type, TIMESTAMP) && !column.broken)
    diagnostics.error(
      'TYPE_ERROR',
      `metadata "${key.value}" is TIMESTAMP, and column "${column.name}" is ${typeName(column.type)}`,
      column.definition.type.span,
      { suggestion: 'TIMESTAMP' },
    );
  return {
    name: column.name,
    type: column.type,
    nullable: false,
    default: null,
    ...(envelope === undefined ? {} : { envelope }),
  };
}

/** A column of what the connector knows of a row by itself. */
function metadataColumn(
  table: Table,
  column: TableColumn,
  key: StringLiteral,
  diagnostics: Diagnostics,
): DecodeColumn {
  const known = table.connector?.metadata ?? [];
  const field = known.find(({ name }) => name === key.value);
  const connector = table.connector?.name ?? '';
  const names = known.map(({ name }) => name);
  if (field === undefined && table.connector !== null)
    diagnostics.error(
      'UNKNOWN_COLUMN',
      `the connector "${connector}" has no metadata "${key.value}"`,
      key.span,
      names.length === 0
        ? { hint: 'leave the column out' }
        : withSuggestion(nearest(key.value, names), `it has ${names.join(', ')}`),
    );
  else if (field !== undefined && !sameType(field.type, column.type) && !column.broken)
    diagnostics.error(
      'TYPE_ERROR',
      `metadata "${key.value}" is ${typeName(field.type)}, and column "${column.name}" is ${typeName(column.type)}`,
      column.definition.type.span,
      { suggestion: typeName(field.type) },
    );
  return {
    name: column.name,
    type: column.type,
    nullable: field?.nullable ?? true,
    default: null,
    metadata: key.value,
  };
}

/** The columns a connector has by itself; an option may choose among several sets. */
function fixedSchema(connector: ConnectorDeclaration, own: OptionValues): Schema | null {
  const choice = connector.schemaByOption;
  const chosen = choice === undefined ? undefined : choice.schemas[String(own[choice.option])];
  return chosen ?? connector.schema;
}

/** One of the columns that a connector has by itself. */
function fixedColumn(
  table: Table,
  column: TableColumn,
  fixed: readonly Field[],
  diagnostics: Diagnostics,
): DecodeColumn {
  const field = fixed.find((candidate) => candidate.name === column.name);
  const { name } = column.definition;
  if (field === undefined) {
    diagnostics.error(
      'UNKNOWN_COLUMN',
      `the connector "${table.connector?.name}" has no column "${name.text}"`,
      name.span,
      withSuggestion(
        nearestName(
          name.name,
          fixed.map((candidate) => candidate.name),
        ),
        'its columns are known; leave the list out',
      ),
    );
  } else if (!column.broken && !fits(field.type, column.type)) {
    diagnostics.error(
      'TYPE_ERROR',
      `column "${name.text}" of the connector "${table.connector?.name}" is ${typeName(field.type)}`,
      column.definition.type.span,
      { suggestion: typeName(field.type) },
    );
  }
  return {
    name: column.name,
    type: field?.type ?? column.type,
    nullable: field?.nullable ?? true,
    default: null,
  };
}

/** A number that a connector makes may be declared as one of another type; it is cast. */
function fits(own: SqlType, declared: SqlType): boolean {
  const isWhole = ({ tag }: SqlType): boolean => isIntegerTag(tag);
  return (
    sameType(own, declared) || (isWhole(own) && (isWhole(declared) || declared.tag === 'decimal'))
  );
}

function defaultOf(column: TableColumn, diagnostics: Diagnostics): DecodeColumn['default'] {
  const { defaultValue } = column.definition;
  if (defaultValue === null || column.broken) return null;
  const constant = constantOf(defaultValue, column, diagnostics);
  return constant?.tag === 'literal' ? constant.value : null;
}

/** A column of the scan. */
export type Output = { field: Field; expr: Expr; broken: boolean };

/** Declared columns in their order; without any the physical ones, then the generated ones. */
function outputColumns(
  table: Table,
  physical: readonly DecodeColumn[],
  diagnostics: Diagnostics,
): Output[] {
  const declared = table.columns ?? [];
  const hasPhysical = declared.some((column) => column.definition.generatedAs === null);
  const outputs: Output[] = hasPhysical
    ? []
    : physical.map((field, index) => physicalOutput(field, index, false));
  const generated = new Set(
    declared
      .filter((column) => column.definition.generatedAs !== null)
      .map((column) => column.name),
  );
  for (const column of declared) {
    const expression = column.definition.generatedAs;
    if (expression !== null) {
      outputs.push(generatedOutput(column, expression, physical, generated, diagnostics));
      continue;
    }
    const index = physical.findIndex((field) => field.name === column.name);
    const output = physicalOutput(physical[index] as DecodeColumn, index, column.broken);
    outputs.push(column.broken ? output : castOutput(output, column.type));
  }
  return outputs;
}

function physicalOutput(column: DecodeColumn, index: number, broken: boolean): Output {
  const { name, type, nullable } = column;
  return { field: { name, type, nullable }, expr: { tag: 'column', index, type }, broken };
}

function castOutput(output: Output, type: SqlType): Output {
  const { field, expr } = output;
  if (sameType(field.type, type)) return output;
  const cast = castTo(expr, type, false);
  return cast.tag === 'expr' ? { ...output, field: { ...field, type }, expr: cast.expr } : output;
}

function generatedOutput(
  column: TableColumn,
  expression: Expression,
  physical: readonly DecodeColumn[],
  generated: ReadonlySet<string>,
  diagnostics: Diagnostics,
): Output {
  const scope: Scope = physical.map(({ name, type, nullable }, index) => ({
    qualifier: null,
    name,
    type,
    nullable,
    index,
    window: null,
    broken: false,
  }));
  const nullable = !column.notNull;
  const broken: Output = {
    field: { name: column.name, type: column.type, nullable },
    expr: POISON,
    broken: true,
  };
  if (
    expression.tag === 'path' &&
    generated.has(expression.parts[0]?.name ?? '') &&
    !scope.some((other) => other.name === expression.parts[0]?.name)
  ) {
    diagnostics.error(
      'UNKNOWN_COLUMN',
      'a generated column can not read another generated column',
      expression.span,
      { hint: 'repeat its expression' },
    );
    return broken;
  }
  const bound = new ExpressionBinder(tableContext(scope, 'a generated column', diagnostics)).bind(
    expression,
  );
  if (bound === POISON || column.broken) return broken;
  const cast = castTo(bound, column.type, false);
  if (cast.tag === 'refused') {
    diagnostics.error(
      'TYPE_ERROR',
      `column "${column.name}" does not fit its expression: ${cast.message}`,
      expression.span,
      { hint: cast.hint },
    );
    return broken;
  }
  if (column.notNull && isNullable(cast.expr, physical)) {
    diagnostics.error(
      'NULL_VIOLATION',
      `column "${column.name}" is NOT NULL, and its expression may be NULL`,
      expression.span,
      { hint: 'use coalesce(…, value), or leave NOT NULL out' },
    );
    return broken;
  }
  return {
    field: { name: column.name, type: column.type, nullable: isNullable(cast.expr, physical) },
    expr: cast.expr,
    broken: false,
  };
}
