/** A draft as the API stores it: its columns in Arroyo's words for types. */
import type {
  ConnectionField,
  ConnectionTablePost,
  ConnectionType,
} from '../../../api/connections/connection-shapes.ts';
import type { Connector } from '../../../api/meta/connector-shapes.ts';
import { splitAtCommas } from '../../lib/sql-types.ts';
import { type Draft, optionsFor } from './draft.ts';

const SIMPLE: Readonly<Record<string, ConnectionType>> = {
  BOOLEAN: { type: 'bool' },
  BOOL: { type: 'bool' },
  SMALLINT: { type: 'int16' },
  INT: { type: 'int32' },
  INTEGER: { type: 'int32' },
  BIGINT: { type: 'int64' },
  DOUBLE: { type: 'float64' },
  'DOUBLE PRECISION': { type: 'float64' },
  REAL: { type: 'float32' },
  TEXT: { type: 'string' },
  VARCHAR: { type: 'string' },
  BYTEA: { type: 'bytes' },
  JSON: { type: 'json' },
  TIMESTAMP: { type: 'timestamp', unit: 'microsecond' },
  TIMESTAMPTZ: { type: 'timestamptz' },
  DATE: { type: 'date' },
  TIME: { type: 'time' },
};

/** Null: the API has no word for it. */
export function connectionType(sqlType: string): ConnectionType | null {
  const text = sqlType.trim().toUpperCase();
  const list = /^(.+)\[\]$/s.exec(sqlType.trim()) ?? /^ARRAY\s*<(.+)>$/is.exec(sqlType.trim());
  if (list !== null) {
    const items = connectionType(list[1] ?? '');
    return items === null ? null : { type: 'list', items };
  }
  const struct = /^STRUCT\s*<(.+)>$/is.exec(sqlType.trim());
  if (struct !== null) return structType(struct[1] ?? '');
  const decimal = /^(?:DECIMAL|NUMERIC)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)$/.exec(text);
  if (decimal !== null)
    return { type: 'decimal128', precision: Number(decimal[1]), scale: Number(decimal[2] ?? 0) };
  return SIMPLE[text] ?? null;
}

function structType(members: string): ConnectionType | null {
  const fields: ConnectionField[] = [];
  for (const member of splitAtCommas(members)) {
    const match = /^\s*("(?:[^"]|"")+"|\w+)\s+(.+?)\s*$/s.exec(member);
    const type = match === null ? null : connectionType(match[2] ?? '');
    if (match === null || type === null) return null;
    fields.push({ ...type, name: unquoted(match[1] ?? ''), required: false });
  }
  return { type: 'struct', fields };
}

const unquoted = (name: string): string =>
  name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;

/** Null when a column has a type that cannot be stored. */
export function storedTableOf(draft: Draft, connector: Connector): ConnectionTablePost | null {
  const fields: ConnectionField[] = [];
  for (const { name, type, required } of draft.columns) {
    const found = connectionType(type);
    if (found === null) return null;
    fields.push({ ...found, name, required });
  }
  const config: Record<string, string> = {};
  for (const { name } of optionsFor(connector, draft.direction)) {
    const text = draft.options[name] ?? '';
    if (text !== '') config[name] = text;
  }
  const delaySeconds = Number(draft.delaySeconds) || 0;
  const schema = connector.custom_schemas
    ? {
        fields,
        primary_keys: [],
        ...(connector.formats.includes('json') ? { format: { type: 'json' as const } } : {}),
        ...(draft.eventTime === ''
          ? {}
          : {
              event_time: {
                column: draft.eventTime,
                delay_micros: Math.round(delaySeconds * 1_000_000),
              },
            }),
      }
    : null;
  return {
    name: draft.table,
    connector: draft.connector,
    table_type: draft.direction,
    config,
    schema,
  };
}
