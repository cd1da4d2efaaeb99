/**
 * Step 10: forget epochs that nothing retained needs.
 *
 * Place in the walk: after stage 9, never in its way. *Plan, then floor, then delete*: (a) read record and manifest of
 * the new floor, (b) move the floor in O1 on the very value this start owns, (c) throw away what losing manifests below the
 * floor have staged, then delete below the floor.
 *
 * Invariants: INV-08, INV-10; what is deleted is needed by no canonical checkpoint at or above a floor that O1 already
 * held, so a zombie that deletes late does no harm. The fence and the tip are never below the floor. What was staged is
 * thrown away before the manifest that names it goes, and never when a retained checkpoint names it.
 * Failure: everything before (b) deletes nothing; an interrupted (c) is finished by the next collection, which
 * looks at names, not at a list of what is left to do.
 */
import { assert } from '../base/assert.ts';
import type { ErrorReport } from '../base/errors.ts';
import { checkpointManifestCodec, currentGenerationCodec } from './codec.ts';
import {
  broken,
  read,
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
import {
  abortAll,
  deleteAll,
  listAll,
  pauseAfter,
  putIfMatches,
  STORE_ATTEMPTS_MAX,
} from './store.ts';
import type { Lineage, Unanswered } from './store.ts';
import type { CheckpointManifest, CurrentGeneration, SinkItem, Tip } from './types.ts';

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
  return yield* deleteBelow(ctx, tip, floor, plan.manifest);
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
): Lineage<{ tag: 'kept'; manifest: CheckpointManifest } | Broken | Unavailable> {
  const record = yield* readRecord(ctx.paths, floor);
  if (record.tag === 'missing') return broken(`${ctx.paths.record(floor)} is missing`);
  if (record.tag !== 'found') return record;
  const checkpoint = yield* readCheckpoint(ctx.paths, record.value);
  if (checkpoint.tag !== 'tip') return checkpoint;
  return { tag: 'kept', manifest: checkpoint.manifest };
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
  tip: Tip,
  floor: number,
  kept: CheckpointManifest,
): Lineage<CollectOutcome> {
  const { paths } = ctx;
  const records = yield* listAll(paths.epochs);
  if (records.tag === 'unanswered') return interrupted(floor, records.message);
  const objects = yield* listAll(paths.generations);
  if (objects.tag === 'unanswered') return interrupted(floor, objects.message);
  const files = new Set(kept.files.map((file) => file.key));
  const plan = (keys: readonly string[]): string[] =>
    planDeletion(keys, paths, floor, files, ctx.generation);
  const losers = yield* findLosers(ctx, plan(objects.keys), plan(records.keys));
  if (losers.tag !== 'losers') return { tag: 'interrupted', floor, report: losers.report };
  const aborted = yield* abortLosers(ctx, tip, kept, losers.manifests);
  const spared = new Set(aborted.tag === 'done' ? [] : losers.manifests);
  // Records last: a manifest below the floor whose record is gone has surely lost.
  const doomed = [...plan(objects.keys).filter((key) => !spared.has(key)), ...plan(records.keys)];
  const deleted = yield* deleteAll(doomed);
  if (deleted.tag === 'unanswered') return interrupted(floor, deleted.message);
  if (aborted.tag === 'unanswered') return interrupted(floor, aborted.message);
  return { tag: 'collected', floor, deleted: doomed.length };
}

/** The manifests among `objects` that are not canonical. Only an epoch that has several needs a look at its record. */
function* findLosers(
  ctx: LineageContext,
  objects: readonly string[],
  records: readonly string[],
): Lineage<{ tag: 'losers'; manifests: string[] } | Broken | Unavailable> {
  const byEpoch = new Map<number, string[]>();
  for (const key of objects) {
    const name = ctx.paths.parse(key);
    if (name?.tag === 'manifest')
      byEpoch.set(name.epoch, [...(byEpoch.get(name.epoch) ?? []), key]);
  }
  const claimed = new Set(records);
  const manifests: string[] = [];
  for (const [epoch, keys] of byEpoch) {
    const known = claimed.has(ctx.paths.record(epoch));
    if (known && keys.length === 1) continue;
    const record = known ? yield* readRecord(ctx.paths, epoch) : ({ tag: 'missing' } as const);
    if (record.tag === 'broken' || record.tag === 'unavailable') return record;
    const winner = record.tag === 'found' ? record.value.checkpoint.ref : null;
    manifests.push(...keys.filter((key) => key !== winner));
  }
  return { tag: 'losers', manifests };
}

/**
 * Throws away what the losing manifests name and no retained one does. A host whose attempt lost has put the same items
 * into its next checkpoint, and that one is committed: the tip is, and it holds all that was open before it.
 */
function* abortLosers(
  ctx: LineageContext,
  tip: Tip,
  kept: CheckpointManifest,
  losers: readonly string[],
): Lineage<{ tag: 'done' } | Unanswered> {
  const items: SinkItem[] = [];
  for (const key of losers) {
    const manifest = yield* read(key, checkpointManifestCodec);
    if (manifest.tag === 'unavailable') return unanswered(manifest);
    // What cannot be read names nothing; what it staged goes as R2 lets it go.
    if (manifest.tag === 'found') items.push(...manifest.value.items);
  }
  if (items.length === 0) return { tag: 'done' };
  const retained = yield* readRetained(ctx, tip, kept);
  if (retained.tag !== 'retained') return unanswered(retained);
  const needed = new Set(retained.items.map(identityOf));
  return yield* abortAll(items.filter((item) => !needed.has(identityOf(item))));
}

const identityOf = (item: SinkItem): string => JSON.stringify(item.payload);

const unanswered = ({ report }: Broken | Unavailable): Unanswered => ({
  tag: 'unanswered',
  message: report.message,
});

/** The items of every canonical checkpoint from the floor, `kept`, to the tip. */
export function* readRetained(
  ctx: LineageContext,
  tip: Tip,
  kept: CheckpointManifest,
): Lineage<{ tag: 'retained'; items: SinkItem[] } | Broken | Unavailable> {
  const items = [...kept.items, ...(tip.manifest?.items ?? [])];
  for (let epoch = kept.epoch + 1; epoch < tip.epoch; epoch++) {
    const record = yield* readRecord(ctx.paths, epoch);
    if (record.tag === 'missing') return broken(`${ctx.paths.record(epoch)} is missing`);
    if (record.tag !== 'found') return record;
    const checkpoint = yield* readCheckpoint(ctx.paths, record.value);
    if (checkpoint.tag !== 'tip') return checkpoint;
    items.push(...checkpoint.manifest.items);
  }
  return { tag: 'retained', items };
}

function interrupted(floor: number, message: string): CollectOutcome {
  return { tag: 'interrupted', floor, report: unavailable(message).report };
}
