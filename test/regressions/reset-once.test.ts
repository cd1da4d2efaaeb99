/**
 * Restarts without state that forgot the state twice.
 *
 * A job that had been restarted without state came to its end, and whoever started it again lost the state once more:
 * the order to run left the mark of the earlier restart in place. Found by the simulation (seeds 284, 481, 493).
 *
 * A restart without state was asked for, and a controller was about to record its generation when another parallelism was
 * asked for. The reset was not honoured yet, so the new order kept it; then the generation was recorded for the old order,
 * and the next one, for the new order, forgot the state again. Found by the simulation (seed 1230).
 */
import { expect, test } from 'vitest';
import { recordObservation } from '../../src/catalog/jobs.ts';
import { getPipeline, updateDesired } from '../../src/catalog/pipelines.ts';
import { ControllerWorld, PIPELINE } from '../harness/controller-world.ts';

test.each(['before', 'after'] as const)(
  'a reset is honoured once when another order comes %s its generation is recorded',
  async (when) => {
    const world = new ControllerWorld();
    await world.create();
    await world.settle((job) => job.state === 'Running');
    world.leader(1).end({ tag: 'stopped', epoch: 4 });
    await world.want({ tag: 'restart', mode: 'checkpoint', reset: true, nonce: 'n1' });
    let ordered = false;
    const resets = new Set<number>();
    world.beforeCall = async (call, moment) => {
      if (!ordered && moment === when && call === 'record Restarting') {
        ordered = true;
        await world.want({ tag: 'configure', parallelism: 3, nonce: 'n2' });
      }
      const { resetFrom } = await world.job();
      if (resetFrom !== null) resets.add(resetFrom);
    };
    await world.settle((job) => job.state === 'Running' && job.restartDone === 'n2');
    expect(ordered).toBe(true);
    expect([...resets]).toHaveLength(1);
    expect((await world.current()).spec).toMatchObject({ parallelism: 3 });
  },
);

test.each(['finished', 'failed'] as const)(
  'a job that was once restarted without state and has %s keeps its state when it is started again',
  async (how) => {
    const world = new ControllerWorld();
    await world.create();
    await world.settle((job) => job.state === 'Running');
    await world.want({ tag: 'restart', mode: 'immediate', reset: true, nonce: 'n1' });
    await world.settle((job) => job.state === 'Running' && job.generation === 2);
    if (how === 'finished') world.leader(2).end({ tag: 'finished', epoch: 5 });
    else world.leader(2).fail('LINEAGE_BROKEN');
    await world.settle();
    await world.want({ tag: 'run', nonce: 'n2' });
    await world.settle((job) => job.state === 'Running' && job.generation === 3);
    expect((await world.job()).resetFrom).toBe(2);
    expect(world.leader(3).spec).toMatchObject({ resetFrom: 2 });
  },
);

test('what is wanted is never read older than the job that has done it', async () => {
  const world = new ControllerWorld();
  await world.create();
  let reads = 0;
  const meanwhile = world.db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (reads++ > 0) return result;
      await updateDesired(
        world.db,
        PIPELINE,
        { tag: 'restart', mode: 'checkpoint', reset: false, nonce: 'n1' },
        world.nowMs,
      );
      await recordObservation(world.db, await world.job(), { restartDone: 'n1' }, world.nowMs);
      return result;
    },
  });
  const found = await getPipeline(meanwhile, PIPELINE);
  expect(reads).toBe(2);
  expect(found?.pipeline.restartNonce).toBe('n1');
  expect(found?.job.restartDone).toBe(null);
});
