/**
 * Random expression trees against an interpreter that goes row by row and knows nothing of columns:
 * same values, same failed rows, and never a failure in a part that the row does not reach.
 */
import { expect, it } from 'vitest';
import { Prng } from '../../src/base/prng.ts';
import type { SqlType } from '../../src/batch/types.ts';
import { BOOLEAN, INT32 } from '../../src/batch/types.ts';
import { columnFromValues } from '../../src/batch/values.ts';
import { compilePredicate, foldConstants } from '../../src/expr/compile.ts';
import type { Expr } from '../../src/expr/expr.ts';
import { printExpr } from '../../src/expr/print.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';
import { batchOf, call, column, literal, run } from './support.ts';

type Scalar = number | boolean | null;

class RowFailed extends Error {}

const within = (value: number): number => {
  if (value > 2147483647 || value < -2147483648) throw new RowFailed();
  // A whole number has no negative zero.
  return value + 0;
};

/** One row, strictly left to right, stopping as SQL may. */
function interpret(expr: Expr, row: readonly Scalar[]): Scalar {
  const next = (part: Expr): Scalar => interpret(part, row);
  switch (expr.tag) {
    case 'column':
      return row[expr.index] as Scalar;
    case 'literal':
      return expr.value as Scalar;
    case 'and':
    case 'or': {
      let result: Scalar = expr.tag === 'and';
      for (const arg of expr.args) {
        const value = next(arg);
        if (value === (expr.tag === 'or')) return value;
        if (value === null) result = null;
      }
      return result;
    }
    case 'case':
      for (const { when, then } of expr.branches) if (next(when) === true) return next(then);
      return expr.otherwise === null ? null : next(expr.otherwise);
    case 'call': {
      if (expr.fn === 'coalesce') {
        for (const arg of expr.args) {
          const value = next(arg);
          if (value !== null) return value;
        }
        return null;
      }
      const args = expr.args.map(next);
      if (expr.fn === 'is-null') return args[0] === null;
      if (args.includes(null)) return null;
      const [x, y] = args as [number, number];
      if (expr.fn === 'not') return !args[0];
      if (expr.fn === 'add:int32') return within(x + y);
      if (expr.fn === 'multiply:int32') return within(x * y);
      if (expr.fn === 'less') return x < y;
      if (expr.fn === 'equal') return x === y;
      if (expr.fn === 'divide:int32') {
        if (y === 0) throw new RowFailed();
        return within(Math.trunc(x / y));
      }
      throw new Error(`the interpreter does not know ${expr.fn}`);
    }
    default:
      throw new Error(`the interpreter does not know ${expr.tag}`);
  }
}

function randomExpr(random: Prng, type: SqlType, depth: number): Expr {
  const number = (): Expr => randomExpr(random, INT32, depth - 1);
  const truth = (): Expr => randomExpr(random, BOOLEAN, depth - 1);
  const many = (make: () => Expr): Expr[] => Array.from({ length: 2 + random.below(3) }, make);
  if (depth === 0 || random.chance(0.1)) {
    if (type.tag === 'boolean')
      return random.chance(0.7)
        ? column(3, BOOLEAN)
        : literal(BOOLEAN, random.pick([true, false, null]));
    return random.chance(0.7)
      ? column(random.below(3), INT32)
      : literal(INT32, random.pick([0, 1, -1, 7, 2147483647, null]));
  }
  if (random.chance(0.2)) {
    const branches = Array.from({ length: 1 + random.below(3) }, () => ({
      when: truth(),
      then: randomExpr(random, type, depth - 1),
    }));
    return {
      tag: 'case',
      branches,
      otherwise: random.chance(0.5) ? randomExpr(random, type, depth - 1) : null,
      type,
    };
  }
  if (random.chance(0.15))
    return {
      tag: 'call',
      fn: 'coalesce',
      args: many(() => randomExpr(random, type, depth - 1)),
      type,
    };
  if (type.tag === 'int32') return call(random.pick(['+', '*', '/', '/']), number(), number());
  switch (random.below(5)) {
    case 0:
      return call('not', truth());
    case 1:
      return call('is null', random.chance(0.5) ? number() : truth());
    case 2:
      return call(random.pick(['<', '=']), number(), number());
    default:
      return { tag: random.chance(0.5) ? 'and' : 'or', args: many(truth), type: BOOLEAN };
  }
}

it.each(Array.from({ length: 40 }, (_, seed) => seed))(
  'a random tree gives each row what that row alone gives (seed %i)',
  (seed) => {
    const random = new Prng(seed);
    for (let round = 0; round < 12; round++) {
      const type = random.pick([INT32, BOOLEAN]);
      const expr = randomExpr(random, type, 1 + random.below(5));
      const rows = Array.from({ length: random.pick([0, 1, 2, 9, 70]) }, (): Scalar[] => [
        ...[0, 1, 2].map(() => random.pick([null, 0, 0, 1, -1, 3, 2147483647, random.below(100)])),
        random.pick([true, false, null]),
      ]);
      const expected = rows.map((row): Scalar | 'failed' => {
        try {
          return interpret(expr, row);
        } catch (error) {
          if (error instanceof RowFailed) return 'failed';
          throw error;
        }
      });
      const inputs = [INT32, INT32, INT32, BOOLEAN].map((one, index): [SqlType, Scalar[]] => [
        one,
        rows.map((row) => row[index] as Scalar),
      ]);
      for (const variant of [expr, foldConstants(expr)]) {
        const result = run(variant, ...inputs);
        expect(
          result.errors.map(({ row }) => row),
          printExpr(variant, ['a', 'b', 'c', 'd']),
        ).toEqual(expected.flatMap((value, row) => (value === 'failed' ? [row] : [])));
        expect(result.values, printExpr(variant, ['a', 'b', 'c', 'd'])).toEqual(
          expected.map((value) => (value === 'failed' ? null : value)),
        );
      }
      if (type !== BOOLEAN) continue;
      const batch = batchOf(
        inputs.map(([one, values]) => columnFromValues(one, values)),
        rows.length,
      );
      const { indices, count } = compilePredicate(expr)(batch, new RowErrors(rows.length));
      expect([...indices.subarray(0, count)]).toEqual(
        expected.flatMap((value, row) => (value === true ? [row] : [])),
      );
    }
  },
);
