/**
 * CAST and TRY_CAST among BOOLEAN, INT, BIGINT, DOUBLE, DECIMAL, TEXT and TIMESTAMP, as Postgres
 * converts, on whole columns.
 *
 * DOUBLE to whole number rounds halves to even, DECIMAL to whole number and DECIMAL to DECIMAL round
 * halves away from zero; DOUBLE to DECIMAL starts from the shortest text that reads back as the same
 * DOUBLE. A value that does not fit fails its row with NUMERIC_OUT_OF_RANGE, text that does not read
 * as the type fails it with INVALID_CAST; under TRY_CAST both give NULL instead. Numbers and
 * TIMESTAMP do not convert into each other, because the unit would be a guess.
 */
import { assert, unreachable } from '../base/assert.ts';
import type { ErrorCode } from '../base/errors.ts';
import type { Column } from '../batch/column.ts';
import type { SqlType } from '../batch/types.ts';
import { sameType, typeName } from '../batch/types.ts';
import type { RowErrors } from './row-errors.ts';
import { toBoolean } from './casts/to-boolean.ts';
import { toDecimal } from './casts/to-decimal.ts';
import { toFloat64, toInt32, toInt64 } from './casts/to-number.ts';
import { toText } from './casts/to-text.ts';
import { toTimestamp } from './casts/to-timestamp.ts';
import { Outcome } from './vector.ts';

/** What a conversion gets: how to report a value it cannot convert. */
export type Casting = {
  type: SqlType;
  outcome: Outcome;
  fail: (row: number, code: ErrorCode, message: () => string) => void;
};

const NUMBERS: readonly SqlType['tag'][] = ['int32', 'int64', 'decimal', 'float64'];

/** Whether a value of one type can be cast to another at all. */
export function canCast(from: SqlType, to: SqlType): boolean {
  if (from.tag === to.tag) return from.tag !== 'struct' || sameType(from, to);
  if (from.tag === 'struct' || to.tag === 'struct') return false;
  if (to.tag === 'text') return true;
  if (from.tag === 'text') return to.tag !== 'interval';
  if (from.tag === 'boolean') return to.tag === 'int32' || to.tag === 'int64';
  if (to.tag === 'boolean') return from.tag === 'int32' || from.tag === 'int64';
  return NUMBERS.includes(from.tag) && NUMBERS.includes(to.tag);
}

/** Whether some value of the type may fail to convert. */
export function castCanFail(from: SqlType, to: SqlType): boolean {
  if (sameType(from, to) || to.tag === 'text') return false;
  if (from.tag === 'text') return true;
  if (from.tag === 'boolean' || to.tag === 'boolean' || to.tag === 'float64') return false;
  return !(from.tag === 'int32' && to.tag === 'int64');
}

/** What to say about a pair that cannot be cast. */
export function castHint(from: SqlType, to: SqlType): string {
  if (to.tag === 'timestamp')
    return 'Use to_timestamp_seconds, to_timestamp_millis or to_timestamp_micros, so that the unit is clear.';
  if (from.tag === 'timestamp')
    return 'Use to_unixtime, to_unix_millis or to_unix_micros, so that the unit is clear.';
  if (to.tag === 'boolean') return 'Compare with zero instead: x <> 0.';
  return `There is no conversion from ${typeName(from)} to ${typeName(to)}.`;
}

/**
 * The column converted; a constant (length 1) stays one.
 *
 * @param orNull  TRY_CAST: what cannot be converted becomes NULL instead of failing its row
 */
export function castColumn(
  column: Column,
  type: SqlType,
  orNull: boolean,
  errors: RowErrors,
): Column {
  if (sameType(column.type, type)) return column;
  assert(
    canCast(column.type, type),
    `a cast from ${typeName(column.type)} to ${typeName(type)} was bound`,
  );
  const outcome = new Outcome([column], column.length, errors);
  const casting: Casting = {
    type,
    outcome,
    fail: (row, code, message) => {
      if (orNull) outcome.makeNull(row);
      else outcome.fail(row, code, message);
    },
  };
  return convert(column, casting);
}

function convert(column: Column, casting: Casting): Column {
  switch (casting.type.tag) {
    case 'boolean':
      return toBoolean(column, casting);
    case 'int32':
      return toInt32(column, casting);
    case 'int64':
      return toInt64(column, casting);
    case 'float64':
      return toFloat64(column, casting);
    case 'decimal':
      return toDecimal(column, casting, casting.type);
    case 'text':
      return toText(column, casting);
    case 'timestamp':
      return toTimestamp(column, casting);
    case 'interval':
    case 'struct':
      return column;
    default:
      return unreachable(casting.type);
  }
}
