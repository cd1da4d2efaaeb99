/**
 * Implicit conversion, as Postgres does it: whole numbers widen to wider ones, to DECIMAL and to DOUBLE;
 * DATE becomes TIMESTAMP or TIMESTAMPTZ, TIMESTAMP becomes TIMESTAMPTZ or TIMESTAMP(9); nothing else
 * between typed values. A text or NULL literal has no type of its own yet and takes the type of what it
 * stands beside.
 */
import type { IntegerTag, SqlType, StructType, TypeTag } from '../batch/types.ts';
import {
  FLOAT64,
  INTEGERS,
  TEXT,
  TIMESTAMP,
  TIMESTAMPTZ,
  TIMESTAMP_NS,
  decimalType,
  isIntegerTag,
  isNested,
  listType,
  sameType,
} from '../batch/types.ts';
import type { ArgumentPattern } from './function-types.ts';

/** From narrow to wide; the distance is what a conversion costs when overloads compete. */
const NUMBERS: readonly TypeTag[] = [
  'int8',
  'uint8',
  'int16',
  'uint16',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'decimal',
  'float32',
  'float64',
];

const isNumber = (tag: TypeTag): boolean => NUMBERS.includes(tag);

/** The decimal that holds every value of an exact numeric type. */
export function asDecimal(type: SqlType): SqlType & { tag: 'decimal' } {
  if (type.tag === 'decimal') return type;
  return decimalType(isIntegerTag(type.tag) ? INTEGERS[type.tag].digits : 38, 0);
}

/** The narrowest whole-number type that holds both, signed if either is; DECIMAL beyond BIGINT. */
function commonInteger(left: IntegerTag, right: IntegerTag): SqlType {
  const min = INTEGERS[left].min < INTEGERS[right].min ? INTEGERS[left].min : INTEGERS[right].min;
  const max = INTEGERS[left].max > INTEGERS[right].max ? INTEGERS[left].max : INTEGERS[right].max;
  const found = NUMBERS.find(
    (tag) => isIntegerTag(tag) && INTEGERS[tag].min <= min && INTEGERS[tag].max >= max,
  );
  return found === undefined ? decimalType(20, 0) : ({ tag: found } as SqlType);
}

function commonNumber(left: SqlType, right: SqlType): SqlType {
  if (isIntegerTag(left.tag) && isIntegerTag(right.tag)) return commonInteger(left.tag, right.tag);
  if (left.tag !== 'decimal' && !isIntegerTag(left.tag)) return FLOAT64;
  if (right.tag !== 'decimal' && !isIntegerTag(right.tag)) return FLOAT64;
  const [a, b] = [asDecimal(left), asDecimal(right)];
  const whole = Math.max(a.precision - a.scale, b.precision - b.scale);
  const scale = Math.max(0, Math.min(Math.max(a.scale, b.scale), 38 - whole));
  return decimalType(Math.min(38, whole + scale), scale);
}

/** Moments from narrow to wide; a TIMESTAMP(9) does not meet a TIMESTAMPTZ, whose range it lacks. */
function commonMoment(left: SqlType, right: SqlType): SqlType | null {
  const tags: readonly TypeTag[] = [left.tag, right.tag];
  if (!tags.every((tag) => ['date', 'timestamp', 'timestamptz', 'timestamp_ns'].includes(tag)))
    return null;
  if (tags.includes('timestamptz')) return tags.includes('timestamp_ns') ? null : TIMESTAMPTZ;
  return tags.includes('timestamp_ns') ? TIMESTAMP_NS : TIMESTAMP;
}

function commonStruct(left: StructType, right: StructType): SqlType | null {
  if (left.fields.length !== right.fields.length) return null;
  const fields = [];
  for (const [index, field] of left.fields.entries()) {
    const other = right.fields[index] as (typeof right.fields)[0];
    const type = commonType(field.type, other.type);
    if (type === null || field.name !== other.name) return null;
    fields.push({ name: field.name, type, nullable: field.nullable || other.nullable });
  }
  return { tag: 'struct', fields };
}

/**
 * The narrowest type both convert to implicitly, or null. Two decimals meet in the larger scale and
 * the larger count of whole digits; where that needs more than 38 digits, the scale gives way.
 */
export function commonType(left: SqlType, right: SqlType): SqlType | null {
  if (sameType(left, right)) return left;
  if (left.tag === 'list' && right.tag === 'list') {
    const element = commonType(left.element, right.element);
    return element === null ? null : listType(element);
  }
  if (left.tag === 'struct' && right.tag === 'struct') return commonStruct(left, right);
  if (isNested(left) || isNested(right)) return null;
  if (isNumber(left.tag) && isNumber(right.tag)) return commonNumber(left, right);
  return commonMoment(left, right);
}

/** The common type of several; untyped literals follow the others, and are text among themselves. */
export function commonTypeOf(
  types: readonly SqlType[],
  untyped: readonly boolean[] = [],
): SqlType | null {
  let common: SqlType | null = null;
  for (let index = 0; index < types.length; index++) {
    if (untyped[index] === true) continue;
    const type = types[index] as SqlType;
    const next: SqlType | null = common === null ? type : commonType(common, type);
    if (next === null) return null;
    common = next;
  }
  return common ?? types[0] ?? null;
}

export type Match = { type: SqlType; cost: number };

/** What a type other than a number may become implicitly, and what that costs. */
const CONVERSIONS: Readonly<Partial<Record<TypeTag, Readonly<Partial<Record<TypeTag, number>>>>>> =
  {
    date: { timestamp: 1, timestamptz: 2, timestamp_ns: 3 },
    timestamp: { timestamptz: 2, timestamp_ns: 3 },
    timestamptz: { timestamp: 3 },
    timestamp_ns: { timestamp: 2, timestamptz: 3 },
    time: { interval: 1 },
    json: { text: 1 },
  };

/** How an argument becomes what a (not 'any') pattern asks for, or null; cost 0 is an exact match. */
export function matchPattern(
  pattern: Exclude<ArgumentPattern, 'any' | 'each' | 'element' | 'same-list'>,
  type: SqlType,
  untyped: boolean,
): Match | null {
  if (pattern === 'as-text') {
    if (isNested(type)) return null;
    return { type: TEXT, cost: type.tag === 'text' ? 0 : 4 };
  }
  if (pattern === type.tag) return { type, cost: 0 };
  if (untyped) {
    // A text literal in a place of another type is read as that type; the literal's cast decides.
    return pattern === 'list' || pattern === 'struct'
      ? null
      : { type: bareType(pattern), cost: 1 + LITERAL_PREFERENCE.indexOf(pattern) };
  }
  const cost = CONVERSIONS[type.tag]?.[pattern];
  if (cost !== undefined) return { type: bareType(pattern), cost };
  return matchNumber(pattern, type);
}

function matchNumber(pattern: TypeTag, type: SqlType): Match | null {
  const from = NUMBERS.indexOf(type.tag);
  const to = NUMBERS.indexOf(pattern);
  if (from < 0 || to <= from || pattern === 'float32') return null;
  if (isIntegerTag(pattern)) {
    if (!isIntegerTag(type.tag)) return null;
    // An unsigned type does not hold what is below zero.
    if (INTEGERS[pattern].min > INTEGERS[type.tag].min) return null;
  }
  return { type: pattern === 'decimal' ? asDecimal(type) : bareType(pattern), cost: to - from };
}

/** What an untyped literal rather is, when several overloads would take it. */
const LITERAL_PREFERENCE: readonly TypeTag[] = [
  'text',
  'timestamp',
  'float64',
  'decimal',
  'int64',
  'int32',
  'boolean',
  'interval',
  'timestamptz',
  'date',
  'time',
  'json',
  'bytea',
  'timestamp_ns',
  'int16',
  'int8',
  'uint64',
  'uint32',
  'uint16',
  'uint8',
  'float32',
];

function bareType(tag: TypeTag): SqlType {
  return tag === 'decimal' ? decimalType(38, 10) : ({ tag } as SqlType);
}
