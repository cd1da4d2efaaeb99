/**
 * Claiming an epoch: the one place where a checkpoint becomes canonical.
 *
 * Place in the walk: stage 8. Order: the manifest (O3) is confirmed first, then its record (O4) is created if absent, and
 * an unclear answer is resolved by reading back and comparing the reference, also when the answer was "exists".
 *
 * Invariants: INV-01..07 and INV-11 are asserted before the put. `won` does not permit any effect: the caller verifies ownership
 * first. Failure: `unavailable` leaves the claim open (it may still land); repeating the same claim is safe.
 */
import { assert } from '../base/assert.ts';
import { epochRecordCodec } from './codec.ts';
import { readRecord, unavailable } from './context.ts';
import type { Broken, LineageContext, Unavailable } from './context.ts';
import { claimsSame } from './derive.ts';
import {
  childOfTip,
  claimIsOwn,
  fenceIsInert,
  filesDescend,
  itemsNeedCommit,
  tipIsReady,
} from './invariants.ts';
import { tornRanges } from './inputs.ts';
import { pauseAfter, putIfAbsent, STORE_ATTEMPTS_MAX } from './store.ts';
import type { Lineage } from './store.ts';
import type { CheckpointManifest, EpochRecord, ManifestRef, Tip } from './types.ts';

export type ClaimOutcome = { tag: 'won' } | { tag: 'lost'; to: EpochRecord } | Broken | Unavailable;

/** The child of `tip` that `manifest` describes breaks no rule; a violation is a bug of the caller. */
export function assertPublishable(
  ctx: LineageContext,
  tip: Tip,
  manifest: CheckpointManifest,
): void {
  assert(tipIsReady(tip), `epoch ${tip.epoch} is not committed, so nothing may follow it`);
  assert(
    childOfTip(tip, manifest),
    `epoch ${manifest.epoch} is not the child of epoch ${tip.epoch}`,
  );
  assert(
    filesDescend(ctx.paths, tip.manifest, manifest),
    `epoch ${manifest.epoch} names files of strangers`,
  );
  assert(fenceIsInert(manifest), `fence ${manifest.epoch} has something to commit`);
  assert(itemsNeedCommit(manifest), `epoch ${manifest.epoch} has items that nobody would commit`);
  const [torn] = tornRanges(tip.manifest, manifest);
  assert(torn === undefined, `epoch ${manifest.epoch}: ${torn?.message}`);
}

/** Creates the record that makes `checkpoint` canonical, unless another one is. */
export function* claimEpoch(
  ctx: LineageContext,
  manifest: CheckpointManifest,
  checkpoint: ManifestRef,
): Lineage<ClaimOutcome> {
  const wanted: EpochRecord = {
    version: 1,
    epoch: manifest.epoch,
    checkpoint,
    parent: manifest.parent,
    generation: manifest.generation,
    nonce: manifest.nonce,
  };
  assert(
    claimIsOwn(ctx.paths, wanted, ctx.generation, ctx.me.nonce),
    `a claim of epoch ${wanted.epoch} in another's name`,
  );
  const key = ctx.paths.record(wanted.epoch);
  const body = epochRecordCodec.encode(wanted);
  for (let attempt = 1; ; attempt++) {
    const written = yield* putIfAbsent(key, body);
    if (written.tag === 'stored') return { tag: 'won' };
    if (written.tag === 'unanswered') return unavailable(written.message);
    const present = yield* readRecord(ctx.paths, wanted.epoch);
    if (present.tag === 'found')
      return claimsSame(present.value, wanted)
        ? { tag: 'won' }
        : { tag: 'lost', to: present.value };
    if (present.tag !== 'missing') return present;
    if (attempt === STORE_ATTEMPTS_MAX)
      return unavailable(`claim of epoch ${wanted.epoch}: no answer`);
    yield* pauseAfter(attempt);
  }
}
