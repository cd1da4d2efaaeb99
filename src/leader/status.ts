/**
 * What the leader tells controller and API about its generation.
 *
 * Invariant: a pure view; asking changes nothing. Errors are those heard since the object was constructed; metrics are the last
 * that were heard, after a reset those of the last checkpoint until a host reports. Failure: none.
 */
import { summaryOf } from '../checkpoint/coordinator.ts';
import type { LeaderStatus } from '../protocol/messages.ts';
import { checkpointDueMs } from './epochs.ts';
import { ratesOf } from './rates.ts';
import type { LeaderState } from './state.ts';

/** `generation` is 0 for an object that has never been started. */
export function leaderStatus(state: LeaderState): LeaderStatus {
  const { activity } = state;
  return {
    generation: state.spec?.generation ?? 0,
    codeVersion: state.spec?.codeVersion ?? '',
    incarnation: state.incarnation,
    phase: state.phase,
    outcome: state.outcome,
    epoch: state.epoch,
    committedEpoch: state.committedEpoch,
    startedMs: state.startedMs,
    runningSinceMs: state.runningSinceMs,
    hosts: state.hosts.map(({ incarnation, lastHeardMs }, index) => ({
      index,
      incarnation,
      lastHeardMs,
    })),
    checkpoint: activity.tag === 'collecting' ? summaryOf(activity.collection) : state.checkpoint,
    recent: [...state.recent],
    metrics: state.hosts.flatMap((host) => [...host.metrics]),
    rates: state.phase === 'ended' ? [] : state.hosts.flatMap((host) => ratesOf(host.samples)),
    nextCheckpointMs: nextCheckpointMs(state),
    errors: [...state.errors],
    stopNonce: state.stop?.nonce ?? null,
  };
}

/** Null while a checkpoint is under way, and where none will follow. */
function nextCheckpointMs(state: LeaderState): number | null {
  const waits = state.phase === 'running' && state.activity.tag === 'none' && state.stop === null;
  return waits ? checkpointDueMs(state) : null;
}
