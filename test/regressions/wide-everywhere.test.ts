/**
 * Generated columns of a source, keys of joins, keys of shuffle edges and what is combined ahead of them were computed for the whole
 * batch, however wide: 3,000 rows of a megabyte each ended the process.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LIMITS } from '../../src/base/limits.ts';
import { batchFromRows } from '../../src/batch/values.ts';
import { INT64, TEXT, type Schema } from '../../src/batch/types.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { combinerFor } from '../../src/operators/window-combiner.ts';
import { InputChannel } from '../../src/subtask/input-channel.ts';
import type { Node } from '../../src/subtask/node.ts';
import { ShuffleEdge } from '../../src/subtask/shuffle-edge.ts';
import { call, column } from '../expr/support.ts';
import { runRows } from '../operators/run-graph.ts';
import { SmallPipeline } from '../operators/small-pipeline.ts';

const ROWS = 40;
const BYTES = 1_000_000;
const TABLE = `CREATE TABLE t (k TEXT NOT NULL, n BIGINT NOT NULL) WITH (connector = 'http', type = 'source');`;
const SCHEMA: Schema = [
  { name: 'k', type: TEXT, nullable: false },
  { name: 'n', type: INT64, nullable: false },
];
const rows = Array.from({ length: ROWS }, (_, n) => ({ k: String(n % 10), n: BigInt(BYTES) }));

/** Bytes that were held at once for batches of which each collector stands. */
const held = new Map<unknown, number>();

beforeEach(() => {
  held.clear();
  const spend = RowErrors.prototype.spend;
  vi.spyOn(RowErrors.prototype, 'spend').mockImplementation(function (this: RowErrors, bytes) {
    spend.call(this, bytes);
    held.set(this, (held.get(this) ?? 0) + bytes);
  });
});

afterEach(() => {
  expect(Math.max(...held.values())).toBeGreaterThan(BYTES);
  expect(Math.max(...held.values())).toBeLessThanOrEqual(LIMITS.evaluationBytesMax);
  vi.restoreAllMocks();
});

test('a generated column is computed in parts, and rows stay in their order', () => {
  const pipeline = new SmallPipeline(
    `CREATE TABLE t (k TEXT NOT NULL, n BIGINT NOT NULL, x TEXT GENERATED ALWAYS AS (repeat(k, n)))
      WITH (connector = 'http', type = 'source');
     SELECT substr(x, 1, 3) AS s, length(x) AS l FROM t;`,
    2048,
  );
  pipeline.append('t', [
    ...rows.map(({ k }) => `{"k":"${k}","n":${BYTES}}`),
    '{"k":"large","n":9000000}',
  ]);
  pipeline.run();
  pipeline.end();
  expect(pipeline.values()).toEqual(rows.map(({ k }) => ({ s: k.repeat(3), l: BYTES })));
  expect(pipeline.sourceCounts()).toEqual({ read: ROWS + 1, passed: ROWS, refused: 1 });
});

test.each([
  ['of both sides', 'JOIN'],
  ['of a side that is padded', 'LEFT JOIN'],
])('keys %s of a join are computed in parts', (_, join) => {
  const sql = `${TABLE} CREATE TABLE u (k TEXT NOT NULL, n BIGINT NOT NULL) WITH (connector = 'http', type = 'source');
    SELECT count(*) AS c FROM t ${join} u ON repeat(t.k, t.n) = repeat(u.k, u.n);`;
  const u = rows.slice(0, 30);
  const large = { k: 'large', n: 9_000_000n };
  const { rows: found, failed } = runRows(sql, {
    t: [...rows.slice(0, 7), large, ...rows.slice(7)],
    u,
  });
  expect(found).toEqual([{ c: BigInt((ROWS / 10) * 3 * 10) }]);
  expect(failed.map(({ code }) => code)).toEqual(['ROW_TOO_LARGE']);
});

test('rows whose wide key is NULL meet nobody, whichever part they are in', () => {
  const nullable = (name: string): string =>
    `CREATE TABLE ${name} (k TEXT, n BIGINT NOT NULL) WITH (connector = 'http', type = 'source');`;
  const sql = `${nullable('t')} ${nullable('u')}
    SELECT count(*) AS c, count(u.k) AS m FROM t LEFT JOIN u ON repeat(t.k, t.n) = repeat(u.k, u.n);`;
  const some = rows.map((row, at) => (at % 4 === 3 ? { ...row, k: null } : row));
  const met = new Map<string, number>();
  for (const { k } of some) if (k !== null) met.set(k, (met.get(k) ?? 0) + 1);
  const pairs = [...met.values()].reduce((sum, each) => sum + each * each, 0);
  expect(runRows(sql, { t: some, u: some }).rows).toEqual([
    { c: BigInt(pairs + ROWS / 4), m: BigInt(pairs) },
  ]);
});

test('the key of a shuffle edge is computed in parts', () => {
  const channels = [0, 1].map(() => new InputChannel('e', 0, 0));
  const key = call('repeat', column(0, TEXT), column(1, INT64));
  const edge = new ShuffleEdge(
    { id: 'e', from: 'a', to: 'b', port: 0, kind: 'shuffle', keys: [key] },
    channels.map((channel) => ({ tag: 'local', channel })),
  );
  const counters = { bytesOut: 0 };
  edge.emit(batchFromRows(SCHEMA, rows), { counters, watermark: null } as unknown as Node);
  expect(counters.bytesOut).toBe(ROWS * 13);
});

test('what is combined ahead of a shuffle is computed in parts', () => {
  const { graph } = planSql(
    `CREATE TABLE t (k TEXT NOT NULL, n BIGINT NOT NULL, ts TIMESTAMP NOT NULL, WATERMARK FOR ts) WITH (connector = 'http', type = 'source');
     SELECT max(repeat(k, n)) AS m FROM t GROUP BY tumble(interval '1 second');`,
    DECLARATIONS,
    { defaultSink: 'preview' },
  );
  const receiver = graph?.operators.find(({ spec }) => spec.tag === 'window-aggregate');
  const input = graph?.operators.find(({ spec }) => spec.tag === 'source')?.schema;
  if (receiver === undefined || input === undefined) throw new Error(JSON.stringify(graph));
  const combiner = combinerFor(receiver, input);
  const timed = rows.map((row, at) => ({ ...row, ts: BigInt(at) }));
  const batch = batchFromRows(input, timed);
  const eventTime = batch.columns.find(({ tag }) => tag === 'timestamp');
  if (eventTime?.tag !== 'timestamp') throw new Error('no time');
  expect(combiner?.add({ ...batch, eventTime }, -Infinity)).toBeNull();
});
