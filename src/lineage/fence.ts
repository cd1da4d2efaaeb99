/**
 * Steps 7 and 8: take the epoch after the tip with a fence, then begin.
 *
 * Place in the walk: stage 10. A fence is an empty child of the tip. Once its record exists, no zombie that knew the
 * old tip can win an epoch any more; before, it can win exactly this one, and then its win is adopted.
 *
 * Invariants: INV-02, 03, 05; sources start only after `begun`. Failure: after `unavailable` the same start calls again
 * with the same arguments; the fence manifest it may have left is recognised but for its time.
 */
import { assert } from '../base/assert.ts';
import { assertPublishable, claimEpoch } from './claim.ts';
import { checkpointManifestCodec, generationManifestCodec } from './codec.ts';
import { readCheckpoint, suspect, unavailable, verifyOwner } from './context.ts';
import type { LineageContext, Stopped, Unavailable } from './context.ts';
import { contentHash } from './content-hash.ts';
import { sameButTime } from './derive.ts';
import { createConfirmed, pauseAfter, putIfAbsent, STORE_ATTEMPTS_MAX } from './store.ts';
import type { Lineage } from './store.ts';
import type {
  CheckpointManifest,
  EpochRecord,
  GenerationManifest,
  ManifestRef,
  PlannedOperator,
  Tip,
} from './types.ts';

/** What the generation runs. `reason`: why it was started, for people. */
export type GenerationInfo = {
  planHash: string;
  codeVersion: string;
  parallelism: number;
  reason: string;
  operators?: PlannedOperator[];
};

/** `reset`: forget the state but keep the table `offsets`, so that nothing is read twice. */
export type FenceOptions = { reset: boolean; info: GenerationInfo };

export type FenceOutcome =
  /** `tip` is the fence: restore from it, start the sources, go on with `publishCheckpoint`. */
  | { tag: 'begun'; tip: Tip }
  /** A zombie won the epoch: `tip` is its checkpoint. Redo its commit if it is not committed, then call again with it. */
  | { tag: 'adopted'; tip: Tip }
  | Stopped;

/** Claims epoch `tip.epoch` + 1 with a fence; `tip` must be committed. */
export function* fenceAndBegin(
  ctx: LineageContext,
  tip: Tip,
  options: FenceOptions,
): Lineage<FenceOutcome> {
  const intended = fenceOf(ctx, tip, options);
  assertPublishable(ctx, tip, intended);
  const published = yield* publishFence(ctx, intended);
  if (published.tag === 'unavailable') return published;
  const { manifest, checkpoint } = published;
  const claimed = yield* claimEpoch(ctx, manifest, checkpoint);
  if (claimed.tag === 'unavailable') return claimed;
  if (claimed.tag === 'broken') return yield* suspect(ctx, claimed);
  if (claimed.tag === 'lost') return yield* adopt(ctx, claimed.to);
  const verified = yield* verifyOwner(ctx);
  if (verified.tag !== 'mine') return verified;
  const noted = yield* noteGeneration(ctx, tip, options.info);
  if (noted.tag === 'unavailable') return noted;
  return {
    tag: 'begun',
    tip: { epoch: manifest.epoch, ref: checkpoint, manifest, committed: true },
  };
}

/** Learns the checkpoint that a claim lost to, as the new tip, and verifies that this start may still act on it. */
export function* adopt(
  ctx: LineageContext,
  record: EpochRecord,
): Lineage<{ tag: 'adopted'; tip: Tip } | Stopped> {
  const found = yield* readCheckpoint(ctx.paths, record);
  if (found.tag === 'broken') return yield* suspect(ctx, found);
  if (found.tag === 'unavailable') return found;
  const verified = yield* verifyOwner(ctx);
  return verified.tag === 'mine' ? { tag: 'adopted', tip: found.tip } : verified;
}

function fenceOf(ctx: LineageContext, tip: Tip, { reset, info }: FenceOptions): CheckpointManifest {
  const broadcast = tip.manifest?.broadcast ?? [];
  return {
    version: 1,
    kind: 'fence',
    epoch: tip.epoch + 1,
    generation: ctx.generation,
    nonce: ctx.me.nonce,
    attempt: 0,
    data: tip.manifest?.data ?? null,
    parent: tip.ref,
    planHash: info.planHash,
    parallelism: info.parallelism,
    files: reset ? [] : (tip.manifest?.files ?? []),
    broadcast: reset ? broadcast.filter((entry) => entry.table === 'offsets') : broadcast,
    inputs: [],
    needsCommit: false,
    items: [],
    finished: !reset && (tip.manifest?.finished ?? false),
    createdAtMs: ctx.nowMs,
  };
}

/** The fence as it lies in the bucket: the intended one, or the one an earlier call of this start has left. */
function* publishFence(
  ctx: LineageContext,
  intended: CheckpointManifest,
): Lineage<
  { tag: 'published'; manifest: CheckpointManifest; checkpoint: ManifestRef } | Unavailable
> {
  const ref = ctx.paths.manifest(ctx.generation, ctx.me.nonce, intended.epoch);
  const body = checkpointManifestCodec.encode(intended);
  const written = yield* createConfirmed(ref, body);
  if (written.tag === 'unanswered') return unavailable(written.message);
  if (written.tag === 'confirmed')
    return { tag: 'published', manifest: intended, checkpoint: { ref, hash: contentHash(body) } };
  const earlier = checkpointManifestCodec.decode(written.body);
  assert(
    earlier.tag === 'decoded' && sameButTime(earlier.value, intended),
    `${ref} holds something else than this start's fence`,
  );
  return {
    tag: 'published',
    manifest: earlier.value,
    checkpoint: { ref, hash: contentHash(written.body) },
  };
}

/** O2, for people and the API; nothing is decided by it, so one that is already there is left alone. */
function* noteGeneration(
  ctx: LineageContext,
  base: Tip,
  info: GenerationInfo,
): Lineage<{ tag: 'noted' } | Unavailable> {
  const manifest: GenerationManifest = {
    version: 1,
    generation: ctx.generation,
    incarnation: ctx.me,
    baseEpoch: base.epoch,
    baseRef: base.ref?.ref ?? null,
    planHash: info.planHash,
    codeVersion: info.codeVersion,
    parallelism: info.parallelism,
    reason: info.reason,
    operators: info.operators ?? null,
    createdAtMs: ctx.nowMs,
  };
  const key = ctx.paths.generation(ctx.generation, ctx.me.nonce);
  const body = generationManifestCodec.encode(manifest);
  for (let attempt = 1; ; attempt++) {
    const written = yield* putIfAbsent(key, body);
    if (written.tag === 'stored' || written.tag === 'refused') return { tag: 'noted' };
    if (written.tag === 'unanswered' || attempt === STORE_ATTEMPTS_MAX)
      return unavailable(`${key} was not written`);
    yield* pauseAfter(attempt);
  }
}
