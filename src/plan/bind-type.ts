/** Type names as written → column types, with a suggestion for the names other systems use. */
import { nearest } from '../base/nearest.ts';
import {
  BOOLEAN,
  FLOAT64,
  INT32,
  INT64,
  type SqlType,
  TEXT,
  TIMESTAMP,
  decimalType,
} from '../batch/types.ts';
import type { SimpleType, TypeName } from '../sql/ast-type.ts';
import { type Diagnostics, withSuggestion } from './diagnostics.ts';

const KNOWN: ReadonlyMap<string, SqlType> = new Map<string, SqlType>([
  ['boolean', BOOLEAN],
  ['bool', BOOLEAN],
  ['int', INT32],
  ['integer', INT32],
  ['int4', INT32],
  ['bigint', INT64],
  ['int8', INT64],
  ['double', FLOAT64],
  ['double precision', FLOAT64],
  ['float8', FLOAT64],
  ['text', TEXT],
  ['varchar', TEXT],
  ['string', TEXT],
  ['char', TEXT],
  ['character', TEXT],
  ['character varying', TEXT],
  ['timestamp', TIMESTAMP],
  ['datetime', TIMESTAMP],
]);

const DECIMAL_NAMES: ReadonlySet<string> = new Set(['decimal', 'numeric', 'dec']);

/** Names of other systems and of types we do not have → the type to write instead. */
const FOREIGN: ReadonlyMap<string, string> = new Map([
  ['long', 'BIGINT'],
  ['int64', 'BIGINT'],
  ['uint64', 'BIGINT'],
  ['bigint unsigned', 'BIGINT'],
  ['int unsigned', 'BIGINT'],
  ['integer unsigned', 'BIGINT'],
  ['serial', 'BIGINT'],
  ['int32', 'INT'],
  ['uint32', 'BIGINT'],
  ['short', 'INT'],
  ['byte', 'INT'],
  ['smallint', 'INT'],
  ['int2', 'INT'],
  ['int16', 'INT'],
  ['tinyint', 'INT'],
  ['mediumint', 'INT'],
  ['float64', 'DOUBLE'],
  ['number', 'DECIMAL'],
  ['money', 'DECIMAL'],
  ['str', 'TEXT'],
  ['utf8', 'TEXT'],
  ['nvarchar', 'TEXT'],
  ['uuid', 'TEXT'],
  ['datetime2', 'TIMESTAMP'],
]);

/** Types SQL has and Thalweg does not have yet → what to do meanwhile. */
const LATER: ReadonlyMap<string, string> = new Map([
  ...['float', 'real', 'float4', 'float32'].map((name): [string, string] => [
    name,
    'floating point numbers of 32 bits are not stored as such: use DOUBLE, which holds each of them',
  ]),
  ['date', 'use TIMESTAMP, or TEXT for a date as written'],
  ['time', 'use TEXT, or BIGINT for a count of microseconds'],
  ['interval', 'an interval can be a constant in an expression, but not a column; use BIGINT'],
  [
    'json',
    'declare the fields you need as columns, or keep whole rows as text with json.unstructured = true',
  ],
  [
    'jsonb',
    'declare the fields you need as columns, or keep whole rows as text with json.unstructured = true',
  ],
  ['bytea', 'use TEXT with the bytes in base64'],
  ['binary', 'use TEXT with the bytes in base64'],
  ['varbinary', 'use TEXT with the bytes in base64'],
  ['blob', 'use TEXT with the bytes in base64'],
  ['bytes', 'use TEXT with the bytes in base64'],
  ['timestamptz', 'use TIMESTAMP and store UTC'],
  ['timestamp with time zone', 'use TIMESTAMP and store UTC'],
]);

const SPELLINGS: readonly string[] = [
  'BOOLEAN',
  'INT',
  'INTEGER',
  'BIGINT',
  'DOUBLE',
  'DECIMAL',
  'NUMERIC',
  'TEXT',
  'VARCHAR',
  'STRING',
  'TIMESTAMP',
];

/** The type, or null after an error was reported. */
export function bindType(type: TypeName, diagnostics: Diagnostics): SqlType | null {
  if (type.tag !== 'simple') {
    diagnostics.error('UNSUPPORTED', `${type.tag} types can not be declared yet`, type.span, {
      hint: 'keep whole rows as JSON text with json.unstructured = true and one TEXT column, or give the values as columns of their own',
    });
    return null;
  }
  if (DECIMAL_NAMES.has(type.name)) return bindDecimal(type, diagnostics);
  const known = KNOWN.get(type.name);
  if (known === undefined) {
    reportUnknown(type, diagnostics);
    return null;
  }
  return checkParameters(type, known, diagnostics) ? known : null;
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

function checkParameters(type: SimpleType, known: SqlType, diagnostics: Diagnostics): boolean {
  if (type.parameters.length === 0) return true;
  if (known.tag === 'timestamp') {
    const [digits] = type.parameters;
    if (type.parameters.length === 1 && (digits === 0 || digits === 3 || digits === 6)) return true;
    diagnostics.error(
      'UNKNOWN_TYPE',
      `TIMESTAMP(${type.parameters.join(', ')}) is not a type`,
      type.span,
      {
        hint: 'a timestamp counts microseconds: write TIMESTAMP, or TIMESTAMP(0), (3) or (6)',
        suggestion: 'TIMESTAMP(6)',
      },
    );
    return false;
  }
  // A length limit of text would be a promise nobody keeps: it is refused rather than ignored.
  diagnostics.error('UNSUPPORTED', `${type.name} takes no length`, type.span, {
    hint:
      known.tag === 'text'
        ? 'text has no length limit here; write TEXT'
        : 'leave the parentheses out',
  });
  return false;
}

function reportUnknown(type: SimpleType, diagnostics: Diagnostics): void {
  const written = type.name.toUpperCase();
  const later = LATER.get(type.name);
  if (later !== undefined) {
    diagnostics.error('UNSUPPORTED', `the type ${written} is not supported yet`, type.span, {
      hint: later,
      ...(later.includes('use DOUBLE') ? { suggestion: 'DOUBLE' } : {}),
    });
    return;
  }
  const suggestion = FOREIGN.get(type.name) ?? nearest(written, SPELLINGS);
  diagnostics.error('UNKNOWN_TYPE', `unknown type ${written}`, type.span, {
    ...withSuggestion(suggestion),
    hint:
      suggestion === null ? `the types are ${SPELLINGS.join(', ')}` : `did you mean ${suggestion}?`,
  });
}
