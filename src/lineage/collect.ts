/**
 * Step 10: forget epochs that nothing retained needs.
 *
 * Place in the walk: after stage 9, never in its way. *Plan, then floor, then delete*: (a) read record and manifest of
 * the new floor, (b) move the floor in O1 on the very value this start owns, (c) delete below the floor.
 *
 * Invariants: INV-08, INV-10; what is deleted is needed by no canonical checkpoint at or above a floor that O1 already
 * held, so a zombie that deletes late does no harm. The fence and the tip are never below the floor.
 * Failure: everything before (b) deletes nothing; an interrupted (c) is finished by the next collection, which
 * looks at names, not at a list of what is left to do.
 */
import { assert } from '../base/assert.ts';
import type { ErrorReport } from '../base/errors.ts';
import { currentGenerationCodec } from './codec.ts';
import {
  broken,
  readCheckpoint,
  readCurrent,
  readRecord,
  suspect,
  unavailable,
} from './context.ts';
import type { Broken, CurrentRead, LineageContext, Stopped, Unavailable } from './context.ts';
import { isMine } from './derive.ts';
import { currentGrows, floorBelowTip, tipIsReady } from './invariants.ts';
import { planDeletion, resolveFloor } from './resolve.ts';
import { deleteAll, listAll, pauseAfter, putIfMatches, STORE_ATTEMPTS_MAX } from './store.ts';
import type { Lineage } from './store.ts';
import type { CurrentGeneration, Tip } from './types.ts';

export type CollectOutcome =
  /** `deleted`: number of objects. */
  | { tag: 'collected'; floor: number; deleted: number }
  | { tag: 'skipped'; reason: 'nothing-due' | 'fenced' }
  /** Something that must be readable is not: nothing was deleted. */
  | { tag: 'skipped'; reason: 'unreadable' | 'unavailable'; report: ErrorReport }
  /** The floor is `floor`, a part was deleted, the next collection finishes. */
  | { tag: 'interrupted'; floor: number; report: ErrorReport };

/** Deletes what lies below epoch `tip.epoch − keep`; `tip` must be committed, `keep` whole and ≥ 0. */
export function* collectGarbage(
  ctx: LineageContext,
  tip: Tip,
  keep: number,
): Lineage<CollectOutcome> {
  assert(tipIsReady(tip), 'garbage is collected behind a committed tip');
  assert(Number.isSafeInteger(keep) && keep >= 0, 'keep counts epochs');
  const current = yield* readCurrent(ctx.paths);
  if (current.tag !== 'found') return skipped(current);
  if (!isMine(current.value, ctx.generation, ctx.me)) return { tag: 'skipped', reason: 'fenced' };
  const floor = resolveFloor(current.value, tip, keep);
  if (floor === null) return { tag: 'skipped', reason: 'nothing-due' };
  assert(floorBelowTip(floor, tip), 'the tip stays');
  const plan = yield* planKept(ctx, floor);
  if (plan.tag !== 'kept') return skipped(plan.tag === 'broken' ? yield* suspect(ctx, plan) : plan);
  const moved = yield* moveFloor(ctx, current, floor);
  if (moved.tag !== 'moved') return skipped(moved);
  return yield* deleteBelow(ctx, floor, plan.files);
}

function skipped(why: Stopped): CollectOutcome {
  if (why.tag === 'fenced') return { tag: 'skipped', reason: 'fenced' };
  return {
    tag: 'skipped',
    reason: why.tag === 'broken' ? 'unreadable' : 'unavailable',
    report: why.report,
  };
}

function* planKept(
  ctx: LineageContext,
  floor: number,
): Lineage<{ tag: 'kept'; files: Set<string> } | Broken | Unavailable> {
  const record = yield* readRecord(ctx.paths, floor);
  if (record.tag === 'missing') return broken(`${ctx.paths.record(floor)} is missing`);
  if (record.tag !== 'found') return record;
  const checkpoint = yield* readCheckpoint(ctx.paths, record.value);
  if (checkpoint.tag !== 'tip') return checkpoint;
  return { tag: 'kept', files: new Set(checkpoint.manifest.files.map((file) => file.key)) };
}

function* moveFloor(
  ctx: LineageContext,
  owned: CurrentRead,
  floor: number,
): Lineage<{ tag: 'moved' } | Stopped> {
  const after: CurrentGeneration = {
    ...owned.value,
    floor,
    writeId: ctx.nextWriteId(),
    updatedAtMs: ctx.nowMs,
  };
  assert(currentGrows(owned.value, after), 'the floor only moves on');
  const body = currentGenerationCodec.encode(after);
  for (let attempt = 1; ; attempt++) {
    const written = yield* putIfMatches(ctx.paths.current, body, owned.etag);
    if (written.tag === 'stored') return { tag: 'moved' };
    if (written.tag === 'unanswered') return unavailable(written.message);
    const present = yield* readCurrent(ctx.paths);
    if (present.tag !== 'found') return present;
    if (!isMine(present.value, ctx.generation, ctx.me)) return { tag: 'fenced', by: present.value };
    if (present.value.floor === floor) return { tag: 'moved' };
    if (attempt === STORE_ATTEMPTS_MAX || present.etag !== owned.etag)
      return unavailable('the floor did not move');
    yield* pauseAfter(attempt);
  }
}

function* deleteBelow(
  ctx: LineageContext,
  floor: number,
  kept: ReadonlySet<string>,
): Lineage<CollectOutcome> {
  const { paths } = ctx;
  const records = yield* listAll(paths.epochs);
  if (records.tag === 'unanswered') return interrupted(floor, records.message);
  const objects = yield* listAll(paths.generations);
  if (objects.tag === 'unanswered') return interrupted(floor, objects.message);
  const doomed = planDeletion(
    [...records.keys, ...objects.keys],
    paths,
    floor,
    kept,
    ctx.generation,
  );
  const deleted = yield* deleteAll(doomed);
  if (deleted.tag === 'unanswered') return interrupted(floor, deleted.message);
  return { tag: 'collected', floor, deleted: doomed.length };
}

function interrupted(floor: number, message: string): CollectOutcome {
  return { tag: 'interrupted', floor, report: unavailable(message).report };
}
