/** sum and avg of DOUBLE are the exact ones, rounded once: held against whole numbers of any size. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FLOAT64 } from '../../src/batch/types.ts';
import { columnFromValues } from '../../src/batch/values.ts';
import type { Accumulator } from '../../src/expr/accumulator.ts';
import { makeAccumulator } from '../../src/expr/aggregate-registry.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';
import { column, valuesOf } from './support.ts';

const SEED = 20261130;
const ONE = Int32Array.of(0);

function fresh(fn: 'sum' | 'avg'): Accumulator {
  const accumulator = makeAccumulator({
    fn,
    args: [column(0, FLOAT64)],
    distinct: false,
    filter: null,
    type: FLOAT64,
    label: `${fn}(v)`,
  });
  accumulator.resize(1);
  return accumulator;
}

function feed(into: Accumulator, values: readonly number[], retract = false): void {
  into.update(
    new Int32Array(values.length),
    values.length,
    [columnFromValues(FLOAT64, [...values])],
    retract ? new Uint8Array(values.length).fill(1) : null,
  );
}

/** A DOUBLE, `null`, or the code of the failure. */
function answer(of: Accumulator): unknown {
  const errors = new RowErrors(1);
  const [value] = valuesOf(of.results(ONE, errors));
  return errors.list[0]?.code ?? value;
}

const FLOAT = new Float64Array(1);
const BITS = new BigInt64Array(FLOAT.buffer);

/** A finite double times 2^1074. */
function scaled(value: number): bigint {
  FLOAT[0] = value;
  const bits = BigInt.asUintN(64, BITS[0] as bigint);
  const exponent = (bits >> 52n) & 0x7ffn;
  const mantissa = (bits & 0xfffffffffffffn) | (exponent === 0n ? 0n : 1n << 52n);
  const size = mantissa << (exponent === 0n ? 0n : exponent - 1n);
  return bits >> 63n === 1n ? -size : size;
}

const sizeOf = (value: bigint): bigint => (value < 0n ? -value : value);

/** The double beside one, away from zero or toward it. */
function beside(value: number, away: boolean): bigint {
  FLOAT[0] = Math.abs(value);
  const bits = (BITS[0] as bigint) + (away ? 1n : -1n);
  if (bits < 0n) return -1n;
  BITS[0] = bits;
  // Beyond the largest double lies 2^1024.
  const size = Number.isFinite(FLOAT[0]) ? scaled(FLOAT[0]) : 1n << 2098n;
  return value < 0 ? -size : size;
}

/** Whether `found` is total / count rounded to the nearest double, halves to even; `total` is scaled. */
function isNearest(found: number, total: bigint, count: bigint): boolean {
  if (total === 0n) return Object.is(found, 0);
  if (!Number.isFinite(found) || Math.sign(found) * (total < 0n ? -1 : 1) < 0) return false;
  const off = sizeOf(total - scaled(found) * count);
  FLOAT[0] = found;
  const isEven = ((BITS[0] as bigint) & 1n) === 0n;
  return [true, false].every((away) => {
    const other = sizeOf(total - beside(found, away) * count);
    return off < other || (off === other && isEven);
  });
}

const LIMIT = ((1n << 1024n) - (1n << 970n)) << 1074n;

/** What the answer has to be; a function where there are whole numbers to hold it against. */
function expectAnswer(fn: 'sum' | 'avg', values: readonly number[], found: unknown): void {
  const finite = values.filter(Number.isFinite);
  if (values.length === 0) expect(found).toBeNull();
  else if (finite.length < values.length)
    expect(found).toBe(values.filter((value) => !Number.isFinite(value)).reduce((a, b) => a + b));
  else {
    const total = finite.reduce((sum, value) => sum + scaled(value), 0n);
    const count = fn === 'sum' ? 1n : BigInt(finite.length);
    if (sizeOf(total) >= LIMIT * count) expect(found).toBe('NUMERIC_OVERFLOW');
    else expect([found, isNearest(found as number, total, count)]).toEqual([found, true]);
  }
}

const prices = fc.integer({ min: -1_000_000, max: 1_000_000 }).map((cents) => cents / 100);
const wild = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(1e308, -1e308, Number.MAX_VALUE, 5e-324, -5e-324, 2 ** -1022, 1e16, 1, -0, 0.1),
);
const rows = fc.oneof(
  fc.array(prices, { maxLength: 40 }),
  fc.array(wild, { maxLength: 24 }),
  fc.array(fc.oneof(wild, fc.constantFrom(NaN, Infinity, -Infinity)), { maxLength: 10 }),
);

test.each(['sum', 'avg'] as const)(
  '%s of DOUBLE is the exact one rounded once, in any order, split, merge and retraction',
  (fn) => {
    fc.assert(
      fc.property(rows, rows, fc.infiniteStream(fc.nat(1000)), (values, passing, random) => {
        const next = (): number => random.next().value as number;
        const straight = fresh(fn);
        feed(straight, values);
        const found = answer(straight);
        expectAnswer(fn, values, found);

        const shuffled = values
          .map((value) => ({ value, by: next() }))
          .toSorted((a, b) => a.by - b.by)
          .map(({ value }) => value);
        const parts = [fresh(fn), fresh(fn), fresh(fn)];
        for (const value of passing) feed(parts[next() % 3] as Accumulator, [value]);
        for (const value of shuffled) feed(parts[next() % 3] as Accumulator, [value]);
        for (const value of passing) feed(parts[next() % 3] as Accumulator, [value], true);
        const merged = fresh(fn);
        for (const part of parts) merged.merge(ONE, 1, part.stateColumns(ONE));
        expect(answer(merged)).toEqual(found);
        expect(merged.stateColumns(ONE).flatMap(valuesOf)).toEqual(
          straight.stateColumns(ONE).flatMap(valuesOf),
        );
        for (const part of parts) merged.subtract?.(ONE, 1, part.stateColumns(ONE));
        expect(merged.stateColumns(ONE).flatMap(valuesOf)).toEqual(
          fresh(fn).stateColumns(ONE).flatMap(valuesOf),
        );
      }),
      { seed: SEED, numRuns: 400 },
    );
  },
);

test('groups that shrink away leave nothing to those that take their numbers', () => {
  const accumulator = fresh('sum');
  feed(accumulator, [1e300, 1, 1e-300, Infinity]);
  accumulator.resize(0);
  accumulator.resize(1);
  feed(accumulator, [2]);
  expect(answer(accumulator)).toBe(2);
});

test('ordinary values take up two doubles only, however many there are', () => {
  const accumulator = fresh('avg');
  const values = Array.from({ length: 10_000 }, (_, at) => ((at * 7919) % 100_003) / 100);
  feed(accumulator, values);
  const [, , , rest] = accumulator.stateColumns(ONE).map((each) => valuesOf(each)[0]);
  expect(rest).toBeNull();
  expect(accumulator.bytes()).toBeLessThan(1000);
});
