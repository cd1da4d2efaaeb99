/**
 * What the leader tells controller and API about its generation.
 *
 * Invariant: a pure view; asking changes nothing. Metrics and errors are those heard since the object was constructed,
 * counters of operators live in the checkpoints. Failure: none.
 */
import { summaryOf } from '../checkpoint/coordinator.ts';
import type { LeaderStatus } from '../protocol/messages.ts';
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
    errors: [...state.errors],
    stopNonce: state.stop?.nonce ?? null,
  };
}
