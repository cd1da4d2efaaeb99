import { expect, test } from 'vitest';
import { readLineage } from '../../src/lineage/read.ts';
import { Bench, isRecordPut } from '../harness/lineage-bench.ts';
import { PATHS } from '../harness/lineage-leader.ts';

function viewOf(bench: Bench) {
  const outcome = bench.run(readLineage(PATHS));
  if (outcome.tag !== 'read') throw new Error(outcome.tag);
  return outcome.view;
}

test('a lineage that does not exist is none, and a damaged O1 is broken', () => {
  const bench = new Bench();
  expect(bench.run(readLineage(PATHS))).toEqual({ tag: 'none' });
  bench.allocate(0);
  bench.corrupt(PATHS.current, '');
  expect(bench.run(readLineage(PATHS)).tag).toBe('broken');
});

test('the view shows canonical checkpoints, generations, and manifests that lost or are not claimed yet', () => {
  const bench = new Bench();
  bench.allocate(0);
  const first = bench.leader(1, 2).stepTo(isRecordPut(3));
  expect(viewOf(bench).others).toMatchObject([{ epoch: 3, generation: 1, state: 'unclaimed' }]);
  bench.allocate(1);
  const second = bench.leader(2, 2).stepTo((op) => op.op === 'sink' && op.call.epoch === 4);
  first.finish();
  const view = viewOf(bench);
  expect(view.current).toMatchObject({ generation: 2, floor: 0 });
  expect(
    view.checkpoints.map(({ epoch, manifest, committed }) => [
      epoch,
      manifest.kind,
      manifest.generation,
      committed,
    ]),
  ).toEqual([
    [1, 'fence', 1, true],
    [2, 'data', 1, true],
    [3, 'fence', 2, true],
    [4, 'data', 2, false],
  ]);
  expect(view.generations.map(({ generation, baseEpoch }) => [generation, baseEpoch])).toEqual([
    [1, 0],
    [2, 2],
  ]);
  expect(view.others).toMatchObject([{ epoch: 3, generation: 1, state: 'lost' }]);
  expect(view.unreadable).toEqual([]);
  second.finish();
  expect(viewOf(bench).checkpoints.at(-1)).toMatchObject({ epoch: 5, committed: true });
});

test('reading writes nothing and goes on past what it cannot read', () => {
  const bench = new Bench();
  bench.allocate(0);
  bench.leader(1, 3).finish();
  bench.corrupt(PATHS.record(2), 'x');
  bench.store.objects.delete(PATHS.manifest(1, 'n1-1', 3));
  bench.corrupt(PATHS.generation(1, 'n1-1'), 'x');
  const before = bench.store.keys();
  const view = viewOf(bench);
  expect(view.checkpoints.map(({ epoch }) => epoch)).toEqual([1, 4]);
  expect(view.unreadable).toHaveLength(3);
  expect(view.others).toEqual([]);
  expect(bench.store.keys()).toEqual(before);
});

test('below the floor nothing is shown', () => {
  const bench = new Bench();
  bench.allocate(0);
  bench.leader(1, 6, { keep: 1 }).finish();
  expect(viewOf(bench).checkpoints.map(({ epoch }) => epoch)).toEqual([6, 7]);
});
