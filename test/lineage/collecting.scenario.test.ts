/** Scenarios about garbage collection; numbers are those of the list of lineage scenarios. */
import { expect, test } from 'vitest';
import { collectGarbage } from '../../src/lineage/collect.ts';
import type { LineageContext } from '../../src/lineage/context.ts';
import { openLineage } from '../../src/lineage/open.ts';
import { contentHash } from '../../src/lineage/content-hash.ts';
import type { CheckpointManifest, Tip } from '../../src/lineage/types.ts';
import { Bench, isCurrentPut } from '../harness/lineage-bench.ts';
import { contextOf, incarnation, PATHS } from '../harness/lineage-leader.ts';
import type { Fate } from '../harness/memory-object-store.ts';

/** Generation 1 has committed epochs 2 to 7 and collected nothing. */
function sixEpochs(options: { pageSize?: number } = {}): {
  bench: Bench;
  ctx: LineageContext;
  tip: Tip;
} {
  const bench = new Bench(options);
  bench.allocate(0);
  const { tip } = bench.leader(1, 6).finish();
  return { bench, ctx: contextOf({ generation: 1, me: incarnation(1) }), tip: tip! };
}

/** Every retained canonical checkpoint, and each file it names, is there with its content. */
function expectWhole(bench: Bench, note: string): void {
  const current = JSON.parse(textOf(bench, PATHS.current)) as { floor: number };
  for (const [epoch, ref] of bench.canonical()) {
    if (epoch < current.floor) continue;
    const manifest = JSON.parse(textOf(bench, ref)) as CheckpointManifest;
    for (const file of manifest.files) {
      const object = bench.store.objects.get(file.key);
      expect(
        object === undefined ? 'missing' : contentHash(object.body),
        `${note}: ${file.key} of epoch ${epoch}`,
      ).toBe(file.hash);
    }
  }
}

function textOf(bench: Bench, key: string): string {
  const object = bench.store.objects.get(key);
  if (object === undefined) throw new Error(`missing ${key}`);
  return new TextDecoder().decode(object.body);
}

function epochsOfObjects(bench: Bench): number[] {
  const epochs = bench.store.keys().map((key) => {
    const name = PATHS.parse(key);
    return name !== null && 'epoch' in name ? name.epoch : Infinity;
  });
  return epochs.filter(Number.isFinite);
}

test('collecting leaves the kept epochs and what they reference, and nothing else', () => {
  for (const pageSize of [1000, 2]) {
    const { bench, ctx, tip } = sixEpochs({ pageSize });
    const outcome = bench.run(collectGarbage(ctx, tip, 2));
    expect(outcome).toMatchObject({ tag: 'collected', floor: 5 });
    expectWhole(bench, `page ${pageSize}`);
    // Epoch 5 still references the newest file of epoch 4.
    const below = bench.store.keys().filter((key) => {
      const name = PATHS.parse(key);
      return name !== null && 'epoch' in name && name.epoch < 5;
    });
    expect(below).toEqual([PATHS.file(1, 'n1-1', 4, 'sum', 'totals', 0, 'u')]);
    expect(bench.run(collectGarbage(ctx, tip, 2))).toEqual({
      tag: 'skipped',
      reason: 'nothing-due',
    });
  }
});

test('scenario 40: a new generation that restores at any step of a collection misses no file', () => {
  for (let before = 0; ; before++) {
    const { bench, ctx, tip } = sixEpochs();
    const collecting = bench.start(collectGarbage(ctx, tip, 1));
    for (let step = 0; step < before && collecting.op !== null; step++) collecting.step();
    const { op } = collecting;
    bench.allocate(1);
    const opening = bench.start(openLineage(contextOf({ generation: 2, me: incarnation(2) })));
    while (opening.op !== null) {
      opening.step();
      if (collecting.op !== null) collecting.step();
    }
    expect(opening.result, `after ${before} steps`).toMatchObject({
      tag: 'opened',
      tip: { epoch: 7, committed: true },
    });
    expectWhole(bench, `after ${before} steps`);
    collecting.finish();
    expectWhole(bench, `after ${before} steps`);
    expect(
      bench.leader(2, 2, { startNo: 2, keep: 1 }).finish(),
      `after ${before} steps`,
    ).toMatchObject({ phase: 'write' });
    if (op === null) break;
  }
});

test('scenario 41: a zombie that planned before and deletes after its successor collected deletes nothing that is needed', () => {
  const { bench, ctx, tip } = sixEpochs();
  const zombie = bench.start(collectGarbage(ctx, tip, 2)).stepTo((op) => op.op === 'delete');
  bench.allocate(1);
  const second = bench.leader(2, 4, { keep: 1 }).finish();
  expect(second.phase).toBe('write');
  expect(zombie.finish().tag).toBe('collected');
  expectWhole(bench, 'after the zombie');
  const late = bench.start(collectGarbage(ctx, tip, 1));
  expect(late.finish()).toEqual({ tag: 'skipped', reason: 'fenced' });
});

test('scenario 41: a zombie cannot move the floor once another generation exists', () => {
  const { bench, ctx, tip } = sixEpochs();
  const zombie = bench.start(collectGarbage(ctx, tip, 2)).stepTo(isCurrentPut);
  bench.allocate(1);
  const keys = bench.store.keys();
  expect(zombie.finish()).toEqual({ tag: 'skipped', reason: 'fenced' });
  expect(bench.store.keys()).toEqual(keys);
});

test('scenario 42: after a crash before any request of a collection, the next one leaves no garbage', () => {
  for (let steps = 0; ; steps++) {
    const { bench, ctx, tip } = sixEpochs({ pageSize: 5 });
    const dying = bench.start(collectGarbage(ctx, tip, 3));
    for (let step = 0; step < steps && dying.op !== null; step++) dying.step();
    const done = dying.op === null;
    expect(bench.run(collectGarbage(ctx, tip, 1)), `after ${steps} steps`).toMatchObject({
      tag: 'collected',
      floor: 6,
    });
    expectWhole(bench, `after ${steps} steps`);
    const below = epochsOfObjects(bench).filter((epoch) => epoch < 6);
    expect(below, `after ${steps} steps`).toEqual([5]);
    if (done) break;
  }
});

test('scenario 42: a collection whose deletes fail reports that it was interrupted, and the next one finishes', () => {
  const { bench, ctx, tip } = sixEpochs();
  const failing = bench.start(collectGarbage(ctx, tip, 2)).stepTo((op) => op.op === 'delete');
  while (failing.op !== null) failing.step('fail');
  expect(failing.result).toMatchObject({
    tag: 'interrupted',
    floor: 5,
    report: { code: 'STORE_FAILED' },
  });
  expect(bench.run(collectGarbage(ctx, tip, 1)).tag).toBe('collected');
  expect(epochsOfObjects(bench).filter((epoch) => epoch < 6)).toEqual([5]);
});

test('scenario 43: a file carried forward is kept as long as something references it, and removed afterwards', () => {
  const bench = new Bench();
  bench.allocate(0);
  const leader = bench.leader(1, 8, { keep: 2 });
  let count = 0;
  while (!leader.ended) {
    leader.step();
    if (leader.state.phase === 'write') expectWhole(bench, `step ${count++}`);
  }
  // Two files in each of the three kept checkpoints, each shared with the next, so four files in all.
  expect(bench.store.keys().filter((key) => PATHS.parse(key)?.tag === 'file')).toHaveLength(4);
});

test('scenario 44: when the plan meets something unreadable, nothing is deleted and the floor stays', () => {
  const manifest = PATHS.manifest(1, 'n1-1', 5);
  const damages: [string, (bench: Bench) => unknown][] = [
    ['record damaged', (bench) => bench.corrupt(PATHS.record(5), 'x')],
    ['record missing', (bench) => bench.store.objects.delete(PATHS.record(5))],
    ['manifest damaged', (bench) => bench.corrupt(manifest, '{"files":[]}')],
    ['manifest missing', (bench) => bench.store.objects.delete(manifest)],
    ['O1 damaged', (bench) => bench.corrupt(PATHS.current, '{}')],
  ];
  for (const [name, damage] of damages) {
    const { bench, ctx, tip } = sixEpochs();
    damage(bench);
    const before = bench.store.keys();
    const current = textOf(bench, PATHS.current);
    const outcome = bench.run(collectGarbage(ctx, tip, 2));
    expect(outcome, name).toMatchObject({
      tag: 'skipped',
      reason: 'unreadable',
      report: { code: 'LINEAGE_BROKEN' },
    });
    expect(bench.store.keys(), name).toEqual(before);
    expect(textOf(bench, PATHS.current), name).toBe(current);
  }
});

test('names that are not ours are left alone', () => {
  const { bench, ctx, tip } = sixEpochs();
  const strangers = [
    `${PATHS.prefix}generations/readme.txt`,
    `${PATHS.prefix}epochs/1.record`,
    'pl/job2/epochs/0000000001.record',
  ];
  for (const key of strangers)
    bench.store.answer({ op: 'put', key, body: new Uint8Array(), condition: { tag: 'absent' } });
  expect(bench.run(collectGarbage(ctx, tip, 0)).tag).toBe('collected');
  for (const key of strangers) expect(bench.store.objects.has(key), key).toBe(true);
});

test('what dead generations left is removed, their notes too, but for what is still retained', () => {
  const bench = new Bench();
  bench.allocate(0);
  bench.leader(1, 3).finish();
  bench.allocate(1);
  bench.leader(2, 1).stepTo((op) => op.op === 'sink');
  bench.allocate(2);
  bench.leader(3, 4, { keep: 2 }).finish();
  expect(
    bench.store
      .keys()
      .filter((key) => key.startsWith(PATHS.generations))
      .every((key) => key.includes('/n3-1/')),
  ).toBe(true);
  expect(bench.store.objects.has(PATHS.generation(3, 'n3-1'))).toBe(true);
  expectWhole(bench, 'end');
});

test('a floor whose answer is lost or late is recognised or repeated', () => {
  for (const fate of ['lose-answer', 'delay', 'throttle', 'fail'] satisfies Fate[]) {
    const { bench, ctx, tip } = sixEpochs();
    const collecting = bench.start(collectGarbage(ctx, tip, 2)).stepTo(isCurrentPut);
    collecting.step(fate);
    expect(collecting.finish(), fate).toMatchObject({ tag: 'collected', floor: 5 });
    if (bench.store.delayed.length > 0) expect(bench.store.land().tag).toBe('refused');
    expectWhole(bench, fate);
  }
});
