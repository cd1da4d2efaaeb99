/**
 * Numbers m × 2^e with a whole m of any size: what sums of doubles and of their products are exactly.
 * Rounding happens once, in `ratioOf`.
 */
import { ratioToNumber } from '../wide.ts';

export type Dyadic = { m: bigint; e: number };

export const ZERO: Dyadic = { m: 0n, e: 0 };

const FLOAT = new Float64Array(1);
const BITS = new Uint32Array(FLOAT.buffer);

/** The exact value of a finite double. */
export function dyadicOf(value: number): Dyadic {
  if (value === 0) return ZERO;
  FLOAT[0] = value;
  const high = BITS[1] as number;
  const low = BITS[0] as number;
  const exponent = (high >>> 20) & 0x7ff;
  const mantissa = (high & 0xfffff) * 4294967296 + low + (exponent === 0 ? 0 : 2 ** 52);
  return {
    m: BigInt(high >>> 31 === 1 ? -mantissa : mantissa),
    e: (exponent === 0 ? 1 : exponent) - 1075,
  };
}

export function add(left: Dyadic, right: Dyadic): Dyadic {
  if (left.m === 0n) return right;
  if (right.m === 0n) return left;
  return left.e <= right.e
    ? { m: left.m + (right.m << BigInt(right.e - left.e)), e: left.e }
    : { m: (left.m << BigInt(left.e - right.e)) + right.m, e: right.e };
}

export const negate = ({ m, e }: Dyadic): Dyadic => ({ m: -m, e });
export const multiply = (left: Dyadic, right: Dyadic): Dyadic => ({
  m: left.m * right.m,
  e: left.e + right.e,
});
export const times = (left: Dyadic, by: number): Dyadic => ({ m: left.m * BigInt(by), e: left.e });

/** numerator / denominator as the nearest double; the denominator is above zero. */
export function ratioOf(numerator: Dyadic, denominator: Dyadic): number {
  const shift = numerator.e - denominator.e;
  return shift >= 0
    ? ratioToNumber(numerator.m << BigInt(shift), denominator.m)
    : ratioToNumber(numerator.m, denominator.m << BigInt(-shift));
}

/** As text, for state; the same for equal values. */
export function dyadicText(value: Dyadic): string {
  const { m, e } = odd(value);
  return `${m.toString(36)}:${e}`;
}

/** The same value with an odd m, or `ZERO`. */
function odd({ m, e }: Dyadic): Dyadic {
  if (m === 0n) return ZERO;
  const zeros = (m & -m).toString(2).length - 1;
  return { m: m >> BigInt(zeros), e: e + zeros };
}

export function parseDyadic(text: string): Dyadic {
  const at = text.indexOf(':');
  const digits = text.slice(0, at);
  const negative = digits.startsWith('-');
  let m = 0n;
  // Eight digits of base 36 are below 2^53.
  for (let from = negative ? 1 : 0; from < at; from += 8) {
    const part = digits.slice(from, from + 8);
    m = m * 36n ** BigInt(part.length) + BigInt(Number.parseInt(part, 36));
  }
  return { m: negative ? -m : m, e: Number(text.slice(at + 1)) };
}
