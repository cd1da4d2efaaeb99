import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnFromValues } from '../../src/batch/values.ts';
import type { SqlType } from '../../src/batch/types.ts';
import {
  BOOLEAN,
  FLOAT64,
  INT32,
  INT64,
  TEXT,
  TIMESTAMP,
  WINDOW,
  decimalType,
} from '../../src/batch/types.ts';
import { compileExpr, compilePredicate, foldConstants } from '../../src/expr/compile.ts';
import { canFail, exprColumns, isConstant, mapColumns } from '../../src/expr/expr-tools.ts';
import type { Expr } from '../../src/expr/expr.ts';
import { printExpr } from '../../src/expr/print.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';
import { and, batchOf, call, cast, column, literal, or, run, valuesOf } from './support.ts';

const x = column(0, INT32);
const zero = literal(INT32, 0);
const one = literal(INT32, 1);
const inverse = call('/', one, x);

describe('CASE', () => {
  it('evaluates a branch only where it is taken', () => {
    const guarded: Expr = {
      tag: 'case',
      branches: [{ when: call('<>', x, zero), then: inverse }],
      otherwise: null,
      type: INT32,
    };
    expect(run(guarded, [INT32, [1, 0, -1, null, 0, 2]])).toMatchObject({
      values: [1, null, -1, null, null, 0],
      errors: [],
    });
  });

  it('takes the first true branch and fails rows whose condition fails', () => {
    const expr: Expr = {
      tag: 'case',
      branches: [
        { when: call('=', inverse, one), then: literal(TEXT, 'one') },
        { when: call('>', x, one), then: cast(x, TEXT) },
      ],
      otherwise: literal(TEXT, 'other'),
      type: TEXT,
    };
    expect(run(expr, [INT32, [1, 0, 5, -5, null]])).toMatchObject({
      values: ['one', null, '5', 'other', 'other'],
      errors: [{ row: 1, code: 'DIVISION_BY_ZERO' }],
    });
  });

  it('reports a failure inside a taken branch at the right row', () => {
    const expr: Expr = {
      tag: 'case',
      branches: [{ when: call('>', column(1, INT32), zero), then: inverse }],
      otherwise: zero,
      type: INT32,
    };
    expect(run(expr, [INT32, [0, 0, 2, 0]], [INT32, [0, 1, 1, 5]])).toMatchObject({
      values: [0, null, 0, null],
      errors: [{ row: 1 }, { row: 3 }],
    });
  });
});

describe('AND and OR', () => {
  const truth = fc.constantFrom(true, false, null);

  it('follow three-valued logic for any number of arguments', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.tuple(truth, truth, truth, truth), { minLength: 1, maxLength: 40 }),
        (count, rows) => {
          const args = Array.from({ length: count }, (_, index) => column(index, BOOLEAN));
          const inputs = args.map((_, index): [SqlType, (boolean | null)[]] => [
            BOOLEAN,
            rows.map((row) => row[index] as boolean | null),
          ]);
          const every = rows.map((row) => {
            const used = row.slice(0, count);
            return used.includes(false) ? false : used.includes(null) ? null : true;
          });
          const some = rows.map((row) => {
            const used = row.slice(0, count);
            return used.includes(true) ? true : used.includes(null) ? null : false;
          });
          expect(run(and(...args), ...inputs).values).toEqual(every);
          expect(run(or(...args), ...inputs).values).toEqual(some);
        },
      ),
    );
  });

  it('stop at the first argument that decides the row', () => {
    const big = call('>', inverse, zero);
    expect(run(and(call('<>', x, zero), big), [INT32, [1, 0, -1, null]])).toMatchObject({
      values: [true, false, false, null],
      errors: [],
    });
    expect(run(or(call('=', x, zero), big), [INT32, [1, 0, -1]])).toMatchObject({
      values: [true, true, false],
      errors: [],
    });
    expect(run(and(big, call('<>', x, zero)), [INT32, [1, 0]])).toMatchObject({
      values: [true, null],
      errors: [{ row: 1, code: 'DIVISION_BY_ZERO' }],
    });
  });
});

it('coalesce evaluates later arguments only where they are needed', () => {
  expect(
    run(
      call('coalesce', column(1, INT32), inverse, literal(INT32, 7)),
      [INT32, [0, 0, 4, null]],
      [INT32, [5, null, null, null]],
    ),
  ).toMatchObject({ values: [5, null, 0, 7], errors: [{ row: 1, code: 'DIVISION_BY_ZERO' }] });
});

it('a failed row is NULL even under IS NULL, and fails once', () => {
  expect(run(call('is null', inverse), [INT32, [1, 0]])).toMatchObject({
    values: [false, null],
    errors: [{ row: 1 }],
  });
  expect(run(call('+', inverse, inverse), [INT32, [0]]).errors).toHaveLength(1);
});

describe('predicates', () => {
  it('select true rows, leaving out false, NULL and failed ones', () => {
    const batch = batchOf([columnFromValues(INT32, [1, 0, -1, null, 3, 1, 1, 1, 1])]);
    const errors = new RowErrors(9);
    const { indices, count } = compilePredicate(call('>=', inverse, zero))(batch, errors);
    expect([...indices.subarray(0, count)]).toEqual([0, 4, 5, 6, 7, 8]);
    expect(errors.list.map(({ row }) => row)).toEqual([1]);
  });

  it('take a constant condition', () => {
    const batch = batchOf([columnFromValues(INT32, [1, 2, 3])]);
    const select = (value: boolean | null) =>
      compilePredicate(literal(BOOLEAN, value))(batch, new RowErrors(3)).count;
    expect([select(true), select(false), select(null)]).toEqual([3, 0, 0]);
  });
});

describe('constants', () => {
  it('are folded, but a failing one is left to fail at run time', () => {
    const sum = call('+', x, call('*', literal(INT32, 6), literal(INT32, 7)));
    expect(foldConstants(sum)).toEqual({ ...sum, args: [x, literal(INT32, 42)] });
    const bad = call('/', one, zero);
    expect(foldConstants(bad)).toEqual(bad);
    expect(run(call('+', x, bad), [INT32, [1, 2]])).toMatchObject({
      values: [null, null],
      errors: [{ row: 0 }, { row: 1 }],
    });
    const guarded: Expr = {
      tag: 'case',
      branches: [{ when: call('=', x, one), then: bad }],
      otherwise: x,
      type: INT32,
    };
    expect(run(guarded, [INT32, [1, 2, 3]])).toMatchObject({
      values: [null, 2, 3],
      errors: [{ row: 0 }],
    });
  });

  it('keep their value in literal form', () => {
    expect(foldConstants(cast(literal(TEXT, '1.50'), decimalType(5, 2)))).toEqual(
      literal(decimalType(5, 2), '150'),
    );
    expect(foldConstants(cast(literal(TEXT, 'nan'), FLOAT64))).toEqual(literal(FLOAT64, 'NaN'));
    expect(foldConstants(cast(literal(TEXT, '2024-01-01'), TIMESTAMP))).toEqual(
      literal(TIMESTAMP, '1704067200000000'),
    );
    expect(isConstant(x)).toBe(false);
  });

  it('work on batches without rows and of one row', () => {
    const expr = call('+', x, literal(INT32, 1));
    expect(run(expr, [INT32, []]).values).toEqual([]);
    expect(run(expr, [INT32, [4]]).values).toEqual([5]);
    expect(run(literal(TEXT, 'a'), [INT32, []]).values).toEqual([]);
    expect(run(literal(TEXT, 'a'), [INT32, [1, 2]]).values).toEqual(['a', 'a']);
  });
});

it('one compiled expression serves batches of different sizes', () => {
  const compiled = compileExpr(call('||', column(0, TEXT), literal(TEXT, '!')));
  for (const values of [['a'], [], ['a', null, 'ccc'], ['b']]) {
    expect(
      valuesOf(compiled(batchOf([columnFromValues(TEXT, values)]), new RowErrors(values.length))),
    ).toEqual(values.map((value) => (value === null ? null : `${value}!`)));
  }
});

describe('structs', () => {
  it('are built, read field by field and compared', () => {
    const struct: Expr = {
      tag: 'struct',
      args: [column(0, TIMESTAMP), literal(TIMESTAMP, '9')],
      type: WINDOW as Extract<Expr, { tag: 'struct' }>['type'],
    };
    expect(run(struct, [TIMESTAMP, [1n, 2n]]).values).toEqual([
      { start: 1n, end: 9n },
      { start: 2n, end: 9n },
    ]);
    expect(
      run({ tag: 'field', input: struct, index: 1, type: TIMESTAMP }, [TIMESTAMP, [1n, 2n]]).values,
    ).toEqual([9n, 9n]);
    expect(
      run(
        call('=', struct, column(1, WINDOW)),
        [TIMESTAMP, [1n, 2n]],
        [
          WINDOW,
          [
            { start: 1n, end: 9n },
            { start: 1n, end: 9n },
          ],
        ],
      ).values,
    ).toEqual([true, false]);
    expect(
      run({ tag: 'field', input: column(0, WINDOW), index: 0, type: TIMESTAMP }, [
        WINDOW,
        [null, { start: 5n, end: 6n }],
      ]).values,
    ).toEqual([null, 5n]);
  });
});

describe('parts that stand in an expression several times', () => {
  const lower = call('lower', column(0, TEXT));
  const sounds = (name: string): Expr => call('=', lower, literal(TEXT, name));
  const numbered: Expr = {
    tag: 'case',
    branches: [
      { when: sounds('apple'), then: literal(TEXT, '0') },
      { when: sounds('google'), then: literal(TEXT, '1') },
    ],
    otherwise: call('||', lower, lower),
    type: TEXT,
  };

  it('are computed for each batch anew, and for the rows that a part is evaluated on', () => {
    const evaluate = compileExpr(numbered);
    for (const names of [
      ['Apple', 'x', null],
      ['GOOGLE'],
      [],
      ['y', 'z', 'apple', 'apple', 'apple', 'apple', 'Q', 'apple', 'apple', 'apple'],
    ]) {
      const batch = batchOf([columnFromValues(TEXT, names)]);
      const errors = new RowErrors(names.length);
      expect(valuesOf(evaluate(batch, errors))).toEqual(
        names.map((name) => {
          const known = ['apple', 'google'].indexOf(name?.toLowerCase() ?? '');
          if (known >= 0) return String(known);
          return name === null ? null : name.toLowerCase().repeat(2);
        }),
      );
    }
  });
});

describe('LIKE with a pattern of the query', () => {
  const like = (pattern: string): Expr => call('like', column(0, TEXT), literal(TEXT, pattern));

  it('fails no row, unless the pattern is wrong', () => {
    expect(canFail(like('%a_b%'))).toBe(false);
    expect(canFail(like('ends in \\'))).toBe(true);
    expect(canFail(call('like', column(0, TEXT), column(1, TEXT)))).toBe(true);
    expect(canFail(call('like', column(0, TEXT), literal(TEXT, 'a'), column(1, TEXT)))).toBe(true);
  });
});

describe('tools', () => {
  const expr = and(
    call('>', column(2, INT64), literal(INT64, '-5')),
    or(call('is null', column(0, TEXT)), call('like', column(0, TEXT), literal(TEXT, "it's"))),
  );

  it('print an expression as SQL', () => {
    expect(printExpr(expr, ['name', 'b', 'n'])).toBe(
      "(n > (-5)) AND ((name IS NULL) OR (name LIKE 'it''s'))",
    );
    expect(printExpr(cast(literal(TIMESTAMP, '0'), TEXT, true), [])).toBe(
      "TRY_CAST(TIMESTAMP '1970-01-01T00:00:00' AS TEXT)",
    );
    expect(printExpr(call('in', x, one, zero), ['x'])).toBe('x IN (1, 0)');
    expect(printExpr(call('lower', column(3, TEXT)), [])).toBe('lower(#3)');
  });

  it('find and move columns', () => {
    expect([...exprColumns(expr)].sort()).toEqual([0, 2]);
    expect(
      [...exprColumns(mapColumns(expr, (one_) => ({ ...one_, index: one_.index + 10 })))].sort(),
    ).toEqual([10, 12]);
  });
});

it('reports U02: a BIGINT beyond 2^53 keeps its digits', () => {
  const ids = [9007199254740993n, 2033735037361704962n, 9007199254740995n];
  expect(run(call('+', column(0, INT64), one), [INT64, ids]).values).toEqual([
    9007199254740994n,
    2033735037361704963n,
    9007199254740996n,
  ]);
});

it('compiles a deeply nested condition in time linear in its size', () => {
  let expr: Expr = column(0, BOOLEAN);
  for (let depth = 0; depth < 60; depth++)
    expr = depth % 2 === 0 ? and(expr, column(0, BOOLEAN)) : or(expr, column(0, BOOLEAN));
  expect(run(expr, [BOOLEAN, [true, false, null]]).values).toEqual([true, false, null]);
});
