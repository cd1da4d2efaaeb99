/**
 * Verification of a bucket over R2's S3 API, as workerd's own R2 serves it and checks its signatures. The bucket is that of
 * a run of the production step machines; afterwards one thing after another is damaged in it.
 */
import { spawn } from 'node:child_process';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Miniflare, convertV4MiniflareOptions } from 'miniflare';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '../../src/base/assert.ts';
import { PROJECT_ROOT } from '../../src/cli/project.ts';
import { r2AccessOf, r2Reader } from '../../src/cli/r2-bucket.ts';
import { type JobVerdict, verdictsOn } from '../../src/cli/verify.ts';
import type { CheckpointManifest } from '../../src/lineage/types.ts';
import { bucketOf, clusterOf, FILES, verdictOn } from '../audit/world.ts';
import { PATHS } from '../harness/cluster/bucket.ts';
import type { MemoryObjectStore } from '../harness/memory-object-store.ts';

/** As long as R2's own. */
const KEYS = {
  R2_ACCESS_KEY_ID: '5d41402abc4b2a76b9719d911017c592',
  R2_SECRET_ACCESS_KEY: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
};
const BUCKET = 'r2://proof-of-lineage';

let miniflare: Miniflare;
let bucket: R2Bucket;
let endpoint: string;
let store: MemoryObjectStore;

beforeAll(async () => {
  const s3Credentials = {
    accessKeyId: KEYS.R2_ACCESS_KEY_ID,
    secretAccessKey: KEYS.R2_SECRET_ACCESS_KEY,
  };
  miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: 'export default {};',
      host: '127.0.0.1',
      r2Buckets: {
        BUCKET: { id: 'proof-of-lineage', s3Credentials },
        ODD: { id: 'odd-keys', s3Credentials },
      },
      cf: false,
      telemetry: { enabled: false },
    }),
  );
  bucket = (await miniflare.getR2Bucket('BUCKET')) as unknown as R2Bucket;
  endpoint = new URL('/cdn-cgi/local/r2/s3', await miniflare.ready).href;
  const cluster = clusterOf(FILES, 'over the S3 API');
  cluster.startGeneration('created');
  expect(cluster.runToOutcome()).toMatchObject({ tag: 'finished' });
  store = bucketOf(cluster);
  for (const [key, { body }] of store.objects) await bucket.put(key, body);
});

afterAll(async () => {
  await miniflare.dispose();
});

type Ended = { code: number; out: string; said: string };

/** The command as its user runs it, with nothing of this machine's environment that concerns R2. */
async function verify(environment: Record<string, string>, ...argv: string[]): Promise<Ended> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('R2_'));
  const child = spawn(
    process.execPath,
    [join(PROJECT_ROOT, 'bin/thalweg.mjs'), 'verify', ...argv],
    { env: { ...Object.fromEntries(inherited), ...environment } },
  );
  const [out, said, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number>((resolve) => child.on('close', (ended) => resolve(ended ?? 1))),
  ]);
  for (const key of Object.values(environment)) expect(out + said).not.toContain(key);
  return { code, out, said };
}

const read = async (...argv: string[]): Promise<Ended> =>
  await verify(KEYS, BUCKET, ...argv, '--endpoint', endpoint);

test('a bucket is proved over the S3 API, exactly as from its objects', async () => {
  const ended = await read('--json');
  expect(ended.code, ended.said).toBe(0);
  const expected = verdictOn(store);
  expect(expected.counts.outputRows).toBeGreaterThan(0);
  expect(JSON.parse(ended.out)).toEqual({ pipeline: 'pl', job: 'job', ...expected });
  expect((await read('pl')).out).toMatch(/^proved: pipeline pl, job job, epochs 1 to \d+\n/);
});

const textOf = (key: string): string =>
  new TextDecoder().decode(must(store.objects.get(key), key).body);

test(
  'damage is found over the S3 API, and named as from the objects',
  { timeout: 120_000 },
  async () => {
    const keys = store.keys();
    const output = must(
      keys.findLast((key) => key.startsWith('windows/')),
      'output',
    );
    // One that a canonical manifest names: others may lie about until they are collected.
    const state = must(
      keys
        .filter((key) => key.endsWith('.record'))
        .flatMap((key) => {
          const record = JSON.parse(textOf(key)) as { checkpoint: { ref: string } };
          return (JSON.parse(textOf(record.checkpoint.ref)) as CheckpointManifest).files;
        })
        .at(-1)?.key,
      'state',
    );
    const damages: [string, (body: Uint8Array) => Uint8Array | null][] = [
      [PATHS.record(3), () => null],
      [output, () => null],
      [output, (body) => body.subarray(1)],
      ['every.ndjson', (body) => body.with(7, body[7]! ^ 1)],
      [state, (body) => body.with(0, body[0]! ^ 1)],
      [PATHS.current, () => new TextEncoder().encode('{}')],
    ];
    const reader = r2Reader(r2AccessOf(BUCKET, endpoint, KEYS), { pageKeysMax: 7 });
    for (const [key, change] of damages) {
      const sound = must(store.objects.get(key), key);
      const body = change(sound.body.slice());
      if (body === null) store.objects.delete(key);
      else store.objects.set(key, { ...sound, body });
      await (body === null ? bucket.delete(key) : bucket.put(key, body));
      const expected = verdictOn(store);
      expect(expected.findings, key).not.toEqual([]);
      const verdicts = await verdictsOn(reader, 'pl');
      expect(verdicts, key).toEqual([{ pipeline: 'pl', job: 'job', ...expected }]);
      if (key === 'every.ndjson') {
        const ended = await read('--json');
        expect(ended.code, ended.said).toBe(1);
        expect((JSON.parse(ended.out) as JobVerdict).findings).toEqual(expected.findings);
      }
      store.objects.set(key, sound);
      await bucket.put(key, sound.body);
    }
    expect(await verdictsOn(reader, 'pl')).toMatchObject([{ proved: true }]);
  },
);

test('objects with odd keys are listed and read, page by page', async () => {
  const odd = (await miniflare.getR2Bucket('ODD')) as unknown as R2Bucket;
  const keys = [
    'a b/c+d',
    "it's (1)!*.x",
    '%2F%25',
    'ä/€/𝄞',
    'q?x=1&y#z',
    'a//b',
    '~-_.',
    '<&>"',
    'k=v;w,x@y$z:',
  ].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  for (const key of keys) await odd.put(key, `of ${key}`);
  const reader = r2Reader(r2AccessOf('r2://odd-keys', endpoint, KEYS), { pageKeysMax: 3 });
  const listed: string[] = [];
  for (let truncated = true; truncated;) {
    const page = await reader.list('', listed.at(-1) ?? '');
    listed.push(...page.keys);
    truncated = page.truncated;
  }
  expect(listed).toEqual(keys);
  for (const key of keys)
    expect(new TextDecoder().decode((await reader.get(key)) ?? undefined)).toBe(`of ${key}`);
  expect(await reader.get('a b')).toBeNull();
  for (const key of keys) expect((await reader.list(key, '')).keys[0]).toBe(key);
});

/** An address at which nobody is any more. */
async function deserted(): Promise<string> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return `http://127.0.0.1:${port}`;
}

describe('what keeps a bucket from being read is said', () => {
  test('missing keys, wrong keys, no such bucket, nobody there', { timeout: 120_000 }, async () => {
    const cases: [RegExp, Record<string, string>, string[]][] = [
      [/MISSING_OPTION: .*R2_ACCOUNT_ID, R2_ACCESS_KEY_ID, R2_SECRET_ACCESS_KEY\n/, {}, [BUCKET]],
      [
        /ACCESS_DENIED: .*\n.*403 SignatureDoesNotMatch/,
        { ...KEYS, R2_SECRET_ACCESS_KEY: 'f'.repeat(64) },
        [BUCKET, '--endpoint', endpoint],
      ],
      [
        /ACCESS_DENIED: .*\n.*401 Unauthorized/,
        { ...KEYS, R2_ACCESS_KEY_ID: 'f'.repeat(32) },
        [BUCKET, '--endpoint', endpoint],
      ],
      [/NOT_FOUND: there is no such bucket/, KEYS, ['r2://no-such', '--endpoint', endpoint]],
      [
        /NOT_FOUND: the bucket has no lineage of pipeline pl_x/,
        KEYS,
        [BUCKET, 'pl_x', '--endpoint', endpoint],
      ],
      [/STORE_FAILED: .*ECONNREFUSED/, KEYS, [BUCKET, '--endpoint', await deserted()]],
    ];
    for (const [expected, environment, argv] of cases) {
      const ended = await verify(environment, ...argv);
      expect(ended.said).toMatch(expected);
      expect(ended).toMatchObject({ code: 1, out: '' });
    }
  });
});
