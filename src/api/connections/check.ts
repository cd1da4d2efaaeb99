/** Whether a profile's options are those of its connector, and whether a table can be planned. */
import { EngineError, type ErrorReport } from '../../base/errors.ts';
import { nearest } from '../../base/nearest.ts';
import type { OptionValues } from '../../catalog/connections.ts';
import { DECLARATIONS } from '../../connectors/declarations.ts';
import { planSql } from '../../graph/plan-sql.ts';
import type { ConnectorDeclaration } from '../../plan/declaration.ts';
import { Diagnostics } from '../../plan/diagnostics.ts';
import { COMMON_OPTIONS, collectOptions, readOptions } from '../../plan/options.ts';
import { parseProgram } from '../../sql/parser.ts';
import type { ConnectionField, ConnectionSchema } from './connection-shapes.ts';
import { fieldOf } from './field-types.ts';
import { fieldsOfJsonSchema } from './json-schema-fields.ts';
import { type Declared, tableSql } from './table-sql.ts';

/** What a field of the request says instead. */
const SAID_ELSEWHERE: Readonly<Record<string, string>> = {
  connector: 'connector',
  type: 'table_type',
  format: 'schema.format',
  connection_profile: 'connection_profile_id',
};

/** @throws INVALID_REQUEST when there is no such connector */
export function connectorOf(name: string): ConnectorDeclaration {
  const names = DECLARATIONS.map((declaration) => declaration.name);
  const found = DECLARATIONS.find((declaration) => declaration.name === name);
  if (found !== undefined) return found;
  const suggestion = nearest(name, names);
  throw new EngineError('UNKNOWN_CONNECTOR', `there is no connector "${name}"`, {
    hint: `The connectors are ${names.join(', ')}.`,
    ...(suggestion === null ? {} : { suggestion }),
  });
}

/** What is wrong with options, of which any may be missing. */
export function checkOptions(connector: ConnectorDeclaration, config: OptionValues): ErrorReport[] {
  const known = [...connector.options, ...COMMON_OPTIONS].map(({ name }) => name);
  for (const key of Object.keys(config)) {
    const elsewhere = SAID_ELSEWHERE[key];
    if (elsewhere !== undefined)
      return [
        new EngineError('INVALID_OPTION', `config.${key}: it is said by the field ${elsewhere}`)
          .report,
      ];
    if (/^[a-z][a-z0-9_.]*$/.test(key)) continue;
    const suggestion = nearest(key, known);
    return [
      new EngineError(
        'UNKNOWN_OPTION',
        `config: unknown option "${key}"`,
        suggestion === null ? {} : { suggestion },
      ).report,
    ];
  }
  const schema: ConnectionSchema = { fields: [], primary_keys: [] };
  const text = tableSql({
    name: 'profile',
    connector: connector.name,
    tableType: 'source',
    config,
    schema,
  });
  const { program, errors } = parseProgram(text);
  const [statement] = program.statements;
  if (statement?.tag !== 'create_table') return errors.map(unplaced);
  const diagnostics = new Diagnostics();
  const written = collectOptions(statement.options, diagnostics);
  readOptions(written, connector.options, null, statement.span, diagnostics);
  return diagnostics.errors.map(unplaced);
}

export type CheckedTable = {
  errors: ErrorReport[];
  warnings: ErrorReport[];
  /** The schema with its fields filled in. */
  schema: ConnectionSchema;
};

/** The schema with the fields of its definition. Throws INVALID_REQUEST. */
export function withDefinition(schema: ConnectionSchema): ConnectionSchema {
  const { definition } = schema;
  if (schema.fields.length > 0 || definition === null || definition === undefined) return schema;
  return { ...schema, fields: fieldsOfJsonSchema(definition.json_schema) };
}

/** Plans the table as a query would that reads all of it, or fills all of it. */
export function checkTable(table: Declared): CheckedTable {
  const schema = withDefinition(table.schema);
  const full = { ...table, schema };
  const definition = tableSql(full);
  const query = table.tableType === 'sink' ? fillingQuery(full) : `SELECT * FROM ${FIRST};`;
  const plan = planSql(
    query.replace(FIRST, () => quotedName(table.name)),
    DECLARATIONS,
    {
      defaultSink: 'preview',
      tables: [{ name: table.name, definition }],
    },
  );
  const given = plan.sources.find(({ spec }) => spec.table === table.name);
  const filled: ConnectionSchema =
    schema.fields.length > 0 || given === undefined || table.tableType === 'sink'
      ? schema
      : { ...schema, inferred: true, fields: given.spec.declared.map(fieldOf) };
  return {
    errors: plan.errors.map(unplaced),
    warnings: plan.warnings.map(unplaced),
    schema: filled,
  };
}

const FIRST = '$table';
const quotedName = (name: string): string => `"${name}"`;

/** Rows with just the columns of the table, from a table that reads them; without columns, any row. */
function fillingQuery({ schema, name }: Declared): string {
  if (schema.fields.length === 0 || schema.inferred === true)
    return `INSERT INTO ${FIRST} SELECT 1 AS a;`;
  const rows = `rows_for_${name}`;
  const source = tableSql({
    name: rows,
    connector: 'http',
    tableType: 'source',
    config: {},
    schema: { fields: schema.fields, primary_keys: [] },
  });
  return `${source}\nINSERT INTO ${FIRST} SELECT * FROM ${rows};`;
}

/** Places are those of a text that nobody has written. */
function unplaced({ span: _span, ...report }: ErrorReport): ErrorReport {
  return report;
}

/** Whether fields can be columns at all; for a schema on its own. */
export function checkSchema(schema: ConnectionSchema): {
  errors: ErrorReport[];
  fields: readonly ConnectionField[];
} {
  const checked = checkTable({
    name: 'rows',
    connector: 'http',
    tableType: 'source',
    config: {},
    schema: { ...schema, format: schema.format?.type === 'parquet' ? null : schema.format },
  });
  return { errors: checked.errors, fields: checked.schema.fields };
}
