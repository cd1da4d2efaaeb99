/** Values that fit each for itself, and not all of a batch: it is cut, and nothing else changes. */
import { describe, expect, test } from 'vitest';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import type { Expr } from '../../src/expr/expr.ts';
import { nullColumn } from '../../src/batch/column-builder.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import { HashJoin } from '../../src/operators/hash-join.ts';
import { Unnest } from '../../src/operators/unnest.ts';
import type { JoinKind } from '../../src/plan/logical.ts';
import { LIMITS } from '../../src/base/limits.ts';
import { batchBytes } from '../../src/batch/batch-bytes.ts';
import { batchFromRows, rowsOf } from '../../src/batch/values.ts';
import { INT64, TEXT, type Schema } from '../../src/batch/types.ts';
import { Project } from '../../src/operators/project.ts';
import { call, column, literal } from '../expr/support.ts';
import { runRows } from './run-graph.ts';

const SCHEMA: Schema = [{ name: 'n', type: INT64, nullable: false }];
const ROWS = 100;

test('a projection whose values are too many bytes together is handed on in parts, each within the bound', () => {
  const repeat = call('repeat', literal(TEXT, 'ab'), column(0, INT64));
  const project = new Project([column(0, INT64), repeat], SCHEMA, [
    ...SCHEMA,
    { name: 't', type: TEXT, nullable: false },
  ]);
  const counts = Array.from({ length: ROWS }, (_, row) =>
    row % 10 === 9 ? 2_000_000n : 500_000n + BigInt(row),
  );
  const batch = batchFromRows(
    SCHEMA,
    counts.map((n) => ({ n })),
  );
  const sizes: number[] = [];
  const lengths: [unknown, number][] = [];
  const failed: number[] = [];
  project.onBatch(0, batch, {
    emit: (part) => {
      sizes.push(batchBytes(part));
      const schema: Schema = [...SCHEMA, { name: 't', type: TEXT, nullable: false }];
      for (const { n, t } of rowsOf(part, schema)) lengths.push([n, String(t).length]);
    },
    fail: (problems) =>
      failed.push(...problems.map(({ raw }) => JSON.parse(raw ?? '').n as number)),
    late: () => {},
  });
  expect(sizes.length).toBeGreaterThan(2);
  expect(Math.max(...sizes)).toBeLessThan(LIMITS.evaluationBytesMax + ROWS * 16);
  expect(lengths).toEqual(counts.filter((n) => n < 2_000_000n).map((n) => [n, Number(n) * 2]));
  expect(failed).toEqual(counts.filter((n) => n === 2_000_000n).map(Number));
});

test('a large constant is not copied for all rows at once', () => {
  const project = new Project([literal(TEXT, 'x'.repeat(1_000_000))], SCHEMA, [
    { name: 't', type: TEXT, nullable: false },
  ]);
  const rows = Array.from({ length: ROWS }, (_, n) => ({ n: BigInt(n) }));
  let emitted = 0;
  project.onBatch(0, batchFromRows(SCHEMA, rows), {
    emit: (part) => {
      emitted += part.rows;
      expect(batchBytes(part)).toBeLessThan(LIMITS.evaluationBytesMax + ROWS * 16);
    },
    fail: () => {},
    late: () => {},
  });
  expect(emitted).toBe(ROWS);
});

test.each([
  ['a condition', 'SELECT count(*) AS c FROM t WHERE length(repeat(k, n)) > 10'],
  ['an argument of an aggregate', 'SELECT max(length(repeat(k, n))) AS c FROM t'],
  [
    'a list that is unnested',
    'SELECT count(*) AS c FROM (SELECT unnest(array_repeat(repeat(k, n), 2)) AS x FROM t)',
  ],
  ['a branch', 'SELECT max(length(CASE WHEN n > 5 THEN repeat(k, n) ELSE k END)) AS c FROM t'],
])('%s may need more than is held at once', (_, query) => {
  const sql = `CREATE TABLE t (k TEXT NOT NULL, n BIGINT NOT NULL) WITH (connector = 'single_file', path = 't', format = 'json', type = 'source'); ${query};`;
  const t = Array.from({ length: 40 }, (_, row) => ({
    k: 'k',
    n: row % 20 === 0 ? 4_000_000n : 1_000_000n + BigInt(row),
  }));
  const { rows, failed } = runRows(sql, { t });
  const large = t.filter(({ n }) => n > 3_145_728n).length;
  expect(failed.map(({ code }) => code)).toEqual(Array<string>(large).fill('ROW_TOO_LARGE'));
  const expected = query.includes('max')
    ? t.reduce((most, { n }) => (n < 3_145_728n && n > most ? n : most), 0n)
    : BigInt(t.length - large) * (query.includes('unnest') ? 2n : 1n);
  expect(rows.map(({ c }) => BigInt(String(c))).at(-1)).toBe(expected);
});

describe('a wide row that stands beside many', () => {
  const WIDE: Schema = [
    { name: 'k', type: INT64, nullable: false },
    { name: 't', type: TEXT, nullable: false },
  ];
  const NARROW: Schema = [
    { name: 'k', type: INT64, nullable: false },
    { name: 'x', type: INT64, nullable: false },
  ];
  const SIZE = 1_000_000;
  const BESIDE = 24;
  const wide = batchFromRows(WIDE, [{ k: 1n, t: 'w'.repeat(SIZE) }]);
  const narrow = batchFromRows(
    NARROW,
    Array.from({ length: BESIDE }, (_, x) => ({ k: 1n, x: BigInt(x) })),
  );
  const join = (kind: JoinKind, residual: Expr | null): HashJoin =>
    new HashJoin(
      {
        tag: 'join',
        kind,
        keys: [[column(0, INT64)], [column(0, INT64)]],
        nullsMeet: [false],
        residual,
        updating: [false, false],
        eventTime: [false, false],
        time: { tag: 'any', ttlMicros: null },
      },
      [WIDE, NARROW],
    );
  /** The condition reads the wide text: it is gathered for the test as well. */
  const LONGER = call('<', column(3, INT64), call('length', column(1, TEXT)));

  test.each([
    ['inner', null],
    ['inner', LONGER],
    ['left', null],
    ['left', LONGER],
  ] as const)('is given to an %s join in batches that are bounded in bytes', (kind, residual) => {
    for (const wideFirst of [true, false]) {
      const operator = join(kind, residual);
      const met: bigint[] = [];
      const output = {
        emit: (batch: RecordBatch) => {
          expect(batchBytes(batch)).toBeLessThan(LIMITS.unitBytesMax + ROWS * 64);
          const taken = batch.columns.map((each, at) =>
            at === 1 ? nullColumn(TEXT, batch.rows) : each,
          );
          for (const { x } of rowsOf({ ...batch, columns: taken }, [
            ...WIDE.map((field) => ({ ...field, nullable: true })),
            { name: 'j', type: INT64, nullable: true },
            { name: 'x', type: INT64, nullable: true },
          ]))
            if (x !== null) met.push(x as bigint);
        },
        fail: () => expect.unreachable('every row can be computed'),
        late: () => {},
      };
      operator.onBatch(wideFirst ? 0 : 1, wideFirst ? wide : narrow, output);
      operator.onBatch(wideFirst ? 1 : 0, wideFirst ? narrow : wide, output);
      expect(met.toSorted((a, b) => Number(a - b))).toEqual(
        Array.from({ length: BESIDE }, (_, x) => BigInt(x)),
      );
    }
  });

  test('is given with the elements of its list in batches that are bounded in bytes', () => {
    const sql = `CREATE TABLE t (s TEXT NOT NULL, l BIGINT[] NOT NULL) WITH (connector = 'single_file', path = 't', format = 'json', type = 'source');
      SELECT s, x FROM t CROSS JOIN UNNEST(l) AS u (x);`;
    const { graph } = planSql(sql, DECLARATIONS, { defaultSink: 'preview' });
    const operator = graph?.operators.find(({ spec }) => spec.tag === 'unnest');
    if (operator?.spec.tag !== 'unnest') throw new Error('no unnest');
    const input = graph?.operators.find(
      ({ id }) => id === graph.edges.find(({ to }) => to === operator.id)?.from,
    );
    if (input === undefined) throw new Error('no input');
    let rows = 0;
    const list = Array.from({ length: BESIDE }, (_, n) => BigInt(n));
    new Unnest(operator.spec, input.schema).onBatch(
      0,
      batchFromRows(input.schema, [{ s: 'w'.repeat(SIZE), l: list }]),
      {
        emit: (batch) => {
          rows += batch.rows;
          expect(batchBytes(batch)).toBeLessThan(LIMITS.unitBytesMax + ROWS * 64);
        },
        fail: () => expect.unreachable('every row can be computed'),
        late: () => {},
      },
    );
    expect(rows).toBe(BESIDE);
  });
});
