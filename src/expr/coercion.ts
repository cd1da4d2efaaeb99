/**
 * Implicit conversion: INT → BIGINT → DECIMAL → DOUBLE, and nothing else between typed values. A text
 * or NULL literal has no type of its own yet and takes the type of what it stands beside.
 */
import type { SqlType } from '../batch/types.ts';
import { FLOAT64, INT64, TEXT, decimalType, sameType } from '../batch/types.ts';
import type { ArgumentPattern } from './function-types.ts';

const LATTICE: readonly SqlType['tag'][] = ['int32', 'int64', 'decimal', 'float64'];

/** The decimal that holds every value of an exact numeric type. */
export function asDecimal(type: SqlType): SqlType & { tag: 'decimal' } {
  if (type.tag === 'decimal') return type;
  return decimalType(type.tag === 'int32' ? 10 : 19, 0) as SqlType & { tag: 'decimal' };
}

/**
 * The narrowest type both convert to implicitly, or null. Two decimals meet in the larger scale and
 * the larger count of whole digits; where that needs more than 38 digits, the scale gives way.
 */
export function commonType(left: SqlType, right: SqlType): SqlType | null {
  if (sameType(left, right)) return left;
  if (left.tag === 'struct' || right.tag === 'struct') return null;
  if (left.tag === right.tag && left.tag !== 'decimal') return left;
  const rank = Math.max(LATTICE.indexOf(left.tag), LATTICE.indexOf(right.tag));
  if (Math.min(LATTICE.indexOf(left.tag), LATTICE.indexOf(right.tag)) < 0) return null;
  if (rank === 3) return FLOAT64;
  if (rank === 1) return INT64;
  const [a, b] = [asDecimal(left), asDecimal(right)];
  const whole = Math.max(a.precision - a.scale, b.precision - b.scale);
  const scale = Math.max(0, Math.min(Math.max(a.scale, b.scale), 38 - whole));
  return decimalType(Math.min(38, whole + scale), scale);
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

/** How an argument becomes what a (not 'any') pattern asks for, or null; cost 0 is an exact match. */
export function matchPattern(
  pattern: Exclude<ArgumentPattern, 'any'>,
  type: SqlType,
  untyped: boolean,
): Match | null {
  if (pattern === 'as-text') {
    if (type.tag === 'struct') return null;
    return { type: TEXT, cost: type.tag === 'text' ? 0 : 4 };
  }
  if (pattern === type.tag) return { type, cost: 0 };
  if (untyped) {
    // A text literal in a place of another type is read as that type; the literal's cast decides.
    return pattern === 'interval' || pattern === 'struct'
      ? null
      : { type: bareType(pattern), cost: 1 + LITERAL_PREFERENCE.indexOf(pattern) };
  }
  const from = LATTICE.indexOf(type.tag);
  const to = LATTICE.indexOf(pattern as SqlType['tag']);
  if (from < 0 || to <= from) return null;
  return { type: pattern === 'decimal' ? asDecimal(type) : bareType(pattern), cost: to - from };
}

/** What an untyped literal rather is, when several overloads would take it. */
const LITERAL_PREFERENCE: readonly SqlType['tag'][] = [
  'text',
  'timestamp',
  'float64',
  'decimal',
  'int64',
  'int32',
  'boolean',
];

function bareType(tag: SqlType['tag']): SqlType {
  return tag === 'decimal' ? decimalType(38, 10) : ({ tag } as SqlType);
}
