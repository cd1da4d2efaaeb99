/** Arithmetic of two values by what they are: exact, and an error of the row where a result does not fit. */
import { addInterval } from './time.ts';
import {
  asDecimal,
  asDouble,
  Day,
  DAY_MICROS,
  Decimal,
  divideRounded,
  Interval,
  isNumber,
  Moment,
  rescale,
  RowError,
  type Value,
  whole,
  Whole,
} from './value.ts';

export function negate(value: Value): Value {
  if (typeof value === 'number') return -value;
  if (value instanceof Whole) return whole(-value.value, value.bits);
  if (value instanceof Decimal) return new Decimal(-value.units, value.scale);
  if (value instanceof Interval) return new Interval(-value.months, -value.days, -value.micros);
  throw new Error(`no minus of ${String(value)}`);
}

export function arithmetic(operator: string, left: Value, right: Value): Value {
  if (isNumber(left) && isNumber(right)) {
    if (operator === '^') return asDouble(left) ** asDouble(right);
    if (typeof left === 'number' || typeof right === 'number')
      return ofDoubles(operator, asDouble(left), asDouble(right));
    if (left instanceof Whole && right instanceof Whole)
      return whole(ofBigs(operator, left.value, right.value), left.bits === 64 ? 64 : right.bits);
    return ofDecimals(operator, asDecimal(left), asDecimal(right));
  }
  return ofTimes(operator, left, right);
}

const byZero = (): never => {
  throw new RowError('division by zero');
};

function ofDoubles(operator: string, left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return right === 0 ? byZero() : left / right;
    case '%':
      return right === 0 ? byZero() : left % right;
    default:
      throw new Error(`${operator} of doubles`);
  }
}

function ofBigs(operator: string, left: bigint, right: bigint): bigint {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return right === 0n ? byZero() : left / right;
    case '%':
      return right === 0n ? byZero() : left % right;
    default:
      throw new Error(`${operator} of whole numbers`);
  }
}

function ofDecimals(operator: string, left: Decimal, right: Decimal): Decimal {
  if (operator === '*') return new Decimal(left.units * right.units, left.scale + right.scale);
  if (operator === '/') {
    if (right.units === 0n) return byZero();
    const scale = Math.max(6, left.scale + 4);
    const up = 10n ** BigInt(scale - left.scale + right.scale);
    return new Decimal(divideRounded(left.units * up, right.units), scale);
  }
  const scale = Math.max(left.scale, right.scale);
  const [a, b] = [rescale(left, scale), rescale(right, scale)];
  return new Decimal(ofBigs(operator, a.units, b.units), scale);
}

function ofTimes(operator: string, left: Value, right: Value): Value {
  if (left instanceof Interval && right instanceof Interval) {
    const other = operator === '-' ? (negate(right) as Interval) : right;
    return new Interval(
      left.months + other.months,
      left.days + other.days,
      left.micros + other.micros,
    );
  }
  if (left instanceof Moment && right instanceof Interval)
    return addInterval(left, operator === '-' ? (negate(right) as Interval) : right);
  if (left instanceof Interval && right instanceof Moment) return addInterval(right, left);
  if (left instanceof Day && right instanceof Interval)
    return ofTimes(operator, new Moment(BigInt(left.days) * DAY_MICROS), right);
  if (left instanceof Day && right instanceof Whole)
    return new Day(left.days + Number(operator === '-' ? -right.value : right.value));
  if (left instanceof Day && right instanceof Day) return whole(BigInt(left.days - right.days), 32);
  if (left instanceof Moment && right instanceof Moment && operator === '-') {
    const apart = left.micros - right.micros;
    return new Interval(0, Number(apart / DAY_MICROS), apart % DAY_MICROS);
  }
  throw new Error(`${operator} of ${String(left)} and ${String(right)}`);
}

export function bitwise(operator: string, left: Value, right: Value): Value {
  if (!(left instanceof Whole) || !(right instanceof Whole)) throw new Error('bits of no whole');
  const bits = left.bits === 64 ? 64 : right.bits;
  switch (operator) {
    case '&':
      return whole(left.value & right.value, bits);
    case '|':
      return whole(left.value | right.value, bits);
    case '#':
      return whole(left.value ^ right.value, bits);
    default:
      throw new Error(`${operator} is not in the evaluator`);
  }
}
