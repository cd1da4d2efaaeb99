/**
 * The states of a job and how they may follow each other.
 *
 * Place in the walk: around stages 4 and 10. Live states are derived from what is wanted and what the leader says; the
 * three states at rest stay until somebody asks.
 *
 * Invariant: no controller writes a transition that is not in this table. Failure: an illegal one is a bug, and asserts.
 * Source: the state machine of Arroyo's controller, without the states of its compiler and its workers.
 */
import { assert } from '../base/assert.ts';
import type { JobState } from '../catalog/schema.ts';

export const LEGAL_TRANSITIONS: Record<JobState, readonly JobState[]> = {
  Created: ['Scheduling', 'Stopped', 'Failed'],
  Scheduling: [
    'Running',
    'Finishing',
    'CheckpointStopping',
    'Stopping',
    'Stopped',
    'Recovering',
    'Restarting',
    'Finished',
    'Failed',
  ],
  Running: [
    'Finishing',
    'CheckpointStopping',
    'Stopping',
    'Stopped',
    'Recovering',
    'Restarting',
    'Scheduling',
    'Finished',
    'Failed',
  ],
  CheckpointStopping: [
    'Stopping',
    'Stopped',
    'Recovering',
    'Restarting',
    'Scheduling',
    'Running',
    'Finishing',
    'Finished',
    'Failed',
  ],
  Stopping: [
    'CheckpointStopping',
    'Stopped',
    'Recovering',
    'Restarting',
    'Scheduling',
    'Running',
    'Finishing',
    'Finished',
    'Failed',
  ],
  Recovering: [
    'Running',
    'Finishing',
    'CheckpointStopping',
    'Stopping',
    'Stopped',
    'Restarting',
    'Scheduling',
    'Finished',
    'Failed',
  ],
  Restarting: [
    'Running',
    'Finishing',
    'CheckpointStopping',
    'Stopping',
    'Stopped',
    'Recovering',
    'Scheduling',
    'Finished',
    'Failed',
  ],
  Finishing: [
    'Running',
    'CheckpointStopping',
    'Stopping',
    'Stopped',
    'Recovering',
    'Restarting',
    'Scheduling',
    'Finished',
    'Failed',
  ],
  Stopped: ['Scheduling', 'Failed'],
  Finished: ['Scheduling', 'Failed'],
  Failed: ['Scheduling'],
};

/** The state a job goes to from `from`; the same state is always legal. */
export function transition(from: JobState, to: JobState): JobState {
  assert(
    from === to || LEGAL_TRANSITIONS[from].includes(to),
    `a job cannot go from ${from} to ${to}`,
  );
  return to;
}
