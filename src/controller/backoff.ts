/**
 * When a recovery may begin, and how many there may be.
 *
 * Invariants: the first recoveries are immediate, because a lost host must not cost seconds; later ones wait longer and
 * longer, apart from each other by jitter; a job that was healthy for long enough has a clean sheet. Failure: none.
 */
import { LIMITS } from '../base/limits.ts';
import type { Job } from '../catalog/schema.ts';
import type { LeaderStatus } from '../protocol/messages.ts';

/** Recoveries without a pause. */
export const QUICK_RESTARTS = 2;
const PAUSE_MIN_MS = 500;
const PAUSE_MAX_MS = 60_000;

/** How long to wait before the recovery that follows `restarts` earlier ones; `jitter` in [0, 1) takes up to half of it off. */
export function recoveryPauseMs(restarts: number, jitter: number): number {
  if (restarts < QUICK_RESTARTS) return 0;
  const pauseMs = Math.min(PAUSE_MIN_MS * 2 ** (restarts - QUICK_RESTARTS), PAUSE_MAX_MS);
  return Math.round(pauseMs * (1 - jitter / 2));
}

/** Recoveries that count against the budget: none of those before a healthy time. */
export function countedRestarts(job: Job, status: LeaderStatus | null): number {
  return status !== null && healthyTime(status) >= LIMITS.healthyMs ? 0 : job.restarts;
}

/** How long the generation has run, by the last sign of life of any of its hosts. */
function healthyTime(status: LeaderStatus): number {
  if (status.runningSinceMs === null) return 0;
  const lastHeardMs = Math.max(
    ...status.hosts.map((host) => host.lastHeardMs),
    status.runningSinceMs,
  );
  return lastHeardMs - status.runningSinceMs;
}
