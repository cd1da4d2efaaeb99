/**
 * Step 10, for objects that sinks have staged under names of their own: forget those that nothing retained needs.
 *
 * Place in the walk: after `collectGarbage`, never in the way of a checkpoint. What is staged is labelled with an epoch and
 * committed with that one or a later one, or never: by the time the tip is committed nobody commits anything any more that is
 * labelled below it. So what is labelled below the floor has been committed, or was staged by a history that lost.
 *
 * Invariants: what a retained checkpoint names stays, whatever its label. It looks at names, not at a list of what is left to
 * do, so it may be interrupted and repeated. A zombie that comes late finds only labels below a floor it once moved.
 * Failure: nothing is deleted when a retained checkpoint cannot be read.
 */
import { assert } from '../base/assert.ts';
import { readRetained } from './collect.ts';
import { broken, readCheckpoint, readRecord, unavailable } from './context.ts';
import type { Broken, LineageContext, Unavailable } from './context.ts';
import { tipIsReady } from './invariants.ts';
import { deleteAll, listAll } from './store.ts';
import type { Lineage } from './store.ts';
import type { Tip } from './types.ts';

/** Names of staged objects: `epochOf` gives the label, null for a name that is not ours. */
export type StagedNames = { prefix: string; epochOf(key: string): number | null };

export type CollectStagedOutcome = { tag: 'collected'; deleted: number } | Broken | Unavailable;

/** Deletes staged objects labelled below `floor`, which O1 must hold already; `tip` is the committed tip of then. */
export function* collectStaged(
  ctx: LineageContext,
  tip: Tip,
  floor: number,
  names: StagedNames,
): Lineage<CollectStagedOutcome> {
  assert(tipIsReady(tip) && floor <= tip.epoch, 'the floor lies at or below a committed tip');
  const listed = yield* listAll(names.prefix);
  if (listed.tag === 'unanswered') return unavailable(listed.message);
  const old = listed.keys.filter((key) => {
    const epoch = names.epochOf(key);
    return epoch !== null && epoch < floor;
  });
  if (old.length === 0) return { tag: 'collected', deleted: 0 };
  const record = yield* readRecord(ctx.paths, floor);
  if (record.tag === 'missing') return broken(`${ctx.paths.record(floor)} is missing`);
  if (record.tag !== 'found') return record;
  const kept = yield* readCheckpoint(ctx.paths, record.value);
  if (kept.tag !== 'tip') return kept;
  const retained = yield* readRetained(ctx, tip, kept.manifest);
  if (retained.tag !== 'retained') return retained;
  const needed = new Set(retained.items.map(({ payload }) => (payload as { key?: string }).key));
  const doomed = old.filter((key) => !needed.has(key));
  const deleted = yield* deleteAll(doomed);
  if (deleted.tag === 'unanswered') return unavailable(deleted.message);
  return { tag: 'collected', deleted: doomed.length };
}
