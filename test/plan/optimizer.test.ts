/** The optimiser against the obvious meaning of plans, over random programs and rows. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sameType } from '../../src/batch/types.ts';
import type { Row } from '../../src/batch/values.ts';
import { bindProgram } from '../../src/plan/binder.ts';
import type { LogicalPlan } from '../../src/plan/logical.ts';
import { nodesOf } from '../../src/plan/rewrite.ts';
import { RULES, optimize } from '../../src/plan/rules.ts';
import { checkPlan } from '../../src/plan/rules/check-plan.ts';
import { parseProgram } from '../../src/sql/parser.ts';
import { CONNECTORS } from './catalog.ts';
import { interpret } from './interpret.ts';
import { TABLES, statements } from './programs.ts';

function bind(queries: string): LogicalPlan {
  const { program, errors } = parseProgram(TABLES + queries);
  expect(errors, queries).toEqual([]);
  const bound = bindProgram(program, { connectors: CONNECTORS }, { defaultSink: 'preview' });
  expect(bound.errors, queries).toEqual([]);
  return bound.plan as LogicalPlan;
}

const row: fc.Arbitrary<Row> = fc.record({
  ts: fc.integer({ min: 0, max: 20_000_000 }).map(BigInt),
  a: fc.option(fc.integer({ min: -5, max: 5 })),
  b: fc.option(fc.integer({ min: -5, max: 5 }).map(BigInt)),
  k: fc.option(fc.constantFrom('p', 'pq', 'r')),
  unused: fc.constant('u'),
});
const rows = fc.array(row, { maxLength: 20 });

/** More with RUNS=1000, after a change of a rule. */
const RUNS = Number(process.env['RUNS'] ?? 40);

describe('optimised plans', { timeout: 120_000 }, () => {
  test('give the same rows as the plans they come from, rule by rule', () => {
    fc.assert(
      fc.property(statements, rows, rows, (queries, t, u) => {
        const plan = bind(queries);
        const expected = interpret(plan, { t, u });
        RULES.reduce((current, rule) => {
          const next = rule.apply(current);
          checkPlan(next);
          expect(interpret(next, { t, u }), rule.name).toEqual(expected);
          return next;
        }, plan);
      }),
      { numRuns: RUNS },
    );
  });

  test('keep every sink: its columns, its types, its keys', () => {
    fc.assert(
      fc.property(statements, (queries) => {
        const plan = bind(queries);
        const optimised = optimize(plan);
        const shape = ({ sinks }: LogicalPlan): unknown =>
          sinks.map((sink) => ({ ...sink, input: null }));
        expect(shape(optimised)).toEqual(shape(plan));
        for (const sink of optimised.sinks) {
          expect(
            sink.input.schema.every((field, index) =>
              sameType(field.type, sink.schema[index]?.type ?? field.type),
            ),
          ).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test.each<[string, string, string, number]>([
    ['other columns of the same', 'a, count(*) AS n', 'a, max(b) AS n', 1],
    ['the same without its key', 'a, count(*) AS n', 'count(*) AS n', 1],
    ['another condition', 'a, count(*) AS n', 'a, count(*) FILTER (WHERE b > 0) AS n', 1],
  ])('windows over the same rows and keys are computed once: %s', (_, left, right, windows) => {
    const one = (columns: string): string =>
      `SELECT tumble(interval '5 seconds') AS w, ${columns} FROM t GROUP BY a, w`;
    const plan = bind(`${one(left)};${one(right)};`);
    const optimised = optimize(plan);
    const found = nodesOf(optimised).filter((node) => node.tag === 'window-aggregate');
    expect(found).toHaveLength(windows);
    fc.assert(
      fc.property(rows, (t) => {
        expect(interpret(optimised, { t, u: [] })).toEqual(interpret(plan, { t, u: [] }));
      }),
      { numRuns: 20 },
    );
  });

  test('read every table once and only grow smaller', () => {
    fc.assert(
      fc.property(statements, (queries) => {
        const plan = bind(queries);
        const count = (some: LogicalPlan, tag: string): number =>
          nodesOf(some).filter((node) => node.tag === tag).length;
        const optimised = optimize(plan);
        expect(count(optimised, 'scan')).toBe(count(plan, 'scan'));
        expect(count(optimised, 'scan')).toBeLessThanOrEqual(2);
        expect(count(optimised, 'window-aggregate')).toBeLessThanOrEqual(
          count(plan, 'window-aggregate'),
        );
      }),
      { numRuns: RUNS },
    );
  });
});
