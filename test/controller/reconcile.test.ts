/** Whole lives of a job, with the real catalogue and the real allocation. */
import { beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/base/limits.ts';
import { Prng } from '../../src/base/prng.ts';
import { duePipelines, listFailures } from '../../src/catalog/jobs.ts';
import {
  createPipeline,
  deletePipeline,
  listPipelines,
  removePreview,
  touchPreview,
} from '../../src/catalog/pipelines.ts';
import type { Job } from '../../src/catalog/schema.ts';
import { reconcileDue } from '../../src/controller/reconcile.ts';
import { ControllerWorld, PIPELINE } from '../harness/controller-world.ts';

let world: ControllerWorld;
beforeEach(async () => {
  world = new ControllerWorld();
  await world.create();
});

const isRunning = (job: Job): boolean => job.state === 'Running';

describe('a life', () => {
  test('begins by allocating, recording and starting, in this order', async () => {
    await world.reconcile();
    expect(world.calls).toEqual([
      'load',
      'allocate 0',
      'record Scheduling',
      'load',
      'poll 1',
      'start 1',
      'schedule',
    ]);
    expect(await world.settle(isRunning)).toEqual(['Scheduling', 'Running']);
    expect(await world.job()).toMatchObject({
      generation: 1,
      restarts: 0,
      startMs: 1_000_000,
      failure: null,
    });
    expect(world.leader(1).spec).toMatchObject({
      generation: 1,
      parallelism: 2,
      reason: 'created',
      reset: false,
      settings: { lingerMs: LIMITS.lingerMs },
    });
  });

  test('is looked at once a minute while it is healthy', async () => {
    await world.settle(isRunning);
    const calls = world.calls.length;
    expect(await world.reconcile()).toBe(world.nowMs + 50_000);
    expect(world.calls.slice(calls)).toEqual(['load', 'poll 1', 'schedule']);
  });

  test('stops with a checkpoint and is then not looked at any more', async () => {
    await world.settle(isRunning);
    world.leader(1).stopTakes = 3;
    await world.want({ tag: 'stop', mode: 'checkpoint', nonce: 's1' });
    expect(await world.settle()).toEqual(['CheckpointStopping', 'Stopped']);
    expect(new Set(world.leader(1).stops.map((stop) => stop.nonce))).toEqual(new Set(['s1']));
    expect(world.leader(1).stops.length).toBeGreaterThan(2);
    expect(await world.job()).toMatchObject({ state: 'Stopped', epoch: 2, finishMs: world.nowMs });
    expect(await reconcileDue(world.ports(), world.nowMs + 1e9)).toEqual({ looked: 0, failed: [] });
  });

  test('goes on after a stop in another generation, from the same lineage', async () => {
    await world.settle(isRunning);
    await world.want({ tag: 'stop', mode: 'immediate', nonce: 's1' });
    expect(await world.settle()).toEqual(['Stopping', 'Stopped']);
    await world.want({ tag: 'run', nonce: 'r1' });
    expect(await world.settle(isRunning)).toEqual(['Scheduling', 'Running']);
    expect(await world.job()).toMatchObject({ generation: 2, finishMs: null, restarts: 0 });
  });

  test('ends when its input ends', async () => {
    await world.settle(isRunning);
    world.leader(1).end({ tag: 'finished', epoch: 9 });
    expect(await world.settle()).toEqual(['Finished']);
    expect(await world.job()).toMatchObject({ epoch: 9, committedEpoch: 9, failure: null });
    expect(await deletePipeline(world.db, PIPELINE)).toBe('deleted');
    expect(await world.reconcile()).toBeNull();
  });

  test('that is stopped before it began never begins', async () => {
    await world.want({ tag: 'stop', mode: 'checkpoint', nonce: 's1' });
    expect(await world.settle()).toEqual(['Stopped']);
    expect(world.store.keys()).toEqual([]);
  });

  test('that is stopped and wanted again before the stop is done takes another generation', async () => {
    await world.settle(isRunning);
    world.leader(1).stopTakes = 2;
    await world.want({ tag: 'stop', mode: 'checkpoint', nonce: 's1' });
    await world.reconcile();
    await world.want({ tag: 'run', nonce: 'r1' });
    expect(await world.settle(isRunning)).toEqual(['CheckpointStopping', 'Scheduling', 'Running']);
    expect((await world.job()).generation).toBe(2);
  });
});

describe('recovery', () => {
  test('of the first lost host is immediate: one run allocates and starts', async () => {
    await world.settle(isRunning);
    world.leader(1).fail('HOST_LOST');
    const before = world.nowMs;
    await world.reconcile();
    expect(world.leader(2).starts).toBe(1);
    expect(world.nowMs).toBe(before);
    expect(await world.job()).toMatchObject({
      state: 'Recovering',
      generation: 2,
      restarts: 1,
      failure: { code: 'HOST_LOST' },
    });
    expect(await world.settle(isRunning)).toEqual(['Recovering', 'Running']);
    expect((await world.job()).failure).toBeNull();
    expect(await listFailures(world.db, 'job_1', 10, null)).toMatchObject([
      { generation: 1, report: { code: 'HOST_LOST' } },
    ]);
  });

  test('waits longer each time and gives up when the budget is spent', async () => {
    world.prepare = (leader) => leader.fail('HOST_LOST');
    const start = world.nowMs;
    expect(await world.settle(() => false, 200)).toEqual(['Recovering', 'Failed']);
    const job = await world.job();
    expect(job).toMatchObject({
      generation: LIMITS.restartsMax + 1,
      failure: {
        code: 'RESTARTS_EXHAUSTED',
        message: expect.stringContaining('HOST_LOST') as string,
      },
    });
    // 0, 0, then 0.5 s doubled to 60 s.
    expect(world.nowMs - start).toBe(
      500 + 1_000 + 2_000 + 4_000 + 8_000 + 16_000 + 32_000 + 11 * 60_000,
    );
  });

  test('has a clean sheet after a healthy time', async () => {
    world.prepare = (leader, generation) => generation < 5 && leader.fail('HOST_LOST');
    await world.settle(isRunning);
    expect((await world.job()).restarts).toBe(4);
    const leader = world.leader(5);
    world.nowMs += LIMITS.healthyMs;
    leader.status = {
      ...leader.status,
      hosts: [{ index: 0, incarnation: 'h', lastHeardMs: world.nowMs }],
    };
    leader.fail('HOST_LOST');
    await world.settle(isRunning);
    expect(await world.job()).toMatchObject({ generation: 6, restarts: 1 });
  });

  test('does not count the time a dead leader was not looked at as healthy', async () => {
    world.prepare = (leader, generation) => generation < 5 && leader.fail('HOST_LOST');
    await world.settle(isRunning);
    world.nowMs += LIMITS.healthyMs * 10;
    world.leader(5).fail('HOST_LOST');
    await world.settle(isRunning);
    expect((await world.job()).restarts).toBe(5);
  });

  test('is not tried when it cannot help', async () => {
    await world.settle(isRunning);
    world.leader(1).fail('SOURCE_MISSING');
    expect(await world.settle()).toEqual(['Failed']);
    expect(await world.job()).toMatchObject({
      generation: 1,
      failure: { code: 'SOURCE_MISSING', domain: 'user' },
    });
    await world.want({ tag: 'run', nonce: 'r1' });
    expect(await world.settle(isRunning)).toEqual(['Scheduling', 'Running']);
    expect(await world.job()).toMatchObject({ generation: 2, failure: null, restarts: 0 });
  });

  test('from being fenced costs nothing and finds the generation that fenced', async () => {
    await world.settle(isRunning);
    await world
      .ports()
      .allocate((await world.ports().catalog.load(PIPELINE))!.pipeline, await world.job(), 1);
    world.leader(1).end({ tag: 'fenced' });
    expect(await world.settle(isRunning)).toEqual(['Recovering', 'Running']);
    expect(await world.job()).toMatchObject({ generation: 2, restarts: 0 });
  });

  test('of a leader that does not answer waits for its time, then fences it', async () => {
    await world.settle(isRunning);
    world.leader(1).unreachable = true;
    await world.reconcile();
    world.nowMs += LIMITS.leaderSilentMs - 1;
    await world.reconcile();
    expect((await world.job()).generation).toBe(1);
    world.nowMs += 1;
    await world.reconcile();
    expect(await world.job()).toMatchObject({
      generation: 2,
      state: 'Recovering',
      restarts: 1,
      unreachableSinceMs: null,
    });
  });

  test('of a leader that answers again in time is none', async () => {
    await world.settle(isRunning);
    world.leader(1).unreachable = true;
    await world.reconcile();
    expect((await world.job()).unreachableSinceMs).toBe(world.nowMs);
    world.leader(1).unreachable = false;
    world.nowMs += LIMITS.leaderSilentMs * 2;
    await world.reconcile();
    expect(await world.job()).toMatchObject({
      generation: 1,
      state: 'Running',
      unreachableSinceMs: null,
    });
  });

  test('is over when the lineage is broken', async () => {
    await world.settle(isRunning);
    world.leader(1).fail('HOST_LOST');
    world.store.objects.clear();
    expect(await world.settle()).toEqual(['Failed']);
    expect((await world.job()).failure?.code).toBe('LINEAGE_BROKEN');
  });
});

describe('a stop at a bad moment', () => {
  test('with a checkpoint that fails is finished by a generation that redoes the commit', async () => {
    await world.settle(isRunning);
    await world.want({ tag: 'stop', mode: 'checkpoint', nonce: 's1' });
    await world.reconcile();
    world.leader(1).fail('COMMIT_TIMEOUT');
    expect(await world.settle()).toEqual(['CheckpointStopping', 'Stopped']);
    expect(world.leader(2)).toMatchObject({ starts: 1 });
    expect(world.leader(2).stops[0]).toEqual({ mode: 'checkpoint', nonce: 's1' });
    expect(await world.job()).toMatchObject({ generation: 2, state: 'Stopped', failure: null });
  });

  test.each(['immediate', 'graceful'] as const)(
    'that is %s takes a failure for an end',
    async (mode) => {
      await world.settle(isRunning);
      world.leader(1).stopTakes = 5;
      await world.want({ tag: 'stop', mode, nonce: 's1' });
      world.leader(1).fail('HOST_LOST');
      expect(await world.settle()).toEqual(['Stopped']);
      expect(await world.job()).toMatchObject({ generation: 1, failure: { code: 'HOST_LOST' } });
    },
  );

  test('reaches a leader that was allocated but never started', async () => {
    world.beforeCall = (call, moment) => {
      if (call === 'start 1' && moment === 'before') throw new Error('crash');
    };
    await world.reconcile();
    world.beforeCall = () => {};
    await world.want({ tag: 'stop', mode: 'immediate', nonce: 's1' });
    expect(await world.settle()).toEqual(['Stopping', 'Stopped']);
    expect(world.leader(1).starts).toBe(0);
  });

  test('reaches a lineage whose leader is gone for good', async () => {
    await world.settle(isRunning);
    world.leader(1).unreachable = true;
    await world.want({ tag: 'stop', mode: 'immediate', nonce: 's1' });
    const states = await world.settle();
    expect(states.at(-1)).toBe('Stopped');
    expect((await world.job()).generation).toBe(2);
    expect(world.leader(2).starts).toBe(0);
  });

  test('during a redo waits until the leader says so', async () => {
    await world.settle((job) => job.state === 'Scheduling');
    const leader = world.leader(1);
    leader.status = { ...leader.status, phase: 'redoing' };
    leader.stopTakes = 4;
    await world.want({ tag: 'stop', mode: 'checkpoint', nonce: 's1' });
    expect(await world.settle()).toEqual(['CheckpointStopping', 'Stopped']);
    expect((await world.job()).generation).toBe(1);
  });

  test('during a pause before a recovery does not wait for the pause', async () => {
    world.prepare = (leader, generation) => generation < 4 && leader.fail('HOST_LOST');
    await world.settle((job) => job.retryAtMs !== null);
    await world.want({ tag: 'stop', mode: 'immediate', nonce: 's1' });
    expect(await world.settle()).toEqual(['Stopped']);
  });
});

describe('a restart', () => {
  test('takes a checkpoint and another generation, once', async () => {
    await world.settle(isRunning);
    await world.want({ tag: 'restart', mode: 'checkpoint', reset: false, nonce: 'r1' });
    expect(await world.settle(isRunning)).toEqual(['Restarting', 'Running']);
    expect(await world.job()).toMatchObject({
      generation: 2,
      restartDone: 'r1',
      restarts: 0,
      resetFrom: null,
    });
    expect(world.leader(1).stops[0]).toEqual({ mode: 'checkpoint', nonce: 'r1' });
    await world.reconcile();
    expect((await world.job()).generation).toBe(2);
  });

  test('follows a deployment of newer code, in order, once, and costs nothing', async () => {
    await world.settle(isRunning);
    world.codeVersion = '2';
    expect(await world.settle(isRunning)).toEqual(['Restarting', 'Running']);
    expect(world.leader(1).stops[0]).toEqual({ mode: 'checkpoint', nonce: 'deploy 2' });
    expect(world.leader(2).spec).toMatchObject({ codeVersion: '2', reason: 'deploy' });
    expect(await world.job()).toMatchObject({ generation: 2, restarts: 0, failure: null });
    await world.reconcile();
    expect((await world.job()).generation).toBe(2);
  });

  test('is not asked for by an older controller that runs beside the newer one', async () => {
    world.codeVersion = '2';
    await world.settle(isRunning);
    world.codeVersion = '1';
    await world.reconcile();
    expect(await world.job()).toMatchObject({ state: 'Running', generation: 1 });
    expect(world.leader(1).stops).toEqual([]);
  });

  test('of a deployment gives way to a stop', async () => {
    await world.settle(isRunning);
    world.leader(1).stopTakes = 3;
    world.codeVersion = '2';
    await world.reconcile();
    await world.want({ tag: 'stop', mode: 'checkpoint', nonce: 's1' });
    await world.settle();
    expect(await world.job()).toMatchObject({ state: 'Stopped', generation: 1 });
  });

  test('whose final checkpoint fails is a restart nevertheless', async () => {
    await world.settle(isRunning);
    await world.want({ tag: 'restart', mode: 'checkpoint', reset: false, nonce: 'r1' });
    await world.reconcile();
    world.leader(1).fail('CHECKPOINT_TIMEOUT');
    expect(await world.settle(isRunning)).toEqual(['Restarting', 'Running']);
    expect(await world.job()).toMatchObject({ generation: 2, restarts: 0, restartDone: 'r1' });
  });

  test('without state binds the reset to the generation that begins with it, and later ones know', async () => {
    await world.settle(isRunning);
    await world.want({ tag: 'restart', mode: 'checkpoint', reset: true, nonce: 'r1' });
    await world.settle(isRunning);
    expect(world.leader(2).spec).toMatchObject({ reset: true, resetFrom: 2 });
    world.leader(2).fail('HOST_LOST');
    await world.settle(isRunning);
    expect(world.leader(3).spec).toMatchObject({ generation: 3, reset: true, resetFrom: 2 });
  });

  test('begins a failed job again', async () => {
    await world.settle(isRunning);
    world.leader(1).fail('TYPE_ERROR');
    await world.settle();
    await world.want({ tag: 'restart', mode: 'checkpoint', reset: true, nonce: 'r1' });
    expect(await world.settle(isRunning)).toEqual(['Scheduling', 'Running']);
    expect(world.leader(2).spec).toMatchObject({ resetFrom: 2, reason: 'restart' });
  });

  test('by another parallelism starts the next generation with it', async () => {
    await world.settle(isRunning);
    await world.want({ tag: 'configure', parallelism: 4, nonce: 'r1' });
    await world.settle(isRunning);
    expect(world.leader(2).spec?.parallelism).toBe(4);
  });

  test('of a pipeline that is stopping is what counts in the end', async () => {
    await world.settle(isRunning);
    world.leader(1).stopTakes = 2;
    await world.want({ tag: 'stop', mode: 'checkpoint', nonce: 's1' });
    await world.reconcile();
    await world.want({ tag: 'restart', mode: 'checkpoint', reset: false, nonce: 'r1' });
    expect((await world.settle(isRunning)).at(-1)).toBe('Running');
    expect(await world.job()).toMatchObject({ generation: 2, restartDone: 'r1' });
  });
});

/** Lives that are led twice: undisturbed, and with faults. `act` brings about what the controllers have to cope with. */
const LIVES: Record<
  string,
  { before: (world: ControllerWorld) => Promise<void>; done: (job: Job) => boolean }
> = {
  'a first start': { before: async () => {}, done: isRunning },
  'a recovery': {
    before: async (it) => {
      await it.settle(isRunning);
      it.leader(1).fail('HOST_LOST');
    },
    done: (job) => isRunning(job) && job.generation > 1,
  },
  'a restart without state': {
    before: async (it) => {
      await it.settle(isRunning);
      await it.want({ tag: 'restart', mode: 'checkpoint', reset: true, nonce: 'r1' });
    },
    done: (job) => isRunning(job) && job.restartDone === 'r1',
  },
  'a stop': {
    before: async (it) => {
      await it.settle(isRunning);
      await it.want({ tag: 'stop', mode: 'checkpoint', nonce: 's1' });
    },
    done: (job) => job.state === 'Stopped',
  },
  'a failed stop': {
    before: async (it) => {
      await it.settle(isRunning);
      await it.want({ tag: 'stop', mode: 'checkpoint', nonce: 's1' });
      it.leader(1).fail('COMMIT_TIMEOUT');
    },
    done: (job) => job.state === 'Stopped',
  },
};

/** What must not depend on faults: where the life ends, at what price, and that only the last leader may still run. */
async function ending(it: ControllerWorld): Promise<unknown> {
  const { state, generation, restarts, restartDone, resetFrom } = await it.job();
  const leaders = [...it.leaders].map(([number, leader]) => [
    number,
    leader.spec?.resetFrom ?? null,
    leader.status.phase,
  ]);
  return { state, generation, restarts, restartDone, resetFrom, leaders: leaders.toSorted() };
}

describe.each(Object.entries(LIVES))('%s', (_name, { before, done }) => {
  async function undisturbed(): Promise<{ end: unknown; calls: number }> {
    const calm = new ControllerWorld();
    await calm.create();
    await before(calm);
    const calls = calm.calls.length;
    await calm.settle(done);
    return { end: await ending(calm), calls: calm.calls.length - calls };
  }

  test.each(['before', 'after'] as const)(
    'ends the same when a controller dies %s any one of its calls',
    async (moment) => {
      const { end, calls } = await undisturbed();
      expect(calls).toBeGreaterThan(4);
      for (let deadly = 0; deadly < calls; deadly++) {
        const it = new ControllerWorld();
        await it.create();
        await before(it);
        let left = deadly;
        let died = false;
        it.beforeCall = (_call, when) => {
          // Whoever is dead calls nobody: every later call of this run fails too.
          if (died) throw new Error('dead');
          if (when === moment && left-- === 0) died = true;
          if (died) throw new Error('dies');
        };
        for (let run = 0; !died && run < 20; run++) await it.reconcile().catch(() => null);
        expect(died).toBe(true);
        it.beforeCall = () => {};
        await it.settle(done);
        expect(await ending(it), `died ${moment} call ${deadly}`).toEqual(end);
      }
    },
  );

  test('ends the same when several controllers look at once, in any order of their calls', async () => {
    const { end } = await undisturbed();
    for (let seed = 1; seed <= 25; seed++) {
      const it = new ControllerWorld();
      await it.create();
      await before(it);
      const prng = new Prng(seed);
      it.beforeCall = async () => {
        for (let turns = prng.below(12); turns > 0; turns--) await Promise.resolve();
      };
      for (let look = 0; look < 6; look++) {
        await Promise.all(Array.from({ length: 1 + prng.below(3) }, () => it.reconcile()));
        it.nowMs += 1_000;
      }
      it.beforeCall = () => {};
      if (!done(await it.job())) await it.settle(done);
      expect(await ending(it), `seed ${seed}`).toEqual(end);
    }
  });
});

test('a pipeline whose catalogue entry is damaged keeps no other waiting', async () => {
  for (const id of ['pl_2', 'pl_3']) {
    await createPipeline(world.db, {
      id,
      jobId: `job_${id}`,
      name: id,
      query: '',
      parallelism: 1,
      checkpointIntervalMs: 1_000,
      planHash: 'p',
      graph: '{"version":1,"operators":[],"edges":[],"planHash":"p"}',
      settings: {},
      tags: {},
      nowMs: world.nowMs,
    });
  }
  await world.db
    .updateTable('pipelines')
    .set({ settings: 'not JSON' })
    .where('id', '=', 'pl_2')
    .execute();
  const summary = await reconcileDue(world.ports(), world.nowMs);
  expect(summary).toMatchObject({ looked: 3, failed: [{ pipelineId: 'pl_2' }] });
  expect((await world.ports().catalog.load('pl_3'))?.job.generation).toBe(1);
});

describe('a preview', () => {
  beforeEach(async () => {
    world = new ControllerWorld();
    await world.create(true);
  });

  const goneAfter = async (looks: number): Promise<number> => {
    const begin = world.nowMs;
    for (let look = 0; look < looks; look++) {
      const atMs = await world.reconcile();
      if ((await world.found()) === null) return world.nowMs - begin;
      world.nowMs = Math.max(world.nowMs, atMs ?? world.nowMs + 60_000);
    }
    throw new Error('still there');
  };

  test('that nobody looks at is stopped and deleted after a minute, its leaders before its row', async () => {
    await world.settle(isRunning);
    expect(await goneAfter(20)).toBeLessThanOrEqual(62_000);
    expect(world.leader(1).stops[0]).toMatchObject({ mode: 'immediate' });
    expect(world.calls.slice(-4)).toEqual(['load', 'forget up to 1', 'remove', 'schedule']);
    expect(await world.reconcile()).toBeNull();
  });

  test('that is looked at stays', async () => {
    await world.settle(isRunning);
    for (let look = 0; look < 30; look++) {
      await touchPreview(world.db, PIPELINE, world.nowMs);
      const atMs = await world.reconcile();
      expect(atMs).toBeLessThanOrEqual(world.nowMs + 60_000);
      world.nowMs += 20_000;
    }
    expect((await world.job()).state).toBe('Running');
    expect(world.leader(1).stops).toEqual([]);
  });

  test('that ended by itself is shown until nobody looks', async () => {
    await world.settle(isRunning);
    world.leader(1).end({ tag: 'finished', epoch: 9 });
    world.nowMs += 50_000;
    await touchPreview(world.db, PIPELINE, world.nowMs);
    const atMs = await world.reconcile();
    expect(atMs).toBe(world.nowMs + 60_000);
    expect((await world.job()).state).toBe('Finished');
    world.nowMs = atMs ?? 0;
    expect(await world.reconcile()).toBeNull();
    expect(await world.found()).toBeNull();
  });

  test.each(['forget up to 1', 'remove', 'stop 1', 'load', 'schedule'])(
    'is deleted by the next controller when one dies at %s',
    async (call) => {
      await world.settle(isRunning);
      world.nowMs += 61_000;
      let dead = false;
      world.beforeCall = (name, moment) => {
        if (dead || name !== call || moment !== 'before') return;
        dead = true;
        throw new Error('the controller dies');
      };
      for (let look = 0; look < 6 && (await world.found()) !== null; look++) {
        const atMs = await world.reconcile().catch(() => world.nowMs + 60_000);
        const due = await duePipelines(world.db, atMs ?? world.nowMs, 10);
        expect((await world.found()) === null || due.length === 1).toBe(true);
        world.nowMs = Math.max(world.nowMs, atMs ?? 0);
      }
      expect(dead).toBe(true);
      expect(await world.found()).toBeNull();
    },
  );

  test('is in no list, and no pipeline that is to be kept is deleted with it', async () => {
    const { pipelines } = await listPipelines(world.db, { limit: 10, after: null });
    expect(pipelines).toEqual([]);
    const kept = new ControllerWorld();
    await kept.create();
    await kept.settle(isRunning);
    kept.nowMs += 1e9;
    await kept.settle(isRunning);
    await removePreview(kept.db, PIPELINE);
    expect((await kept.job()).state).toBe('Running');
  });
});
