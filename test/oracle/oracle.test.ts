/**
 * Random queries over random tables: the engine, a plain evaluator of the syntax tree and DuckDB give the same rows, and so
 * does a cluster that is killed and restored with another parallelism.
 * `ORACLE_RUNS=n` runs more of them, `ORACLE_SEED=n` others; `npm run oracle` shrinks what differs.
 */
import { expect, test } from 'vitest';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { check, checkLife, drawCase, programOf, type Size } from './check.ts';
import { checkDuck, openDuck } from './duck.ts';

const FIRST = Number(process.env['ORACLE_SEED'] ?? 1);
const RUNS = Number(process.env['ORACLE_RUNS'] ?? 1_000);
const SIZE: Size = { rows: 14, depth: 3 };

const seeds = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => String(FIRST + at));

test(
  `the engine gives what the plain evaluator gives, seeds ${FIRST} to ${FIRST + RUNS - 1}`,
  () => {
    let [same, rows] = [0, 0];
    for (const seed of seeds(RUNS)) {
      const drawn = drawCase(seed, SIZE);
      const outcome = check(drawn);
      if (outcome.tag === 'differs' || outcome.tag === 'unknown')
        expect.fail(
          `npm run oracle -- --seed ${seed} --runs 1\n${outcome.message}\n${programOf(drawn)}`,
        );
      if (outcome.tag !== 'same') continue;
      same++;
      rows += outcome.rows;
    }
    // A generator that draws what is refused, or nothing but empty answers, tests nothing.
    expect(same).toBeGreaterThan(RUNS * 0.98);
    expect(rows).toBeGreaterThan(RUNS * 2);
  },
  60_000 + RUNS * 20,
);

test(
  `DuckDB gives what the plain evaluator gives, seeds ${FIRST} to ${FIRST + RUNS / 8}`,
  async () => {
    const connection = await openDuck();
    let same = 0;
    for (const seed of seeds(RUNS / 8)) {
      const drawn = drawCase(seed, SIZE);
      const outcome = await checkDuck(drawn, connection);
      if (outcome === null) continue;
      if (outcome.tag !== 'same')
        expect.fail(
          `npm run oracle -- --seed ${seed} --runs 1\n${outcome.message}\n${drawn.query.duck}`,
        );
      same++;
    }
    expect(same).toBeGreaterThan(RUNS / 24);
  },
  60_000 + RUNS * 20,
);

const LIVES = Math.ceil(RUNS / 25);

test(
  `a cluster that is killed and restored gives what one piece gives, seeds ${FIRST} to ${FIRST + LIVES - 1}`,
  () => {
    for (const seed of seeds(LIVES)) {
      const drawn = drawCase(seed, { rows: 30, depth: 3 });
      const outcome = checkLife(drawn);
      if (outcome?.tag === 'differs')
        expect.fail(
          `npm run oracle -- --seed ${seed} --runs 1 --rows 30 --lives\n${outcome.message}\n${programOf(drawn)}`,
        );
    }
  },
  60_000 + RUNS * 20,
);

test('some of the queries choose the best rows of their windows', () => {
  const tagsOf = (seed: string): string[] => {
    const { graph } = planSql(programOf(drawCase(seed, SIZE)), DECLARATIONS, {
      defaultSink: 'preview',
    });
    return (graph?.operators ?? []).map(({ spec }) => spec.tag);
  };
  const chosen = seeds(200).filter((seed) => tagsOf(seed).includes('window-best'));
  expect(chosen.length).toBeGreaterThan(2);
});

test.each([
  ['tables of changes', /(FROM|JOIN) u /],
  [
    'windows of rows that are taken back',
    /interval '\d+ seconds'\) AS w\d+, [^()]*\(?[^;]* FROM u AS/,
  ],
  ['rows behind the watermark', /lateness => [^;]* FROM l AS/],
  ['windows that are told early', /early => /],
  ['time zones', /AT TIME ZONE/],
  ['values once only, of rows that are taken back', /DISTINCT [^;]*(FROM|JOIN) u /],
])('some of the queries are about %s', (_, pattern) => {
  const drawn = seeds(200).filter((seed) => pattern.test(drawCase(seed, SIZE).query.ours));
  expect(drawn.length).toBeGreaterThan(2);
});
