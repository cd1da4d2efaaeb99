/** Scenario 27, collection's half: what sinks of a lost history have staged is thrown away, and nothing else is. */
import { expect, test } from 'vitest';
import { stagedEpoch, stagedPrefix } from '../../src/connectors/two-phase-sink.ts';
import { checkpointManifestCodec } from '../../src/lineage/codec.ts';
import { collectGarbage } from '../../src/lineage/collect.ts';
import { collectStaged } from '../../src/lineage/collect-staged.ts';
import type { LineageContext } from '../../src/lineage/context.ts';
import type { CheckpointManifest, SinkItem, Tip } from '../../src/lineage/types.ts';
import { Bench } from '../harness/lineage-bench.ts';
import { contextOf, incarnation, PATHS } from '../harness/lineage-leader.ts';

const orphan = (name: string): SinkItem => ({
  sink: 'sink-1',
  subtask: 0,
  index: 0,
  payload: { key: `out/${name}`, uploadId: name, etag: 'e', size: 1, rows: 1 },
});

function manifestAt(bench: Bench, key: string): CheckpointManifest {
  const decoded = checkpointManifestCodec.decode(bench.store.objects.get(key)!.body);
  if (decoded.tag === 'broken') throw new Error(decoded.message);
  return decoded.value;
}

/**
 * Generation 1 has committed epochs 2 to 7. In epochs 3 and 4 a start `lost` has lost; its manifest of epoch 3 also names
 * what epoch `sharedBy` has committed, as one whose hosts went on under the next start does.
 */
function withLosers(sharedBy: number): {
  bench: Bench;
  ctx: LineageContext;
  tip: Tip;
  losers: string[];
  shared: SinkItem[];
} {
  const bench = new Bench();
  bench.allocate(0);
  const { tip } = bench.leader(1, 6).finish();
  const shared = manifestAt(bench, bench.canonical().get(sharedBy)!).items;
  expect(shared).not.toEqual([]);
  const losers = [3, 4].map((epoch) => {
    const winner = manifestAt(bench, bench.canonical().get(epoch)!);
    const items = [orphan(`orphan-${epoch}`), ...(epoch === 3 ? shared : [])];
    const key = PATHS.manifest(1, 'lost', epoch);
    const body = checkpointManifestCodec.encode({ ...winner, nonce: 'lost', items });
    bench.store.objects.set(key, { body, etag: key });
    return key;
  });
  const ctx = contextOf({ generation: 1, me: incarnation(1) });
  return { bench, ctx, tip: tip!, losers, shared };
}

const ORPHANS = [orphan('orphan-3'), orphan('orphan-4')];

test('scenario 27: what losing manifests name is thrown away, once, and not what a retained checkpoint names', () => {
  const { bench, ctx, tip, losers } = withLosers(6);
  expect(bench.run(collectGarbage(ctx, tip, 2))).toMatchObject({ tag: 'collected', floor: 5 });
  expect(bench.store.aborted).toEqual(ORPHANS);
  for (const key of losers) expect(bench.store.objects.has(key)).toBe(false);
  for (let epochs = 1; epochs >= 0; epochs--) bench.run(collectGarbage(ctx, tip, epochs));
  expect(bench.store.aborted).toEqual(ORPHANS);
});

test('scenario 27: a losing manifest at or above the floor keeps what it names', () => {
  const { bench, ctx, tip, losers } = withLosers(6);
  expect(bench.run(collectGarbage(ctx, tip, 4))).toMatchObject({ tag: 'collected', floor: 3 });
  expect(bench.store.aborted).toEqual([]);
  for (const key of losers) expect(bench.store.objects.has(key)).toBe(true);
});

test('27, 42: wherever a collection dies, items go before the manifest that names them, and the next one finishes', () => {
  for (let steps = 0; ; steps++) {
    const { bench, ctx, tip, losers } = withLosers(7);
    const dying = bench.start(collectGarbage(ctx, tip, 2));
    for (let step = 0; step < steps && dying.op !== null; step++) {
      dying.step();
      if (losers.some((key) => !bench.store.objects.has(key)))
        expect(bench.store.aborted, `after ${step} steps`).toEqual(ORPHANS);
    }
    const done = dying.op === null;
    expect(bench.run(collectGarbage(ctx, tip, 1)).tag, `after ${steps} steps`).toBe('collected');
    const names = new Set(bench.store.aborted.map((item) => JSON.stringify(item)));
    expect(names, `after ${steps} steps`).toEqual(
      new Set(ORPHANS.map((item) => JSON.stringify(item))),
    );
    for (const key of losers) expect(bench.store.objects.has(key)).toBe(false);
    if (done) break;
  }
});

test('scenario 27: while the sinks do not answer, losing manifests stay, the rest is collected, and the next collection goes on', () => {
  const { bench, ctx, tip, losers } = withLosers(6);
  const failing = bench.start(collectGarbage(ctx, tip, 2));
  while (failing.op !== null) failing.step(failing.op.op === 'abort' ? 'fail' : 'apply');
  expect(failing.result).toMatchObject({ tag: 'interrupted', floor: 5 });
  expect(bench.store.aborted).toEqual([]);
  for (const key of losers) expect(bench.store.objects.has(key)).toBe(true);
  expect(bench.store.objects.has(PATHS.record(3))).toBe(false);
  expect(bench.run(collectGarbage(ctx, tip, 1)).tag).toBe('collected');
  expect(bench.store.aborted).toEqual(ORPHANS);
  for (const key of losers) expect(bench.store.objects.has(key)).toBe(false);
});

const PREFIX = stagedPrefix('pl');
const NAMES = { prefix: PREFIX, epochOf: stagedEpoch };
const staged = (epoch: number, name: string): string =>
  `${PREFIX}out/part-${String(epoch).padStart(7, '0')}-000-0000-${name}.ndjson`;

/** Epochs 2 to 7 are committed; epoch 6 names a part that was labelled 4, when its first attempt was made. */
function withParts(): { bench: Bench; ctx: LineageContext; tip: Tip; retained: string } {
  const bench = new Bench();
  bench.allocate(0);
  const { tip } = bench.leader(1, 6).finish();
  const retained = staged(4, 'of-epoch-6');
  const parts = [1, 4, 5, 6, 7, 8].map((epoch) => staged(epoch, 'part'));
  for (const key of [...parts, retained, `${PREFIX}out/readme.txt`])
    bench.store.objects.set(key, { body: new Uint8Array(1), etag: key });
  const ctx = contextOf({ generation: 1, me: incarnation(1) });
  const named = (manifest: CheckpointManifest): CheckpointManifest => ({
    ...manifest,
    items: [...manifest.items, { ...orphan('x'), payload: { key: retained } }],
  });
  // The tip is handed over; what lies between it and the floor is read.
  return { bench, ctx, tip: { ...tip!, manifest: named(tip!.manifest!) }, retained };
}

test('scenario 27: staged objects labelled below the floor go, but for those that a retained checkpoint names', () => {
  const { bench, ctx, tip, retained } = withParts();
  expect(bench.run(collectStaged(ctx, tip, 5, NAMES))).toEqual({ tag: 'collected', deleted: 2 });
  expect(bench.store.keys().filter((key) => key.startsWith(PREFIX))).toEqual(
    [
      ...[5, 6, 7, 8].map((epoch) => staged(epoch, 'part')),
      retained,
      `${PREFIX}out/readme.txt`,
    ].sort(),
  );
  expect(bench.run(collectStaged(ctx, tip, 5, NAMES))).toEqual({ tag: 'collected', deleted: 0 });
});

test('27, 44: no staged object goes while a retained checkpoint cannot be read', () => {
  for (const epoch of [5, 6]) {
    const { bench, ctx, tip } = withParts();
    bench.corrupt(bench.canonical().get(epoch)!, 'not a manifest');
    const before = bench.store.keys();
    expect(bench.run(collectStaged(ctx, tip, 5, NAMES)).tag).toBe('broken');
    expect(bench.store.keys()).toEqual(before);
  }
});
