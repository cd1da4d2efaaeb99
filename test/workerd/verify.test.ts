/**
 * Verification of buckets that real workerd wrote: of a running pipeline at its address, and of the state directory
 * afterwards, in which one thing after another is damaged.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Miniflare, convertV4MiniflareOptions } from 'miniflare';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JobVerdict } from '../../src/cli/verify.ts';
import { PROJECT_ROOT, resourceDir } from '../../src/cli/project.ts';
import { readWorkerDescription } from '../../src/cli/worker-options.ts';
import { Thalweg } from '../harness/thalweg.ts';

const QUERY = `
CREATE TABLE ev (i BIGINT NOT NULL, k TEXT) WITH (connector = 'http', partitions = 2, format = 'json', type = 'source');
CREATE TABLE parts WITH (connector = 'r2', path = 'parts', format = 'json', type = 'sink');
CREATE TABLE whole WITH (connector = 'single_file', path = 'whole.ndjson', format = 'json', type = 'sink');
INSERT INTO parts SELECT i, k FROM ev WHERE i % 3 <> 0;
INSERT INTO whole SELECT k, i * 2 AS double FROM ev;
`;

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

    await thalweg.api.patch(id, { stop: 'checkpoint' });
    await thalweg.waitForJob(id, (job) => job.state === 'Stopped');
    await thalweg.stopAtOnce();
    const after = await verify(thalweg.stateDir, id);
    expect(after.verdict, after.said).toMatchObject({ proved: true, findings: [], pipeline: id });
    expect(after.verdict.counts.epochs).toBeGreaterThan(2);
    expect(after.verdict.counts.outputRows).toBeGreaterThan(0);

    let part = '';
    await damage(async (bucket) => {
      const { objects } = await bucket.list({ prefix: 'parts/' });
      part = objects.at(-1)!.key;
      const body = await (await bucket.get(part))!.arrayBuffer();
      await bucket.put(part.replace('.ndjson', '-again.ndjson'), body);
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
      ]),
    );
  },
);
