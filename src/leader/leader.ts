/**
 * One generation's leader as a step machine: `stepLeader(state, event)` gives the next state and ordered effects.
 *
 * Place in the walk: stages 4 and 7-9. An event only records a fact; `advance` then looks at all facts and begins what is
 * due, until there is something to wait for. So a repeated event is harmless, and a leader that resumes after a reset finds
 * its way from what the lineage and the hosts say.
 *
 * Invariants: INV-50, 51, 52 (`state.ts`), INV-30 (`hosts.ts`); a stop never interrupts a commit or a redo unless it is
 * `immediate`; an outcome is final.
 * Failure: every wait has a deadline; what passes it fails the generation (a checkpoint attempt: after its third time).
 * Source: etcd raft's Ready for the order of effects; LINEAGE §3 and §7 for the order of steps.
 */
import { assert, must, unreachable } from '../base/assert.ts';
import type { StopMode } from '../protocol/messages.ts';
import { giveUpCommit, startCommit } from './commits.ts';
import {
  askCheckpoint,
  beginNext,
  checkpointDueMs,
  giveUpAttempt,
  giveUpSettled,
  onPublished,
  settle,
} from './epochs.ts';
import { checkSilence, loseHost, onAnswer, onReport } from './hosts.ts';
import type { LeaderEffect, LeaderEvent, LineageResult } from './interface.ts';
import {
  adoptHosts,
  awaitHosts,
  begin,
  deploy,
  fence,
  giveUpHosts,
  needsDeployment,
  onFenced,
  onOpened,
  open,
  reopen,
  resetDue,
  setTip,
} from './opening.ts';
import { newHost, restoreLeader } from './state.ts';
import type { LeaderState } from './state.ts';
import { end, fail, failWith, persist, specOf, startOperation } from './step.ts';
import type { Step } from './step.ts';

/** Pause before a lineage workflow that found the store silent is run again; it has retried by itself before. */
const STORE_RETRY_MS = 1_000;

/** The state after `event`, and what the shell has to do for it, in this order. `state` is not modified. */
export function stepLeader(
  state: LeaderState,
  event: LeaderEvent,
): { state: LeaderState; effects: LeaderEffect[] } {
  const step: Step = { state: { ...state }, effects: [], reply: null, nowMs: event.nowMs };
  take(step, event);
  // An alarm that was lost or is late is made up for by whatever comes instead.
  if (event.tag !== 'tick' && step.state.wakeAtMs !== null && event.nowMs >= step.state.wakeAtMs)
    tick(step);
  advance(step);
  setAlarm(step);
  if (step.reply !== null) step.effects.push({ tag: 'reply', answer: step.reply });
  return { state: step.state, effects: step.effects };
}

function take(step: Step, event: LeaderEvent): void {
  switch (event.tag) {
    case 'woke':
      step.state = restoreLeader(event.incarnation, event.spec, event.persisted, event.nowMs);
      if (step.state.phase !== 'new' && step.state.phase !== 'ended') resume(step);
      return;
    case 'start':
      return start(step, event);
    case 'stop':
      return stop(step, event.mode, event.nonce);
    case 'flush':
      return askCheckpoint(step);
    case 'tick':
      return tick(step);
    case 'report':
      step.reply = onReport(step, event.envelope);
      return;
    case 'answer':
      return onAnswer(step, event.index, event.sequence, event.answer);
    case 'host-lost':
      return loseHost(step, event.index, event.reason);
    case 'lineage-done':
      return onLineageDone(step, event.id, event.result);
    default:
      return unreachable(event);
  }
}

function start(step: Step, { spec }: Extract<LeaderEvent, { tag: 'start' }>): void {
  const { state } = step;
  assert(state.incarnation !== null, 'an object wakes before it starts');
  if (state.phase !== 'new') return;
  state.spec = spec;
  state.phase = 'opening';
  state.startedMs = step.nowMs;
  state.hosts = Array.from({ length: spec.parallelism }, () => newHost(null, step.nowMs));
  persist(step, spec);
}

/** The object was reset: hosts that may have read input go on under the new nonce, others are deployed once more. */
function resume(step: Step): void {
  if (step.state.ending !== null) return end(step, step.state.ending);
  step.state.phase = 'opening';
  if (step.state.begun) adoptHosts(step);
}

/** Rank of a stop: a later one may only be more urgent. */
const URGENCY: Record<StopMode, number> = { checkpoint: 0, graceful: 1, immediate: 2 };

function stop(step: Step, mode: StopMode, nonce: string): void {
  const { state } = step;
  if (state.phase === 'ended') return;
  const urgent = state.stop === null || URGENCY[mode] > URGENCY[state.stop.mode];
  if (!urgent && state.stop?.nonce === nonce) return;
  state.stop = { mode: urgent ? mode : must(state.stop, 'earlier stop').mode, nonce };
  // A generation that was never started ends here, so that a start that comes late finds it ended.
  if (mode === 'immediate' || state.phase === 'new')
    return end(step, { tag: 'stopped', epoch: state.epoch });
  persist(step);
}

function onLineageDone(step: Step, id: number, result: LineageResult): void {
  const { state } = step;
  if (result.tag === 'collect') {
    if (state.collecting !== id) return;
    state.collecting = null;
    if (result.outcome.tag === 'skipped' && result.outcome.reason === 'fenced')
      end(step, { tag: 'fenced' });
    return;
  }
  const { activity } = state;
  if (activity.tag !== 'storing' || activity.id !== id) return;
  assert(activity.operation.tag === result.tag, 'a result belongs to its operation');
  if (result.outcome.tag === 'unavailable') {
    state.activity = { ...activity, retryAtMs: step.nowMs + STORE_RETRY_MS };
    return;
  }
  state.activity = { tag: 'none' };
  if (result.tag === 'open') return onOpened(step, result.outcome);
  if (result.tag === 'publish') return onPublished(step, result.outcome);
  if (result.tag === 'fence') {
    const reset = activity.operation.tag === 'fence' && activity.operation.options.reset;
    return onFenced(step, result.outcome, reset);
  }
  if (result.outcome.tag === 'fenced') return end(step, { tag: 'fenced' });
  if (result.outcome.tag !== 'marked') return fail(step, result.outcome.report);
  setTip(step, result.outcome.tip);
  if (state.phase === 'running') settle(step);
}

function tick(step: Step): void {
  const { state, nowMs } = step;
  if (state.phase === 'ended') return;
  checkSilence(step, state.wakeAtMs === null ? 0 : nowMs - state.wakeAtMs);
  // Whether it came early or late, the alarm is spent.
  state.wakeAtMs = null;
  const { activity } = state;
  if (activity.tag === 'none') return;
  if (nowMs >= activity.deadlineMs) return expire(step);
  if (activity.tag === 'storing' && activity.retryAtMs !== null && nowMs >= activity.retryAtMs) {
    startOperation(step, activity.operation, activity.deadlineMs);
  }
}

/** The deadline of the activity has passed. */
function expire(step: Step): void {
  const { activity } = step.state;
  switch (activity.tag) {
    case 'none':
      return;
    case 'storing':
      return failWith(
        step,
        'STORE_FAILED',
        `the bucket did not answer in time (${activity.operation.tag})`,
      );
    case 'deploying':
      return giveUpHosts(step);
    case 'collecting':
      return giveUpAttempt(step);
    case 'settling':
      return giveUpSettled(step);
    case 'committing':
      return giveUpCommit(step);
    case 'stopping-hosts':
      return end(step, activity.outcome);
    default:
      return unreachable(activity);
  }
}

/** Begins what is due, until there is something to wait for. */
function advance(step: Step): void {
  const { state } = step;
  if (state.phase === 'new' || state.phase === 'ended') return;
  if (state.doubted && state.activity.tag !== 'storing') reopen(step);
  while (state.activity.tag === 'none' && !ended(state)) {
    if (state.announced) {
      beginNext(step);
      return;
    }
    towardsBegin(step);
  }
}

/** Read through a function: what a step does to the phase is invisible to the type of a local. */
const ended = (state: LeaderState): boolean => state.phase === 'ended';

/** The next thing between owning the lineage and running; each makes progress, so `advance` comes to an end. */
function towardsBegin(step: Step): void {
  const { state } = step;
  const { tip } = state;
  if (tip === null) return open(step);
  if (tip.committed && tip.manifest?.finished === true && !resetDue(specOf(step), tip)) {
    return end(step, { tag: 'finished', epoch: tip.epoch });
  }
  // Nothing has been read since the tip, so the tip is where the stop would arrive.
  if (state.stop !== null && tip.committed && !state.begun)
    return end(step, { tag: 'stopped', epoch: tip.epoch });
  if (needsDeployment(step)) return deploy(step);
  if (state.adoptionDue) adoptHosts(step);
  if (state.hosts.some((host) => !host.ready)) return awaitHosts(step);
  if (!tip.committed) {
    state.phase = 'redoing';
    return startCommit(step, specOf(step).settings.redoTimeoutMs);
  }
  if (!state.fenced) return fence(step);
  begin(step);
}

/** Asks for a tick at the next deadline, unless an earlier one is coming anyway. */
function setAlarm(step: Step): void {
  const { state, nowMs } = step;
  if (state.phase === 'new' || state.phase === 'ended') return;
  const { activity } = state;
  const { settings } = specOf(step);
  let atMs = nowMs + settings.leaderAlarmMs;
  if (activity.tag !== 'none') atMs = Math.min(atMs, activity.deadlineMs);
  else if (state.announced) atMs = Math.min(atMs, checkpointDueMs(state));
  if (activity.tag === 'storing' && activity.retryAtMs !== null)
    atMs = Math.min(atMs, activity.retryAtMs);
  for (const host of state.hosts)
    if (host.ready) atMs = Math.min(atMs, host.lastHeardMs + settings.heartbeatTimeoutMs);
  if (state.wakeAtMs !== null && state.wakeAtMs <= atMs) return;
  state.wakeAtMs = atMs;
  step.effects.push({ tag: 'wake-at', atMs });
}
