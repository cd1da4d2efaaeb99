/** CAST between the types that these tests use. */
import type { TypeName } from '../../src/sql/ast-type.ts';
import { dayOf, dayText, momentOf, momentText } from './time.ts';
import {
  asDecimal,
  Day,
  DAY_MICROS,
  Decimal,
  decimalText,
  isNumber,
  Moment,
  rescale,
  RowError,
  type Value,
  whole,
  Whole,
} from './value.ts';

export function cast(value: Value, type: TypeName, safe: boolean): Value {
  if (value === null) return null;
  try {
    return converted(value, type);
  } catch (error) {
    if (safe && error instanceof RowError) return null;
    throw error;
  }
}

/** A constant as a value of the type that it meets. */
export function castText(text: string, type: { readonly name: string }): Value {
  return converted(text, { tag: 'simple', parameters: [], ...type } as unknown as TypeName);
}

function converted(value: NonNullable<Value>, type: TypeName): Value {
  if (type.tag === 'array') {
    if (!Array.isArray(value)) throw new Error('a list of no list');
    return (value as readonly Value[]).map((each) => cast(each, type.element, false));
  }
  if (type.tag !== 'simple') throw new Error(`a cast to ${type.tag} is not in the evaluator`);
  switch (type.name) {
    case 'int':
    case 'integer':
      return toWhole(value, 32);
    case 'bigint':
      return toWhole(value, 64);
    case 'double':
    case 'double precision':
      return toDouble(value);
    case 'decimal':
    case 'numeric': {
      const [precision = 38, scale = type.parameters.length === 0 ? 10 : 0] = type.parameters;
      return toDecimal(value, precision, scale);
    }
    case 'text':
    case 'varchar':
      return textOf(value);
    case 'boolean':
      return toBoolean(value);
    case 'timestamp':
      return toMoment(value, false);
    case 'timestamp with time zone':
    case 'timestamptz':
      return toMoment(value, true);
    case 'date': {
      if (value instanceof Day) return value;
      const moment = value instanceof Moment ? value : momentOf(String(value));
      return moment === null ? bad(value, 'a date') : dayOf(moment);
    }
    default:
      throw new Error(`a cast to ${type.name} is not in the evaluator`);
  }
}

const bad = (value: Value, what: string): never => {
  throw new RowError(`${String(value)} is not ${what}`);
};

/** The zone of a session is UTC. */
function toMoment(value: NonNullable<Value>, zoned: boolean): Value {
  if (value instanceof Day) return new Moment(BigInt(value.days) * DAY_MICROS, zoned);
  const moment = value instanceof Moment ? value : momentOf(String(value));
  return moment === null ? bad(value, 'a moment') : new Moment(moment.micros, zoned);
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** The nearest whole number; of two, the even one for a DOUBLE and the one further from zero for a decimal. */
function toWhole(value: Value, bits: 32 | 64): Value {
  if (typeof value === 'boolean') return whole(BigInt(value), bits);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return bad(value, 'a whole number');
    const floor = Math.floor(value);
    const up = value - floor > 0.5 || (value - floor === 0.5 && floor % 2 !== 0);
    return whole(BigInt(up ? floor + 1 : floor), bits);
  }
  if (typeof value === 'string') {
    const text = value.trim();
    return /^[+-]?\d+$/.test(text) ? whole(BigInt(text.replace('+', '')), bits) : bad(value, 'one');
  }
  if (value instanceof Whole || value instanceof Decimal)
    return whole(rescale(asDecimal(value), 0).units, bits);
  throw new Error(`a whole number of ${String(value)}`);
}

function toDouble(value: Value): Value {
  if (isNumber(value)) return Number(textOf(value));
  if (typeof value === 'string')
    return NUMBER.test(value.trim()) ? Number(value) : bad(value, 'a number');
  throw new Error(`a double of ${String(value)}`);
}

function toDecimal(value: Value, precision: number, scale: number): Value {
  let decimal: Decimal;
  if (typeof value === 'number' || typeof value === 'string') {
    const text = String(value).trim();
    if (!NUMBER.test(text)) return bad(value, 'a number');
    if (/e/i.test(text)) throw new Error('an exponent');
    const [digits = '', fraction = ''] = text.replace('+', '').split('.');
    decimal = rescale(new Decimal(BigInt(`${digits}${fraction}` || '0'), fraction.length), scale);
  } else if (value instanceof Whole || value instanceof Decimal)
    decimal = rescale(asDecimal(value), scale);
  else throw new Error(`a decimal of ${String(value)}`);
  const { units } = decimal;
  return (units < 0n ? -units : units) < 10n ** BigInt(precision)
    ? decimal
    : bad(value, 'so small');
}

function toBoolean(value: Value): Value {
  if (typeof value === 'boolean') return value;
  if (value instanceof Whole) return value.value !== 0n;
  const text = String(value).trim().toLowerCase();
  if (['true', 't', 'yes', 'y', 'on', '1'].includes(text)) return true;
  return ['false', 'f', 'no', 'n', 'off', '0'].includes(text) ? false : bad(value, 'a truth');
}

export function textOf(value: Value): string {
  if (typeof value === 'string') return value;
  if (value instanceof Whole) return String(value.value);
  if (value instanceof Decimal) return decimalText(value);
  if (value instanceof Moment) return momentText(value);
  if (value instanceof Day) return dayText(value);
  if (typeof value === 'boolean' || typeof value === 'number') return String(value);
  throw new Error(`a text of ${String(value)}`);
}
