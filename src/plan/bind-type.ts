/** Type names as written → column types, with a suggestion for the names other systems use. */
import { nearest } from '../base/nearest.ts';
import {
  BOOLEAN,
  BYTEA,
  DATE,
  type Field,
  FLOAT32,
  FLOAT64,
  INT16,
  INT32,
  INT64,
  INT8,
  INTERVAL,
  JSON_TYPE,
  type SqlType,
  TEXT,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  TIMESTAMP_NS,
  UINT16,
  UINT32,
  UINT64,
  UINT8,
  decimalType,
  listType,
} from '../batch/types.ts';
import type { SimpleType, StructType as StructTypeName, TypeName } from '../sql/ast-type.ts';
import { type Diagnostics, withSuggestion } from './diagnostics.ts';

const KNOWN: ReadonlyMap<string, SqlType> = new Map<string, SqlType>([
  ['boolean', BOOLEAN],
  ['bool', BOOLEAN],
  ['tinyint', INT8],
  ['smallint', INT16],
  ['int2', INT16],
  ['int', INT32],
  ['integer', INT32],
  ['int4', INT32],
  ['bigint', INT64],
  ['int8', INT64],
  ['tinyint unsigned', UINT8],
  ['smallint unsigned', UINT16],
  ['int2 unsigned', UINT16],
  ['int unsigned', UINT32],
  ['integer unsigned', UINT32],
  ['int4 unsigned', UINT32],
  ['bigint unsigned', UINT64],
  ['int8 unsigned', UINT64],
  ['float', FLOAT32],
  ['real', FLOAT32],
  ['float4', FLOAT32],
  ['double', FLOAT64],
  ['double precision', FLOAT64],
  ['float8', FLOAT64],
  ['text', TEXT],
  ['varchar', TEXT],
  ['string', TEXT],
  ['char', TEXT],
  ['character', TEXT],
  ['character varying', TEXT],
  ['bytea', BYTEA],
  ['bytes', BYTEA],
  ['binary', BYTEA],
  ['varbinary', BYTEA],
  ['blob', BYTEA],
  ['json', JSON_TYPE],
  ['jsonb', JSON_TYPE],
  ['timestamp', TIMESTAMP],
  ['datetime', TIMESTAMP],
  ['timestamptz', TIMESTAMPTZ],
  ['timestamp with time zone', TIMESTAMPTZ],
  ['date', DATE],
  ['time', TIME],
  ['interval', INTERVAL],
]);

const DECIMAL_NAMES: ReadonlySet<string> = new Set(['decimal', 'numeric', 'dec']);

/** Names of other systems and of types we do not have → the type to write instead. */
const FOREIGN: ReadonlyMap<string, string> = new Map([
  ['long', 'BIGINT'],
  ['int64', 'BIGINT'],
  ['uint64', 'BIGINT UNSIGNED'],
  ['serial', 'BIGINT'],
  ['int32', 'INT'],
  ['uint32', 'INT UNSIGNED'],
  ['short', 'SMALLINT'],
  ['byte', 'TINYINT'],
  ['int16', 'SMALLINT'],
  ['uint16', 'SMALLINT UNSIGNED'],
  ['uint8', 'TINYINT UNSIGNED'],
  ['mediumint', 'INT'],
  ['float32', 'FLOAT'],
  ['float64', 'DOUBLE'],
  ['number', 'DECIMAL'],
  ['money', 'DECIMAL'],
  ['str', 'TEXT'],
  ['utf8', 'TEXT'],
  ['nvarchar', 'TEXT'],
  ['uuid', 'TEXT'],
  ['datetime2', 'TIMESTAMP'],
  ['timetz', 'TIME'],
  ['time with time zone', 'TIME'],
]);

const SPELLINGS: readonly string[] = [
  'BOOLEAN',
  'TINYINT',
  'SMALLINT',
  'INT',
  'INTEGER',
  'BIGINT',
  'FLOAT',
  'DOUBLE',
  'DECIMAL',
  'NUMERIC',
  'TEXT',
  'VARCHAR',
  'STRING',
  'BYTEA',
  'JSON',
  'TIMESTAMP',
  'TIMESTAMPTZ',
  'DATE',
  'TIME',
  'INTERVAL',
];

/** The type, or null after an error was reported. */
export function bindType(type: TypeName, diagnostics: Diagnostics): SqlType | null {
  switch (type.tag) {
    case 'array': {
      const element = bindType(type.element, diagnostics);
      return element === null ? null : listType(element);
    }
    case 'struct':
      return bindStruct(type, diagnostics);
    case 'map':
      diagnostics.error('UNSUPPORTED', 'MAP types can not be declared yet', type.span, {
        hint: 'use JSON, or an array of STRUCT<key …, value …>',
      });
      return null;
    case 'simple':
      return bindSimple(type, diagnostics);
  }
}

function bindStruct(type: StructTypeName, diagnostics: Diagnostics): SqlType | null {
  const seen = new Set<string>();
  const fields: Field[] = [];
  for (const { name, type: written, notNull } of type.fields) {
    if (seen.has(name.name))
      diagnostics.error('DUPLICATE_NAME', `field "${name.text}" is declared twice`, name.span);
    seen.add(name.name);
    const bound = bindType(written, diagnostics);
    if (bound !== null) fields.push({ name: name.name, type: bound, nullable: !notNull });
  }
  return fields.length === type.fields.length ? { tag: 'struct', fields } : null;
}

function bindSimple(type: SimpleType, diagnostics: Diagnostics): SqlType | null {
  if (DECIMAL_NAMES.has(type.name)) return bindDecimal(type, diagnostics);
  const known = KNOWN.get(type.name);
  if (known === undefined) {
    reportUnknown(type, diagnostics);
    return null;
  }
  return type.parameters.length === 0 ? known : withParameters(type, known, diagnostics);
}

function bindDecimal(type: SimpleType, diagnostics: Diagnostics): SqlType | null {
  const [precision, scale] = type.parameters;
  if (precision === undefined) return decimalType(38, 10);
  const chosenScale = scale ?? 0;
  if (
    type.parameters.length > 2 ||
    precision < 1 ||
    precision > 38 ||
    chosenScale < 0 ||
    chosenScale > precision
  ) {
    diagnostics.error(
      'UNKNOWN_TYPE',
      `DECIMAL(${type.parameters.join(', ')}) is not a type`,
      type.span,
      {
        hint: 'DECIMAL(precision, scale) needs 1 <= precision <= 38 and 0 <= scale <= precision',
      },
    );
    return null;
  }
  return decimalType(precision, chosenScale);
}

/** What the numbers in parentheses make of a type; null after an error was reported. */
function withParameters(
  type: SimpleType,
  known: SqlType,
  diagnostics: Diagnostics,
): SqlType | null {
  const [digits = -1] = type.parameters;
  const written = `${type.name.toUpperCase()}(${type.parameters.join(', ')})`;
  const single = type.parameters.length === 1;
  if (known.tag === 'timestamp' || known.tag === 'timestamptz') {
    if (single && digits === 6) return known;
    if (single && (digits === 0 || digits === 3)) return { tag: known.tag, precision: digits };
    if (single && digits === 9 && known.tag === 'timestamp') return TIMESTAMP_NS;
    diagnostics.error('UNKNOWN_TYPE', `${written} is not a type`, type.span, {
      hint: 'the digits of a second are 0, 3 or 6 (the same as none), and 9 for TIMESTAMP',
      suggestion: known.tag === 'timestamp' ? 'TIMESTAMP(6)' : 'TIMESTAMPTZ',
    });
    return null;
  }
  if (known.tag === 'time' && single && digits === 6) return known;
  // FLOAT(p) counts binary digits, as in Postgres.
  if (type.name === 'float' && single && digits >= 1 && digits <= 53)
    return digits <= 24 ? FLOAT32 : FLOAT64;
  if (known.tag === 'text' && type.name !== 'text' && single) {
    diagnostics.warn('UNSUPPORTED', `the length in ${written} is not enforced`, type.span, {
      hint: 'texts of any length are kept as they are; write TEXT',
    });
    return known;
  }
  diagnostics.error('UNSUPPORTED', `${type.name} takes no length`, type.span, {
    hint:
      known.tag === 'text'
        ? 'text has no length limit here; write TEXT'
        : 'leave the parentheses out',
  });
  return null;
}

function reportUnknown(type: SimpleType, diagnostics: Diagnostics): void {
  const written = type.name.toUpperCase();
  const suggestion = FOREIGN.get(type.name) ?? nearest(written, SPELLINGS);
  diagnostics.error('UNKNOWN_TYPE', `unknown type ${written}`, type.span, {
    ...withSuggestion(suggestion),
    hint:
      suggestion === null ? `the types are ${SPELLINGS.join(', ')}` : `did you mean ${suggestion}?`,
  });
}
