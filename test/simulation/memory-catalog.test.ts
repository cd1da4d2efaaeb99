/** The catalogue of the simulation does what the real one does, whatever is done with both. */
import { expect, test } from 'vitest';
import { Prng } from '../../src/base/prng.ts';
import { recordObservation, scheduleNext, type JobPatch } from '../../src/catalog/jobs.ts';
import {
  createPipeline,
  type DesiredChange,
  getPipeline,
  updateDesired,
} from '../../src/catalog/pipelines.ts';
import type { JobState, PipelineAndJob } from '../../src/catalog/schema.ts';
import { LEGAL_TRANSITIONS } from '../../src/controller/transitions.ts';
import { MemoryCatalog } from '../harness/cluster/catalog.ts';
import { memoryCatalog } from '../harness/sqlite-dialect.ts';

const ROWS = {
  graph: '{}',
  parallelism: 2,
  checkpointIntervalMs: 100,
  settings: { batchRows: 7 },
  createdMs: 5,
};

function drawChange(prng: Prng, nonce: string): DesiredChange {
  const mode = prng.pick(['checkpoint', 'graceful', 'immediate'] as const);
  return prng.pick<DesiredChange>([
    { tag: 'run', nonce },
    { tag: 'stop', mode, nonce },
    { tag: 'restart', mode, reset: prng.chance(0.5), nonce },
    { tag: 'configure', parallelism: 1 + prng.below(9), nonce },
    { tag: 'configure', checkpointIntervalMs: 1 + prng.below(999), nonce },
    { tag: 'describe', name: nonce },
  ]);
}

function drawPatch(prng: Prng, { pipeline, job }: PipelineAndJob): JobPatch {
  return {
    state: prng.pick(Object.keys(LEGAL_TRANSITIONS) as JobState[]),
    ...(prng.chance(0.5) ? { restartDone: pipeline.restartNonce } : {}),
    ...(prng.chance(0.3) ? { generation: job.generation + 1 } : {}),
    epoch: prng.below(20),
    committedEpoch: prng.below(20),
    retryAtMs: prng.chance(0.5) ? null : prng.below(99),
  };
}

test.each(Array.from({ length: 20 }, (_, seed) => seed))('seed %i', async (seed) => {
  const prng = new Prng(`catalog/${seed}`);
  const db = memoryCatalog();
  const memory = new MemoryCatalog(ROWS);
  const { id, name, query, planHash, tags } = memory.pipeline;
  await createPipeline(db, {
    ...ROWS,
    id,
    jobId: memory.job.id,
    name,
    query,
    planHash,
    tags,
    nowMs: ROWS.createdMs,
  });
  let stale = { pipeline: memory.pipeline, job: memory.job };
  for (let nowMs = 10; nowMs < 60; nowMs++) {
    const now = { pipeline: memory.pipeline, job: memory.job };
    if (prng.chance(0.3)) stale = now;
    const seen = prng.chance(0.3) ? stale : now;
    const kind = prng.below(3);
    if (kind === 0) {
      const change = drawChange(prng, `n${nowMs}`);
      memory.want(change, nowMs);
      await updateDesired(db, 'pl', change, nowMs);
    } else if (kind === 1) {
      const atMs = prng.chance(0.5) ? null : nowMs + 9;
      memory.schedule(seen.pipeline.version, atMs);
      await scheduleNext(db, 'pl', seen.pipeline.version, atMs);
    } else {
      const patch = drawPatch(prng, now);
      const version = prng.chance(0.5) ? null : seen.pipeline.version;
      const written = memory.record(seen.job, patch, nowMs, version);
      expect(await recordObservation(db, seen.job, patch, nowMs, version)).toBe(written);
    }
    expect(await getPipeline(db, 'pl'), `step ${nowMs}`).toEqual({
      pipeline: memory.pipeline,
      job: memory.job,
    });
  }
});
