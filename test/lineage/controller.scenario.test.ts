/** Scenarios whose level is the controller, and faults that end; numbers are those of the list of lineage scenarios. */
import { expect, test } from 'vitest';
import { Prng } from '../../src/base/prng.ts';
import type { Job } from '../../src/catalog/schema.ts';
import { ControllerWorld } from '../harness/controller-world.ts';
import { GenerationWorld, SINKS } from '../harness/generation-world.ts';

const isRunning = (job: Job): boolean => job.state === 'Running';

async function runningWorld(): Promise<ControllerWorld> {
  const world = new ControllerWorld();
  await world.create();
  await world.settle(isRunning);
  return world;
}

test.each(['before', 'after'] as const)(
  'scenario 33: a controller that dies %s any call of a stop with checkpoint changes neither its outcome nor its price',
  async (moment) => {
    for (let deadly = 0; ; deadly++) {
      const world = await runningWorld();
      const leader = world.leader(1);
      // The final checkpoint takes several looks; nobody may lose patience.
      leader.stopTakes = 3;
      await world.want({ tag: 'stop', mode: 'checkpoint', nonce: 's1' });
      let left = deadly;
      let died = false;
      world.beforeCall = (_call, when) => {
        if (died) throw new Error('dead');
        if (when === moment && left-- === 0) died = true;
        if (died) throw new Error('dies');
      };
      for (let look = 0; look < 12 && !died; look++) await world.reconcile().catch(() => null);
      world.beforeCall = () => {};
      const dead = died;
      if ((await world.job()).state !== 'Stopped') await world.settle();
      expect(await world.job(), `died ${moment} call ${deadly}`).toMatchObject({
        state: 'Stopped',
        generation: 1,
        failure: null,
      });
      expect(leader.stops.every(({ mode, nonce }) => mode === 'checkpoint' && nonce === 's1')).toBe(
        true,
      );
      expect(leader.status.outcome).toMatchObject({ tag: 'stopped' });
      if (!dead) break;
      expect(deadly).toBeLessThan(100);
    }
  },
);

test('scenario 45: after the last fault the input is finished within a bound, and fencing costs no restart', async () => {
  for (let seed = 1; seed <= 8; seed++) {
    const world = new GenerationWorld(seed * 101, 20);
    for (let turn = 0; turn < 1_500 && !world.finished; turn++) world.turn();
    world.faulty = false;
    const { generation } = world;
    let turns = 0;
    while (!world.finished && turns < 20_000) {
      world.turn();
      turns++;
    }
    const story = `seed ${seed * 101}\n${world.trace.slice(-30).join('\n')}`;
    expect(world.finished, story).toBe(true);
    // One generation may be lost to a stop or a host that was hit by the last fault, and one more to its successor's.
    expect(world.generation - generation, story).toBeLessThanOrEqual(2);
    for (const sink of SINKS) {
      const rows = world.committed.get(sink)?.rows ?? [];
      expect([rows.length, new Set(rows).size], story).toEqual([80, 80]);
    }
  }

  const controlled = await runningWorld();
  controlled.leader(1).end({ tag: 'fenced' });
  await controlled.settle((job) => isRunning(job) && job.generation === 2);
  expect(await controlled.job()).toMatchObject({ generation: 2, restarts: 0, failure: null });
});

const STATES: Record<string, (world: ControllerWorld) => Promise<void>> = {
  'a first start': async () => {},
  'a stop': async (world) => {
    await world.settle(isRunning);
    await world.want({ tag: 'stop', mode: 'checkpoint', nonce: 's1' });
  },
  'a recovery': async (world) => {
    await world.settle(isRunning);
    world.leader(1).fail('HOST_LOST');
  },
  'a restart without state': async (world) => {
    await world.settle(isRunning);
    await world.want({ tag: 'restart', mode: 'checkpoint', reset: true, nonce: 'r1' });
  },
};

test.each(Object.entries(STATES))(
  'scenario 50: two cron runs that overlap during %s have the result of one',
  async (_, before) => {
    const ending = async (world: ControllerWorld): Promise<unknown> => {
      const { state, generation, restarts, restartDone } = await world.job();
      return {
        state,
        generation,
        restarts,
        restartDone,
        leaders: [...world.leaders.keys()].toSorted(),
      };
    };
    const alone = new ControllerWorld();
    await alone.create();
    await before(alone);
    for (let look = 0; look < 12; look++) {
      await alone.reconcile();
      alone.nowMs += 10_000;
    }
    const expected = await ending(alone);
    for (let seed = 1; seed <= 20; seed++) {
      const world = new ControllerWorld();
      await world.create();
      await before(world);
      const prng = new Prng(seed);
      world.beforeCall = async () => {
        for (let turns = prng.below(4); turns > 0; turns--) await Promise.resolve();
      };
      for (let look = 0; look < 12; look++) {
        await Promise.all([world.reconcile(), world.reconcile()]);
        world.nowMs += 10_000;
      }
      expect(await ending(world), `seed ${seed}`).toEqual(expected);
    }
  },
);
