/** Types of stored fields as SQL, and SQL types as types of stored fields. */
import { unreachable } from '../../base/assert.ts';
import type { Field, SqlType } from '../../batch/types.ts';
import { quote } from '../../sql/print-type.ts';
import { isReserved } from '../../sql/keywords.ts';
import type { ConnectionField, ConnectionFieldType, ConnectionType } from './connection-shapes.ts';

const PLAIN: Readonly<Partial<Record<ConnectionFieldType, string>>> = {
  bool: 'BOOLEAN',
  int8: 'TINYINT',
  int16: 'SMALLINT',
  int32: 'INT',
  int64: 'BIGINT',
  uint8: 'TINYINT UNSIGNED',
  uint16: 'SMALLINT UNSIGNED',
  uint32: 'INT UNSIGNED',
  uint64: 'BIGINT UNSIGNED',
  float32: 'FLOAT',
  float64: 'DOUBLE',
  string: 'TEXT',
  bytes: 'BYTEA',
  json: 'JSON',
  date: 'DATE',
  time: 'TIME',
  interval: 'INTERVAL',
};

/** Digits of a fraction of a second by the unit; microseconds need not be said. */
const DIGITS = { second: '(0)', millisecond: '(3)', microsecond: '', nanosecond: '(9)' } as const;

/** A name such that it reads back as the same name. */
export const nameSql = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) && !isReserved(name) ? name : quote(name, '"');

export function typeSql(type: ConnectionType): string {
  switch (type.type) {
    case 'decimal128':
      return `DECIMAL(${type.precision ?? 38}, ${type.scale ?? (type.precision === undefined ? 10 : 0)})`;
    case 'timestamp':
      return `TIMESTAMP${DIGITS[type.unit ?? 'microsecond']}`;
    case 'timestamptz':
      return 'TIMESTAMPTZ';
    case 'list':
      return `${type.items === undefined ? 'JSON' : typeSql(type.items)}[]`;
    case 'struct': {
      const fields = (type.fields ?? []).map(
        (field) => `${nameSql(field.name)} ${typeSql(field)}${field.required ? ' NOT NULL' : ''}`,
      );
      return `STRUCT<${fields.join(', ')}>`;
    }
    default:
      return PLAIN[type.type] ?? 'TEXT';
  }
}

/** A column as a stored field. */
export const fieldOf = ({ name, type, nullable }: Field): ConnectionField => {
  const field = typeOf(type);
  return { name, ...field, required: !nullable, sql_name: typeSql(field) };
};

function typeOf(type: SqlType): ConnectionType {
  switch (type.tag) {
    case 'boolean':
      return { type: 'bool' };
    case 'text':
      return { type: 'string' };
    case 'bytea':
      return { type: 'bytes' };
    case 'decimal':
      return { type: 'decimal128', precision: type.precision, scale: type.scale };
    case 'timestamp':
      return { type: 'timestamp', unit: unitOf(type.precision) };
    case 'timestamp_ns':
      return { type: 'timestamp', unit: 'nanosecond' };
    case 'list':
      return { type: 'list', items: typeOf(type.element) };
    case 'struct':
      return { type: 'struct', fields: type.fields.map(fieldOf) };
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
    case 'uint8':
    case 'uint16':
    case 'uint32':
    case 'uint64':
    case 'float32':
    case 'float64':
    case 'json':
    case 'timestamptz':
    case 'date':
    case 'time':
    case 'interval':
      return { type: type.tag };
    default:
      return unreachable(type);
  }
}

const unitOf = (precision: 0 | 3 | undefined): 'second' | 'millisecond' | 'microsecond' =>
  precision === 0 ? 'second' : precision === 3 ? 'millisecond' : 'microsecond';
