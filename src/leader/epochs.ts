/**
 * The epochs of a running generation: barrier, collect, publish, commit, settle.
 *
 * Place in the walk: stages 7-9. Invariants: INV-51, INV-52; epoch = tip + 1; an expired attempt is superseded by a barrier
 * with the next attempt number, and once a draft is being published its epoch is never attempted again; garbage is
 * collected after a checkpoint and never delays the next. Failure: the third expired attempt fails the generation with
 * CHECKPOINT_TIMEOUT; a claim lost while the lineage is still ours means the hosts follow a checkpoint that is not
 * canonical, so they must go.
 */
import { must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import { draftOf, openCollection, summaryOf } from '../checkpoint/coordinator.ts';
import type { CheckpointKind, Collection } from '../checkpoint/coordinator.ts';
import type { PublishOutcome } from '../lineage/publish.ts';
import type { StopMode } from '../protocol/messages.ts';
import { startCommit } from './commits.ts';
import { setTip } from './opening.ts';
import { SUMMARIES_KEPT } from './state.ts';
import type { LeaderState } from './state.ts';
import {
  end,
  fail,
  failWith,
  persist,
  sendSettled,
  sendToKnown,
  specOf,
  startOperation,
  updateHost,
} from './step.ts';
import type { Step } from './step.ts';

/** When an idle running leader begins the next checkpoint by itself. */
export function checkpointDueMs(state: LeaderState): number {
  return state.settledMs + must(state.spec, 'spec').checkpointIntervalMs;
}

/** Somebody does not want to wait until the next checkpoint is due. One that is under way is what they get. */
export function askCheckpoint(step: Step): void {
  const { state } = step;
  const { tag } = state.activity;
  if (state.phase === 'running' && (tag === 'none' || tag === 'settling')) state.flushWanted = true;
}

/** The epoch that is under way, or comes next; null: sources do not read, or nothing will follow. */
export function nextEpoch(state: LeaderState): number | null {
  const { activity, checkpoint, tip } = state;
  if (state.phase !== 'running' || activity.tag === 'stopping-hosts' || tip === null) return null;
  if (activity.tag === 'collecting') return activity.collection.epoch;
  return checkpoint?.epoch ?? tip.epoch + 1;
}

const allDrained = (state: LeaderState): boolean => state.hosts.every((host) => host.drained);

/** Decides what a running leader with nothing under way does: end its input, stop, checkpoint or wait. */
export function beginNext(step: Step): void {
  const { state } = step;
  if (state.hosts.some((host) => host.settling !== null)) return awaitSettled(step);
  if (allDrained(state)) return startAttempt(step, 1, 'scheduled', step.nowMs);
  if (state.stop?.mode === 'graceful') return stopHosts(step, 'graceful');
  if (state.stop !== null) return startAttempt(step, 1, 'stopping', step.nowMs);
  if (state.flushWanted || step.nowMs >= checkpointDueMs(state))
    startAttempt(step, 1, 'scheduled', step.nowMs);
}

function startAttempt(
  step: Step,
  attempt: number,
  wanted: CheckpointKind,
  startedMs: number,
): void {
  const { state } = step;
  const kind = allDrained(state) ? 'final' : wanted;
  const epoch = must(state.tip, 'tip').epoch + 1;
  state.flushWanted = false;
  const collection = openCollection(epoch, attempt, kind, startedMs, state.hosts.length);
  state.activity = {
    tag: 'collecting',
    collection,
    deadlineMs: step.nowMs + specOf(step).settings.checkpointTimeoutMs,
  };
  sendToKnown(step, { tag: 'barrier', epoch, attempt, stopping: kind === 'stopping' });
}

/** The deadline of an attempt has passed. */
export function giveUpAttempt(step: Step): void {
  const { activity } = step.state;
  if (activity.tag !== 'collecting') return;
  const { epoch, attempt, kind, startedMs, reports } = activity.collection;
  if (attempt < LIMITS.checkpointAttemptsMax)
    return startAttempt(step, attempt + 1, kind, startedMs);
  const silent = [...reports.entries()]
    .filter(([, report]) => report === null)
    .map(([index]) => index);
  failWith(
    step,
    'CHECKPOINT_TIMEOUT',
    `host ${silent.join(', ')} did not complete epoch ${epoch} in ${attempt} attempts`,
    'look at the backpressure of the operators; a slow sink or a key with very many rows holds the barrier back',
  );
}

/** All hosts have reported. */
export function publish(step: Step, collection: Collection): void {
  const { state } = step;
  const spec = specOf(step);
  state.checkpoint = summaryOf(collection);
  const draft = draftOf(collection, spec.graph.planHash, step.nowMs);
  const tip = must(state.tip, 'tip');
  startOperation(step, { tag: 'publish', tip, draft }, step.nowMs + spec.settings.publishTimeoutMs);
}

export function onPublished(step: Step, outcome: PublishOutcome): void {
  if (outcome.tag === 'fenced') return end(step, { tag: 'fenced' });
  if (outcome.tag === 'lost-while-mine') {
    return failWith(
      step,
      'INTERNAL',
      `epoch ${outcome.tip.epoch} was claimed by another checkpoint of a lineage that is ours`,
    );
  }
  if (outcome.tag !== 'canonical') return fail(step, outcome.report);
  setTip(step, outcome.tip);
  if (step.state.checkpoint !== null)
    step.state.checkpoint = { ...step.state.checkpoint, publishedMs: step.nowMs };
  if (outcome.tip.committed) return settle(step);
  startCommit(step, specOf(step).settings.commitTimeoutMs);
}

/** The tip is canonical and committed: the checkpoint is over. */
export function settle(step: Step): void {
  const { state } = step;
  const tip = must(state.tip, 'tip');
  const manifest = must(tip.manifest, 'manifest of a checkpoint');
  const summary = { ...must(state.checkpoint, 'summary of a checkpoint'), committedMs: step.nowMs };
  state.recent = [...state.recent, summary].slice(-SUMMARIES_KEPT);
  state.checkpoint = null;
  state.settledMs = step.nowMs;
  state.activity = { tag: 'none' };
  persist(step);
  sendSettled(step, manifest.epoch, manifest.attempt);
  if (manifest.finished) return end(step, { tag: 'finished', epoch: tip.epoch });
  if (summary.kind === 'stopping') return stopHosts(step, 'checkpoint');
  collect(step);
}

function collect(step: Step): void {
  const { state } = step;
  if (state.collecting !== null) return;
  const id = ++state.lastOperationId;
  state.collecting = id;
  const operation = {
    tag: 'collect',
    tip: must(state.tip, 'tip'),
    keep: specOf(step).settings.checkpointsKept,
  } as const;
  step.effects.push({ tag: 'lineage', id, operation });
}

function awaitSettled(step: Step): void {
  step.state.activity = {
    tag: 'settling',
    deadlineMs: step.nowMs + specOf(step).settings.heartbeatTimeoutMs,
  };
}

/** Host `index` has answered the command `sequence`. */
export function acceptSettled(step: Step, index: number, sequence: number): void {
  const { state } = step;
  if (state.hosts[index]?.settling !== sequence) return;
  updateHost(step, index, { settling: null });
  if (state.activity.tag === 'settling' && state.hosts.every((host) => host.settling === null))
    state.activity = { tag: 'none' };
}

/** A host that does not answer a call is as good as lost. */
export function giveUpSettled(step: Step): void {
  const silent = [...step.state.hosts.entries()]
    .filter(([, host]) => host.settling !== null)
    .map(([index]) => index);
  failWith(
    step,
    'HOST_LOST',
    `host ${silent.join(', ')} did not answer that its checkpoint is committed`,
  );
}

/** Lets the hosts go; the outcome is fixed, and a host that is lost from here on has stopped too. */
function stopHosts(step: Step, mode: StopMode): void {
  const { settings } = specOf(step);
  // After a checkpoint nothing depends on the hosts any more; they get the time of a few heartbeats to say good-bye.
  const timeoutMs =
    mode === 'graceful' ? settings.checkpointTimeoutMs : settings.heartbeatIntervalMs * 3;
  const outcome = { tag: 'stopped', epoch: step.state.epoch } as const;
  step.state.activity = { tag: 'stopping-hosts', outcome, deadlineMs: step.nowMs + timeoutMs };
  step.state.ending = outcome;
  persist(step);
  sendToKnown(step, { tag: 'stop', mode });
}
