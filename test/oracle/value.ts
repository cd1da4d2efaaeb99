/**
 * Values of the plain evaluator. They carry what they are at run time, so that it needs no types beforehand; whoever
 * writes queries for it casts where SQL would convert by the static type of a branch.
 *
 * Whole numbers know their width, since a sum that leaves INT is an error of its row; decimals are BigInt and a scale.
 */

/** What a row can fail with: it is left out, and counted. */
export class RowError extends Error {}

export class Whole {
  readonly value: bigint;
  readonly bits: 32 | 64;

  constructor(value: bigint, bits: 32 | 64) {
    this.value = value;
    this.bits = bits;
  }
}

export class Decimal {
  readonly units: bigint;
  readonly scale: number;

  constructor(units: bigint, scale: number) {
    this.units = units;
    this.scale = scale;
  }
}

/** Microseconds since 1970; `zoned` tells a TIMESTAMPTZ from a TIMESTAMP. */
export class Moment {
  readonly micros: bigint;
  readonly zoned: boolean;

  constructor(micros: bigint, zoned = false) {
    this.micros = micros;
    this.zoned = zoned;
  }
}

/** Days since 1970. */
export class Day {
  readonly days: number;

  constructor(days: number) {
    this.days = days;
  }
}

export class Interval {
  readonly months: number;
  readonly days: number;
  readonly micros: bigint;

  constructor(months: number, days: number, micros: bigint) {
    this.months = months;
    this.days = days;
    this.micros = micros;
  }

  /** As it is compared: months of 30 days, days of 24 hours. */
  get length(): bigint {
    return (BigInt(this.months) * 30n + BigInt(this.days)) * DAY_MICROS + this.micros;
  }
}

export class Struct {
  readonly fields: ReadonlyMap<string, Value>;

  constructor(fields: ReadonlyMap<string, Value>) {
    this.fields = fields;
  }
}

/** A `number` is a DOUBLE. */
export type Value =
  | null
  | boolean
  | number
  | string
  | Whole
  | Decimal
  | Moment
  | Day
  | Interval
  | Struct
  | readonly Value[];

export const DAY_MICROS = 86_400_000_000n;

const MIN = { 32: -(2n ** 31n), 64: -(2n ** 63n) };

/** @throws RowError when it does not fit */
export function whole(value: bigint, bits: 32 | 64): Whole {
  if (value < MIN[bits] || value >= -MIN[bits])
    throw new RowError(`${value} needs more than ${bits} bits`);
  return new Whole(value, bits);
}

export const big = (value: bigint | number): Whole => whole(BigInt(value), 64);

export const isNumber = (value: Value): value is Whole | Decimal | number =>
  typeof value === 'number' || value instanceof Whole || value instanceof Decimal;

/** A whole number or decimal as a decimal. */
export const asDecimal = (value: Whole | Decimal): Decimal =>
  value instanceof Whole ? new Decimal(value.value, 0) : value;

export function asDouble(value: Whole | Decimal | number): number {
  if (typeof value === 'number') return value;
  return value instanceof Whole ? Number(value.value) : Number(decimalText(value));
}

export function decimalText({ units, scale }: Decimal): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  const point = digits.length - scale;
  const text = scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return units < 0n ? `-${text}` : text;
}

/** Half away from zero. */
export function divideRounded(dividend: bigint, divisor: bigint): bigint {
  const negative = dividend < 0n !== divisor < 0n;
  const [a, b] = [dividend < 0n ? -dividend : dividend, divisor < 0n ? -divisor : divisor];
  const quotient = (2n * a + b) / (2n * b);
  return negative ? -quotient : quotient;
}

export function rescale({ units, scale }: Decimal, to: number): Decimal {
  if (to >= scale) return new Decimal(units * 10n ** BigInt(to - scale), to);
  return new Decimal(divideRounded(units, 10n ** BigInt(scale - to)), to);
}

const order = <T extends number | bigint>(left: T, right: T): number =>
  left < right ? -1 : left > right ? 1 : 0;

function compareNumbers(left: Whole | Decimal | number, right: Whole | Decimal | number): number {
  if (typeof left === 'number' || typeof right === 'number') {
    const [a, b] = [asDouble(left), asDouble(right)];
    if (Number.isNaN(a) || Number.isNaN(b)) return order(Number(a !== a), Number(b !== b));
    return order(a, b);
  }
  const [a, b] = [asDecimal(left), asDecimal(right)];
  const scale = Math.max(a.scale, b.scale);
  return order(rescale(a, scale).units, rescale(b, scale).units);
}

const momentOf = (value: Moment | Day): bigint =>
  value instanceof Moment ? value.micros : BigInt(value.days) * DAY_MICROS;

/** The order of two values neither of which is NULL; NULLs inside lists and structs are the largest. */
export function compare(left: Value, right: Value): number {
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right);
  if (typeof left === 'string' && typeof right === 'string')
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  if (typeof left === 'boolean' && typeof right === 'boolean')
    return order(Number(left), Number(right));
  if (left instanceof Interval && right instanceof Interval)
    return order(left.length, right.length);
  if (left instanceof Struct && right instanceof Struct)
    return compareLists([...left.fields.values()], [...right.fields.values()]);
  if (Array.isArray(left) && Array.isArray(right)) return compareLists(left, right);
  if (
    (left instanceof Moment || left instanceof Day) &&
    (right instanceof Moment || right instanceof Day)
  )
    return order(momentOf(left), momentOf(right));
  throw new Error(`no order of ${canonical(left)} and ${canonical(right)}`);
}

/** NULL is the largest and equals itself. */
export function compareNullable(left: Value, right: Value): number {
  if (left === null || right === null) return order(Number(left === null), Number(right === null));
  return compare(left, right);
}

function compareLists(left: readonly Value[], right: readonly Value[]): number {
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const found = compareNullable(left[at] as Value, right[at] as Value);
    if (found !== 0) return found;
  }
  return order(left.length, right.length);
}

/** Digits without zeros that say nothing: `1.50` and `1.5` are one number. */
export function plainNumber(text: string): string {
  const plain = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  return plain === '-0' ? '0' : plain;
}

/** The eleventh digit of a DOUBLE may depend on the order of additions. */
export function doubleText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const text = String(Number(value.toPrecision(11)));
  return /e/.test(text) ? text : plainNumber(text);
}

/** A text of a value that equal values, and only they, have; of numbers whatever their type. */
export function canonical(value: Value): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return doubleText(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Whole) return String(value.value);
  if (value instanceof Decimal) return plainNumber(decimalText(value));
  if (value instanceof Moment) return `t${value.micros}`;
  if (value instanceof Day) return `d${value.days}`;
  if (value instanceof Interval) return `i${value.length}`;
  if (value instanceof Struct) return `{${[...value.fields.values()].map(canonical).join()}}`;
  return `[${value.map(canonical).join()}]`;
}

/** Of a key of a group: NULL equals NULL. */
export const keyText = (values: readonly Value[]): string => values.map(canonical).join('|');
