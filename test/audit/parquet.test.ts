/** Output in Parquet is proved like any other: files in folders, and one that grows. */
import { beforeAll, expect, test, vi } from 'vitest';
import { must } from '../../src/base/assert.ts';
import type { MemoryObjectStore } from '../harness/memory-object-store.ts';
import { bucketOf, clusterOf, put, verdictOn } from './world.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const QUERY = `
CREATE TABLE t (ts TIMESTAMP NOT NULL, k TEXT, v BIGINT, WATERMARK FOR ts AS ts - interval '3 seconds')
  WITH (connector = 'single_file', path = 'in', format = 'json', type = 'source', bad_data = 'drop');
CREATE TABLE parts (k TEXT, q BIGINT) PARTITIONED BY (k) WITH (connector = 'r2', path = 'parts', format = 'parquet', type = 'sink');
CREATE TABLE every WITH (connector = 'single_file', path = 'every.parquet', format = 'parquet', type = 'sink');
INSERT INTO parts SELECT k, 1000 / v AS q FROM t;
INSERT INTO every SELECT k, v FROM t;`;

let intact: MemoryObjectStore;
beforeAll(() => {
  const cluster = clusterOf(QUERY, 'parquet');
  cluster.startGeneration('created');
  expect(cluster.runToOutcome()).toMatchObject({ tag: 'finished' });
  intact = bucketOf(cluster);
});

/** What verification says of a bucket in which one object was changed. */
function findingsAfter(key: string, change: (body: Uint8Array) => Uint8Array): string[] {
  const before = must(intact.objects.get(key), key);
  put(intact, key, change(before.body.slice()));
  try {
    return verdictOn(intact).findings.map(({ code, key: at }) => `${code} ${at}`);
  } finally {
    intact.objects.set(key, before);
  }
}

const flipped =
  (at: number) =>
  (body: Uint8Array): Uint8Array =>
    body.map((byte, index) => (index === (at < 0 ? body.length + at : at) ? byte ^ 1 : byte));

const partKey = (): string =>
  must(
    [...intact.objects.keys()].find((key) => key.startsWith('parts/')),
    'a part',
  );

test('a run is proved, with a row in the files for each that was read and not wrong', () => {
  const verdict = verdictOn(intact);
  expect(verdict.findings).toEqual([]);
  expect(verdict.proved).toBe(true);
  expect(verdict.counts.outputRows).toBeGreaterThan(2_000);
});

test('a byte of a row, of a piece or of the footer behind all of them is missed', () => {
  expect(findingsAfter(partKey(), flipped(10))).toEqual([`OUTPUT_ALTERED ${partKey()}`]);
  for (const at of [0, 10, -1, -6, -9, -20, -100])
    expect(findingsAfter('every.parquet', flipped(at)), `byte ${at}`).toEqual([
      'OUTPUT_ALTERED every.parquet',
    ]);
  expect(findingsAfter('every.parquet', (body) => body.subarray(0, 50))).toEqual([
    'OUTPUT_ALTERED every.parquet',
  ]);
});

test('a file that nobody committed is found', () => {
  const key = partKey().replace('.parquet', '-again.parquet');
  put(intact, key, must(intact.objects.get(partKey()), 'the part').body);
  expect(verdictOn(intact).findings.map(({ code, key: at }) => `${code} ${at}`)).toEqual([
    `OUTPUT_UNKNOWN ${key}`,
  ]);
  intact.objects.delete(key);
});
