import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { ObjectReader } from '../../src/cli/object-reader.ts';
import { parseVerifyArguments, verdictsOn, verdictText } from '../../src/cli/verify.ts';
import { bucketOf, clusterOf, FILES, put } from '../audit/world.ts';
import { MemoryObjectStore } from '../harness/memory-object-store.ts';

// Whole runs of a cluster: a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const PAGE = 5;

function readerOf(store: MemoryObjectStore): ObjectReader {
  return {
    list: async (prefix, after) => {
      const keys = store.keys().filter((key) => key.startsWith(prefix) && key > after);
      return { keys: keys.slice(0, PAGE), truncated: keys.length > PAGE };
    },
    get: async (key) => store.objects.get(key)?.body ?? null,
  };
}

let store: MemoryObjectStore;

beforeAll(() => {
  const cluster = clusterOf(FILES, 'command line');
  cluster.startGeneration('created');
  expect(cluster.runToOutcome()).toMatchObject({ tag: 'finished' });
  store = bucketOf(cluster);
  put(store, 'aside/of/no-interest', new Uint8Array(1));
  put(store, '100%/of/no-interest', new Uint8Array(1));
});

describe('verification on the command line', () => {
  test('finds the lineages of a bucket among other folders, and one by its id', async () => {
    const all = await verdictsOn(readerOf(store), null);
    expect(all).toMatchObject([{ pipeline: 'pl', job: 'job', proved: true }]);
    expect(await verdictsOn(readerOf(store), 'pl')).toEqual(all);
    await expect(verdictsOn(readerOf(store), 'other')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      report: { hint: 'It has lineages of: pl.' },
    });
    await expect(verdictsOn(readerOf(new MemoryObjectStore()), null)).rejects.toThrow('no lineage');
  });

  test('says for people what it proved and what it found', async () => {
    const [verdict] = await verdictsOn(readerOf(store), 'pl');
    const text = verdictText(verdict!);
    expect(text).toMatch(/^proved: pipeline pl, job job, epochs 1 to \d+\n/);
    expect(text).toMatch(/read {7}1500 rows, \d+ bytes\n/);
    expect(text).toContain(`chain      ${verdict!.chain}`);

    const damaged = new MemoryObjectStore();
    for (const [key, { body }] of store.objects) put(damaged, key, body);
    const output = damaged.keys().find((key) => key.startsWith('windows/'))!;
    damaged.objects.delete(output);
    const [bad] = await verdictsOn(readerOf(damaged), 'pl');
    expect(bad!.proved).toBe(false);
    expect(verdictText(bad!)).toMatch(
      new RegExp(
        `^NOT proved: .*: 1 contradiction\n  epoch \\d+  OUTPUT_MISSING: .* is missing\n    ${output}\n`,
      ),
    );
  });

  test('takes a bucket and perhaps a pipeline', () => {
    expect(parseVerifyArguments(['dir', 'pl', '--json'])).toEqual({
      bucket: 'dir',
      pipeline: 'pl',
      endpoint: null,
      inputs: false,
      json: true,
    });
    expect(parseVerifyArguments(['dir'])).toEqual({
      bucket: 'dir',
      pipeline: null,
      endpoint: null,
      inputs: false,
      json: false,
    });
    expect(parseVerifyArguments(['--url', 'http://127.0.0.1:1', 'pl'])).toEqual({
      bucket: 'http://127.0.0.1:1',
      pipeline: 'pl',
      endpoint: null,
      inputs: false,
      json: false,
    });
    const endpoint = 'https://example.test';
    expect(parseVerifyArguments(['r2://b', '--endpoint', endpoint])).toMatchObject({ endpoint });
    for (const wrong of [[], ['a', 'b', 'c'], ['a', '--jsn'], ['a', '--endpoint', endpoint]])
      expect(() => parseVerifyArguments(wrong)).toThrow();
  });
});
