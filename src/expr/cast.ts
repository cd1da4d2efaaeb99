/**
 * CAST and TRY_CAST among all types, as Postgres converts, on whole columns.
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
import type { DecimalType, SqlType, TypeTag } from '../batch/types.ts';
import { INTEGERS, isIntegerTag, isNested, sameType, typeName } from '../batch/types.ts';
import type { RowErrors } from './row-errors.ts';
import { listOfJson, structOfJson } from './casts/from-json.ts';
import { toBoolean } from './casts/to-boolean.ts';
import { toBytes } from './casts/to-bytes.ts';
import { toDecimal } from './casts/to-decimal.ts';
import { toList, toStruct } from './casts/to-nested.ts';
import { toFloat32, toFloat64, toInteger } from './casts/to-number.ts';
import { toJson, toText } from './casts/to-text.ts';
import { toDate, toInterval, toMoment, toTime } from './casts/to-time.ts';
import { Outcome } from './vector.ts';

/** What a conversion gets: how to report a value it cannot convert. */
export type Casting = {
  type: SqlType;
  outcome: Outcome;
  /** TRY_CAST. */
  orNull: boolean;
  fail: (row: number, code: ErrorCode, message: () => string) => void;
};

/** How elements and fields are cast in turn. */
export type CastColumn = (
  column: Column,
  type: SqlType,
  orNull: boolean,
  errors: RowErrors,
) => Column;

const isNumber = (tag: TypeTag): boolean =>
  isIntegerTag(tag) || tag === 'decimal' || tag === 'float32' || tag === 'float64';

const MOMENTS: readonly TypeTag[] = ['timestamp', 'timestamptz', 'timestamp_ns'];
const isMoment = (tag: TypeTag): boolean => MOMENTS.includes(tag);

/** Whether a value of one type can be cast to another at all. */
export function canCast(from: SqlType, to: SqlType): boolean {
  if (from.tag === 'list' && to.tag === 'list') return canCast(from.element, to.element);
  if (from.tag === 'struct' && to.tag === 'struct')
    return (
      from.fields.length === to.fields.length &&
      from.fields.every(({ type }, index) =>
        canCast(type, (to.fields[index] as (typeof to.fields)[0]).type),
      )
    );
  if (from.tag === to.tag || to.tag === 'text') return true;
  if (to.tag === 'json')
    return from.tag === 'text' || from.tag === 'boolean' || isNumber(from.tag) || isNested(from);
  if (isNested(to)) return from.tag === 'text' || from.tag === 'json';
  if (isNested(from)) return false;
  if (from.tag === 'text') return true;
  if (from.tag === 'json') return to.tag === 'boolean' || isNumber(to.tag);
  if (from.tag === 'boolean') return isIntegerTag(to.tag);
  if (to.tag === 'boolean') return isIntegerTag(from.tag);
  if (isNumber(from.tag)) return isNumber(to.tag);
  if (isMoment(from.tag)) return isMoment(to.tag) || to.tag === 'date' || to.tag === 'time';
  if (from.tag === 'date') return isMoment(to.tag);
  return (
    (from.tag === 'time' && to.tag === 'interval') || (from.tag === 'interval' && to.tag === 'time')
  );
}

/** Whether some value of the type may fail to convert. */
export function castCanFail(from: SqlType, to: SqlType): boolean {
  if (sameType(from, to) || to.tag === 'text') return false;
  if (from.tag === 'list' && to.tag === 'list') return castCanFail(from.element, to.element);
  if (from.tag === 'struct' && to.tag === 'struct')
    return from.fields.some(({ type }, index) =>
      castCanFail(type, (to.fields[index] as (typeof to.fields)[0]).type),
    );
  if (from.tag === 'text') return true;
  if (to.tag === 'json') return false;
  if (from.tag === 'json') return true;
  if (from.tag === 'boolean' || to.tag === 'boolean' || to.tag === 'float64') return false;
  if (isIntegerTag(from.tag) && isIntegerTag(to.tag)) return !holds(to.tag, from.tag);
  if (to.tag === 'timestamp_ns') return true;
  if (to.tag === 'decimal') return !holdsDigits(to, from);
  return isNumber(to.tag);
}

/** Whether a DECIMAL has room for every whole number or DECIMAL of a type. */
function holdsDigits(to: DecimalType, from: SqlType): boolean {
  const whole = to.precision - to.scale;
  if (isIntegerTag(from.tag)) return INTEGERS[from.tag].digits <= whole;
  if (from.tag !== 'decimal') return false;
  // What is rounded may have a digit more.
  return from.precision - from.scale + (to.scale < from.scale ? 1 : 0) <= whole;
}

const holds = (wide: keyof typeof INTEGERS, narrow: keyof typeof INTEGERS): boolean =>
  INTEGERS[wide].min <= INTEGERS[narrow].min && INTEGERS[wide].max >= INTEGERS[narrow].max;

/** What to say about a pair that cannot be cast. */
export function castHint(from: SqlType, to: SqlType): string {
  if (isMoment(to.tag) && isNumber(from.tag))
    return 'Use to_timestamp_seconds, to_timestamp_millis or to_timestamp_micros, so that the unit is clear.';
  if (isMoment(from.tag) && isNumber(to.tag))
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
    orNull,
    fail: (row, code, message) => {
      if (orNull) outcome.makeNull(row);
      else outcome.fail(row, code, message);
    },
  };
  return convert(column, casting);
}

function convert(column: Column, casting: Casting): Column {
  const { type } = casting;
  switch (type.tag) {
    case 'boolean':
      return toBoolean(column, casting);
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
    case 'uint8':
    case 'uint16':
    case 'uint32':
    case 'uint64':
      return toInteger(column, casting);
    case 'float32':
      return toFloat32(column, casting);
    case 'float64':
      return toFloat64(column, casting);
    case 'decimal':
      return toDecimal(column, casting, type);
    case 'text':
      return toText(column, casting);
    case 'json':
      return toJson(column, casting);
    case 'bytea':
      return toBytes(column, casting);
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
      return toMoment(column, casting);
    case 'date':
      return toDate(column, casting);
    case 'time':
      return toTime(column, casting);
    case 'interval':
      return toInterval(column, casting);
    case 'list':
      return column.tag === 'text'
        ? listOfJson(column, type, casting, castColumn)
        : toList(column, type, casting, castColumn);
    case 'struct':
      return column.tag === 'text'
        ? structOfJson(column, type, casting, castColumn)
        : toStruct(column, type, casting, castColumn);
    default:
      return unreachable(type);
  }
}
