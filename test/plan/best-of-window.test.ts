/** Joins back to the best value of a window, by the rule that does without them and by the plan as it was written. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Row } from '../../src/batch/values.ts';
import { bindProgram } from '../../src/plan/binder.ts';
import type { LogicalPlan } from '../../src/plan/logical.ts';
import { nodesOf } from '../../src/plan/rewrite.ts';
import { optimize } from '../../src/plan/rules.ts';
import { parseProgram } from '../../src/sql/parser.ts';
import { CONNECTORS } from './catalog.ts';
import { interpret } from './interpret.ts';
import { TABLES } from './programs.ts';

const SEED = 20261130;

function bind(query: string): LogicalPlan {
  const { program, errors } = parseProgram(`${TABLES}${query};`);
  expect(errors, query).toEqual([]);
  const bound = bindProgram(program, { connectors: CONNECTORS }, { defaultSink: 'preview' });
  expect(bound.errors, query).toEqual([]);
  return bound.plan as LogicalPlan;
}

const tagsOf = (plan: LogicalPlan): string[] => nodesOf(plan).map(({ tag }) => tag);

const row: fc.Arbitrary<Row> = fc.record({
  ts: fc.integer({ min: 0, max: 20_000_000 }).map(BigInt),
  a: fc.option(fc.integer({ min: -5, max: 5 })),
  b: fc.option(fc.integer({ min: -5, max: 5 }).map(BigInt)),
  k: fc.option(fc.constantFrom('p', 'pq', 'r')),
  unused: fc.constant('u'),
});

const COUNTS = `SELECT k, count(*) AS n, tumble(interval '5 seconds') AS w FROM t GROUP BY k, w`;
const ROWS = `SELECT k, b, a, tumble(interval '5 seconds') AS w FROM t GROUP BY k, b, a, w`;
const HOPS = `SELECT b, hop(interval '2 seconds', interval '4 seconds') AS w FROM t GROUP BY b, w`;

const BEST: readonly [string, string][] = [
  [
    'groups by a value of theirs',
    `SELECT c.k, c.n, m.w.start AS s, m.top FROM (${COUNTS}) c JOIN (SELECT max(n) AS top, w FROM (${COUNTS}) GROUP BY w) m ON c.w = m.w AND c.n = m.top`,
  ],
  [
    'groups by one of their keys',
    `SELECT r.k, r.b, r.a, m.top FROM (${ROWS}) r JOIN (SELECT max(b) AS top, tumble(interval '5 seconds') AS w FROM t GROUP BY w) m ON r.b = m.top AND m.w = r.w`,
  ],
  [
    'the least value, on the other side',
    `SELECT m.low, r.k, r.w FROM (SELECT min(a) AS low, tumble(interval '5 seconds') AS w FROM t GROUP BY w) m JOIN (${ROWS}) r ON r.w = m.w AND r.a = m.low`,
  ],
];

describe('a join back to the best value of a window', { timeout: 60_000 }, () => {
  test.each(BEST)('needs no join: %s', (_, query) => {
    const plan = bind(query);
    const optimised = optimize(plan);
    expect(tagsOf(optimised)).toContain('window-best');
    expect(tagsOf(optimised)).not.toContain('join');
    fc.assert(
      fc.property(fc.array(row, { maxLength: 25 }), (t) => {
        expect(interpret(optimised, { t, u: [] })).toEqual(interpret(plan, { t, u: [] }));
      }),
      { seed: SEED, numRuns: 60 },
    );
  });

  test('of rows before they are grouped, when the value is a key of the groups', () => {
    const tags = tagsOf(optimize(bind(BEST[1]![1])));
    expect(tags.indexOf('window-best')).toBeLessThan(tags.indexOf('window-aggregate'));
    expect(tags.filter((tag) => tag === 'window-aggregate')).toHaveLength(1);
  });

  test('of groups, where windows overlap', () => {
    const query = `SELECT r.b, r.w.start AS s FROM (${HOPS}) r JOIN (SELECT max(b) AS top, hop(interval '2 seconds', interval '4 seconds') AS w FROM t GROUP BY w) m ON r.w = m.w AND r.b = m.top`;
    const tags = tagsOf(optimize(bind(query)));
    expect(tags.indexOf('window-best')).toBeGreaterThan(tags.indexOf('window-aggregate'));
    expect(tags).not.toContain('join');
  });

  const max = (from: string, what = 'max(n)'): string =>
    `SELECT ${what} AS top, w FROM (${from}) GROUP BY w`;
  test.each<[string, string]>([
    ['an outer join', `(${COUNTS}) c LEFT JOIN (${max(COUNTS)}) m ON c.w = m.w AND c.n = m.top`],
    [
      'more conditions',
      `(${COUNTS}) c JOIN (${max(COUNTS)}) m ON c.w = m.w AND c.n = m.top AND c.n > m.top - 1`,
    ],
    [
      'the best of other groups',
      `(${COUNTS}) c JOIN (${max(COUNTS.replace('GROUP BY k', 'GROUP BY a').replace('SELECT k', 'SELECT a'))}) m ON c.w = m.w AND c.n = m.top`,
    ],
    [
      'the best of some rows',
      `(${COUNTS}) c JOIN (${max(COUNTS.replace('FROM t', 'FROM t WHERE a > 0'))}) m ON c.w = m.w AND c.n = m.top`,
    ],
    [
      'the best of another value',
      `(${COUNTS}) c JOIN (${max(COUNTS, 'max(n + 1)')}) m ON c.w = m.w AND c.n = m.top`,
    ],
    [
      'another aggregate',
      `(${COUNTS}) c JOIN (${max(COUNTS, 'count(n)')}) m ON c.w = m.w AND c.n = m.top`,
    ],
    [
      'the best of some groups',
      `(${COUNTS}) c JOIN (${max(COUNTS, 'max(n) FILTER (WHERE n < 3)')}) m ON c.w = m.w AND c.n = m.top`,
    ],
    [
      'the best of each key',
      `(${COUNTS}) c JOIN (SELECT max(n) AS top, k, w FROM (${COUNTS}) GROUP BY k, w) m ON c.w = m.w AND c.n = m.top`,
    ],
  ])('stays a join: %s', (_, from) => {
    const tags = tagsOf(optimize(bind(`SELECT c.k, c.n, m.top FROM ${from}`)));
    expect(tags).toContain('join');
    expect(tags).not.toContain('window-best');
  });
});
