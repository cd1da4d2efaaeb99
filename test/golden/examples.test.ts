/**
 * The built-in examples: each plans without a word of warning, gives rows soon after it was started, and gives the same rows
 * in one piece, row by row, and killed and restored. `REWRITE=1` writes the expected rows anew, for review with git diff.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { EXAMPLES } from '../../src/api/examples/catalogue.ts';
import type { Example } from '../../src/api/examples/example-shapes.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { SimulatedCluster } from '../harness/cluster.ts';
import { committedLines, type Life, SINK } from '../oracle/distributed.ts';

const FOLDER = path.join(import.meta.dirname, 'examples');
/** Rows of each table, where the example is bounded: until there is something to see. */
const EVENTS = 800;
const EVENTS_OF: Readonly<Record<string, number>> = { sensors: 2_000, 'card-fraud': 2_000 };

/** Each SELECT of a program, stored instead of shown; with the statements before it that are no SELECT. */
function stored({ id, query }: Example, bounded: boolean): { name: string; program: string }[] {
  const statements = query
    .split(/;\n/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  const isQuery = (statement: string): boolean => /^(--.*\n|\n)*SELECT\b/.test(statement);
  const declared = statements.filter((statement) => !isQuery(statement)).map((statement) => `${statement};\n`);
  const text = declared.join('');
  const before = bounded ? text.replace(/event_rate = \d+/g, `events = ${EVENTS_OF[id] ?? EVENTS}`) : text;
  return statements.filter(isQuery).map((select, index) => ({
    name: `${index + 1}`,
    program: `${before}${SINK}\nINSERT INTO out ${select.replace(/^(--.*\n|\n)*/, '')};`,
  }));
}

test.each(EXAMPLES.map((example) => [example.id, example] as const))('%s plans without errors and warnings', (_, example) => {
  const plan = planSql(example.query, DECLARATIONS, { defaultSink: 'preview' });
  expect(plan.errors).toEqual([]);
  expect(plan.warnings).toEqual([]);
  expect(plan.sinks.length).toBeGreaterThan(0);
  expect(stored(example, true)).toHaveLength(plan.sinks.length);
  for (const { spec } of plan.sources) expect(spec.connector.connector).toBe('example');
});

const WAYS: readonly [name: string, life: Omit<Life, 'seed'>][] = [
  ['in one piece', { parallelism: 1, then: null, batchRows: 2_048 }],
  ['in small batches', { parallelism: 2, then: null, batchRows: 3 }],
  ['killed as one, restored as two', { parallelism: 1, then: 2, batchRows: 7 }],
  ['killed as two, restored as one', { parallelism: 2, then: 1, batchRows: 16 }],
];

const CASES = EXAMPLES.flatMap((example) => stored(example, true).map(({ name, program }) => [`${example.id}-${name}`, program] as const));

test.each(CASES)('%s gives the same rows in every way', (name, program) => {
  const file = path.join(FOLDER, `${name}.rows`);
  for (const [way, life] of WAYS) {
    const lines = committedLines(program, {}, { seed: `${name}/${way}`, ...life });
    const text = lines.map((line) => `${line}\n`).join('');
    if (process.env['REWRITE'] !== undefined && way === WAYS[0]?.[0]) writeFileSync(file, text);
    expect(lines.length).toBeGreaterThan(2);
    expect(text, `${name}, ${way}`).toBe(existsSync(file) ? readFileSync(file, 'utf8') : '');
  }
}, 60_000);

test.each(EXAMPLES.map((example) => [example.id, example] as const))('%s gives rows within two seconds after it was started', (id, example) => {
  for (const { program } of stored(example, false)) {
    const { graph } = planSql(program, DECLARATIONS, { defaultSink: 'preview' });
    if (graph === null) throw new Error('planned above');
    const cluster = new SimulatedCluster({ seed: id, graph, parallelism: 1, files: {}, checkpointIntervalMs: 200 });
    cluster.startGeneration('created');
    cluster.runFor(2_000);
    const first = cluster.rows().length;
    expect(first, program).toBeGreaterThan(0);
    // It goes on: something new within what its windows and thefts take.
    cluster.runFor(20_000);
    expect(cluster.rows().length, program).toBeGreaterThan(first);
  }
}, 60_000);

test('changes are read as changes, rows as rows, and both are told by name', () => {
  const planOf = (columns: string, options: string) =>
    planSql(
      `CREATE TABLE t ${columns} WITH (connector = 'example', ${options}); SELECT * FROM t;`,
      DECLARATIONS,
      { defaultSink: 'preview' },
    );
  const key = '(id BIGINT PRIMARY KEY, city TEXT)';
  const said = (columns: string, options: string): string[] =>
    planOf(columns, options).errors.map(({ code, message, span }) => `${code} ${span?.start.column} ${message}`);
  expect(said(key, "dataset = 'customers', format = 'debezium_json'")).toEqual([]);
  expect(said(key, "dataset = 'customers'")).toEqual([
    "INVALID_OPTION 80 the rows of dataset 'customers' are changes of a table",
  ]);
  expect(said('(user_id BIGINT PRIMARY KEY)', "dataset = 'clicks', format = 'debezium_json'")).toEqual([
    "INVALID_OPTION 94 the rows of dataset 'clicks' are no changes of a table",
  ]);
  expect(said('', "dataset = 'customers', format = 'debezium_json'")).toEqual([
    'MISSING_OPTION 14 table "t" has no PRIMARY KEY, so its changes can not be told apart',
  ]);
  expect(said('', 'event_rate = 3')).toEqual(['MISSING_OPTION 14 option "dataset" is missing']);
});

test('the time of a change is told beside its row', () => {
  const program = `CREATE TABLE customers (id BIGINT PRIMARY KEY, at TIMESTAMP METADATA FROM 'ts_ms', WATERMARK FOR at)
    WITH (connector = 'example', dataset = 'customers', events = 61, format = 'debezium_json');
    ${SINK} INSERT INTO out SELECT id, at FROM customers WHERE id = 1;`;
  const lines = committedLines(program, {}, { seed: 'times', parallelism: 1, then: null, batchRows: 64 });
  // Sixty lanes take turns, five changes a second.
  expect(lines).toEqual(['{"id":1,"at":"2026-01-01T00:00:12"}']);
});
