/** What is told of rows that must not be shown, wherever in the graph they go wrong. */
import { createHash } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { INT32 } from '../../src/batch/types.ts';
import { judgeBadRows } from '../../src/connectors/bad-rows.ts';
import { type FormatSpec, JSON_FORMAT } from '../../src/formats/format.ts';
import { makeRowDecoder } from '../../src/formats/row-decoder.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { redactedOperators } from '../../src/graph/redaction.ts';
import { SimulatedCluster } from '../harness/cluster.ts';

vi.setConfig({ testTimeout: 60_000 });

const SECRET = 'jane@example.test';
const LINES = [
  `{"id":"${SECRET}"}`,
  `{"id":1,"note":"${SECRET}"`,
  `{"id":2,"note":"${SECRET}"}`,
  '{"id":3,"note":"30"}',
];

/** Rows that cannot be decoded, and one whose note is no number. */
function run(options: string): SimulatedCluster {
  const { graph, errors } = planSql(
    `CREATE TABLE t (id INT NOT NULL, note TEXT) WITH (connector = 'single_file', path = 'in', format = 'json', type = 'source'${options});
     CREATE TABLE o WITH (connector = 'single_file', path = 'out', format = 'json', type = 'sink');
     INSERT INTO o SELECT id, CAST(note AS INT) AS n FROM t;`,
    DECLARATIONS,
    { defaultSink: 'preview' },
  );
  if (graph === null) throw new Error(JSON.stringify(errors));
  const cluster = new SimulatedCluster({
    seed: 'redaction',
    graph,
    parallelism: 1,
    files: { in: LINES.map((line) => `${line}\n`).join('') },
    checkpointIntervalMs: 100,
  });
  cluster.startGeneration('created');
  cluster.runToOutcome();
  return cluster;
}

const everything = (cluster: SimulatedCluster): string =>
  JSON.stringify([
    cluster.problems,
    cluster.leaderStatus,
    cluster.trace,
    [...cluster.store.objects.values()].map(({ body }) => Buffer.from(body).toString('latin1')),
  ]);

test('without the option a row is shown with what is wrong', () => {
  const { problems } = run('');
  expect(problems.map(({ code, row }) => [code, row?.column, row?.raw])).toEqual([
    ['TYPE_MISMATCH', 'id', LINES[0]],
    ['PARSE_ERROR', null, LINES[1]],
    ['INVALID_CAST', 'n', expect.stringContaining(SECRET)],
  ]);
  expect(problems[0]?.row).toMatchObject({ partition: 0, rawSha256: null });
});

test("with errors.raw = 'redact' code, column and hash are all there is, in every operator that its rows reach (U54)", () => {
  const cluster = run(", errors.raw = 'redact'");
  expect(cluster.problems.map(({ code, row }) => [code, row?.raw])).toEqual([
    ['TYPE_MISMATCH', null],
    ['PARSE_ERROR', null],
    ['INVALID_CAST', null],
  ]);
  expect(cluster.problems[0]?.row).toMatchObject({
    column: 'id',
    rawSha256: createHash('sha256')
      .update(LINES[0] as string)
      .digest('hex'),
  });
  expect(cluster.problems[2]?.row?.rawSha256).toMatch(/^[0-9a-f]{64}$/);
  expect(cluster.rows()).toEqual(['{"id":3,"n":30}']);
  expect(everything(cluster)).not.toContain(SECRET);
  expect(everything(run(''))).toContain(SECRET);
});

test('the reason of a pipeline that a bad row stops does not show it either', () => {
  const bytes = new TextEncoder().encode(`${LINES[0]}\n`);
  const columns = [{ name: 'id', type: INT32, nullable: false, default: null }];
  const format = { ...JSON_FORMAT, badData: 'fail' as const };
  const { errors } = makeRowDecoder(columns, format).decode(bytes, 0, bytes.length, 10, true);
  const reasonOf = (spec: FormatSpec): string =>
    JSON.stringify(judgeBadRows(errors, bytes, spec, () => 'row 1 of t'));
  expect(reasonOf(format)).toContain(SECRET);
  const hidden = reasonOf({ ...format, redactErrors: true });
  expect(hidden).toContain('TYPE_MISMATCH');
  expect(hidden).toContain('row 1 of t');
  expect(hidden).not.toContain(SECRET);
});

test('operators are hidden that its rows reach, and no others', () => {
  const { graph } = planSql(
    `CREATE TABLE a (k INT NOT NULL, x INT) WITH (connector = 'http', format = 'json', type = 'source', errors.raw = 'redact');
     CREATE TABLE b (k INT NOT NULL, y INT) WITH (connector = 'http', format = 'json', type = 'source');
     SELECT a.k, x, y FROM a JOIN b ON a.k = b.k;
     SELECT k, y FROM b WHERE y > 1;`,
    DECLARATIONS,
    { defaultSink: 'preview' },
  );
  if (graph === null) throw new Error('no graph');
  const hidden = redactedOperators(graph);
  const shown = graph.operators.filter(({ id }) => !hidden.has(id)).map(({ spec }) => spec.tag);
  expect(shown.toSorted()).toEqual(['filter', 'sink', 'source']);
  expect(hidden.size).toBeGreaterThanOrEqual(3);
});
