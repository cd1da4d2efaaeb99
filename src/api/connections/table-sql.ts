/** A stored table as the CREATE TABLE that it stands for. */
import type { OptionValues, TableAndProfile } from '../../catalog/connections.ts';
import { quote } from '../../sql/print-type.ts';
import type { ConnectionField, ConnectionSchema } from './connection-shapes.ts';
import { nameSql, typeSql } from './field-types.ts';

export type Declared = {
  name: string;
  connector: string;
  tableType: 'source' | 'sink' | 'lookup';
  /** Those of its profile among them. */
  config: OptionValues;
  schema: ConnectionSchema;
};

/** The table's own options stand before those of its profile. */
export const declaredOf = ({ table, profile }: TableAndProfile): Declared => ({
  name: table.name,
  connector: table.connector,
  tableType: table.tableType,
  config: { ...profile?.config, ...table.config },
  schema: table.schema as ConnectionSchema,
});

export function tableSql(table: Declared): string {
  const { schema, tableType } = table;
  const parts = [
    ...columnsOf(schema).map(columnSql),
    ...(schema.primary_keys.length === 0
      ? []
      : [`PRIMARY KEY (${schema.primary_keys.map(nameSql).join(', ')})`]),
    ...watermarkSql(schema),
  ];
  const options = [
    optionSql('connector', table.connector),
    optionSql('type', tableType === 'sink' ? 'sink' : 'source'),
    ...formatOptions(schema),
    ...Object.entries(table.config).map(([key, value]) => optionSql(key, value)),
  ];
  const list = parts.length === 0 ? '' : ` (\n  ${parts.join(',\n  ')}\n)`;
  const temporary = tableType === 'lookup' ? 'TEMPORARY ' : '';
  return `CREATE ${temporary}TABLE ${nameSql(table.name)}${list} WITH (\n  ${options.join(',\n  ')}\n);`;
}

/** Columns that the connector, or the first INSERT, gives are not written out. */
const columnsOf = (schema: ConnectionSchema): readonly ConnectionField[] =>
  schema.inferred === true ? [] : schema.fields;

function columnSql(field: ConnectionField): string {
  const metadata =
    field.metadata_key === null || field.metadata_key === undefined
      ? ''
      : ` METADATA FROM ${quote(field.metadata_key, "'")}`;
  const required = field.required && metadata === '' ? ' NOT NULL' : '';
  return `${nameSql(field.name)} ${typeSql(field)}${required}${metadata}`;
}

function watermarkSql({ event_time: time }: ConnectionSchema): string[] {
  if (time === null || time === undefined) return [];
  const column = nameSql(time.column);
  const behind = time.delay_micros === 0 ? '' : ` - interval '${lengthOf(time.delay_micros)}'`;
  return [`WATERMARK FOR ${column} AS ${column}${behind}`];
}

function lengthOf(micros: number): string {
  if (micros % 1_000_000 === 0) return `${micros / 1_000_000} seconds`;
  return micros % 1000 === 0 ? `${micros / 1000} milliseconds` : `${micros} microseconds`;
}

function formatOptions({ format, bad_data: badData }: ConnectionSchema): string[] {
  const given: [string, string | boolean | null | undefined][] = [
    ['format', format?.type],
    ['timestamp_format', format?.timestamp_format],
    ['json.decimal_encoding', format?.decimal_encoding],
    ['json.unstructured', format?.unstructured === true ? true : null],
    ['bad_data', badData],
  ];
  return given.flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [optionSql(key, value)],
  );
}

function optionSql(key: string, value: string | number | boolean): string {
  const plain = typeof value === 'boolean' || /^-?\d+(\.\d+)?$/.test(String(value));
  const text = typeof value === 'string' || !plain ? quote(String(value), "'") : String(value);
  return `${key} = ${text}`;
}
