/** Scenarios of late writes, repeated commits and crash points; numbers are those of the lists of scenarios and crash points. */
import { expect, test } from 'vitest';
import { allocateGeneration } from '../../src/lineage/allocate.ts';
import { HASH_SPACE, keyRangeOf, ownerOf } from '../../src/base/hash.ts';
import { openLineage } from '../../src/lineage/open.ts';
import { Bench, isCurrentPut, isRecordPut, isSink } from '../harness/lineage-bench.ts';
import type { BenchLeader } from '../harness/lineage-bench.ts';
import { contextOf, offsetOf, PATHS } from '../harness/lineage-leader.ts';

type Next = NonNullable<BenchLeader['next']>;

const puts = (key: string) => (op: Next) => op.op === 'put' && op.key === key;

/** What the sink holds is 0, 1, 2, … and all that generation 2 has read. */
function expectExact(bench: Bench, last: ReturnType<BenchLeader['finish']>): void {
  expect(bench.log.rows).toEqual(bench.log.rows.map((_, index) => index));
  expect(bench.log.rows.length).toBe(offsetOf(last.tip!));
}

function objectsOf(bench: Bench): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [key, { body }] of bench.store.objects) texts.set(key, new TextDecoder().decode(body));
  return texts;
}

test("scenario 7: a controller's allocation that lands after the next generation ran and collected has no effect", () => {
  const bench = new Bench();
  bench.allocate(0);
  bench.leader(1, 2).finish();
  const late = bench.start(allocateGeneration({ paths: PATHS, nowMs: 0, writeId: 'late' }, 1));
  late.stepTo(isCurrentPut).step('delay');
  bench.allocate(1);
  const second = bench.leader(2, 4, { keep: 1 }).finish();
  const before = objectsOf(bench);
  expect(bench.store.land().tag).toBe('refused');
  expect(objectsOf(bench)).toEqual(before);
  expect(late.finish()).toEqual({ tag: 'allocated', generation: 2 });
  expectExact(bench, second);
});

test('scenario 8: a record that is written once more, late, after publishing and after collecting, changes no recovery', () => {
  for (const keep of [null, 0]) {
    const bench = new Bench();
    bench.allocate(0);
    const first = bench.leader(1, 2).stepTo(isRecordPut(3));
    first.step('delay');
    first.finish();
    expect(bench.canonical().get(3)).toBe(PATHS.manifest(1, 'n1-1', 3));
    bench.allocate(1);
    bench.leader(2, 2, keep === null ? {} : { keep }).finish();
    bench.store.land();
    bench.allocate(2);
    const third = bench.leader(3, 1).finish();
    expect(third).toMatchObject({ phase: 'write', published: 1 });
    expectExact(bench, third);
  }
});

test('scenario 9: of two leaders with one generation number one runs, and neither writes a name of the other', () => {
  for (let before = 0; before < 12; before++) {
    const bench = new Bench();
    bench.allocate(0);
    const one = bench.leader(1, 2);
    const other = bench.start(
      openLineage(contextOf({ generation: 1, me: { objectId: 'other', startNo: 9, nonce: 'x' } })),
    );
    for (let step = 0; step < before; step++) one.step();
    const opened = other.finish();
    const end = one.finish();
    const runs = [opened.tag === 'opened', end.phase === 'write'].filter(Boolean).length;
    expect(runs, `after ${before} steps`).toBe(1);
    const names = bench.store.keys().filter((key) => key.startsWith(PATHS.generations));
    expect(names.every((key) => key.includes('/n1-1/'))).toBe(true);
  }
});

test('scenario 24: a commit that two generations make at once, and once more 20 epochs later, changes nothing', () => {
  const bench = new Bench();
  bench.allocate(0);
  const first = bench.leader(1, 1).stepTo(isSink(2));
  const call = first.next;
  if (call?.op !== 'sink') throw new Error('no call of the sink');
  bench.allocate(1);
  const second = bench.leader(2, 20).stepTo(isSink(2));
  first.step();
  second.step();
  expect(bench.log.rows).toEqual([0]);
  const end = second.finish();
  bench.log.commit(call.call);
  bench.log.commit(call.call);
  expect(end.published).toBe(20);
  expectExact(bench, end);
});

test('scenario 25: a redo after a lost acknowledgement, while another writer has changed the target, adds nothing', () => {
  const bench = new Bench();
  bench.allocate(0);
  bench.leader(1, 1).stepTo(isSink(2)).step();
  bench.log.rows.push(-1);
  bench.allocate(1);
  const second = bench.leader(2, 1).finish();
  expect(second).toMatchObject({ phase: 'write', published: 1 });
  expect(bench.log.rows).toEqual([0, -1, 1]);
});

test('scenario 35: boundary hashes belong to one subtask each at any parallelism, whatever it was before', () => {
  for (let count = 1; count <= 17; count++) {
    const ranges = Array.from({ length: count }, (_, index) => keyRangeOf(index, count));
    expect(ranges[0]?.lower).toBe(0);
    expect(ranges.at(-1)?.upper).toBe(HASH_SPACE);
    for (const { lower, upper } of ranges)
      for (const hash of [lower, upper - 1, 0, HASH_SPACE - 1]) {
        const owners = ranges.flatMap((range, index) =>
          hash >= range.lower && hash < range.upper ? [index] : [],
        );
        expect(owners, `hash ${hash} of ${count}`).toEqual([ownerOf(hash, count)]);
      }
  }
});

test('scenario 36: a partition without new rows keeps its offset over two restarts', () => {
  const bench = new Bench();
  bench.allocate(0);
  const first = bench.leader(1, 3).finish();
  for (const generation of [2, 3]) {
    bench.allocate(generation - 1);
    const idle = bench.leader(generation, 0).finish();
    expect(offsetOf(idle.tip!)).toBe(offsetOf(first.tip!));
  }
  bench.allocate(3);
  expectExact(bench, bench.leader(4, 1).finish());
});

test('scenario 37: a restart forced at any request of publish and commit, the old leader running on, is exactly once', () => {
  for (let steps = 0; steps < 16; steps++) {
    const bench = new Bench();
    bench.allocate(0);
    const first = bench.leader(1, 3).stepTo(puts(PATHS.manifest(1, 'n1-1', 3)));
    for (let step = 0; step < steps && !first.ended; step++) first.step();
    bench.allocate(1);
    const second = bench.leader(2, 2);
    while (!second.ended || !first.ended) {
      if (!first.ended) first.step();
      if (!second.ended) second.step();
    }
    expect(second.state, `after ${steps} steps`).toMatchObject({ phase: 'write', published: 2 });
    expectExact(bench, second.state);
  }
});

/** How far the leader gets in epoch 3 before it crashes or stalls, and the epoch from which its successor goes on. */
const CRASH_POINTS: Record<string, { reach: (leader: BenchLeader) => void; tip: number }> = {
  'crash point 1: after the barrier': {
    reach: (it) => void it.stepTo(isFile(3)),
    tip: 2,
  },
  'crash point 2: after a state file was sent, without an answer': {
    reach: (it) => it.stepTo(isFile(3)).step('delay'),
    tip: 2,
  },
  'crash point 3: after all state files': {
    reach: (it) => it.stepTo(isFile(3)).step(),
    tip: 2,
  },
  'crash point 4: after the manifest': {
    reach: (it) => it.stepTo(puts(PATHS.manifest(1, 'n1-1', 3))).step(),
    tip: 2,
  },
  'crash point 6: after the claim, its answer lost': {
    reach: (it) => it.stepTo(isRecordPut(3)).step('lose-answer'),
    tip: 3,
  },
  'crash point 7: after the sink was called, without its answer': {
    reach: (it) => void it.stepTo(isSink(3)),
    tip: 3,
  },
  'crash point 8: after all commits, before the marker': {
    reach: (it) => it.stepTo(isSink(3)).step(),
    tip: 3,
  },
  'crash point 9: after the marker': {
    reach: (it) => it.stepTo(puts(PATHS.marker(1, 'n1-1', 3))).step(),
    tip: 3,
  },
  'crash point 10: after the floor, before the deletes': {
    reach: (it) => it.stepTo((op) => op.op === 'delete'),
    tip: 3,
  },
};

function isFile(epoch: number): (op: Next) => boolean {
  return (op) => {
    const name = op.op === 'put' ? PATHS.parse(op.key) : null;
    return name?.tag === 'file' && name.epoch === epoch;
  };
}

test.each(Object.entries(CRASH_POINTS))(
  '%s: the successor recovers at once, and the old leader that wakes at any step changes nothing',
  (_, { reach, tip }) => {
    for (let woken = -1; woken < 40; woken++) {
      const bench = new Bench();
      bench.allocate(0);
      const first = bench.leader(1, 2, { keep: 1 });
      reach(first);
      bench.allocate(1);
      const second = bench.leader(2, 2, { keep: 1 });
      if (woken < 0) {
        second.stepTo((op) => op.op === 'put' && op.key.startsWith(PATHS.epochs));
        expect(second.state.tip?.epoch).toBe(tip);
      }
      for (let step = 0; step < woken && !second.ended; step++) second.step();
      // At -1 it never wakes.
      if (woken >= 0) {
        while (!first.ended) first.step();
        if (bench.store.delayed.length > 0) bench.store.land();
      }
      const end = second.finish();
      expect(end, `woken after ${woken}`).toMatchObject({ phase: 'write', published: 2 });
      expectExact(bench, end);
    }
  },
);

test('scenario 27: what an orphan staged in the lineage is referenced by nothing and is collected', () => {
  const bench = new Bench();
  bench.allocate(0);
  bench.leader(1, 2).stepTo(isRecordPut(3));
  const orphans = bench.store
    .keys()
    .filter((key) => PATHS.parse(key)?.tag !== 'record' && key.includes('/0000000003/'));
  expect(orphans.length).toBe(2);
  bench.allocate(1);
  const end = bench.leader(2, 4, { keep: 1 }).finish();
  const left = bench.store.keys();
  expect(orphans.filter((key) => left.includes(key))).toEqual([]);
  expect(end.tip?.manifest?.files.some((file) => orphans.includes(file.key))).toBe(false);
  expectExact(bench, end);
});
