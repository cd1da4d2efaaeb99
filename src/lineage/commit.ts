/**
 * The end of step 6 and of step 9: write the committed marker (O5).
 *
 * Place in the walk: stage 9. Called after *every* sink item of the epoch has been acknowledged, not before.
 *
 * Invariant: a marker means that the commit happened. Two leaders may both have committed (the sinks make it take
 * effect once) and both write the marker; who did is informational, epoch and reference are not.
 * Failure: `unavailable` may have written it; repeating is safe. Without a marker the next leader redoes the commit. A
 * marker that was there and is gone means that a successor has collected it.
 */
import { assert, must } from '../base/assert.ts';
import { committedMarkerCodec } from './codec.ts';
import { broken, read, suspect, unavailable, verifyOwner } from './context.ts';
import type { LineageContext, Stopped } from './context.ts';
import { pauseAfter, putIfAbsent, STORE_ATTEMPTS_MAX } from './store.ts';
import type { Lineage } from './store.ts';
import type { CommittedMarker, Tip } from './types.ts';

export type CommitOutcome = { tag: 'marked'; tip: Tip } | Stopped;

/** The same tip, now committed; a tip that needs no marker comes back without a request. */
export function* completeCommit(ctx: LineageContext, tip: Tip): Lineage<CommitOutcome> {
  if (tip.committed) return { tag: 'marked', tip };
  const manifest = must(tip.manifest, 'manifest of a tip that needs a commit');
  const { ref } = must(tip.ref, 'reference of a tip that needs a commit');
  assert(manifest.needsCommit, 'only what needs a commit is marked');
  const key = ctx.paths.marker(manifest.generation, manifest.nonce, manifest.epoch);
  const marker: CommittedMarker = { version: 1, epoch: tip.epoch, ref, writer: ctx.me };
  const body = committedMarkerCodec.encode(marker);
  for (let attempt = 1; ; attempt++) {
    const written = yield* putIfAbsent(key, body);
    if (written.tag === 'stored') return { tag: 'marked', tip: { ...tip, committed: true } };
    if (written.tag === 'unanswered') return unavailable(written.message);
    if (written.tag === 'refused') {
      const present = yield* read(key, committedMarkerCodec);
      if (present.tag === 'found') {
        if (present.value.epoch !== tip.epoch || present.value.ref !== ref)
          return yield* suspect(ctx, broken(`${key} marks another checkpoint`));
        return { tag: 'marked', tip: { ...tip, committed: true } };
      }
      if (present.tag === 'broken') return yield* suspect(ctx, present);
      if (present.tag === 'unavailable') return present;
      // Only a successor's collector takes a marker away: without this look a replaced leader would repeat its put for ever.
      const owner = yield* verifyOwner(ctx);
      if (owner.tag !== 'mine') return owner;
    }
    if (attempt === STORE_ATTEMPTS_MAX)
      return unavailable(`marker of epoch ${tip.epoch}: no answer`);
    yield* pauseAfter(attempt);
  }
}
