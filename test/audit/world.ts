/** Buckets as real runs of the production step machines leave them, for audits to judge. */
import { must } from '../../src/base/assert.ts';
import { verifyLineage, type VerifyOptions } from '../../src/audit/verify.ts';
import type { Verdict } from '../../src/audit/findings.ts';
import { Prng } from '../../src/base/prng.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { appended } from '../../src/connectors/single-file/appended.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { driveSync } from '../../src/lineage/drive.ts';
import { contentHash } from '../../src/lineage/content-hash.ts';
import { SimulatedCluster } from '../harness/cluster.ts';
import { PATHS } from '../harness/cluster/bucket.ts';
import type { ClusterOptions } from '../harness/cluster/world.ts';
import { MemoryObjectStore } from '../harness/memory-object-store.ts';

const TABLE = `CREATE TABLE t (ts TIMESTAMP NOT NULL, k TEXT, v BIGINT, WATERMARK FOR ts AS ts - interval '3 seconds')
  WITH (connector = 'single_file', path = 'in', format = 'json', type = 'source', bad_data = 'drop');`;

/** Rows filtered and grouped into one folder of files, and all of them computed and appended to one file. */
export const FILES = `${TABLE}
CREATE TABLE windows WITH (connector = 'r2', path = 'windows', format = 'json', type = 'sink');
CREATE TABLE every WITH (connector = 'single_file', path = 'every.ndjson', format = 'json', type = 'sink');
INSERT INTO windows SELECT k, window.start AS s, n, total FROM (
  SELECT k, tumble(interval '5 seconds') AS window, count(*) AS n, sum(v) AS total FROM t WHERE v % 7 <> 0 GROUP BY k, window);
INSERT INTO every SELECT k, 1000 / v AS q FROM t;`;

/** Generated rows in four partitions, which move between subtasks when the pipeline is rescaled. */
export const GENERATED = `
CREATE TABLE bid (auction BIGINT, price BIGINT, datetime TIMESTAMP, WATERMARK FOR datetime AS datetime)
  WITH (connector = 'nexmark', "table" = 'bid', events = 4000, event_rate = 2000, partitions = 4);
CREATE TABLE out WITH (connector = 'r2', path = 'out', format = 'json', type = 'sink');
INSERT INTO out SELECT auction, window.start AS s, n FROM (
  SELECT auction, tumble(interval '200 milliseconds') AS window, count(*) AS n FROM bid GROUP BY auction, window);`;

export function linesOf(seed: string, count: number): string {
  const prng = new Prng(seed);
  const line = (_: unknown, index: number): string => {
    if (prng.chance(0.02)) return 'nonsense';
    const ts = new Date(Date.UTC(2026, 0, 1) + index * 50 - prng.below(2_000)).toISOString();
    return JSON.stringify({
      ts: ts.replace('Z', ''),
      k: `key-${prng.below(9)}`,
      v: prng.below(1_000) - 300,
    });
  };
  return Array.from({ length: count }, line)
    .map((text) => `${text}\n`)
    .join('');
}

export function clusterOf(
  sql: string,
  seed: string,
  options: Partial<ClusterOptions> = {},
): SimulatedCluster {
  const planned = planSql(sql, DECLARATIONS, { defaultSink: 'preview', parallelism: 2 });
  return new SimulatedCluster({
    seed,
    graph: must(planned.graph, JSON.stringify(planned.errors)),
    parallelism: 2,
    files: { in: linesOf(seed, 1_500) },
    readBytesMax: 500,
    checkpointIntervalMs: 100,
    ...options,
    settings: { checkpointsKept: 1_000, ...options.settings },
  });
}

export function put(store: MemoryObjectStore, key: string, body: Uint8Array): void {
  store.objects.set(key, { body, etag: contentHash(body) });
}

/** Everything in the bucket: the lineage, and what commits made visible. */
export function bucketOf(cluster: SimulatedCluster): MemoryObjectStore {
  const store = new MemoryObjectStore({ pageSize: 7 });
  for (const [key, { body }] of cluster.store.objects) put(store, key, body.slice());
  for (const { key, piece, bytes } of cluster.committed)
    put(
      store,
      key,
      piece === key ? bytes : appended(store.objects.get(key)?.body ?? null, [bytes], piece),
    );
  return store;
}

export function verdictOn(store: MemoryObjectStore, options: VerifyOptions = {}): Verdict {
  const outcome = driveSync(verifyLineage(PATHS, options), (op) => store.answer(op));
  if (outcome.tag !== 'verdict') throw new Error(`verification ended with ${outcome.tag}`);
  return outcome.verdict;
}
