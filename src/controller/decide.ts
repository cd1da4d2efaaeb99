/**
 * Desired against observed: what a controller does next for one pipeline. Pure.
 *
 * Place in the walk: around stages 4 and 10. The controller is level-triggered: nothing it does depends on what it did
 * before, only on the rows and on what the leader says now, so any action may be lost, repeated or overtaken.
 *
 * Invariants: a generation is recorded before its leader is started; a stop is asked for until an outcome is seen;
 * being fenced costs no restart; a stop with a checkpoint whose generation fails is finished by another generation, which
 * redoes what was not committed. A reset is bound to the generation that first has to honour it, in the same write
 * that names this generation.
 * Failure: see `rounds.ts`.
 */
import { ERROR_CODES } from '../base/errors.ts';
import type { ErrorReport } from '../base/errors.ts';
import { LIMITS } from '../base/limits.ts';
import type { JobPatch } from '../catalog/jobs.ts';
import { TERMINAL_STATES } from '../catalog/schema.ts';
import type { Job, JobState, Pipeline, StopMode } from '../catalog/schema.ts';
import type { LeaderStatus, Outcome } from '../protocol/messages.ts';
import { countedRestarts, recoveryPauseMs } from './backoff.ts';
import { transition } from './transitions.ts';

/** `none`: no generation was ever allocated, or the job is at rest. */
export type LeaderView =
  | { tag: 'none' }
  | { tag: 'unreachable' }
  | { tag: 'status'; status: LeaderStatus };

export type ControllerAction =
  /** Write over the job that was read. */
  | { tag: 'record'; patch: JobPatch }
  /** Keep why the generation ended. */
  | { tag: 'note-failure'; report: ErrorReport }
  /** Allocate the next generation, then write it with the patch; `resets`: it is the first to begin without state. */
  | { tag: 'allocate'; patch: JobPatch; resets: boolean }
  /** Start the leader of the job's generation. */
  | { tag: 'start' }
  | { tag: 'stop'; mode: StopMode; nonce: string }
  /** Nobody looks at this preview any more and nothing of it runs: delete it with all that it left. Always the last action. */
  | { tag: 'forget' }
  /** Look again then; null: when somebody asks. Always the last action. */
  | { tag: 'poll-at'; atMs: number | null };

/** A preview that nobody has looked at for so long is stopped and deleted. */
export const PREVIEW_KEPT_MS = 60_000;
const POLL_SOON_MS = 1_000;
/** Less than the minute between two crons: a pipeline that is due a moment after one would wait for two. */
const POLL_HEALTHY_MS = 50_000;

/** A controller looks at a leader unless the job is at rest. */
export const watchesLeader = (job: Job): boolean =>
  job.generation > 0 && !TERMINAL_STATES.includes(job.state);

type View = {
  pipeline: Pipeline;
  job: Job;
  nowMs: number;
  jitter: number;
  restart: boolean;
  codeVersion: string;
};

/** Marks a stop that was asked for because newer code runs the controller. */
const DEPLOY_NONCE = 'deploy ';

/**
 * What to do, in this order.
 *
 * @param jitter       in [0, 1), spreads recoveries
 * @param codeVersion  of this controller; versions are ordered as texts, so that while two of them are deployed at
 *                     once, the older one leaves alone what the newer one has started
 */
export function decide(
  stored: Pipeline,
  job: Job,
  leader: LeaderView,
  nowMs: number,
  jitter: number,
  codeVersion: string,
): ControllerAction[] {
  const expiresMs = stored.watchedMs === null ? Infinity : stored.watchedMs + PREVIEW_KEPT_MS;
  if (nowMs < expiresMs) {
    const actions = decideFor(stored, job, leader, nowMs, jitter, codeVersion);
    return actions.map((action) => lookBy(action, expiresMs));
  }
  // Not stored: somebody who looks again before it is deleted has it back.
  const stopped: Pipeline = {
    ...stored,
    desiredState: 'stopped',
    stopMode: 'immediate',
    stopNonce: FORGOTTEN_NONCE,
  };
  if (!watchesLeader(job)) return [{ tag: 'forget' }];
  const actions = decideFor(stopped, job, leader, nowMs, jitter, codeVersion);
  return actions.map((action) => lookBy(action, nowMs + POLL_SOON_MS));
}

const FORGOTTEN_NONCE = 'forgotten';

const lookBy = (action: ControllerAction, atMs: number): ControllerAction =>
  action.tag === 'poll-at' && atMs < (action.atMs ?? Infinity) ? { ...action, atMs } : action;

function decideFor(
  pipeline: Pipeline,
  job: Job,
  leader: LeaderView,
  nowMs: number,
  jitter: number,
  codeVersion: string,
): ControllerAction[] {
  const restart =
    pipeline.desiredState === 'running' &&
    pipeline.restartNonce !== null &&
    pipeline.restartNonce !== job.restartDone;
  const view: View = { pipeline, job, nowMs, jitter, restart, codeVersion };
  if (!watchesLeader(job)) return atRest(view);
  if (leader.tag !== 'status') return unreachable(view);
  const { status } = leader;
  const back = job.unreachableSinceMs === null ? {} : { unreachableSinceMs: null };
  if (status.outcome !== null) return ended(view, status, status.outcome);
  return status.phase === 'new' ? unstarted(view, back) : live(view, status, back);
}

function atRest(view: View): ControllerAction[] {
  const { pipeline, job, nowMs, restart } = view;
  const runnable = job.state === 'Created' || job.state === 'Stopped' || restart;
  if (pipeline.desiredState === 'running' && runnable) {
    const reason = job.state === 'Created' ? 'created' : restart ? 'restart' : 'started';
    return [
      next(view, 'Scheduling', reason, {
        restarts: 0,
        failure: null,
        startMs: null,
        finishMs: null,
      }),
    ];
  }
  if (job.state === 'Created')
    return [record(view, { state: 'Stopped', finishMs: nowMs }), { tag: 'poll-at', atMs: null }];
  return [{ tag: 'poll-at', atMs: null }];
}

function unreachable(view: View): ControllerAction[] {
  const { job, nowMs } = view;
  if (job.unreachableSinceMs === null)
    return [record(view, { unreachableSinceMs: nowMs }), soon(view)];
  if (nowMs - job.unreachableSinceMs < LIMITS.leaderSilentMs) return [soon(view)];
  const message = `the leader did not answer for ${LIMITS.leaderSilentMs} ms`;
  return recover(view, null, { code: 'HOST_LOST', ...ERROR_CODES.HOST_LOST, message });
}

/** The generation is recorded, but its leader was not started yet. */
function unstarted(view: View, patch: JobPatch): ControllerAction[] {
  const { pipeline } = view;
  // Its spec would not have the reset, nor perhaps the new parallelism: another generation takes its place.
  if (view.restart) return [next(view, 'Restarting', 'restart', { restarts: 0, failure: null })];
  const stop = stopOf(view);
  // A stop with a checkpoint lets it redo what an earlier generation left uncommitted; others just end it.
  const starts: ControllerAction[] =
    stop === null || pipeline.stopMode === 'checkpoint' ? [{ tag: 'start' }] : [];
  const stops = stop === null ? [] : [stop];
  const stopping: JobPatch = stop === null ? patch : { ...patch, state: stoppingState(pipeline) };
  return [...recordIfAny(view, stopping), ...starts, ...stops, soon(view)];
}

function live(view: View, status: LeaderStatus, back: JobPatch): ControllerAction[] {
  const { pipeline, nowMs, job } = view;
  const progress: JobPatch = {
    ...back,
    epoch: status.epoch,
    committedEpoch: status.committedEpoch,
  };
  const stop = stopOf(view);
  if (stop !== null)
    return [
      ...recordIfAny(view, { ...progress, state: stoppingState(pipeline) }),
      stop,
      soon(view),
    ];
  if (view.restart) {
    const again: ControllerAction = {
      tag: 'stop',
      mode: pipeline.restartMode ?? 'checkpoint',
      nonce: pipeline.restartNonce ?? '',
    };
    return [...recordIfAny(view, { ...progress, state: 'Restarting' }), again, soon(view)];
  }
  // Stopping although it is wanted to run: somebody changed their mind, and the next generation comes after the outcome.
  if (status.phase !== 'running' || status.stopNonce !== null)
    return [...recordIfAny(view, progress), soon(view)];
  // In order and before the platform resets old objects at a time of its own: a checkpoint, then a generation on new code.
  if (view.codeVersion > status.codeVersion) {
    const renew: ControllerAction = {
      tag: 'stop',
      mode: 'checkpoint',
      nonce: `${DEPLOY_NONCE}${view.codeVersion}`,
    };
    return [...recordIfAny(view, { ...progress, state: 'Restarting' }), renew, soon(view)];
  }
  const running: JobPatch = {
    ...progress,
    state: status.checkpoint?.kind === 'final' ? 'Finishing' : 'Running',
    startMs: job.startMs ?? status.runningSinceMs,
    healthySinceMs: status.runningSinceMs,
    restarts: countedRestarts(job, status),
    failure: null,
  };
  const atMs = running.state === 'Running' ? nowMs + POLL_HEALTHY_MS : nowMs + POLL_SOON_MS;
  return [...recordIfAny(view, running), { tag: 'poll-at', atMs }];
}

function ended(view: View, status: LeaderStatus, outcome: Outcome): ControllerAction[] {
  const { pipeline, nowMs, restart } = view;
  const progress: JobPatch = {
    unreachableSinceMs: null,
    epoch: status.epoch,
    committedEpoch: status.committedEpoch,
  };
  if (outcome.tag === 'fenced')
    return [next(view, betweenState(view), 'recovery: fenced', progress)];
  if (outcome.tag === 'failed') {
    const note: ControllerAction = { tag: 'note-failure', report: outcome.report };
    return [note, ...afterFailure(view, status, outcome.report, progress)];
  }
  if (restart)
    return [next(view, 'Restarting', 'restart', { ...progress, restarts: 0, failure: null })];
  const rest: JobPatch = { ...progress, failure: null, finishMs: nowMs, retryAtMs: null };
  if (outcome.tag === 'finished')
    return [record(view, { ...rest, state: 'Finished' }), { tag: 'poll-at', atMs: null }];
  if (pipeline.desiredState === 'stopped')
    return [record(view, { ...rest, state: 'Stopped' }), { tag: 'poll-at', atMs: null }];
  const deployed = status.stopNonce?.startsWith(DEPLOY_NONCE) ?? false;
  const state = deployed ? 'Restarting' : 'Scheduling';
  const reason = deployed ? 'deploy' : 'started';
  return [next(view, state, reason, { ...progress, restarts: 0, failure: null })];
}

function afterFailure(
  view: View,
  status: LeaderStatus,
  report: ErrorReport,
  progress: JobPatch,
): ControllerAction[] {
  const { pipeline, nowMs } = view;
  if (view.restart)
    return [next(view, 'Restarting', 'restart', { ...progress, restarts: 0, failure: null })];
  const rest: JobPatch = { ...progress, failure: report, finishMs: nowMs, retryAtMs: null };
  if (report.retry === 'never')
    return [record(view, { ...rest, state: 'Failed' }), { tag: 'poll-at', atMs: null }];
  const content = pipeline.desiredState === 'stopped' && pipeline.stopMode !== 'checkpoint';
  if (content) return [record(view, { ...rest, state: 'Stopped' }), { tag: 'poll-at', atMs: null }];
  return recover(view, status, report);
}

/** Another generation, if the budget allows, and now or after a pause. */
function recover(view: View, status: LeaderStatus | null, report: ErrorReport): ControllerAction[] {
  const { job, nowMs } = view;
  const restarts = countedRestarts(job, status);
  if (view.restart) return [next(view, 'Restarting', 'restart', { restarts: 0, failure: report })];
  if (restarts >= LIMITS.restartsMax) {
    const message = `gave up after ${restarts} recoveries: ${report.message}`;
    const hint = 'restart the pipeline when the cause is gone; its last checkpoint is kept';
    const failure: ErrorReport = {
      ...report,
      code: 'RESTARTS_EXHAUSTED',
      ...ERROR_CODES.RESTARTS_EXHAUSTED,
      message,
      hint,
    };
    return [
      record(view, { state: 'Failed', failure, finishMs: nowMs, retryAtMs: null }),
      { tag: 'poll-at', atMs: null },
    ];
  }
  const state = betweenState(view);
  if (job.retryAtMs === null) {
    const pauseMs = recoveryPauseMs(restarts, view.jitter);
    if (pauseMs > 0) {
      const retryAtMs = nowMs + pauseMs;
      return [
        record(view, { state, failure: report, retryAtMs }),
        { tag: 'poll-at', atMs: retryAtMs },
      ];
    }
  } else if (nowMs < job.retryAtMs) {
    return [...recordIfAny(view, { state }), { tag: 'poll-at', atMs: job.retryAtMs }];
  }
  return [
    next(view, state, `recovery: ${report.code}`, { restarts: restarts + 1, failure: report }),
  ];
}

function next(view: View, state: JobState, reason: string, patch: JobPatch): ControllerAction {
  const { pipeline, job, restart } = view;
  return {
    tag: 'allocate',
    patch: {
      ...patch,
      state: transition(job.state, state),
      reason,
      retryAtMs: null,
      unreachableSinceMs: null,
      healthySinceMs: null,
      ...(restart ? { restartDone: pipeline.restartNonce } : {}),
    },
    resets: restart && pipeline.restartReset,
  };
}

/** Between two generations: stopping stays stopping. */
function betweenState({ pipeline, restart }: View): JobState {
  if (pipeline.desiredState === 'stopped') return stoppingState(pipeline);
  return restart ? 'Restarting' : 'Recovering';
}

function stoppingState(pipeline: Pipeline): JobState {
  return pipeline.stopMode === 'checkpoint' ? 'CheckpointStopping' : 'Stopping';
}

function stopOf({ pipeline }: View): ControllerAction | null {
  if (pipeline.desiredState === 'running') return null;
  return { tag: 'stop', mode: pipeline.stopMode ?? 'checkpoint', nonce: pipeline.stopNonce ?? '' };
}

function record({ job }: View, patch: JobPatch): ControllerAction {
  return {
    tag: 'record',
    patch:
      patch.state === undefined ? patch : { ...patch, state: transition(job.state, patch.state) },
  };
}

/** Nothing, when the job is already as the patch says. */
function recordIfAny(view: View, patch: JobPatch): ControllerAction[] {
  const changed = Object.entries(patch).some(([name, value]) =>
    differs(name as keyof JobPatch, value, view.job),
  );
  return changed ? [record(view, patch)] : [];
}

function differs(name: keyof JobPatch, value: unknown, job: Job): boolean {
  if (name === 'epoch' || name === 'committedEpoch') return (value as number) > job[name];
  return JSON.stringify(value) !== JSON.stringify(job[name]);
}

const soon = ({ nowMs }: View): ControllerAction => ({
  tag: 'poll-at',
  atMs: nowMs + POLL_SOON_MS,
});
