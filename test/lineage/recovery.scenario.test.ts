/** Scenarios about recovery; numbers are those of the list of lineage scenarios. */
import { expect, test } from 'vitest';
import { allocateGeneration } from '../../src/lineage/allocate.ts';
import { fenceAndBegin } from '../../src/lineage/fence.ts';
import { fileIsIntact } from '../../src/lineage/invariants.ts';
import { contentHash } from '../../src/lineage/content-hash.ts';
import { openLineage } from '../../src/lineage/open.ts';
import { publishCheckpoint } from '../../src/lineage/publish.ts';
import { completeCommit } from '../../src/lineage/commit.ts';
import { Bench, isCurrentGet, isRecordList, isSink } from '../harness/lineage-bench.ts';
import { contextOf, draftAfter, incarnation, PATHS } from '../harness/lineage-leader.ts';

const open = (bench: Bench, generation: number) =>
  bench.run(openLineage(contextOf({ generation, me: incarnation(generation) })));

/** Generation 1 ran `epochs` data epochs (2, 3, …); generation 2 is allocated. */
function afterFirst(epochs: number): Bench {
  const bench = new Bench();
  bench.allocate(0);
  bench.leader(1, epochs).finish();
  bench.allocate(1);
  return bench;
}

test('scenario 13: whatever request the leader died before, the next generation commits exactly the rest', () => {
  for (let steps = 0; ; steps++) {
    const bench = new Bench();
    bench.allocate(0);
    const first = bench.leader(1, 3, { keep: 1 });
    for (let step = 0; step < steps && !first.ended; step++) first.step();
    const { ended } = first;
    bench.allocate(1);
    const second = bench.leader(2, 3, { keep: 1 }).finish();
    expect(second, `after ${steps} steps`).toMatchObject({ phase: 'write', published: 3 });
    expect(bench.log.rows, `after ${steps} steps`).toEqual(bench.log.rows.map((_, index) => index));
    if (ended) break;
  }
});

test('scenario 14: a dead leader that wakes at any step of its successor changes nothing', () => {
  for (let dead = 0; dead < 60; dead += 3) {
    for (let woken = 0; woken < 60; woken += 4) {
      const bench = new Bench();
      bench.allocate(0);
      const first = bench.leader(1, 3, { keep: 1 });
      for (let step = 0; step < dead && !first.ended; step++) first.step();
      bench.allocate(1);
      const second = bench.leader(2, 3, { keep: 1 });
      for (let step = 0; step < woken && !second.ended; step++) second.step();
      first.finish();
      expect(second.finish(), `dead ${dead} woken ${woken}`).toMatchObject({
        phase: 'write',
        published: 3,
      });
      expect(bench.log.rows, `dead ${dead} woken ${woken}`).toEqual(
        bench.log.rows.map((_, index) => index),
      );
    }
  }
});

test('scenario 15: after generations that died before their first checkpoint, the next one recovers at once', () => {
  const bench = afterFirst(2);
  for (let generation = 2; generation < 7; generation++) {
    const dying = bench.leader(generation, 1);
    for (let step = 0; step < generation * 2; step++) dying.step();
    bench.allocate(generation);
  }
  const last = bench.leader(7, 1).finish();
  expect(last).toMatchObject({ phase: 'write', published: 1 });
  expect(bench.log.rows).toEqual([0, 1, 2]);
});

test('scenario 16: epochs that the controller never heard of are found by listing, without a chain of restarts', () => {
  const bench = afterFirst(6);
  const opened = open(bench, 2);
  expect(opened).toMatchObject({ tag: 'opened', floor: 0, tip: { epoch: 7, committed: true } });
});

test('scenario 17: a missing or damaged O1 beside other objects stops everything with an explicit error', () => {
  const missing = afterFirst(1);
  missing.store.objects.delete(PATHS.current);
  expect(open(missing, 2)).toMatchObject({ tag: 'broken', report: { code: 'LINEAGE_BROKEN' } });
  const allocate = (known: number) =>
    allocateGeneration({ paths: PATHS, nowMs: 0, writeId: 'w' }, known);
  expect(missing.run(allocate(0))).toMatchObject({ tag: 'broken' });
  expect(missing.run(allocate(2))).toMatchObject({ tag: 'broken' });

  for (const text of ['', 'null', '{}', '{"version":2}', '{"version":1,"generation":-1}']) {
    const damaged = afterFirst(1);
    damaged.corrupt(PATHS.current, text);
    expect(open(damaged, 2), text).toMatchObject({ tag: 'broken' });
    expect(damaged.run(allocate(2)), text).toMatchObject({ tag: 'broken' });
  }
});

test('scenario 17: a bucket that knows fewer generations than the controller is not taken over', () => {
  const bench = new Bench();
  expect(bench.run(allocateGeneration({ paths: PATHS, nowMs: 0, writeId: 'w' }, 3))).toMatchObject({
    tag: 'broken',
  });
  bench.allocate(0);
  expect(bench.run(allocateGeneration({ paths: PATHS, nowMs: 0, writeId: 'w' }, 3))).toMatchObject({
    tag: 'broken',
  });
});

test('scenario 18: a tip that is missing, damaged or contradicts its record is refused, without falling back', () => {
  const manifest = PATHS.manifest(1, 'n1-1', 3);
  const damages: [string, (bench: Bench) => void][] = [
    ['manifest missing', (bench) => bench.store.objects.delete(manifest)],
    ['manifest truncated', (bench) => bench.corrupt(manifest, '{"version":1,')],
    [
      'manifest of another epoch',
      (bench) =>
        bench.store.objects.set(manifest, bench.store.objects.get(PATHS.manifest(1, 'n1-1', 2))!),
    ],
    ['record damaged', (bench) => bench.corrupt(PATHS.record(3), '{}')],
    [
      'record of another epoch',
      (bench) =>
        bench.store.objects.set(PATHS.record(3), bench.store.objects.get(PATHS.record(2))!),
    ],
    ['marker damaged', (bench) => bench.corrupt(PATHS.marker(1, 'n1-1', 3), 'yes')],
    ['hole below the tip', (bench) => bench.store.objects.delete(PATHS.record(2))],
    ['first record missing', (bench) => bench.store.objects.delete(PATHS.record(1))],
  ];
  for (const [name, damage] of damages) {
    const bench = afterFirst(2);
    damage(bench);
    expect(open(bench, 2), name).toMatchObject({
      tag: 'broken',
      report: { code: 'LINEAGE_BROKEN', retry: 'never' },
    });
    expect(bench.leader(2, 1, { startNo: 2 }).finish().phase, name).toBe('broken');
  }
});

test('scenario 18: all records gone above a floor is an error, not a new lineage', () => {
  const bench = new Bench();
  bench.allocate(0);
  bench.leader(1, 4, { keep: 1 }).finish();
  bench.allocate(1);
  for (const key of bench.store.keys())
    if (key.startsWith(PATHS.epochs)) bench.store.objects.delete(key);
  expect(open(bench, 2)).toMatchObject({ tag: 'broken' });
});

test('scenario 18: a truncated state file is told by its size and its hash', () => {
  const bench = afterFirst(1);
  const opened = open(bench, 2);
  if (opened.tag !== 'opened') throw new Error(opened.tag);
  const file = opened.tip.manifest!.files[0]!;
  const { body } = bench.store.objects.get(file.key)!;
  expect(fileIsIntact(file, body.length, contentHash(body))).toBe(true);
  const cut = body.subarray(0, body.length - 1);
  expect(fileIsIntact(file, cut.length, contentHash(cut))).toBe(false);
});

test('a replaced leader that finds a hole is fenced, because its successor may have collected', () => {
  const bench = afterFirst(3);
  const second = bench
    .start(openLineage(contextOf({ generation: 2, me: incarnation(2) })))
    .stepTo(isRecordList);
  second.step();
  bench.allocate(2);
  bench.leader(3, 5, { keep: 0 }).finish();
  expect(second.finish()).toMatchObject({ tag: 'fenced', by: { generation: 3 } });
});

test('a leader that is replaced between listing and verifying does not restore', () => {
  const bench = afterFirst(1);
  const second = bench
    .start(openLineage(contextOf({ generation: 2, me: incarnation(2) })))
    .stepTo(isRecordList);
  second.stepTo(isCurrentGet);
  bench.allocate(2);
  expect(second.finish()).toMatchObject({
    tag: 'fenced',
    by: { generation: 3, incarnation: null },
  });
});

test('a failed read is never taken for nothing there', () => {
  const bench = afterFirst(1);
  const second = bench
    .start(openLineage(contextOf({ generation: 2, me: incarnation(2) })))
    .stepTo(isRecordList);
  while (second.op !== null) second.step(second.op.op === 'list' ? 'fail' : 'apply');
  expect(second.result).toMatchObject({
    tag: 'unavailable',
    report: { code: 'STORE_FAILED', retry: 'backoff' },
  });
  expect(open(bench, 2)).toMatchObject({ tag: 'opened', tip: { epoch: 2 } });
});

test('scenario 30: a reset keeps the line of epochs and the offsets, and forgets the rest', () => {
  const bench = afterFirst(2);
  const ctx = contextOf({ generation: 2, me: incarnation(2) });
  const opened = open(bench, 2);
  if (opened.tag !== 'opened') throw new Error(opened.tag);
  const info = { planHash: 'other', codeVersion: '2', parallelism: 2, reason: 'reset' };
  const kept = bench.run(fenceAndBegin(ctx, opened.tip, { reset: true, info }));
  if (kept.tag !== 'begun') throw new Error(kept.tag);
  expect(kept.tip.manifest).toMatchObject({
    epoch: 4,
    files: [],
    planHash: 'other',
    parallelism: 2,
    parent: opened.tip.ref,
  });
  expect(kept.tip.manifest!.broadcast).toEqual([
    { operator: 'source', table: 'offsets', subtask: 0, value: 2 },
  ]);
  const next = bench.run(publishCheckpoint(ctx, kept.tip, draftAfter(ctx, kept.tip)));
  expect(next).toMatchObject({
    tag: 'canonical',
    tip: { epoch: 5, manifest: { data: { generation: 2, epoch: 5, attempt: 1 } } },
  });
});

test('scenario 39: no fence can be put on a checkpoint whose commit is open', () => {
  const bench = new Bench();
  bench.allocate(0);
  bench.leader(1, 1).stepTo((op) => op.op === 'sink');
  bench.allocate(1);
  const opened = open(bench, 2);
  if (opened.tag !== 'opened') throw new Error(opened.tag);
  expect(opened.tip).toMatchObject({ epoch: 2, committed: false });
  const ctx = contextOf({ generation: 2, me: incarnation(2) });
  const options = {
    reset: true,
    info: { planHash: 'plan', codeVersion: '1', parallelism: 1, reason: 'reset' },
  };
  expect(() => bench.run(fenceAndBegin(ctx, opened.tip, options))).toThrow('not committed');
});

test('two leaders that redo the same commit may both mark it', () => {
  const bench = new Bench();
  bench.allocate(0);
  const first = bench
    .leader(1, 1)
    .stepTo((op) => op.op === 'put' && op.key === PATHS.marker(1, 'n1-1', 2));
  bench.allocate(1);
  expect(bench.leader(2, 1).finish()).toMatchObject({ phase: 'write' });
  first.step();
  expect(first.finish().phase).toBe('write');
  expect(bench.log.rows).toEqual([0, 1]);

  const ctx = contextOf({ generation: 2, me: incarnation(2) });
  const tip = { epoch: 2, ref: { ref: 'another', hash: '0'.repeat(32) }, committed: false };
  const { body } = bench.store.objects.get(PATHS.manifest(1, 'n1-1', 2))!;
  const manifest = JSON.parse(new TextDecoder().decode(body));
  expect(bench.run(completeCommit(ctx, { ...tip, manifest })).tag).toBe('broken');
});

test('a start that opens again while it collects finds the tip, whatever of the collection comes in between', () => {
  for (let before = 0; before < 7; before++) {
    for (let between = 0; between < 16; between++) {
      const bench = new Bench();
      bench.allocate(0);
      const isCollecting = (op: { op: string }): boolean => op.op === 'delete';
      const first = bench.leader(1, 3, { keep: 0 }).stepTo(isCollecting);
      first.step();
      // Epoch 3 is committed and about to be collected behind; the same start opens the lineage again.
      first.stepTo(isSink(3)).step();
      const again = bench.start(openLineage(contextOf({ generation: 1, me: incarnation(1) })));
      for (let step = 0; step < before && again.op !== null; step++) again.step();
      for (let step = 0; step < between && first.state.phase !== 'write'; step++) first.step();
      const opened = again.finish();
      expect(opened, `${before} requests, ${between} of the collection`).toMatchObject({
        tag: 'opened',
        tip: { epoch: 3 },
      });
    }
  }
});

test('a replaced leader whose marker was there and is gone is fenced, and does not write it for ever', () => {
  const bench = new Bench();
  bench.allocate(0);
  const first = bench
    .leader(1, 1)
    .stepTo((op) => op.op === 'put' && op.key === PATHS.marker(1, 'n1-1', 2));
  bench.allocate(1);
  const second = bench.leader(2, 4, { keep: 0 });
  second.stepTo((op) => op.op === 'delete');
  first.step();
  second.finish();
  expect(bench.store.objects.has(PATHS.marker(1, 'n1-1', 2))).toBe(false);
  expect(first.finish().phase).toBe('fenced');
});
