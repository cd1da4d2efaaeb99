import type { Kysely } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/base/errors.ts';
import {
  duePipelines,
  listFailures,
  recordFailure,
  recordObservation,
  scheduleNext,
} from '../../src/catalog/jobs.ts';
import type { JobPatch } from '../../src/catalog/jobs.ts';
import {
  createPipeline,
  deletePipeline,
  getPipeline,
  listPipelines,
  updateDesired,
} from '../../src/catalog/pipelines.ts';
import type { NewPipeline } from '../../src/catalog/pipelines.ts';
import type { Database, JobState, PipelineAndJob } from '../../src/catalog/schema.ts';
import { memoryCatalog } from '../harness/sqlite-dialect.ts';

let db: Kysely<Database>;
beforeEach(() => {
  db = memoryCatalog();
});

const newPipeline = (id: string, change: Partial<NewPipeline> = {}): NewPipeline => ({
  id,
  jobId: `job_${id}`,
  name: `name of ${id}`,
  query: 'SELECT 1',
  parallelism: 2,
  checkpointIntervalMs: 10_000,
  graph: '{"version":1}',
  planHash: 'p',
  settings: { lingerMs: 5 },
  tags: { team: 'a' },
  nowMs: 1_000,
  ...change,
});

async function read(id: string): Promise<PipelineAndJob> {
  const found = await getPipeline(db, id);
  if (found === null) throw new Error(`${id} is missing`);
  return found;
}

async function observe(id: string, patch: JobPatch): Promise<boolean> {
  return await recordObservation(db, (await read(id)).job, patch, 2_000);
}

describe('a pipeline', () => {
  test('comes back as it was created, wanted to run and due at once', async () => {
    expect(await createPipeline(db, newPipeline('a'))).toBe('created');
    const { pipeline, job } = await read('a');
    expect(pipeline).toMatchObject({
      id: 'a',
      settings: { lingerMs: 5 },
      tags: { team: 'a' },
      graph: '{"version":1}',
      desiredState: 'running',
      version: 1,
    });
    expect(job).toMatchObject({
      id: 'job_a',
      pipelineId: 'a',
      state: 'Created',
      generation: 0,
      failure: null,
    });
    expect(await duePipelines(db, 1_000, 10)).toEqual(['a']);
    expect(await duePipelines(db, 999, 10)).toEqual([]);
  });

  test('keeps its content when its id is taken', async () => {
    await createPipeline(db, newPipeline('a'));
    expect(await createPipeline(db, newPipeline('a', { name: 'other', jobId: 'job_other' }))).toBe(
      'exists',
    );
    expect((await read('a')).pipeline.name).toBe('name of a');
    expect((await read('a')).job.id).toBe('job_a');
  });

  test('whose creation was interrupted can be created again', async () => {
    let failing = true;
    db = memoryCatalog((text) => {
      if (failing && text.startsWith('insert into "pipelines"')) throw new Error('interrupted');
    });
    await expect(createPipeline(db, newPipeline('a'))).rejects.toThrow('interrupted');
    failing = false;
    expect(await getPipeline(db, 'a')).toBeNull();
    expect(await createPipeline(db, newPipeline('a', { jobId: 'job_2' }))).toBe('created');
    expect((await read('a')).job.id).toBe('job_a');
  });

  test('that is unknown is null', async () => {
    expect(await getPipeline(db, 'nobody')).toBeNull();
    expect(await updateDesired(db, 'nobody', { tag: 'run', nonce: 'n' }, 1)).toBe(false);
    expect(await deletePipeline(db, 'nobody')).toBe('missing');
  });
});

test('pages are newest first, without gaps or repetitions, also among equal times', async () => {
  for (let index = 0; index < 120; index++) {
    await createPipeline(
      db,
      newPipeline(`p${String(index).padStart(3, '0')}`, { nowMs: Math.floor(index / 7) }),
    );
  }
  const seen: string[] = [];
  let after: string | null = null;
  for (;;) {
    const page: { pipelines: PipelineAndJob[]; more: boolean } = await listPipelines(db, {
      limit: 11,
      after,
    });
    for (const { pipeline, job } of page.pipelines) {
      expect(job.pipelineId).toBe(pipeline.id);
      seen.push(pipeline.id);
    }
    after = page.pipelines.at(-1)?.pipeline.id ?? null;
    if (!page.more) break;
  }
  expect(seen).toEqual(
    Array.from({ length: 120 }, (_, index) => `p${String(119 - index).padStart(3, '0')}`),
  );
  expect((await listPipelines(db, { limit: 120, after: null })).more).toBe(false);
});

describe('an observation', () => {
  test('made from an older version changes nothing', async () => {
    await createPipeline(db, newPipeline('a'));
    const { job } = await read('a');
    expect(await recordObservation(db, job, { state: 'Scheduling', generation: 1 }, 2_000)).toBe(
      true,
    );
    expect(await recordObservation(db, job, { state: 'Failed' }, 3_000)).toBe(false);
    expect((await read('a')).job).toMatchObject({
      state: 'Scheduling',
      generation: 1,
      version: 2,
      updatedMs: 2_000,
    });
  });

  test('never takes an epoch back, and leaves alone what it does not name', async () => {
    await createPipeline(db, newPipeline('a'));
    const failure = { code: 'HOST_LOST', ...ERROR_CODES.HOST_LOST, message: 'gone' } as const;
    await observe('a', { epoch: 7, committedEpoch: 6, failure });
    await observe('a', { epoch: 3, committedEpoch: 3 });
    expect((await read('a')).job).toMatchObject({
      epoch: 7,
      committedEpoch: 6,
      failure,
      state: 'Created',
    });
    await observe('a', { failure: null });
    expect((await read('a')).job.failure).toBeNull();
  });

  test('of a deleted pipeline is refused', async () => {
    await createPipeline(db, newPipeline('a'));
    await observe('a', { state: 'Failed' });
    const { job } = await read('a');
    await deletePipeline(db, 'a');
    expect(await recordObservation(db, job, { state: 'Running' }, 1)).toBe(false);
  });
});

describe('the next look', () => {
  test('is not postponed past a change that the controller has not seen', async () => {
    await createPipeline(db, newPipeline('a'));
    const { pipeline } = await read('a');
    await updateDesired(db, 'a', { tag: 'stop', mode: 'checkpoint', nonce: 's' }, 5_000);
    await scheduleNext(db, 'a', pipeline.version, 99_000);
    expect(await duePipelines(db, 5_000, 10)).toEqual(['a']);
    await scheduleNext(db, 'a', pipeline.version + 1, null);
    expect(await duePipelines(db, Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
  });

  test('goes to the longest overdue first', async () => {
    for (const [id, nowMs] of [
      ['a', 30],
      ['b', 10],
      ['c', 20],
      ['d', 99],
    ] as const)
      await createPipeline(db, newPipeline(id, { nowMs }));
    expect(await duePipelines(db, 50, 2)).toEqual(['b', 'c']);
  });
});

describe('what is wanted', () => {
  test.each(['Failed', 'Finished'] as const)('to run begins a %s job again', async (state) => {
    await createPipeline(db, newPipeline('a'));
    await observe('a', { state });
    await updateDesired(db, 'a', { tag: 'run', nonce: 'r' }, 5_000);
    expect((await read('a')).pipeline).toMatchObject({
      desiredState: 'running',
      restartNonce: 'r',
      stopMode: null,
    });
  });

  test.each(['Running', 'Stopped'] as const)(
    'to run asks a %s job for no restart',
    async (state) => {
      await createPipeline(db, newPipeline('a'));
      await observe('a', { state });
      await updateDesired(db, 'a', { tag: 'stop', mode: 'immediate', nonce: 's' }, 4_000);
      expect((await read('a')).pipeline).toMatchObject({
        desiredState: 'stopped',
        stopMode: 'immediate',
        stopNonce: 's',
      });
      await updateDesired(db, 'a', { tag: 'run', nonce: 'r' }, 5_000);
      expect((await read('a')).pipeline).toMatchObject({
        desiredState: 'running',
        restartNonce: null,
        stopMode: null,
        stopNonce: null,
      });
    },
  );

  test('as a reset survives a second restart until it is honoured, and is then over', async () => {
    await createPipeline(db, newPipeline('a'));
    await updateDesired(
      db,
      'a',
      { tag: 'restart', mode: 'checkpoint', reset: true, nonce: 'r1' },
      1,
    );
    await updateDesired(
      db,
      'a',
      { tag: 'restart', mode: 'immediate', reset: false, nonce: 'r2' },
      2,
    );
    expect((await read('a')).pipeline).toMatchObject({
      restartNonce: 'r2',
      restartMode: 'immediate',
      restartReset: true,
    });
    await observe('a', { restartDone: 'r2' });
    await updateDesired(
      db,
      'a',
      { tag: 'restart', mode: 'checkpoint', reset: false, nonce: 'r3' },
      3,
    );
    expect((await read('a')).pipeline).toMatchObject({ restartNonce: 'r3', restartReset: false });
  });

  test('as another parallelism restarts what runs, without forgetting its state', async () => {
    await createPipeline(db, newPipeline('a'));
    await updateDesired(
      db,
      'a',
      { tag: 'restart', mode: 'immediate', reset: true, nonce: 'r1' },
      1,
    );
    await observe('a', { restartDone: 'r1', state: 'Running' });
    await updateDesired(db, 'a', { tag: 'configure', parallelism: 5, nonce: 'r2' }, 2);
    expect((await read('a')).pipeline).toMatchObject({
      parallelism: 5,
      checkpointIntervalMs: 10_000,
      restartNonce: 'r2',
      restartMode: 'checkpoint',
      restartReset: false,
    });
  });

  test('as another interval restarts nothing that is stopped', async () => {
    await createPipeline(db, newPipeline('a'));
    await updateDesired(db, 'a', { tag: 'stop', mode: 'checkpoint', nonce: 's' }, 1);
    await updateDesired(db, 'a', { tag: 'configure', checkpointIntervalMs: 2_000, nonce: 'r' }, 2);
    expect((await read('a')).pipeline).toMatchObject({
      checkpointIntervalMs: 2_000,
      restartNonce: null,
      desiredState: 'stopped',
    });
  });

  test('as another name restarts nothing', async () => {
    await createPipeline(db, newPipeline('a'));
    await updateDesired(db, 'a', { tag: 'describe', name: 'new', tags: { x: 'y' } }, 2);
    expect((await read('a')).pipeline).toMatchObject({
      name: 'new',
      tags: { x: 'y' },
      restartNonce: null,
      desiredState: 'running',
    });
  });
});

describe('deleting', () => {
  const cases: [JobState, 'running' | 'stopped', boolean][] = [
    ['Created', 'running', false],
    ['Running', 'running', false],
    ['Running', 'stopped', false],
    ['Stopping', 'stopped', false],
    ['Recovering', 'running', false],
    ['Stopped', 'running', false],
    ['Stopped', 'stopped', true],
    ['Finished', 'running', true],
    ['Failed', 'running', true],
  ];
  test.each(cases)(
    'of a pipeline whose job is %s and that is wanted %s: %s',
    async (state, desired, deleted) => {
      await createPipeline(db, newPipeline('a'));
      if (desired === 'stopped')
        await updateDesired(db, 'a', { tag: 'stop', mode: 'checkpoint', nonce: 's' }, 1);
      await observe('a', { state });
      expect(await deletePipeline(db, 'a')).toBe(deleted ? 'deleted' : 'running');
      expect((await getPipeline(db, 'a')) === null).toBe(deleted);
    },
  );

  test('is refused when a failed job is about to begin again', async () => {
    await createPipeline(db, newPipeline('a'));
    await observe('a', { state: 'Failed' });
    await updateDesired(db, 'a', { tag: 'run', nonce: 'r' }, 1);
    expect(await deletePipeline(db, 'a')).toBe('running');
  });

  test('takes job and failures along, so that the id can be used again', async () => {
    await createPipeline(db, newPipeline('a'));
    await observe('a', { state: 'Failed' });
    await recordFailure(
      db,
      'job_a',
      1,
      { code: 'INTERNAL', ...ERROR_CODES.INTERNAL, message: 'x' },
      1,
    );
    await deletePipeline(db, 'a');
    expect(await listFailures(db, 'job_a', 10, null)).toEqual([]);
    expect(await createPipeline(db, newPipeline('a'))).toBe('created');
    expect((await read('a')).job.state).toBe('Created');
  });
});

test('failures are kept once for each generation and listed newest first', async () => {
  const report = (message: string) =>
    ({ code: 'HOST_LOST', ...ERROR_CODES.HOST_LOST, message }) as const;
  for (const generation of [1, 2, 2, 3])
    await recordFailure(db, 'job_a', generation, report(`g${generation}`), generation * 10);
  const listed = await listFailures(db, 'job_a', 2, null);
  expect(listed.map((each) => [each.generation, each.report.message])).toEqual([
    [3, 'g3'],
    [2, 'g2'],
  ]);
  expect(
    (await listFailures(db, 'job_a', 2, listed.at(-1)?.id ?? 0)).map((each) => each.generation),
  ).toEqual([1]);
});
