/**
 * The external commit of the tip: every sink item, every acknowledgement, then the marker.
 *
 * Place in the walk: stage 9; also the redo of stage 10, under any parallelism. Invariants: all items of one sink and epoch
 * go to one host in one command, by subtask and index, because a sink's last committed epoch advances once; the marker is
 * written only after every sink is acknowledged. Failure: past the deadline the generation fails with COMMIT_TIMEOUT and the
 * next one redoes the commit under the same token.
 */
import { must } from '../base/assert.ts';
import { compareItems } from '../checkpoint/coordinator.ts';
import type { SinkItem } from '../lineage/types.ts';
import { failWith, send, specOf, startOperation } from './step.ts';
import type { Step } from './step.ts';

export type CommitShare = { index: number; items: SinkItem[] };

/** Which host commits what: sinks in the order of their names, dealt round to `parallelism` hosts. */
export function spreadItems(items: readonly SinkItem[], parallelism: number): CommitShare[] {
  const shares: CommitShare[] = [];
  let sink: string | null = null;
  let ordinal = -1;
  for (const item of items.toSorted(compareItems)) {
    if (item.sink !== sink) {
      sink = item.sink;
      ordinal++;
      if (ordinal < parallelism) shares.push({ index: ordinal, items: [] });
    }
    must(shares[ordinal % parallelism], 'share').items.push(item);
  }
  return shares;
}

/** Sends the tip's items; with none, goes on to the marker at once. */
export function startCommit(step: Step, timeoutMs: number): void {
  const tip = must(step.state.tip, 'tip');
  const items = must(tip.manifest, 'manifest of a tip that needs a commit').items;
  const shares = spreadItems(items, step.state.hosts.length);
  const missing = shares.flatMap(({ index, items: share }) =>
    [...new Set(share.map((item) => item.sink))].map((sink) => ({ sink, index })),
  );
  const deadlineMs = step.nowMs + timeoutMs;
  step.state.activity = { tag: 'committing', epoch: tip.epoch, missing, deadlineMs };
  for (const share of shares)
    send(step, share.index, { tag: 'commit', epoch: tip.epoch, items: share.items });
  if (missing.length === 0) markCommitted(step, deadlineMs);
}

/** Takes acknowledgements of host `index`; false when nobody waits for them. */
export function acceptCommitted(
  step: Step,
  index: number,
  epoch: number,
  sinks: readonly string[],
): boolean {
  const { activity } = step.state;
  if (activity.tag !== 'committing' || activity.epoch !== epoch) return false;
  const missing = activity.missing.filter(
    (each) => each.index !== index || !sinks.includes(each.sink),
  );
  if (missing.length === activity.missing.length) return false;
  step.state.activity = { ...activity, missing };
  if (missing.length === 0) markCommitted(step, activity.deadlineMs);
  return true;
}

/** The deadline of a commit has passed. */
export function giveUpCommit(step: Step): void {
  const { activity } = step.state;
  if (activity.tag !== 'committing') return;
  const sinks = [...new Set(activity.missing.map((each) => each.sink))].join(', ');
  failWith(
    step,
    'COMMIT_TIMEOUT',
    `epoch ${activity.epoch} was not committed in time by ${sinks}`,
    'the commit is repeated under the same token by the next generation; check that the target of the sink answers',
  );
}

function markCommitted(step: Step, deadlineMs: number): void {
  const tip = must(step.state.tip, 'tip');
  // The sinks have answered; the store has its own time to do so.
  startOperation(
    step,
    { tag: 'complete-commit', tip },
    Math.max(deadlineMs, step.nowMs + specOf(step).settings.publishTimeoutMs),
  );
}
