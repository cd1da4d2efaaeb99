/** Scenarios about claiming an epoch and being fenced; numbers are those of the list of lineage scenarios. */
import { expect, test } from 'vitest';
import { allocateGeneration } from '../../src/lineage/allocate.ts';
import { fenceAndBegin } from '../../src/lineage/fence.ts';
import { openLineage } from '../../src/lineage/open.ts';
import { publishCheckpoint } from '../../src/lineage/publish.ts';
import type { Tip } from '../../src/lineage/types.ts';
import {
  Bench,
  isCurrentGet,
  isCurrentPut,
  isRecordList,
  isRecordPut,
  isSink,
} from '../harness/lineage-bench.ts';
import type { BenchLeader } from '../harness/lineage-bench.ts';
import { contextOf, draftAfter, incarnation, offsetOf, PATHS } from '../harness/lineage-leader.ts';
import type { Fate } from '../harness/memory-object-store.ts';

const INFO = { planHash: 'plan', codeVersion: '1', parallelism: 1, reason: 'test' };

/** Generation 1 has fenced epoch 1, committed epoch 2, and is about to claim epoch 3. */
function halfWay(): { bench: Bench; first: BenchLeader } {
  const bench = new Bench();
  bench.allocate(0);
  const first = bench.leader(1, 2).stepTo(isRecordPut(3));
  expect(bench.log.rows).toEqual([0]);
  return { bench, first };
}

/** The owner behind a fresh fence, ready to publish. */
function begun(bench: Bench, generation: number): Tip {
  const ctx = contextOf({ generation, me: incarnation(generation) });
  const opened = bench.run(openLineage(ctx));
  if (opened.tag !== 'opened') throw new Error(opened.tag);
  const fence = bench.run(fenceAndBegin(ctx, opened.tip, { reset: false, info: INFO }));
  if (fence.tag !== 'begun') throw new Error(fence.tag);
  return fence.tip;
}

test('scenario 1: two owners that finish an epoch at once, in every order, leave one canonical checkpoint and exact output', () => {
  // Every way to merge the next eight steps of the old owner with those of the new one.
  for (let order = 0; order < 1 << 12; order += 7) {
    const { bench, first } = halfWay();
    bench.allocate(1);
    const second = bench.leader(2, 2);
    for (let bit = 0; bit < 12; bit++) {
      const actor = (order >> bit) & 1 ? first : second;
      if (!actor.ended) actor.step();
    }
    const secondEnds = second.finish();
    const firstEnds = first.finish();
    expect([secondEnds.phase, secondEnds.published], `order ${order}`).toEqual(['write', 2]);
    expect(firstEnds.phase, `order ${order}`).toBe('fenced');
    expect(bench.log.rows, `order ${order}`).toEqual(bench.log.rows.map((_, index) => index));
    expect(bench.log.rows.length, `order ${order}`).toBe(offsetOf(secondEnds.tip!));
  }
});

test('scenario 2a: a zombie claim before the successor lists becomes its tip, is redone, and is followed by the fence', () => {
  const { bench, first } = halfWay();
  bench.allocate(1);
  const second = bench.leader(2, 1);
  second.stepTo(isRecordList);
  first.step();
  const end = second.finish();
  expect(first.finish().phase).toBe('fenced');
  expect(bench.log.rows).toEqual([0, 1, 2]);
  expect(end.tip?.epoch).toBe(5);
  expect(bench.canonical().get(3)).toBe(PATHS.manifest(1, 'n1-1', 3));
  expect(bench.canonical().get(4)).toBe(PATHS.manifest(2, 'n2-1', 4));
});

test('scenario 2b: the fence before the zombie claim makes the zombie retire, and its data is replayed', () => {
  const { bench, first } = halfWay();
  bench.allocate(1);
  const second = bench.leader(2, 1);
  second.stepTo(isRecordPut(4));
  first.step();
  expect(first.finish().phase).toBe('fenced');
  second.finish();
  expect(bench.log.rows).toEqual([0, 1]);
  expect(bench.canonical().get(3)).toBe(PATHS.manifest(2, 'n2-1', 3));
});

test('scenario 2c: a zombie claim between listing and fence is adopted, redone and fenced off', () => {
  const { bench, first } = halfWay();
  bench.allocate(1);
  const second = bench.leader(2, 1);
  second.stepTo(isRecordPut(3));
  first.step();
  expect(first.finish().phase).toBe('fenced');
  second.stepTo(isSink(3));
  const end = second.finish();
  expect(end).toMatchObject({ phase: 'write', published: 1 });
  expect(bench.log.rows).toEqual([0, 1, 2]);
  expect(bench.canonical().get(3)).toBe(PATHS.manifest(1, 'n1-1', 3));
});

test('scenario 2d and scenario 6: a zombie claim of a collected epoch is a stray that nobody takes for the tip and nobody commits', () => {
  const { bench, first } = halfWay();
  bench.allocate(1);
  const second = bench.leader(2, 6, { keep: 1 });
  second.finish();
  expect(bench.store.objects.has(PATHS.record(3))).toBe(false);
  const before = [...bench.log.rows];
  first.step();
  expect(bench.store.objects.has(PATHS.record(3))).toBe(true);
  expect(first.finish().phase).toBe('fenced');
  expect(bench.log.rows).toEqual(before);

  bench.allocate(2);
  const third = bench.leader(3, 3, { keep: 1 }).finish();
  expect(third).toMatchObject({ phase: 'write', published: 3 });
  expect(bench.log.rows).toEqual(bench.log.rows.map((_, index) => index));
  expect(bench.store.objects.has(PATHS.record(3))).toBe(false);
});

test('scenario 3: a claim whose answer is lost is recognised by reading it back, and is committed once', () => {
  const { bench, first } = halfWay();
  first.step('lose-answer');
  expect(first.next).toMatchObject({ op: 'get', key: PATHS.record(3) });
  const end = first.finish();
  expect(end).toMatchObject({ phase: 'write', published: 2 });
  expect(bench.log.rows).toEqual([0, 1]);
  expect(bench.log.lastEpoch).toBe(3);
});

test('scenario 4: a claim that lands after its repetition changes nothing', () => {
  const { bench, first } = halfWay();
  first.step('delay');
  first.stepTo(isRecordPut(3));
  first.step();
  expect(bench.store.land().tag).toBe('refused');
  expect(first.finish()).toMatchObject({ phase: 'write', published: 2 });
  expect(bench.log.rows).toEqual([0, 1]);
});

test('scenario 4: a claim that lands between its read-back and its repetition is recognised', () => {
  const { bench, first } = halfWay();
  first.step('delay');
  first.stepTo(isRecordPut(3));
  bench.store.land();
  first.step();
  expect(first.finish()).toMatchObject({ phase: 'write', published: 2 });
  expect(bench.log.rows).toEqual([0, 1]);
});

test('scenario 5: an abandoned claim that lands before the fence claim is adopted and redone by the successor', () => {
  const { bench, first } = halfWay();
  first.step('delay');
  bench.allocate(1);
  const second = bench.leader(2, 1).stepTo(isRecordPut(3));
  bench.store.land();
  expect(second.finish()).toMatchObject({ phase: 'write', published: 1 });
  expect(bench.log.rows).toEqual([0, 1, 2]);
});

test('scenario 10: a condition on an older O1 does not hold again, whoever wrote it', () => {
  const bench = new Bench();
  bench.allocate(0);
  const early = bench
    .start(openLineage(contextOf({ generation: 1, me: incarnation(1, 1) })))
    .stepTo(isCurrentPut);
  const opened = bench.run(openLineage(contextOf({ generation: 1, me: incarnation(1, 2) })));
  expect(opened.tag).toBe('opened');
  expect(early.step().tag).toBe('refused');
  expect(early.finish().tag).toBe('fenced');
});

test('scenario 11: a draft that skips an epoch, or follows an uncommitted tip, is refused before any request', () => {
  const bench = new Bench();
  bench.allocate(0);
  const tip = begun(bench, 1);
  const ctx = contextOf({ generation: 1, me: incarnation(1) });
  const draft = draftAfter(ctx, tip);
  const requests = bench.store.keys();
  expect(() => bench.run(publishCheckpoint(ctx, tip, { ...draft, epoch: tip.epoch + 2 }))).toThrow(
    'not the child',
  );
  expect(() => bench.run(publishCheckpoint(ctx, tip, { ...draft, epoch: tip.epoch }))).toThrow(
    'not the child',
  );
  const first = bench.run(publishCheckpoint(ctx, tip, draft));
  if (first.tag !== 'canonical') throw new Error(first.tag);
  expect(first.tip.committed).toBe(false);
  expect(() => bench.run(publishCheckpoint(ctx, first.tip, draftAfter(ctx, first.tip)))).toThrow(
    'not committed',
  );
  expect(bench.store.keys().length).toBe(requests.length + 2);
});

test('scenario 11: a draft with a file that neither its parent names nor its own epoch wrote is refused', () => {
  const bench = new Bench();
  bench.allocate(0);
  const tip = begun(bench, 1);
  const ctx = contextOf({ generation: 1, me: incarnation(1) });
  const draft = draftAfter(ctx, tip);
  const foreign = {
    ...draft.files[0]!,
    key: PATHS.file(9, 'n9-1', tip.epoch + 1, 'sum', 'totals', 0, 'u'),
  };
  expect(() => bench.run(publishCheckpoint(ctx, tip, { ...draft, files: [foreign] }))).toThrow(
    'files of strangers',
  );
});

test('scenario 12: a throttled write of O1 is repeated unchanged after at least a second and fences nobody', () => {
  const bench = new Bench();
  bench.allocate(0);
  const opening = bench
    .start(openLineage(contextOf({ generation: 1, me: incarnation(1) })))
    .stepTo(isCurrentPut);
  const first = opening.op;
  opening.step('throttle');
  expect(opening.op).toEqual(first);
  opening.step('throttle');
  expect(opening.op).toEqual(first);
  expect(opening.finish().tag).toBe('opened');
  expect(bench.store.pausesMs).toHaveLength(2);
  expect(Math.min(...bench.store.pausesMs)).toBeGreaterThanOrEqual(1000);
});

test('racing controllers that know the same generation reach the same next one', () => {
  for (const [known, wanted] of [
    [0, 1],
    [1, 2],
  ] as const) {
    const bench = new Bench();
    if (known === 1) bench.allocate(0);
    const workflow = (writeId: string) =>
      allocateGeneration({ paths: PATHS, nowMs: 0, writeId }, known);
    const left = bench.start(workflow('left')).stepTo(isCurrentPut);
    const right = bench.start(workflow('right')).stepTo(isCurrentPut);
    expect(right.finish()).toEqual({ tag: 'allocated', generation: wanted });
    expect(left.finish()).toEqual({ tag: 'allocated', generation: wanted });
  }
});

test('an allocation with a lost or late answer advances by one generation only', () => {
  for (const fate of ['lose-answer', 'delay', 'fail', 'throttle'] satisfies Fate[]) {
    const bench = new Bench();
    bench.allocate(0);
    const workflow = allocateGeneration({ paths: PATHS, nowMs: 0, writeId: 'again' }, 1);
    const controller = bench.start(workflow).stepTo(isCurrentPut);
    controller.step(fate);
    expect(controller.finish(), fate).toEqual({ tag: 'allocated', generation: 2 });
    if (bench.store.delayed.length > 0) expect(bench.store.land().tag).toBe('refused');
    expect(bench.allocate(1), fate).toBe(2);
  }
});

test('a start that a later start of the same leader overtook publishes nothing more, whatever it was about to do', () => {
  for (let steps = 0; ; steps++) {
    const bench = new Bench();
    bench.allocate(0);
    const zombie = bench.leader(1, 2);
    for (let step = 0; step < steps && !zombie.ended; step++) zombie.step();
    if (zombie.ended) break;
    const resumed = bench.leader(1, 2, { startNo: 2 });
    expect(resumed.finish(), `after ${steps} steps`).toMatchObject({
      phase: 'write',
      published: 2,
    });
    // Past its last verify it only commits and marks once more, which is no effect.
    const { published } = zombie.state;
    expect(zombie.finish().phase, `after ${steps} steps`).toBe(published < 2 ? 'fenced' : 'write');
    expect(bench.log.rows, `after ${steps} steps`).toEqual(bench.log.rows.map((_, index) => index));
  }
});

test('lost twice while still named in O1 is reported as such, with the tip to go back to', () => {
  const bench = new Bench();
  bench.allocate(0);
  const tip = begun(bench, 1);
  const mine = contextOf({ generation: 1, me: incarnation(1) });
  const stranger = contextOf({ generation: 7, me: incarnation(7) });
  // Only a broken store can make this happen: a record by somebody who never owned the lineage.
  const stolen = bench.start(publishCheckpoint(stranger, tip, draftAfter(stranger, tip)));
  stolen.finish();
  const outcome = bench.run(publishCheckpoint(mine, tip, draftAfter(mine, tip)));
  expect(outcome).toMatchObject({
    tag: 'lost-while-mine',
    tip: { epoch: tip.epoch + 1, committed: false },
  });
});

test('a request that never gets an answer ends as unavailable, and the same workflow goes through later', () => {
  const bench = new Bench();
  bench.allocate(0);
  const ctx = contextOf({ generation: 1, me: incarnation(1) });
  const opening = bench.start(openLineage(ctx));
  while (opening.op !== null) opening.step('fail');
  expect(opening.result).toMatchObject({ tag: 'unavailable', report: { code: 'STORE_FAILED' } });

  const tip = begun(bench, 1);
  const draft = draftAfter(ctx, tip);
  const publishing = bench.start(publishCheckpoint(ctx, tip, draft)).stepTo(isRecordPut(2));
  while (publishing.op !== null) publishing.step(publishing.op.op === 'put' ? 'fail' : 'apply');
  expect(publishing.result.tag).toBe('unavailable');
  expect(bench.run(publishCheckpoint(ctx, tip, draft)).tag).toBe('canonical');
});

test('a fence that was left behind by an unavailable store is recognised at another time of day', () => {
  const bench = new Bench();
  bench.allocate(0);
  const ctx = contextOf({ generation: 1, me: incarnation(1) });
  const opened = bench.run(openLineage(ctx));
  if (opened.tag !== 'opened') throw new Error(opened.tag);
  const options = { reset: false, info: INFO };
  const fencing = bench.start(fenceAndBegin(ctx, opened.tip, options)).stepTo(isCurrentGet);
  while (fencing.op !== null) fencing.step('fail');
  expect(fencing.result.tag).toBe('unavailable');
  const again = bench.run(fenceAndBegin({ ...ctx, nowMs: 99 }, opened.tip, options));
  expect(again).toMatchObject({ tag: 'begun', tip: { epoch: 1, manifest: { createdAtMs: 0 } } });
});
