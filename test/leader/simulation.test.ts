/**
 * Whole lives of a pipeline under faults. `SEEDS=200 npx vitest run test/leader/simulation` takes more seeds,
 * `SEED=17` only one, with its trace.
 */
import { expect, test } from 'vitest';
import { GenerationWorld, SINKS } from '../harness/generation-world.ts';

const only = process.env['SEED'];
const seeds =
  only === undefined
    ? Array.from({ length: Number(process.env['SEEDS'] ?? 60) }, (_, index) => index + 1)
    : [Number(only)];

/** A faulty time, then a time in which it has to finish. */
function live(seed: number): GenerationWorld {
  const world = new GenerationWorld(seed);
  const faultyTurns = world.prng.below(4_000);
  try {
    for (let turn = 0; turn < faultyTurns && !world.finished; turn++) world.turn();
    world.faulty = false;
    for (let turn = 0; turn < 40_000 && !world.finished; turn++) world.turn();
  } catch (thrown) {
    throw new Error(`seed ${seed}: ${String(thrown)}\n${world.trace.slice(-30).join('\n')}`, {
      cause: thrown,
    });
  }
  return world;
}

function expectedRows(world: GenerationWorld): string[] {
  const rows: string[] = [];
  for (let partition = 0; partition < 4; partition++)
    for (let offset = 0; offset < world.rowsPerPartition; offset++)
      rows.push(`${partition}:${offset}`);
  return rows.toSorted();
}

test(
  'every row reaches every sink exactly once, whatever is reset, stopped, lost, repeated or run twice',
  () => {
    let generations = 0;
    let resets = 0;
    for (const seed of seeds) {
      const world = live(seed);
      if (only !== undefined) process.stdout.write(world.trace.join('\n'));
      const story = `seed ${seed}\n${world.trace.slice(-40).join('\n')}`;
      expect(world.finished, story).toBe(true);
      for (const sink of SINKS)
        expect(world.committed.get(sink)?.rows.toSorted(), `sink ${sink}, ${story}`).toEqual(
          expectedRows(world),
        );
      generations += world.generation;
      resets += world.trace.filter((line) => line.includes('is reset')).length;
    }
    // The world is really a bad one.
    if (only === undefined) expect(Math.min(generations, resets)).toBeGreaterThan(seeds.length);
  },
  10_000 + seeds.length * 100,
);

test('one seed tells one story', () => {
  expect(live(5).trace).toEqual(live(5).trace);
});

test('without faults a leader needs one generation, however often it is reset', () => {
  for (let seed = 1; seed <= 10; seed++) {
    const world = new GenerationWorld(seed, 100);
    world.faulty = false;
    for (let turn = 0; turn < 40_000 && !world.finished; turn++) {
      world.turn();
      const leader = world.leaders.get(1);
      if (
        world.prng.chance(0.005) &&
        leader?.instance.state.begun === true &&
        leader.instance.state.outcome === null
      )
        leader.reset(world.prng.chance(0.5));
    }
    expect(world.finished, `seed ${seed}\n${world.trace.slice(-40).join('\n')}`).toBe(true);
    expect(world.generation, `seed ${seed}\n${world.trace.slice(-40).join('\n')}`).toBe(1);
  }
});
