/** MATCH_RECOGNIZE against a backtracking matcher over complete data: whatever the batches, restarts and subtasks are. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { Int64Column } from '../../src/batch/column.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import { TIMESTAMP, type Schema } from '../../src/batch/types.ts';
import { batchFromRows, columnFromValues, rowsOf } from '../../src/batch/values.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import type { PhysicalGraph } from '../../src/graph/graph.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { makeOperator } from '../../src/operators/make-operator.ts';
import type { Operator } from '../../src/operators/operator.ts';
import { rowsOfPattern } from '../../src/plan/match-program.ts';
import type { Identifier } from '../../src/sql/ast.ts';
import type { Pattern } from '../../src/sql/ast-match.ts';
import { printPattern } from '../../src/sql/print-match.ts';
import { Subtasks, cutAt, text } from './harness.ts';
import {
  type Condition,
  type MatchRow,
  type OracleMatch,
  type Seen,
  type Skip,
  TooLong,
  oracle,
} from './match-oracle.ts';
import { runRows } from './run-graph.ts';

const SEED = 20261130;

vi.setConfig({ testTimeout: 60_000 });

const TABLE = `CREATE TABLE t (id BIGINT NOT NULL, k TEXT NOT NULL, v BIGINT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts)
  WITH (connector = 'single_file', path = '/rows.json', format = 'json', type = 'source');`;

const span = { start: { line: 1, column: 1 }, end: { line: 1, column: 1 } };
const NAMES = ['a', 'b', 'c'] as const;
type Name = (typeof NAMES)[number];

// Conditions: as SQL over the variable x and another one y, and as JavaScript.

const here = ({ start, labels }: Seen): number => start + labels.length - 1;
const value = ({ rows }: Seen, at: number | undefined): number | null =>
  at === undefined ? null : (rows[at]?.v ?? null);
const placesOf = ({ start, labels }: Seen, name: string | null): number[] =>
  labels.flatMap((label, at) => (name === null || label === name ? [start + at] : []));
const last = (seen: Seen, name: string | null, offset = 0): number | null =>
  value(seen, placesOf(seen, name).at(-1 - offset));
const first = (seen: Seen, name: string | null, offset = 0): number | null =>
  value(seen, placesOf(seen, name)[offset]);
const less = (left: number | null, right: number | null): boolean | null =>
  left === null || right === null ? null : left < right;
const same = (left: number | null, right: number | null): boolean | null =>
  left === null || right === null ? null : left === right;
const total = (seen: Seen, name: string | null): number | null => {
  const values = placesOf(seen, name).flatMap((at) => value(seen, at) ?? []);
  return values.length === 0 ? null : values.reduce((sum, each) => sum + each, 0);
};

type Kind = {
  sql: (x: string, y: string) => string;
  holds: (seen: Seen, x: string, y: string) => boolean | null;
};

const KINDS: readonly Kind[] = [
  { sql: (x) => `${x}.v > 0`, holds: (seen) => less(0, value(seen, here(seen))) },
  { sql: () => 'v < 2', holds: (seen) => less(value(seen, here(seen)), 2) },
  { sql: () => 'v IS NOT NULL', holds: (seen) => value(seen, here(seen)) !== null },
  {
    sql: (x) => `coalesce(${x}.v < LAST(${x}.v, 1), TRUE)`,
    holds: (seen, x) => less(last(seen, x), last(seen, x, 1)) ?? true,
  },
  {
    sql: (x, y) => `coalesce(${y}.v, 0) <= ${x}.v`,
    holds: (seen, x, y) => {
      const below = less(last(seen, x), last(seen, y) ?? 0);
      return below === null ? null : !below;
    },
  },
  { sql: () => 'v = FIRST(v)', holds: (seen) => same(last(seen, null), first(seen, null)) },
  { sql: (x) => `sum(${x}.v) < 4`, holds: (seen, x) => less(total(seen, x), 4) },
  { sql: () => 'count(*) < 4', holds: (seen) => seen.labels.length < 4 },
  { sql: (_, y) => `count(${y}.*) < 2`, holds: (seen, _, y) => placesOf(seen, y).length < 2 },
  { sql: (_, y) => `count(${y}.*) > 1`, holds: (seen, _, y) => placesOf(seen, y).length > 1 },
  {
    sql: (_, y) => `sum(${y}.v) > 1 AND v >= 0`,
    holds: (seen, _, y) =>
      less(1, total(seen, y)) === true && less(value(seen, here(seen)), 0) === false,
  },
  {
    sql: (_, y) => `coalesce(FIRST(${y}.v) < v, FALSE)`,
    holds: (seen, _, y) => less(first(seen, y), value(seen, here(seen))),
  },
  {
    sql: () => 'PREV(v) IS DISTINCT FROM v',
    holds: (seen) => value(seen, here(seen) - 1) !== value(seen, here(seen)),
  },
  {
    sql: () => 'coalesce(PREV(v, 2), 0) <= v AND id > 1',
    holds: (seen) => {
      const below = less(value(seen, here(seen)), value(seen, here(seen) - 2) ?? 0);
      return below === false && (seen.rows[here(seen)]?.id ?? 0) > 1;
    },
  },
  {
    sql: (_, y) => `FIRST(${y}.v, 1) IS NULL`,
    holds: (seen, _, y) => first(seen, y, 1) === null,
  },
  {
    sql: (x) => `coalesce(LAST(coalesce(${x}.v, 7) + 1, 1), 0) < 4`,
    holds: (seen, x) => {
      const at = placesOf(seen, x).at(-2);
      return (at === undefined ? 0 : (value(seen, at) ?? 7) + 1) < 4;
    },
  },
];

const identifier = (name: string): Identifier => ({ name, quoted: false, text: name, span });

const variable = (name: Name): Pattern => ({ tag: 'variable', name: identifier(name), span });
const several = (inner: Pattern, least: number, reluctant = false): Pattern => ({
  tag: 'repeat',
  pattern: inner,
  least,
  most: null,
  reluctant,
  span,
});
const group = (tag: 'sequence' | 'alternation', ...parts: Pattern[]): Pattern => ({
  tag,
  parts,
  span,
});

/** Patterns with many ways to match the same rows, which only what conditions remember tells apart. */
const [A, B, C] = NAMES.map(variable) as [Pattern, Pattern, Pattern];
const ambiguous: fc.Arbitrary<Pattern> = fc.constantFrom(
  group('sequence', several(A, 1), several(B, 1), C),
  group('sequence', several(A, 0), several(B, 1, true), C),
  group('sequence', several(group('alternation', A, B), 1), C),
  group('sequence', several(group('alternation', B, A), 1, true), C),
  group('sequence', several(group('sequence', A, several(B, 0)), 1), C),
);

const anyPattern: fc.Arbitrary<Pattern> = fc
  .letrec<{ pattern: Pattern }>((tie) => {
    const parts = fc.array(tie('pattern'), { minLength: 2, maxLength: 3 });
    const bounds = fc.constantFrom<[number, number | null][]>(
      [0, null],
      [1, null],
      [0, 1],
      [2, 2],
      [1, 3],
      [2, null],
      [0, 2],
    );
    return {
      pattern: fc.oneof(
        { maxDepth: 3, depthSize: 'small' },
        fc.constantFrom(A, B, C),
        parts.map((each): Pattern => ({ tag: 'sequence', parts: each, span })),
        parts.map((each): Pattern => ({ tag: 'alternation', parts: each, span })),
        fc
          .tuple(tie('pattern'), bounds, fc.boolean())
          .map(([inner, [least, most], reluctant]): Pattern => ({
            tag: 'repeat',
            pattern: inner,
            least,
            most,
            reluctant,
            span,
          })),
      ),
    };
  })
  .pattern.filter((made) => rowsOfPattern(made).least > 0);

const pattern = fc.oneof(anyPattern, ambiguous);

const definition = fc.record({
  name: fc.constantFrom(...NAMES),
  other: fc.constantFrom(...NAMES),
  kind: fc.constantFrom(...KINDS),
});

const scenario = fc.record({
  pattern,
  definitions: fc.uniqueArray(definition, {
    minLength: 1,
    maxLength: 3,
    selector: ({ name }) => name,
  }),
  skip: fc.constantFrom<('past_last' | 'next_row' | 'first' | 'last')[]>(
    'past_last',
    'next_row',
    'first',
    'last',
  ),
  target: fc.constantFrom(...NAMES),
  within: fc.integer({ min: 1, max: 12 }),
  descending: fc.boolean(),
});

type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

const rowsArbitrary = fc
  .array(
    fc.record({
      k: fc.constantFrom('x', 'y', 'z'),
      v: fc.option(fc.integer({ min: -1, max: 3 }), { freq: 8 }),
      ts: fc.integer({ min: 0, max: 20 }),
    }),
    { maxLength: 30 },
  )
  .map((rows) => rows.map((row, id): MatchRow => ({ ...row, id })));

const namesIn = (made: Pattern): Set<string> =>
  made.tag === 'variable'
    ? new Set([made.name.name])
    : new Set(
        (made.tag === 'repeat' ? [made.pattern] : made.parts).flatMap((part) => [...namesIn(part)]),
      );

/** The scenario as SQL, and what the matcher needs of it; null: not a query that is allowed. */
function prepared(made: Scenario) {
  const names = namesIn(made.pattern);
  const [any] = names;
  const inside = (name: string): string => (names.has(name) ? name : (any as string));
  const definitions = made.definitions.filter(({ name }) => names.has(name));
  const fixed = rowsOfPattern(made.pattern).least === rowsOfPattern(made.pattern).most;
  const variable = inside(made.target);
  const skip: Skip =
    made.skip === 'first' || made.skip === 'last' ? { to: made.skip, variable } : { to: made.skip };
  const skipText = {
    past_last: 'PAST LAST ROW',
    next_row: 'TO NEXT ROW',
    first: `TO FIRST ${variable}`,
    last: `TO LAST ${variable}`,
  }[made.skip];
  const within = fixed && made.within > 9 ? Infinity : made.within * 1_000_000;
  const define = definitions
    .map(({ name, other, kind }) => `${name} AS ${kind.sql(name, inside(other))}`)
    .join(', ');
  const [x, y] = [inside('a'), inside('b')];
  const sql = `${TABLE}
    SELECT * FROM t MATCH_RECOGNIZE (
      PARTITION BY k ORDER BY ts, id${made.descending ? ' DESC' : ''}
      MEASURES match_number() AS number, FIRST(id) AS head, id AS tail, count(*) AS size, classifier() AS label,
        count(${y}.*) AS some, sum(${x}.v) AS total, LAST(${x}.v, 1) AS second, PREV(${x}.v, 2) AS prior,
        FIRST(${y}.v) AS opening, max(v) FILTER (WHERE v < 3) AS most, ${y}.v + 1 AS more
      AFTER MATCH SKIP ${skipText}
      PATTERN (${printPattern(made.pattern)}) ${within === Infinity ? '' : `WITHIN INTERVAL '${made.within}' SECOND`}
      ${define === '' ? '' : `DEFINE ${define}`}
    )`;
  const conditions = new Map<string, Condition>(
    definitions.map(({ name, other, kind }) => [
      name,
      (seen) => kind.holds(seen, name, inside(other)),
    ]),
  );
  const { graph, errors } = planSql(sql, DECLARATIONS, { defaultSink: 'stdout' });
  if (graph === null) {
    expect(errors.map(({ code }) => code)).toEqual(['INVALID_PATTERN']);
    expect(errors[0]?.message).toContain('matching would stay where it is');
    return null;
  }
  return { sql, graph, skip, within, conditions, x, y, fixed };
}

type Prepared = NonNullable<ReturnType<typeof prepared>>;

/** The measures of a match, in the order of the query. */
function measured(
  { start, labels }: OracleMatch,
  rows: readonly MatchRow[],
  number: number,
  { x, y }: Prepared,
): unknown[] {
  const seen: Seen = { rows, start, labels };
  const end = here(seen);
  const latest = placesOf(seen, x).at(-1);
  const small = placesOf(seen, null).flatMap((at) => {
    const v = value(seen, at);
    return v !== null && v < 3 ? [v] : [];
  });
  const ofY = last(seen, y);
  const big = (each: number | null | undefined): bigint | null =>
    each === null || each === undefined ? null : BigInt(each);
  return [
    rows[start]?.k,
    big(number),
    big(rows[start]?.id),
    big(rows[end]?.id),
    big(labels.length),
    labels.at(-1),
    big(placesOf(seen, y).length),
    big(total(seen, x)),
    big(last(seen, x, 1)),
    big(latest === undefined ? null : value(seen, latest - 2)),
    big(first(seen, y)),
    big(small.length === 0 ? null : Math.max(...small)),
    big(ofY === null ? null : ofY + 1),
  ];
}

function expected(made: Scenario, ready: Prepared, rows: readonly MatchRow[]): unknown[][] {
  const sign = made.descending ? -1 : 1;
  return ['x', 'y', 'z'].flatMap((key) => {
    const own = rows
      .filter(({ k }) => k === key)
      .sort((left, right) => left.ts - right.ts || sign * (left.id - right.id))
      .map((row) => ({ ...row, ts: row.ts * 1_000_000 }));
    const found = oracle(own, made.pattern, ready.conditions, ready.skip, ready.within);
    return found.map((match, at) => measured(match, own, at + 1, ready));
  });
}

/** What the operator is made of. */
function matcherOf(graph: PhysicalGraph): { make: () => Operator; input: Schema; output: Schema } {
  const operator = graph.operators.find(({ spec }) => spec.tag === 'match');
  if (operator === undefined) throw new Error('no match operator');
  const edge = graph.edges.find(({ to }) => to === operator.id);
  const from = graph.operators.find(({ id }) => id === edge?.from);
  if (from === undefined) throw new Error('no input');
  return {
    make: () => makeOperator(operator, graph),
    input: from.schema,
    output: operator.schema,
  };
}

function batchOf(rows: readonly MatchRow[], schema: Schema): RecordBatch {
  const full = rows.map(({ id, k, v, ts }) => ({
    id: BigInt(id),
    k,
    v: v === null ? null : BigInt(v),
    ts: BigInt(ts) * 1_000_000n,
  }));
  const batch = batchFromRows(
    schema,
    full.map((row) =>
      Object.fromEntries(schema.map(({ name }) => [name, row[name as keyof typeof row]])),
    ),
  );
  const times = columnFromValues(
    TIMESTAMP,
    full.map(({ ts }) => ts),
  );
  return { ...batch, rows: rows.length, eventTime: times as Int64Column };
}

type Turns = readonly (readonly [number, number])[];

/** Rows with the event time behind them; rows come in disorder, but none behind the watermark. */
function drive(
  graph: PhysicalGraph,
  rows: readonly MatchRow[],
  how: { sizes: readonly number[]; turns: Turns; delay: number; parallelism: number },
): { rows: string[]; values: unknown[][]; times: bigint[] } {
  const { make, input, output } = matcherOf(graph);
  const slice = how.delay + 1;
  const ordered = [...rows].sort(
    (left, right) => Math.floor(left.ts / slice) - Math.floor(right.ts / slice),
  );
  const key = input.findIndex(({ name }) => name === 'k');
  const subtasks = new Subtasks(make, [key], how.parallelism);
  let turn = 0;
  let from = 0;
  let reached = -Infinity;
  let emitted = 0;
  const checkTimes = (): void => {
    for (const batch of subtasks.output.batches.slice(emitted))
      for (const time of timesIn(batch)) expect(Number(time)).toBeGreaterThanOrEqual(reached);
    emitted = subtasks.output.batches.length;
  };
  for (const batch of rows.length === 0 ? [] : cutAt(batchOf(ordered, input), how.sizes)) {
    const coming = ordered.slice(from, (from += batch.rows));
    const floor = Math.min(...coming.map(({ ts }) => ts));
    const next = Math.floor(floor / slice) * slice * 1_000_000;
    subtasks.watermark(next);
    checkTimes();
    reached = Math.max(reached, next);
    subtasks.send(batch);
    const [kind, parallelism] = how.turns[turn++ % Math.max(1, how.turns.length)] ?? [3, 1];
    if (kind === 1) subtasks.checkpoint();
    else if (kind === 2) subtasks.restart(parallelism);
  }
  subtasks.watermark(Infinity);
  checkTimes();
  expect(subtasks.output.lateRows).toEqual([]);
  expect(subtasks.output.failed).toEqual([]);
  for (const operator of subtasks.operators) expect(operator.stateRows()).toBeLessThanOrEqual(6);
  const times = subtasks.output.batches.flatMap(timesIn);
  const values = subtasks.output.rows(output).map((row) => Object.values(row));
  return { rows: values.map((row, at) => text([...row, times[at]])).sort(), values, times };
}

const timesIn = (batch: RecordBatch): bigint[] =>
  rowsOf({ ...batch, columns: [batch.eventTime as Int64Column] }, [
    { name: 't', type: TIMESTAMP, nullable: false },
  ]).map(({ t }) => t as bigint);

test('the matches are those that trying from left to right finds, however the rows come', () => {
  let found = 0;
  fc.assert(
    fc.property(
      scenario,
      rowsArbitrary,
      fc.record({
        sizes: fc.constantFrom([1], [3, 1], [100]),
        turns: fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 3 })), { maxLength: 4 }),
        delay: fc.nat(5),
        parallelism: fc.integer({ min: 1, max: 2 }),
      }),
      (made, rows, how) => {
        const ready = prepared(made);
        if (ready === null) return;
        let wanted: unknown[][];
        try {
          wanted = expected(made, ready, rows);
        } catch (thrown) {
          if (thrown instanceof TooLong) return;
          throw thrown;
        }
        const got = drive(ready.graph, rows, how);
        expect(got.values.map(text).sort(), ready.sql).toEqual(wanted.map(text).sort());
        found += wanted.length;
        // Event times do not depend on how the rows come either.
        const whole = drive(ready.graph, rows, {
          sizes: [100],
          turns: [],
          delay: 30,
          parallelism: 1,
        });
        expect(got.rows, ready.sql).toEqual(whole.rows);
        got.values.forEach((row, at) => {
          const [head, tail] = [row[2], row[3]].map((id) =>
            BigInt((rows[Number(id)]?.ts ?? 0) * 1_000_000),
          ) as [bigint, bigint];
          const time = got.times[at] as bigint;
          expect(time).toBeGreaterThanOrEqual(tail);
          if (ready.fixed) expect(time).toBe(tail);
          if (ready.within !== Infinity)
            expect(time).toBeLessThanOrEqual(head + BigInt(ready.within));
        });
      },
    ),
    { seed: SEED, numRuns: 180 },
  );
  expect(found).toBeGreaterThan(200);
});

const RUN = `CREATE TABLE t (id BIGINT NOT NULL, v BIGINT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts)
  WITH (connector = 'single_file', path = '/rows.json', format = 'json', type = 'source');`;

/** The rows of a match over one partition, a second apart. */
function matches(clauses: string, values: readonly (number | null)[], measures = 'id') {
  const rows = values.map((v, id) => ({
    id: BigInt(id),
    v: v === null ? null : BigInt(v),
    ts: BigInt(id) * 1_000_000n,
  }));
  const sql = `${RUN} SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES ${measures} AS m ${clauses})`;
  const { rows: found, failed } = runRows(sql, { t: rows }, 3);
  return { found: found.map(({ m }) => m), failed };
}

describe('threads that stand at one place are told apart by what conditions remember', () => {
  test('rows of a variable that ended at another row', () => {
    const pattern = `PATTERN ((A | B)+ C) WITHIN INTERVAL '1' MINUTE`;
    const define = 'DEFINE C AS count(B.*) = 2 AND v = 9';
    expect(matches(`${pattern} ${define}`, [1, 1, 1, 9], 'FIRST(B.id)').found).toEqual([1n]);
  });

  test('rows of a variable that began at another row', () => {
    const pattern = `PATTERN ((A | B)+ C) WITHIN INTERVAL '1' MINUTE`;
    const define = 'DEFINE A AS id <> 4, B AS id <> 3, C AS count(B.*) = 3 AND v = 9';
    expect(matches(`${pattern} ${define}`, [1, 1, 1, 1, 1, 9], 'FIRST(B.id)').found).toEqual([1n]);
  });
});

describe('a row that a condition can not be computed for', () => {
  const within = `WITHIN INTERVAL '1' MINUTE`;

  test('is not of the variable, and is reported once', () => {
    const { found, failed } = matches(
      `PATTERN (A+ B) ${within} DEFINE A AS 10 / v > 1, B AS v > 90`,
      [1, 2, 0, 3, 99],
    );
    expect(found).toEqual([4n]);
    expect(failed).toEqual([
      expect.objectContaining({ code: 'DIVISION_BY_ZERO', raw: '{"id":2,"v":0}' }),
    ]);
  });

  test('is not reported when no way to match came to ask', () => {
    const { found, failed } = matches(
      `PATTERN (A B) ${within} DEFINE A AS v > 5, B AS 10 / v > 1`,
      [0, 0, 6, 1, 0],
    );
    expect([found, failed]).toEqual([[3n], []]);
  });

  test('is reported when it depends on the rows before', () => {
    const { found, failed } = matches(
      `PATTERN (A B) ${within} DEFINE A AS v < 5, B AS 10 / A.v > 1`,
      [0, 7, 1, 7],
    );
    expect(found).toEqual([3n]);
    expect(failed).toEqual([
      expect.objectContaining({ code: 'DIVISION_BY_ZERO', raw: '{"id":1,"v":7}' }),
    ]);
  });

  test('a measure that can not be computed is an error of the last row, and the others leave', () => {
    const { found, failed } = matches(`PATTERN (A B) DEFINE B AS v > 5`, [0, 7, 2, 8], '10 / A.v');
    expect(found).toEqual([5n]);
    expect(failed).toEqual([expect.objectContaining({ code: 'DIVISION_BY_ZERO', raw: '{"v":7}' })]);
  });
});

test('aggregates of a match see its rows in order', () => {
  const { found } = matches(
    `PATTERN (A B+) WITHIN INTERVAL '1' MINUTE DEFINE B AS B.v < LAST(B.v, 1) OR LAST(B.v, 1) IS NULL`,
    [5, 9, 7, 3, 8, 6],
    "string_agg(CAST(B.v AS TEXT), ' ')",
  );
  expect(found).toEqual(['9 7 3', '6']);
});

test('what is beyond the bound on open ways is given up, the oldest first, and reported', () => {
  const count = 24;
  const { found, failed } = matches(
    `AFTER MATCH SKIP TO NEXT ROW PATTERN ((A | B)+ C) WITHIN INTERVAL '1' HOUR
     DEFINE B AS v = 1, C AS count(B.*) = 99`,
    Array.from({ length: count }, () => 1),
  );
  expect(found).toEqual([]);
  expect(failed.length).toBeGreaterThan(2);
  expect(failed[0]).toEqual(
    expect.objectContaining({ code: 'MATCH_TOO_LARGE', raw: '{"id":0,"v":1}' }),
  );
});

test('partitions of which nothing is left are forgotten', () => {
  const { graph } = planSql(
    `${TABLE} SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES B.id AS m
       PATTERN (A B) WITHIN INTERVAL '5' SECOND DEFINE B AS v > 1)`,
    DECLARATIONS,
    { defaultSink: 'stdout' },
  );
  const { make, input, output } = matcherOf(graph as PhysicalGraph);
  const subtasks = new Subtasks(make, [1], 1);
  let id = 0;
  for (let step = 0; step < 20; step++) {
    const rows = Array.from({ length: 400 }, (_, at): MatchRow => {
      // The key of the last rows comes back after it was forgotten.
      const key = at === 399 ? 'again' : `k${step}-${at >> 1}`;
      return { id: id++, k: key, v: at % 2 === 0 ? 0 : 2, ts: step * 10 };
    });
    subtasks.send(batchOf(rows, input));
    subtasks.watermark(step * 10_000_000 + 6_000_000);
    if (step === 9) subtasks.restart(1);
  }
  expect(subtasks.output.rows(output)).toHaveLength(20 * 199);
  const [operator] = subtasks.operators;
  expect(operator?.stateRows()).toBe(0);
  expect(operator?.stateBytes()).toBeLessThan(400_000);
});

test('matches are rows as any: they can be windowed and matched again', () => {
  const rows = [1, 9, 1, 9, 2, 1, 9, 9].map((v, at) => ({
    id: BigInt(at),
    v: BigInt(v),
    ts: BigInt(at) * 20_000_000n,
  }));
  const pairs = `SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.id AS head, B.id AS tail, match_rowtime() AS ended
    PATTERN (A B) DEFINE A AS A.v = 1, B AS B.v = 9)`;
  const windowed = runRows(
    `${RUN} SELECT tumble(interval '1 minute').start AS s, count(*) AS n FROM (${pairs}) GROUP BY 1`,
    { t: rows },
  );
  expect(windowed.rows).toEqual([
    { s: 0n, n: 1n },
    { s: 60_000_000n, n: 1n },
    { s: 120_000_000n, n: 1n },
  ]);
  const again = runRows(
    `${RUN} SELECT x, y, row_time() AS t FROM (${pairs}) AS p
       MATCH_RECOGNIZE (ORDER BY row_time() MEASURES FIRST(P.head) AS x, LAST(P.tail) AS y PATTERN (P P))`,
    { t: rows },
  );
  expect(again.rows).toEqual([{ x: 0n, y: 3n, t: 60_000_000n }]);
});

test('rows that come after the watermark has passed them are late', () => {
  const { graph } = planSql(
    `${TABLE} SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES B.id AS m PATTERN (A B))`,
    DECLARATIONS,
    { defaultSink: 'stdout' },
  );
  const { make, input, output } = matcherOf(graph as PhysicalGraph);
  const subtasks = new Subtasks(make, [], 1);
  const row = (id: number, ts: number): MatchRow => ({ id, k: 'x', v: 1, ts });
  subtasks.watermark(2_000_000);
  subtasks.send(batchOf([row(1, 1), row(2, 2), row(3, 3)], input));
  subtasks.watermark(Infinity);
  subtasks.send(batchOf([row(4, 4)], input));
  expect(subtasks.output.rows(output)).toEqual([{ m: 3n }]);
  expect(subtasks.output.lateRows.map(({ code, raw }) => [code, raw])).toEqual([
    ['LATE_ROW', '{"id":1}'],
    ['LATE_ROW', '{"id":4}'],
  ]);
});

test('the example of the documents finds the fraud', () => {
  const documents = readFileSync(`${import.meta.dirname}/../../docs/sql.md`, 'utf8');
  const example = /```sql\n(-- Three or more small[^`]*)```/.exec(documents)?.[1];
  const sql = `CREATE TABLE payments (account TEXT NOT NULL, amount BIGINT NOT NULL, ts TIMESTAMP NOT NULL,
    WATERMARK FOR ts AS ts - INTERVAL '5 seconds')
    WITH (connector = 'single_file', path = '/p.json', format = 'json', type = 'source'); ${example}`;
  const minute = 60_000_000n;
  const pay = (account: string, at: bigint, amount: bigint) => ({
    account,
    amount,
    ts: at * minute,
  });
  const { rows } = runRows(sql, {
    payments: [
      ...[0n, 1n, 2n, 3n].map((at) => pay('a', at, 1n)),
      pay('b', 1n, 1n),
      pay('b', 2n, 300n),
      pay('a', 9n, 250n),
      // Too late for these three.
      ...[20n, 21n, 22n].map((at) => pay('a', at, 1n)),
      pay('a', 31n, 250n),
    ],
  });
  expect(rows).toEqual([{ account: 'a', began: 0n, ended: 9n * minute, smalls: 4n, amount: 250n }]);
});
