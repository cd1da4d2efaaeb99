/**
 * SQL types as columns hold them. All are plain data: plans and schemas cross RPC as JSON.
 *
 * A type says what a value means; its *layout* (`layoutOf`, `column.ts`) says how a column holds it, and
 * several types share one layout. Who only moves, hashes or compares values looks at the layout; who reads
 * or writes a value looks at the type.
 *
 * | layout | types |
 * |---|---|
 * | boolean | boolean |
 * | int32 | int8, int16, int32, uint8, uint16; date (days since 1970-01-01) |
 * | int64 | int64; uint32; uint64 (its 64 bits); time (microseconds since midnight); timestamp_ns (nanoseconds since 1970) |
 * | timestamp | timestamp, timestamptz (microseconds since 1970 UTC) |
 * | float64 | float64; float32 (each value rounded to 32 bits) |
 * | decimal | decimal |
 * | interval | interval (months, days, microseconds) |
 * | text | text; json (its text, without space between tokens); bytea (any bytes) |
 * | list | list |
 * | struct | struct |
 *
 * TIMESTAMP is microseconds since 1970-01-01 without zone; TIMESTAMP(0) and (3) are the same with values
 * rounded when they are cast; TIMESTAMP(9) is a type of its own (docs/adr/0005).
 */
import { unreachable } from '../base/assert.ts';

export type SqlType =
  | { tag: 'boolean' }
  | { tag: 'int8' }
  | { tag: 'int16' }
  | { tag: 'int32' }
  | { tag: 'int64' }
  | { tag: 'uint8' }
  | { tag: 'uint16' }
  | { tag: 'uint32' }
  | { tag: 'uint64' }
  | { tag: 'float32' }
  | { tag: 'float64' }
  | { tag: 'decimal'; precision: number; scale: number }
  | { tag: 'text' }
  | { tag: 'bytea' }
  | { tag: 'json' }
  /** Without zone. `precision`: seconds or milliseconds; missing = microseconds. */
  | { tag: 'timestamp'; precision?: 0 | 3 }
  /** TIMESTAMP(9): 1677-09-21 to 2262-04-11. */
  | { tag: 'timestamp_ns' }
  /** A moment, kept in UTC. */
  | { tag: 'timestamptz'; precision?: 0 | 3 }
  | { tag: 'date' }
  | { tag: 'time' }
  /** Months, days and microseconds, kept apart as Postgres does. */
  | { tag: 'interval' }
  /** Elements may be NULL. */
  | { tag: 'list'; element: SqlType }
  | { tag: 'struct'; fields: readonly Field[] };

export type TypeTag = SqlType['tag'];
export type DecimalType = SqlType & { tag: 'decimal' };
export type ListType = SqlType & { tag: 'list' };
export type StructType = SqlType & { tag: 'struct' };

export type Field = {
  name: string;
  type: SqlType;
  nullable: boolean;
};

export type Schema = readonly Field[];

export const BOOLEAN: SqlType = { tag: 'boolean' };
export const INT8: SqlType = { tag: 'int8' };
export const INT16: SqlType = { tag: 'int16' };
export const INT32: SqlType = { tag: 'int32' };
export const INT64: SqlType = { tag: 'int64' };
export const UINT8: SqlType = { tag: 'uint8' };
export const UINT16: SqlType = { tag: 'uint16' };
export const UINT32: SqlType = { tag: 'uint32' };
export const UINT64: SqlType = { tag: 'uint64' };
export const FLOAT32: SqlType = { tag: 'float32' };
export const FLOAT64: SqlType = { tag: 'float64' };
export const TEXT: SqlType = { tag: 'text' };
export const BYTEA: SqlType = { tag: 'bytea' };
export const JSON_TYPE: SqlType = { tag: 'json' };
export const TIMESTAMP: SqlType = { tag: 'timestamp' };
export const TIMESTAMP_NS: SqlType = { tag: 'timestamp_ns' };
export const TIMESTAMPTZ: SqlType = { tag: 'timestamptz' };
export const DATE: SqlType = { tag: 'date' };
export const TIME: SqlType = { tag: 'time' };
export const INTERVAL: SqlType = { tag: 'interval' };
export const decimalType = (precision: number, scale: number): DecimalType => ({
  tag: 'decimal',
  precision,
  scale,
});
export const listType = (element: SqlType): ListType => ({ tag: 'list', element });

const windowOf = (type: SqlType): SqlType => ({
  tag: 'struct',
  fields: [
    { name: 'start', type, nullable: false },
    { name: 'end', type, nullable: false },
  ],
});

/** The type of a window column: `window.start`, `window.end`. */
export const WINDOW: SqlType = windowOf(TIMESTAMP);
/** The same over rows whose event time is a TIMESTAMPTZ. */
export const WINDOW_TZ: SqlType = windowOf(TIMESTAMPTZ);

/** How a column holds values of a type: the `tag` of `Column`. */
export type Layout =
  | 'boolean'
  | 'int32'
  | 'int64'
  | 'timestamp'
  | 'float64'
  | 'decimal'
  | 'interval'
  | 'text'
  | 'list'
  | 'struct';

export function layoutOf(type: SqlType): Layout {
  switch (type.tag) {
    case 'int8':
    case 'int16':
    case 'int32':
    case 'uint8':
    case 'uint16':
    case 'date':
      return 'int32';
    case 'int64':
    case 'uint32':
    case 'uint64':
    case 'time':
    case 'timestamp_ns':
      return 'int64';
    case 'timestamp':
    case 'timestamptz':
      return 'timestamp';
    case 'float32':
    case 'float64':
      return 'float64';
    case 'text':
    case 'bytea':
    case 'json':
      return 'text';
    case 'boolean':
    case 'decimal':
    case 'interval':
    case 'list':
    case 'struct':
      return type.tag;
    default:
      return unreachable(type);
  }
}

/** Whether values are made of other values. */
export const isNested = (type: SqlType): type is ListType | StructType =>
  type.tag === 'list' || type.tag === 'struct';

/** Every type but lists and structs. */
export const SCALAR_TAGS: readonly TypeTag[] = [
  'boolean',
  'int8',
  'int16',
  'int32',
  'int64',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'decimal',
  'float32',
  'float64',
  'text',
  'bytea',
  'json',
  'timestamp',
  'timestamp_ns',
  'timestamptz',
  'date',
  'time',
  'interval',
];

export const ALL_TAGS: readonly TypeTag[] = [...SCALAR_TAGS, 'list', 'struct'];

export type IntegerTag =
  | 'int8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'uint64';

/** The whole-number types: digits of the widest value, and bounds. */
export const INTEGERS: Readonly<Record<IntegerTag, { digits: number; min: bigint; max: bigint }>> =
  {
    int8: { digits: 3, min: -128n, max: 127n },
    int16: { digits: 5, min: -32768n, max: 32767n },
    int32: { digits: 10, min: -2147483648n, max: 2147483647n },
    int64: { digits: 19, min: -(2n ** 63n), max: 2n ** 63n - 1n },
    uint8: { digits: 3, min: 0n, max: 255n },
    uint16: { digits: 5, min: 0n, max: 65535n },
    uint32: { digits: 10, min: 0n, max: 4294967295n },
    uint64: { digits: 20, min: 0n, max: 2n ** 64n - 1n },
  };

export const isIntegerTag = (tag: TypeTag): tag is IntegerTag => tag in INTEGERS;

export function sameType(left: SqlType, right: SqlType): boolean {
  if (left === right) return true;
  if (left.tag !== right.tag) return false;
  if (left.tag === 'decimal' && right.tag === 'decimal') {
    return left.precision === right.precision && left.scale === right.scale;
  }
  if (left.tag === 'timestamp' || left.tag === 'timestamptz')
    return left.precision === (right as typeof left).precision;
  if (left.tag === 'list' && right.tag === 'list') return sameType(left.element, right.element);
  if (left.tag === 'struct' && right.tag === 'struct') {
    return (
      left.fields.length === right.fields.length &&
      left.fields.every((field, index) => {
        const other = right.fields[index] as Field;
        return field.name === other.name && sameType(field.type, other.type);
      })
    );
  }
  return true;
}

const NAMES: Readonly<Record<Exclude<TypeTag, 'decimal' | 'list' | 'struct'>, string>> = {
  boolean: 'BOOLEAN',
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
  text: 'TEXT',
  bytea: 'BYTEA',
  json: 'JSON',
  timestamp: 'TIMESTAMP',
  timestamp_ns: 'TIMESTAMP(9)',
  timestamptz: 'TIMESTAMPTZ',
  date: 'DATE',
  time: 'TIME',
  interval: 'INTERVAL',
};

/** A field name as SQL writes it in a type: in quotes unless it is plain lower case. */
const fieldName = (name: string): string =>
  /^[a-z_][a-z_0-9]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;

/** The type as SQL spells it. */
export function typeName(type: SqlType): string {
  switch (type.tag) {
    case 'decimal':
      return `DECIMAL(${type.precision}, ${type.scale})`;
    case 'timestamp':
    case 'timestamptz':
      return NAMES[type.tag] + (type.precision === undefined ? '' : `(${type.precision})`);
    case 'list':
      return `${typeName(type.element)}[]`;
    case 'struct':
      return `STRUCT<${type.fields.map((field) => `${fieldName(field.name)} ${typeName(field.type)}`).join(', ')}>`;
    default:
      return NAMES[type.tag];
  }
}
