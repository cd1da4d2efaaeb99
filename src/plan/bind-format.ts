/** Format options of a table → what decoding and encoding need. */
import type { FormatSpec, ParquetSpec, SinkFormat, TimestampFormat } from '../formats/format.ts';
import type { ConnectorDeclaration } from './declaration.ts';
import type { Diagnostics } from './diagnostics.ts';
import type { CanonicalValue } from './options.ts';
import type { Table } from './table.ts';

/** @param common  canonical values of the common options */
export function bindFormat(common: ReadonlyMap<string, CanonicalValue>): FormatSpec {
  const text = (name: string): string | null => {
    const value = common.get(name);
    return typeof value === 'string' ? value : null;
  };
  return {
    tag: 'json',
    timestampFormat: text('timestamp_format') as TimestampFormat | null,
    decimalEncoding: text('json.decimal_encoding') === 'string' ? 'string' : 'number',
    unstructured: common.get('json.unstructured') === true,
    badData: (text('bad_data') ?? 'dead_letter') as FormatSpec['badData'],
    ...(text('errors.raw') === 'redact' ? { redactErrors: true } : {}),
  };
}

/** The same for what a table is written as. */
export function bindSinkFormat(common: ReadonlyMap<string, CanonicalValue>): SinkFormat {
  if (common.get('format') !== 'parquet') return bindFormat(common);
  return {
    tag: 'parquet',
    compression: common.get('parquet.compression') as ParquetSpec['compression'],
    rowGroupBytes: common.get('parquet.row_group_bytes') as number,
  };
}

/** Refuses a format that the connector does not have, and options that the format does not have. */
export function checkSinkFormat(
  { written }: Table,
  connector: ConnectorDeclaration,
  common: ReadonlyMap<string, CanonicalValue>,
  diagnostics: Diagnostics,
): void {
  const isParquet = common.get('format') === 'parquet';
  const format = written.get('format');
  if (isParquet && format !== undefined && !connector.formats.includes('parquet'))
    diagnostics.error(
      'INVALID_OPTION',
      `"${connector.name}" does not write Parquet`,
      format.value.span,
      { hint: "write files with connector = 'r2' or 'single_file', or set format = 'json'" },
    );
  for (const [name, option] of written) {
    const ofJson = name.startsWith('json.') || name === 'timestamp_format';
    if (isParquet ? !ofJson : !name.startsWith('parquet.')) continue;
    diagnostics.error(
      'INVALID_OPTION',
      `option "${option.key}" is not for format = '${isParquet ? 'parquet' : String(common.get('format'))}'`,
      option.keySpan,
      { hint: isParquet ? 'leave it out' : "set format = 'parquet', or leave it out" },
    );
  }
}
