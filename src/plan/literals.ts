/** Constants as written → literal expressions of the narrowest type that holds them exactly. */
import { FLOAT64, INT32, INT64, type SqlType, TEXT, decimalType } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';

const INT32_MAX = 2_147_483_647n;
const INT64_MAX = 9_223_372_036_854_775_807n;

const UNTYPED = new WeakSet<Expr>();

/** NULL as written: it takes the type of whatever it meets, TEXT when it meets nothing. */
export function untypedNull(): Expr {
  const expr: Expr = { tag: 'literal', value: null, type: TEXT };
  UNTYPED.add(expr);
  return expr;
}

/** A string as written: it becomes a value of the type it meets when it can be read as one. */
export function textLiteral(value: string): Expr {
  const expr: Expr = { tag: 'literal', value, type: TEXT };
  UNTYPED.add(expr);
  return expr;
}

/** Whether the constant has no type of its own. */
export const isUntyped = (expr: Expr): boolean => UNTYPED.has(expr);

/** INT, BIGINT or DECIMAL by size, DOUBLE with an exponent; null when nothing holds it. */
export function numberLiteral(text: string, negative: boolean): Expr | null {
  const sign = negative ? '-' : '';
  if (/e/i.test(text)) {
    const value = Number(sign + text);
    if (!Number.isFinite(value)) return null;
    // JSON knows no -0: as a number it would be the same literal as 0.
    return { tag: 'literal', value: Object.is(value, -0) ? '-0' : value, type: FLOAT64 };
  }
  const [whole = '', fraction = ''] = text.split('.');
  const unscaled = BigInt(`0${whole}${fraction}`);
  const value = `${negative && unscaled !== 0n ? '-' : ''}${unscaled}`;
  if (!text.includes('.')) {
    const integer = integerType(unscaled, negative);
    if (integer === 'int32') return { tag: 'literal', value: Number(value), type: INT32 };
    if (integer === 'int64') return { tag: 'literal', value, type: INT64 };
  }
  const scale = fraction.length;
  const precision = Math.max(unscaled.toString().length, scale, 1);
  if (precision > 38) return null;
  const type: SqlType = decimalType(precision, scale);
  return { tag: 'literal', value, type };
}

function integerType(magnitude: bigint, negative: boolean): 'int32' | 'int64' | null {
  const slack = negative ? 1n : 0n;
  if (magnitude <= INT32_MAX + slack) return 'int32';
  return magnitude <= INT64_MAX + slack ? 'int64' : null;
}
