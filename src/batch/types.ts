/**
 * SQL types as columns hold them. All are plain data: plans and schemas cross RPC as JSON.
 *
 * TIMESTAMP is int64 microseconds since 1970-01-01 without zone (docs/adr/0005).
 */
export type SqlType =
  | { tag: 'boolean' }
  | { tag: 'int32' }
  | { tag: 'int64' }
  | { tag: 'float64' }
  | { tag: 'decimal'; precision: number; scale: number }
  | { tag: 'text' }
  | { tag: 'timestamp' }
  /** A length of time: only in constants and expressions, never a table column. */
  | { tag: 'interval' }
  | { tag: 'struct'; fields: readonly Field[] };

export type Field = {
  name: string;
  type: SqlType;
  nullable: boolean;
};

export type Schema = readonly Field[];

export const BOOLEAN: SqlType = { tag: 'boolean' };
export const INT32: SqlType = { tag: 'int32' };
export const INT64: SqlType = { tag: 'int64' };
export const FLOAT64: SqlType = { tag: 'float64' };
export const TEXT: SqlType = { tag: 'text' };
export const TIMESTAMP: SqlType = { tag: 'timestamp' };
export const INTERVAL: SqlType = { tag: 'interval' };
export const decimalType = (precision: number, scale: number): SqlType => ({
  tag: 'decimal',
  precision,
  scale,
});

/** The type of a window column: `window.start`, `window.end`. */
export const WINDOW: SqlType = {
  tag: 'struct',
  fields: [
    { name: 'start', type: TIMESTAMP, nullable: false },
    { name: 'end', type: TIMESTAMP, nullable: false },
  ],
};

export function sameType(left: SqlType, right: SqlType): boolean {
  if (left.tag !== right.tag) return false;
  if (left.tag === 'decimal' && right.tag === 'decimal') {
    return left.precision === right.precision && left.scale === right.scale;
  }
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

/** The type as SQL spells it. */
export function typeName(type: SqlType): string {
  switch (type.tag) {
    case 'boolean':
      return 'BOOLEAN';
    case 'int32':
      return 'INT';
    case 'int64':
      return 'BIGINT';
    case 'float64':
      return 'DOUBLE';
    case 'decimal':
      return `DECIMAL(${type.precision}, ${type.scale})`;
    case 'text':
      return 'TEXT';
    case 'timestamp':
      return 'TIMESTAMP';
    case 'interval':
      return 'INTERVAL';
    case 'struct':
      return `STRUCT<${type.fields.map((field) => `${field.name} ${typeName(field.type)}`).join(', ')}>`;
  }
}
