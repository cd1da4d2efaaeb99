/**
 * Carries out what `decide` decides: look, decide, act, look again.
 *
 * Place in the walk: around stages 4 and 10. Runs in the Worker, on cron for the pipelines that are due and on a nudge
 * for one. Any number of these may overlap.
 *
 * Invariants: a job is written only over the version that was read; whoever comes late reads and decides again, so two
 * overlapping runs end where one would. The time of the next look is written last, and only if nothing new is wanted, so
 * a run that dies leaves the pipeline due.
 * Failure: a leader that rejects a call counts as unreachable; a bucket that does not answer is tried again soon; what the
 * catalogue throws is thrown, and the pipeline stays due.
 */
import { reportOf } from '../base/errors.ts';
import type { ErrorReport } from '../base/errors.ts';
import type { ControllerCatalog } from '../catalog/jobs.ts';
import type { Job, Pipeline, PipelineAndJob, StopMode } from '../catalog/schema.ts';
import type { AllocationOutcome } from '../lineage/allocate.ts';
import type { GenerationSpec, LeaderStatus } from '../protocol/messages.ts';
import { decide, watchesLeader } from './decide.ts';
import type { ControllerAction, LeaderView } from './decide.ts';
import { generationSpec } from './generation-spec.ts';
import { transition } from './transitions.ts';

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
  codeVersion: string;
  /** A number in [0, 1). */
  jitter(): number;
};

/** Rounds of look, decide and act in one run: allocate, start and a few lost races. */
const ROUNDS_MAX = 8;
const RETRY_MS = 1_000;
const CONCURRENT_MAX = 6;

/** Brings one pipeline closer to what is wanted. Returns when to look again, null when nobody has to. */
export async function reconcilePipeline(
  ports: ControllerPorts,
  pipelineId: string,
  nowMs: number,
): Promise<number | null> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const loaded = await ports.catalog.load(pipelineId);
    if (loaded === null) return null;
    const leader = await look(ports, loaded.job);
    const actions = decide(
      loaded.pipeline,
      loaded.job,
      leader,
      nowMs,
      ports.jitter(),
      ports.codeVersion,
    );
    const done = await perform(ports, loaded, actions, nowMs);
    if (done.tag === 'next-look') {
      await ports.catalog.schedule(pipelineId, loaded.pipeline.version, done.atMs);
      return done.atMs;
    }
  }
  return nowMs + RETRY_MS;
}

async function look(ports: ControllerPorts, job: Job): Promise<LeaderView> {
  if (!watchesLeader(job)) return { tag: 'none' };
  try {
    return { tag: 'status', status: await ports.leader(job.pipelineId, job.generation).poll() };
  } catch {
    return { tag: 'unreachable' };
  }
}

/** `again`: the job is not what was read any more, by this run or by another. */
type Performed = { tag: 'again' } | { tag: 'next-look'; atMs: number | null };

async function perform(
  ports: ControllerPorts,
  { pipeline, job }: PipelineAndJob,
  actions: readonly ControllerAction[],
  nowMs: number,
): Promise<Performed> {
  // Written by a `record` of this very round, which moves the version on.
  let seen = job;
  for (const action of actions) {
    switch (action.tag) {
      case 'record':
        if (!(await ports.catalog.record(seen, action.patch, nowMs))) return { tag: 'again' };
        seen = { ...seen, ...action.patch, version: seen.version + 1 };
        break;
      case 'note-failure':
        await ports.catalog.recordFailure(job.id, job.generation, action.report, nowMs);
        break;
      case 'allocate':
        return await allocate(ports, pipeline, seen, action, nowMs);
      case 'start':
      case 'stop':
        if (!(await command(ports, pipeline, seen, action))) {
          if (seen.unreachableSinceMs === null)
            await ports.catalog.record(seen, { unreachableSinceMs: nowMs }, nowMs);
          return { tag: 'next-look', atMs: nowMs + RETRY_MS };
        }
        break;
      case 'poll-at':
        return { tag: 'next-look', atMs: action.atMs };
    }
  }
  return { tag: 'again' };
}

async function allocate(
  ports: ControllerPorts,
  pipeline: Pipeline,
  job: Job,
  { patch, resets }: Extract<ControllerAction, { tag: 'allocate' }>,
  nowMs: number,
): Promise<Performed> {
  const outcome = await ports.allocate(pipeline, job, job.generation);
  if (outcome.tag === 'unavailable') return { tag: 'next-look', atMs: nowMs + RETRY_MS };
  if (outcome.tag === 'broken') {
    await ports.catalog.recordFailure(job.id, job.generation, outcome.report, nowMs);
    const failed = {
      state: transition(job.state, 'Failed'),
      failure: outcome.report,
      finishMs: nowMs,
    };
    // A restart that was asked for has been tried: it must not be tried again without being asked for again.
    await ports.catalog.record(
      job,
      { ...failed, ...(patch.restartDone === undefined ? {} : { restartDone: patch.restartDone }) },
      nowMs,
    );
    return { tag: 'again' };
  }
  const { generation } = outcome;
  await ports.catalog.record(
    job,
    { ...patch, generation, ...(resets ? { resetFrom: generation } : {}) },
    nowMs,
  );
  return { tag: 'again' };
}

/** False when the leader could not be reached. */
async function command(
  ports: ControllerPorts,
  pipeline: Pipeline,
  job: Job,
  action: Extract<ControllerAction, { tag: 'start' | 'stop' }>,
): Promise<boolean> {
  const leader = ports.leader(pipeline.id, job.generation);
  try {
    if (action.tag === 'start')
      await leader.start(generationSpec(pipeline, job, ports.codeVersion));
    else await leader.stop(action.mode, action.nonce);
    return true;
  } catch {
    return false;
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
