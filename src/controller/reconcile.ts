/**
 * Drives the rounds of `rounds.ts` against the catalogue, the bucket and the leaders.
 *
 * Place in the walk: around stages 4 and 10. Runs in the Worker, on cron for the pipelines that are due and on a nudge
 * for one. Any number of these may overlap.
 *
 * Invariant: each call is carried out once, and its rejection is what the rounds see. Failure: see `rounds.ts`.
 */
import { reportOf } from '../base/errors.ts';
import type { ErrorReport } from '../base/errors.ts';
import type { ControllerCatalog } from '../catalog/jobs.ts';
import type { Job, Pipeline, StopMode } from '../catalog/schema.ts';
import type { AllocationOutcome } from '../lineage/allocate.ts';
import type { GenerationSpec, LeaderStatus } from '../protocol/messages.ts';
import { reconcileRounds } from './rounds.ts';
import type { ControllerAnswer, ControllerCall } from './rounds.ts';

/** One leader object; every call may be rejected, and has to be after a bounded time. */
export type LeaderPort = {
  start(spec: GenerationSpec): Promise<unknown>;
  poll(): Promise<LeaderStatus>;
  stop(mode: StopMode, nonce: string): Promise<unknown>;
};

export type ControllerPorts = {
  catalog: ControllerCatalog;
  /** `allocateGeneration` over the pipeline's bucket. */
  allocate(pipeline: Pipeline, job: Job, expected: number): Promise<AllocationOutcome>;
  leader(pipelineId: string, generation: number): LeaderPort;
  /** Deletes what a pipeline at rest left behind: logs, leaders, checkpoints, staged output. May be repeated. */
  forget(pipeline: Pipeline, job: Job): Promise<void>;
  codeVersion: string;
  /** A number in [0, 1). */
  jitter(): number;
};

const CONCURRENT_MAX = 6;

/** Brings one pipeline closer to what is wanted. Returns when to look again, null when nobody has to. */
export async function reconcilePipeline(
  ports: ControllerPorts,
  pipelineId: string,
  nowMs: number,
): Promise<number | null> {
  const run = reconcileRounds(ports, pipelineId, nowMs);
  let next = run.next();
  while (next.done !== true) {
    const answer = await settled(carryOut(ports, next.value));
    next = 'thrown' in answer ? run.throw(answer.thrown) : run.next(answer.value);
  }
  return next.value;
}

type Settled = { value: ControllerAnswer } | { thrown: unknown };

const settled = (answer: Promise<ControllerAnswer>): Promise<Settled> =>
  answer.then(
    (value) => ({ value }),
    (thrown: unknown) => ({ thrown }),
  );

async function carryOut(ports: ControllerPorts, call: ControllerCall): Promise<ControllerAnswer> {
  const { catalog } = ports;
  switch (call.call) {
    case 'load':
      return await catalog.load(call.pipelineId);
    case 'record':
      return await catalog.record(call.seen, call.patch, call.nowMs, call.pipelineVersion);
    case 'record-failure':
      await catalog.recordFailure(call.jobId, call.generation, call.report, call.nowMs);
      return undefined;
    case 'schedule':
      await catalog.schedule(call.pipelineId, call.pipelineVersion, call.atMs);
      return undefined;
    case 'allocate':
      return await ports.allocate(call.pipeline, call.job, call.expected);
    case 'poll':
      return await ports.leader(call.pipelineId, call.generation).poll();
    case 'start':
      await ports.leader(call.pipelineId, call.generation).start(call.spec);
      return undefined;
    case 'forget':
      // The row goes last: while it is there, what was interrupted is done again.
      await ports.forget(call.pipeline, call.job);
      await catalog.removePreview(call.pipeline.id);
      return undefined;
    case 'stop':
      await ports.leader(call.pipelineId, call.generation).stop(call.mode, call.nonce);
      return undefined;
  }
}

export type ReconcileSummary = {
  looked: number;
  failed: { pipelineId: string; report: ErrorReport }[];
};

/** Reconciles at most `limit` pipelines that are due; one that fails does not keep the others waiting. */
export async function reconcileDue(
  ports: ControllerPorts,
  nowMs: number,
  limit = 200,
): Promise<ReconcileSummary> {
  const ids = await ports.catalog.due(nowMs, limit);
  const failed: ReconcileSummary['failed'] = [];
  const queue = ids.values();
  const work = async (): Promise<void> => {
    for (const pipelineId of queue) {
      try {
        await reconcilePipeline(ports, pipelineId, nowMs);
      } catch (thrown) {
        failed.push({ pipelineId, report: reportOf(thrown) });
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_MAX }, work));
  return { looked: ids.length, failed };
}
