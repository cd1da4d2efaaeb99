/**
 * Verification of buckets that real workerd wrote: of a running pipeline at its address, and of the state directory
 * afterwards, in which one thing after another is damaged.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Miniflare, convertV4MiniflareOptions } from 'miniflare';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { INT64, type Schema, TEXT } from '../../src/batch/types.ts';
import type { JobVerdict } from '../../src/cli/verify.ts';
import { PROJECT_ROOT, resourceDir } from '../../src/cli/project.ts';
import { readWorkerDescription } from '../../src/cli/worker-options.ts';
import { Reader } from '../formats/parquet/duckdb.ts';
import { Thalweg } from '../harness/thalweg.ts';

const QUERY = `
CREATE TABLE ev (i BIGINT NOT NULL, k TEXT) WITH (connector = 'http', partitions = 2, format = 'json', type = 'source');
CREATE TABLE parts WITH (connector = 'r2', path = 'parts', format = 'json', type = 'sink');
CREATE TABLE whole WITH (connector = 'single_file', path = 'whole.ndjson', format = 'json', type = 'sink');
CREATE TABLE columns WITH (connector = 'r2', path = 'columns', format = 'parquet', type = 'sink');
CREATE TABLE table_of_all WITH (connector = 'single_file', path = 'all.parquet', format = 'parquet', type = 'sink');
INSERT INTO columns SELECT i, k FROM ev;
INSERT INTO table_of_all SELECT i, k FROM ev;
INSERT INTO parts SELECT i, k FROM ev WHERE i % 3 <> 0;
INSERT INTO whole SELECT k, i * 2 AS double FROM ev;
`;

const ROWS: Schema = [
  { name: 'i', type: INT64, nullable: false },
  { name: 'k', type: TEXT, nullable: true },
];

let thalweg: Thalweg;
beforeAll(async () => {
  thalweg = await Thalweg.start();
});
afterAll(async () => {
  await thalweg.close();
});

async function verify(
  ...argv: string[]
): Promise<{ code: number; verdict: JobVerdict; said: string }> {
  const child = spawn(process.execPath, [
    join(PROJECT_ROOT, 'bin/thalweg.mjs'),
    'verify',
    ...argv,
    '--json',
  ]);
  const [out, said, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number>((resolve) => child.on('close', (ended) => resolve(ended ?? 1))),
  ]);
  return { code, said, verdict: out === '' ? (null as never) : (JSON.parse(out) as JobVerdict) };
}

/** Changes objects of the state directory, on which nothing runs. */
async function damage(change: (bucket: R2Bucket) => Promise<void>): Promise<void> {
  const { options } = await readWorkerDescription(PROJECT_ROOT);
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: 'export default {};',
      ...(options.r2Buckets === undefined ? {} : { r2Buckets: options.r2Buckets }),
      resourcePersistencePath: resourceDir(thalweg.stateDir),
      cf: false,
      telemetry: { enabled: false },
    }),
  );
  try {
    await change((await miniflare.getR2Bucket('BUCKET')) as unknown as R2Bucket);
  } finally {
    await miniflare.dispose();
  }
}

test(
  'a pipeline that is crashed is proved while it runs and afterwards, and damage is found',
  { timeout: 180_000 },
  async () => {
    const { id } = await thalweg.create(QUERY, { parallelism: 2 });
    await thalweg.waitForJob(id, (job) => job.state === 'Running');
    const url = thalweg.url;
    let sent = 0;
    const send = async (count: number): Promise<void> => {
      const rows = Array.from({ length: count }, () => ({ i: sent++, k: `k${sent % 7}` }));
      await thalweg.send(id, 'ev', rows, `to ${sent}`);
    };
    await send(100);
    await thalweg.waitForLines('parts/', 66);
    await thalweg.crash(id, 'leader', 'lineage:complete-commit');
    await send(100);
    await thalweg.waitForLines('parts/', 133);
    await thalweg.crash(id, 'host', 'committed:after', 1).catch(() => undefined);
    await thalweg.crash(id, 'host');
    await send(100);
    await thalweg.waitForLines('parts/', 200);
    const live = await verify(url, id);
    expect(live.verdict.findings, live.said).toEqual([]);
    expect(live.code).toBe(0);

    // So that the newest file is of the last epochs, however long verification took.
    await send(30);
    await thalweg.waitForLines('parts/', 220);
    await thalweg.api.patch(id, { stop: 'checkpoint' });
    await thalweg.waitForJob(id, (job) => job.state === 'Stopped');
    await thalweg.stopAtOnce();
    const after = await verify(thalweg.stateDir, id);
    expect(after.verdict, after.said).toMatchObject({ proved: true, findings: [], pipeline: id });
    expect(after.verdict.counts.epochs).toBeGreaterThan(2);
    expect(after.verdict.counts.outputRows).toBeGreaterThan(0);

    const reader = await Reader.open();
    await damage(async (bucket) => {
      const { objects } = await bucket.list({ prefix: 'columns/' });
      const all = [];
      for (const { key } of [...objects, { key: 'all.parquet' }])
        all.push(new Uint8Array(await (await bucket.get(key))!.arrayBuffer()));
      const whole = await reader.rows(all.pop()!, ROWS);
      const parts = await Promise.all(all.map(async (bytes) => await reader.rows(bytes, ROWS)));
      const wanted = Array.from({ length: sent }, (_, i) => ({
        i: BigInt(i),
        k: `k${(i + 1) % 7}`,
      }));
      for (const found of [whole, parts.flat()])
        expect(found.toSorted((a, b) => Number(a['i']) - Number(b['i']))).toEqual(wanted);
    });
    reader.close();

    let part = '';
    await damage(async (bucket) => {
      const { objects } = await bucket.list({ prefix: 'parts/' });
      part = objects.at(-1)!.key;
      const body = await (await bucket.get(part))!.arrayBuffer();
      await bucket.put(part.replace('.ndjson', '-again.ndjson'), body);
      const table = new Uint8Array(await (await bucket.get('all.parquet'))!.arrayBuffer());
      table[table.length - 20]! ^= 1;
      await bucket.put('all.parquet', table);
      const whole = await (await bucket.get('whole.ndjson'))!.text();
      await bucket.put('whole.ndjson', whole.slice(0, -3));
    });
    const damaged = await verify(thalweg.stateDir, id);
    expect(damaged.code).toBe(1);
    expect(damaged.verdict.proved).toBe(false);
    expect(new Set(damaged.verdict.findings.map(({ code, key }) => `${code} ${key}`))).toEqual(
      new Set([
        `OUTPUT_UNKNOWN ${part.replace('.ndjson', '-again.ndjson')}`,
        'OUTPUT_ALTERED whole.ndjson',
        'OUTPUT_ALTERED all.parquet',
      ]),
    );
  },
);
