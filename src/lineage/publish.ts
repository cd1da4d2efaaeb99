/**
 * Step 9: publish a checkpoint and claim its epoch.
 *
 * Place in the walk: stage 8. Order: state files are confirmed by their writers before this is called; then the
 * manifest (O3) is confirmed, then the record (O4) claimed, then O1 verified. Only `canonical` permits a sink to commit.
 *
 * Invariants: INV-02, 03, 04, 06, 07. Not guaranteed: that a fenced claim did not win; then the successor adopts the
 * checkpoint and redoes its commit. Failure: after `unavailable` the claim may be in flight, so this epoch can be retried
 * only with the very same draft, or given up together with this start.
 */
import { assert } from '../base/assert.ts';
import { assertPublishable, claimEpoch } from './claim.ts';
import { checkpointManifestCodec } from './codec.ts';
import { suspect, unavailable, verifyOwner } from './context.ts';
import type { Broken, Fenced, LineageContext, Unavailable } from './context.ts';
import { contentHash } from './content-hash.ts';
import { adopt } from './fence.ts';
import { createConfirmed } from './store.ts';
import type { Lineage } from './store.ts';
import type { CheckpointManifest, Tip } from './types.ts';

/** What the coordinator knows of a complete checkpoint; the lineage adds who and after what. */
export type CheckpointDraft = Omit<
  CheckpointManifest,
  'version' | 'kind' | 'generation' | 'nonce' | 'data' | 'parent'
>;

export type PublishOutcome =
  /** `tip` is the new checkpoint. Unless it is `committed`, commit every item, then call `completeCommit`. */
  | { tag: 'canonical'; tip: Tip }
  | Fenced
  /** Another record, yet this start is named in O1: go back to `openLineage`'s tip, here `tip`, and fence again. */
  | { tag: 'lost-while-mine'; tip: Tip }
  | Broken
  | Unavailable;

/**
 * Makes the draft the canonical checkpoint of its epoch.
 *
 * The draft's epoch must be the tip's + 1 and the tip committed; its files must be the parent's or lie under this
 * start's names for this epoch.
 */
export function* publishCheckpoint(
  ctx: LineageContext,
  tip: Tip,
  draft: CheckpointDraft,
): Lineage<PublishOutcome> {
  const manifest: CheckpointManifest = {
    ...draft,
    version: 1,
    kind: 'data',
    generation: ctx.generation,
    nonce: ctx.me.nonce,
    data: { generation: ctx.generation, epoch: draft.epoch, attempt: draft.attempt },
    parent: tip.ref,
  };
  assertPublishable(ctx, tip, manifest);
  const ref = ctx.paths.manifest(ctx.generation, ctx.me.nonce, manifest.epoch);
  const body = checkpointManifestCodec.encode(manifest);
  const written = yield* createConfirmed(ref, body);
  if (written.tag === 'unanswered') return unavailable(written.message);
  assert(written.tag === 'confirmed', `${ref} holds another draft of the same epoch`);
  const checkpoint = { ref, hash: contentHash(body) };
  const claimed = yield* claimEpoch(ctx, manifest, checkpoint);
  if (claimed.tag === 'unavailable') return claimed;
  if (claimed.tag === 'broken') return yield* suspect(ctx, claimed);
  if (claimed.tag === 'lost') {
    const verified = yield* verifyOwner(ctx);
    if (verified.tag !== 'mine') return verified;
    const adopted = yield* adopt(ctx, claimed.to);
    return adopted.tag === 'adopted' ? { tag: 'lost-while-mine', tip: adopted.tip } : adopted;
  }
  const verified = yield* verifyOwner(ctx);
  if (verified.tag !== 'mine') return verified;
  return {
    tag: 'canonical',
    tip: { epoch: manifest.epoch, ref: checkpoint, manifest, committed: !manifest.needsCommit },
  };
}
