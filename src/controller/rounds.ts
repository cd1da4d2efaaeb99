/**
 * What a controller does for one pipeline, as a generator: look, decide, act, look again.
 *
 * Place in the walk: around stages 4 and 10. Every call that crosses a border is yielded, so that the very same code runs
 * asynchronously in the Worker (`reconcile.ts`) and, call by call, in simulation. Whoever drives it answers a call with
 * `next`, rejects it with `throw`, and may abandon the run at any call, which is what a crash is.
 *
 * Invariants: a job is written only over the version that was read; whoever comes late reads and decides again, so two
 * overlapping runs end where one would. The time of the next look is written last, and only if nothing new is wanted, so
 * a run that dies leaves the pipeline due.
 * Failure: a leader that rejects a call counts as unreachable; a bucket that does not answer is tried again soon; what the
 * catalogue throws is thrown, and the pipeline stays due.
 */
import type { ErrorReport } from '../base/errors.ts';
import type { JobPatch } from '../catalog/jobs.ts';
import type { Job, Pipeline, PipelineAndJob, StopMode } from '../catalog/schema.ts';
import type { AllocationOutcome } from '../lineage/allocate.ts';
import type { GenerationSpec, LeaderStatus } from '../protocol/messages.ts';
import { decide, watchesLeader } from './decide.ts';
import type { ControllerAction, LeaderView } from './decide.ts';
import { generationSpec } from './generation-spec.ts';
import { transition } from './transitions.ts';

/** The calls that a controller makes, with what each is answered. */
type Calls = {
  load: { asks: { pipelineId: string }; answer: PipelineAndJob | null };
  /** False when the job is not what was `seen` any more, or what is wanted not of the version that is given. */
  record: {
    asks: { seen: Job; patch: JobPatch; nowMs: number; pipelineVersion: number | null };
    answer: boolean;
  };
  'record-failure': {
    asks: { jobId: string; generation: number; report: ErrorReport; nowMs: number };
    answer: undefined;
  };
  schedule: {
    asks: { pipelineId: string; pipelineVersion: number; atMs: number | null };
    answer: undefined;
  };
  allocate: { asks: { pipeline: Pipeline; job: Job; expected: number }; answer: AllocationOutcome };
  poll: { asks: { pipelineId: string; generation: number }; answer: LeaderStatus };
  start: {
    asks: { pipelineId: string; generation: number; spec: GenerationSpec };
    answer: undefined;
  };
  stop: {
    asks: { pipelineId: string; generation: number; mode: StopMode; nonce: string };
    answer: undefined;
  };
  /** Deletes the preview and all that it left behind; may be repeated. */
  forget: { asks: { pipeline: Pipeline; job: Job }; answer: undefined };
};

export type ControllerCall = {
  [Name in keyof Calls]: { call: Name } & Calls[Name]['asks'];
}[keyof Calls];

/** What one of the calls is answered. */
export type ControllerAnswer = Calls[keyof Calls]['answer'];

export type ControllerRun<T> = Generator<ControllerCall, T, ControllerAnswer>;

/** `jitter`: a number in [0, 1), a fresh one for each round. */
export type ControllerIdentity = { codeVersion: string; jitter(): number };

/** Rounds of look, decide and act in one run: allocate, start and a few lost races. */
const ROUNDS_MAX = 8;
const RETRY_MS = 1_000;

function* ask<Name extends keyof Calls>(
  call: Name,
  asks: Calls[Name]['asks'],
): ControllerRun<Calls[Name]['answer']> {
  return (yield { call, ...asks } as ControllerCall) as Calls[Name]['answer'];
}

const record = (
  seen: Job,
  patch: JobPatch,
  nowMs: number,
  pipelineVersion: number | null = null,
): ControllerRun<boolean> => ask('record', { seen, patch, nowMs, pipelineVersion });

/** Brings one pipeline closer to what is wanted. Returns when to look again, null when nobody has to. */
export function* reconcileRounds(
  me: ControllerIdentity,
  pipelineId: string,
  nowMs: number,
): ControllerRun<number | null> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const loaded = yield* ask('load', { pipelineId });
    if (loaded === null) return null;
    const { pipeline, job } = loaded;
    const leader = yield* look(job);
    const actions = decide(pipeline, job, leader, nowMs, me.jitter(), me.codeVersion);
    const done = yield* perform(me, loaded, actions, nowMs);
    if (done.tag === 'next-look') {
      const { atMs } = done;
      yield* ask('schedule', { pipelineId, pipelineVersion: pipeline.version, atMs });
      return atMs;
    }
  }
  return nowMs + RETRY_MS;
}

function* look(job: Job): ControllerRun<LeaderView> {
  if (!watchesLeader(job)) return { tag: 'none' };
  const { pipelineId, generation } = job;
  try {
    return { tag: 'status', status: yield* ask('poll', { pipelineId, generation }) };
  } catch {
    return { tag: 'unreachable' };
  }
}

/** `again`: the job is not what was read any more, by this run or by another. */
type Performed = { tag: 'again' } | { tag: 'next-look'; atMs: number | null };

function* perform(
  me: ControllerIdentity,
  { pipeline, job }: PipelineAndJob,
  actions: readonly ControllerAction[],
  nowMs: number,
): ControllerRun<Performed> {
  // Written by a `record` of this very round, which moves the version on.
  let seen = job;
  for (const action of actions) {
    switch (action.tag) {
      case 'record':
        if (!(yield* record(seen, action.patch, nowMs))) return { tag: 'again' };
        seen = { ...seen, ...action.patch, version: seen.version + 1 };
        break;
      case 'note-failure': {
        const { id: jobId, generation } = job;
        yield* ask('record-failure', { jobId, generation, report: action.report, nowMs });
        break;
      }
      case 'allocate':
        return yield* allocate(pipeline, seen, action, nowMs);
      case 'start':
      case 'stop':
        if (!(yield* command(me, pipeline, seen, action))) {
          if (seen.unreachableSinceMs === null)
            yield* record(seen, { unreachableSinceMs: nowMs }, nowMs);
          return { tag: 'next-look', atMs: nowMs + RETRY_MS };
        }
        break;
      case 'forget':
        yield* ask('forget', { pipeline, job: seen });
        return { tag: 'next-look', atMs: null };
      case 'poll-at':
        return { tag: 'next-look', atMs: action.atMs };
    }
  }
  return { tag: 'again' };
}

function* allocate(
  pipeline: Pipeline,
  job: Job,
  { patch, resets }: Extract<ControllerAction, { tag: 'allocate' }>,
  nowMs: number,
): ControllerRun<Performed> {
  const outcome = yield* ask('allocate', { pipeline, job, expected: job.generation });
  if (outcome.tag === 'unavailable') return { tag: 'next-look', atMs: nowMs + RETRY_MS };
  if (outcome.tag === 'broken') {
    const { report } = outcome;
    yield* ask('record-failure', { jobId: job.id, generation: job.generation, report, nowMs });
    const failed: JobPatch = {
      state: transition(job.state, 'Failed'),
      failure: report,
      finishMs: nowMs,
      // A restart that was asked for has been tried: it must not be tried again without being asked for again.
      ...(patch.restartDone === undefined ? {} : { restartDone: patch.restartDone }),
    };
    yield* record(job, failed, nowMs);
    return { tag: 'again' };
  }
  const { generation } = outcome;
  const allocated = { ...patch, generation, ...(resets ? { resetFrom: generation } : {}) };
  // Not over a newer order: that one may be what this generation is for, and a reset would then be honoured twice.
  yield* record(job, allocated, nowMs, pipeline.version);
  return { tag: 'again' };
}

/** False when the leader could not be reached. */
function* command(
  me: ControllerIdentity,
  pipeline: Pipeline,
  job: Job,
  action: Extract<ControllerAction, { tag: 'start' | 'stop' }>,
): ControllerRun<boolean> {
  const to = { pipelineId: pipeline.id, generation: job.generation };
  try {
    if (action.tag === 'start')
      yield* ask('start', { ...to, spec: generationSpec(pipeline, job, me.codeVersion) });
    else yield* ask('stop', { ...to, mode: action.mode, nonce: action.nonce });
    return true;
  } catch {
    return false;
  }
}
