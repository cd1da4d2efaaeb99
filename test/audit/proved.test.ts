/** What the production step machines leave in the bucket is proved, whatever happened on the way. */
import { expect, test, vi } from 'vitest';
import { StreamHash } from '../../src/lineage/stream-hash.ts';
import { checkpointManifestCodec } from '../../src/lineage/codec.ts';
import type { CheckpointManifest } from '../../src/lineage/types.ts';
import type { SimulatedCluster } from '../harness/cluster.ts';
import { bucketOf, clusterOf, FILES, GENERATED, linesOf, put, verdictOn } from './world.ts';

// Whole runs of a cluster: a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** The canonical manifests in the order of their epochs. */
function manifestsOf(cluster: SimulatedCluster): CheckpointManifest[] {
  return cluster.store
    .keys()
    .filter((key) => key.endsWith('.record'))
    .map((key) => {
      const record = JSON.parse(new TextDecoder().decode(cluster.store.objects.get(key)!.body)) as {
        checkpoint: { ref: string };
      };
      const manifest = checkpointManifestCodec.decode(
        cluster.store.objects.get(record.checkpoint.ref)!.body,
      );
      if (manifest.tag !== 'decoded') throw new Error(manifest.message);
      return manifest.value;
    });
}

/** Each range of the input file, hashed from the file: contiguous over all epochs, and all of it. */
function expectWholeInput(cluster: SimulatedCluster, text: string): void {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  let rows = 0;
  for (const { inputs, kind, epoch } of manifestsOf(cluster)) {
    if (kind === 'fence') expect(inputs).toEqual([]);
    for (const range of inputs ?? []) {
      const [from, to] = [range.from, range.to].map(
        (offset) => (offset as { offset: number }).offset,
      );
      expect(from, `epoch ${epoch}`).toBe(at);
      at = to!;
      const part = bytes.subarray(from, to);
      const hash = new StreamHash();
      hash.update(part);
      expect(range.hash).toBe(part.length === 0 ? null : hash.digest());
      rows += range.rows;
    }
  }
  expect(at).toBe(bytes.length);
  expect(rows).toBe(text.split('\n').length - 1);
}

function expectProved(cluster: SimulatedCluster, seed: string): void {
  const verdict = verdictOn(bucketOf(cluster));
  expect(verdict.findings, seed).toEqual([]);
  expect(verdict).toMatchObject({ proved: true, from: 1, notes: [] });
  expect(verdict.chain).toMatch(/^[0-9a-f]{64}$/);
  const { committed } = cluster;
  expect(verdict.counts.outputRows).toBe(cluster.rows().length);
  expect(verdict.counts.outputs).toBe(committed.length);
}

test('a run without faults is proved, and its input ranges hash to the bytes of the file', () => {
  const cluster = clusterOf(FILES, 'quiet');
  cluster.startGeneration('created');
  expect(cluster.runToOutcome()).toMatchObject({ tag: 'finished' });
  expectProved(cluster, 'quiet');
  expectWholeInput(cluster, linesOf('quiet', 1_500));
});

test.each(['a', 'b', 'c', 'd', 'e', 'f'])(
  'a run with crashes and split brains is proved (seed %s)',
  (seed) => {
    const cluster = clusterOf(FILES, seed, {
      readBytesMax: 2_000,
      faults: { stageSlow: 0.3, fileSlow: 0.3, commitRepeated: 0.3 },
      pollMs: 500,
      settings: { checkpointTimeoutMs: 700 },
    });
    cluster.startGeneration('created');
    for (let fault = 0; fault < 4 && cluster.outcome === null; fault++) {
      cluster.runFor(200 + cluster.prng.below(1_500));
      if (cluster.outcome !== null) break;
      const kind = cluster.prng.below(3);
      if (kind === 0) cluster.crashHost(cluster.prng.below(2));
      else if (kind === 1) cluster.crashLeader();
      else cluster.splitBrain();
    }
    expect(cluster.runToOutcome()).toMatchObject({ tag: 'finished' });
    expect(cluster.generation).toBeGreaterThan(0);
    expectProved(cluster, seed);
    expectWholeInput(cluster, linesOf(seed, 1_500));
  },
);

test('ranges go on where they ended when partitions move between subtasks, and over a reset of state', () => {
  for (const reset of [false, true]) {
    const cluster = clusterOf(GENERATED, `rescale ${reset}`);
    cluster.startGeneration('created');
    for (const parallelism of [4, 1, 3]) {
      cluster.runFor(400);
      cluster.stop('checkpoint', { parallelism, reset });
      cluster.runFor(300);
    }
    expect(cluster.runToOutcome()).toMatchObject({ tag: 'finished' });
    expectProved(cluster, `rescale ${reset}`);
    const manifests = manifestsOf(cluster);
    const ranges = manifests.flatMap(({ inputs }) => inputs ?? []);
    const next = new Map<number, number>();
    for (const { partition, from, to, hash } of ranges) {
      expect((from as { next: number }).next).toBe(next.get(partition) ?? 0);
      next.set(partition, (to as { next: number }).next);
      expect(hash).toBeNull();
    }
    expect([...next.keys()].sort()).toEqual([0, 1, 2, 3]);
    expect([...next.values()]).toEqual([4000, 4000, 4000, 4000]);
    expect(new Set(manifests.map(({ parallelism }) => parallelism)).size).toBeGreaterThan(2);
  }
});

test('after collection what is left is proved, and the older output is named as not compared', () => {
  const cluster = clusterOf(FILES, 'collected', {
    settings: { checkpointsKept: 2 },
    checkpointIntervalMs: 50,
  });
  cluster.startGeneration('created');
  expect(cluster.runToOutcome()).toMatchObject({ tag: 'finished' });
  const verdict = verdictOn(bucketOf(cluster));
  expect(verdict.findings).toEqual([]);
  expect(verdict.proved).toBe(true);
  expect(verdict.from).toBeGreaterThan(1);
  expect(verdict.notes.join('\n')).toMatch(/were collected[^]*were not compared/);
});

test('with the input at hand each range is hashed again, and a changed byte is found in its epoch', () => {
  const cluster = clusterOf(FILES, 'inputs');
  cluster.startGeneration('created');
  cluster.runFor(800);
  cluster.crashHost(0);
  expect(cluster.runToOutcome()).toMatchObject({ tag: 'finished' });
  const store = bucketOf(cluster);
  expect(verdictOn(store, { inputs: true })).toMatchObject({
    proved: true,
    notes: ['the input in is not in the bucket, and was not compared'],
  });
  const input = new TextEncoder().encode(linesOf('inputs', 1_500));
  put(store, 'in', input);
  expect(verdictOn(store, { inputs: true })).toMatchObject({ proved: true, notes: [] });
  const data = manifestsOf(cluster).filter(({ inputs }) => (inputs?.[0]?.bytes ?? 0) > 0);
  expect(data.length).toBeGreaterThan(2);
  const { epoch, inputs } = data[1]!;
  const damaged = input.slice();
  const at = (inputs![0]!.from as { offset: number }).offset;
  damaged[at] = damaged[at]! ^ 1;
  put(store, 'in', damaged);
  expect(verdictOn(store).proved).toBe(true);
  expect(verdictOn(store, { inputs: true }).findings).toMatchObject([
    { code: 'INPUT_ALTERED', epoch, key: 'in' },
  ]);
});
