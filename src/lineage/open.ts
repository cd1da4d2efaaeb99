/**
 * Steps 3 to 5, for a leader that starts: become the owner and find the tip.
 *
 * Place in the walk: stage 10. Order: acquire O1 by compare-and-swap, list records, read the tip's record, manifest and
 * marker, verify O1.
 *
 * Invariants: only a later start of the same leader object may take over within a generation; "no checkpoint" is the answer
 * for a lineage whose floor is 0 and that has no record, and for no other. Not guaranteed: that the tip stays the tip (a
 * zombie may win one more epoch until the fence claim). Failure: a hole or an unreadable object is `broken` for the owner,
 * unless the owner's floor has moved past it meanwhile.
 */
import { assert } from '../base/assert.ts';
import { currentGenerationCodec } from './codec.ts';
import {
  broken,
  readCheckpoint,
  readCurrent,
  readRecord,
  unavailable,
  verifyOwner,
} from './context.ts';
import type { Broken, LineageContext, Stopped, Unavailable } from './context.ts';
import { deriveEnd, NEW_LINEAGE } from './derive.ts';
import { currentGrows } from './invariants.ts';
import type { LineagePaths } from './paths.ts';
import { resolveGeneration } from './resolve.ts';
import { listAll, pauseAfter, putIfMatches, STORE_ATTEMPTS_MAX } from './store.ts';
import type { Lineage } from './store.ts';
import type { CurrentGeneration, Tip } from './types.ts';

export type OpenOutcome = { tag: 'opened'; tip: Tip; floor: number } | Stopped;

/**
 * Makes this start the owner and returns the tip.
 *
 * A tip that is not `committed` must be redone (step 6: every sink, every item, every acknowledgement) and marked by
 * `completeCommit` before `fenceAndBegin`. After `unavailable` the same start may call again; after `fenced` never.
 */
export function* openLineage(ctx: LineageContext): Lineage<OpenOutcome> {
  const owned = yield* acquire(ctx);
  if (owned.tag !== 'acquired') return owned;
  for (let { floor } = owned.current; ;) {
    const found = yield* findTip(ctx.paths, floor);
    if (found.tag === 'unavailable') return found;
    const verified = yield* verifyOwner(ctx);
    if (verified.tag !== 'mine') return verified;
    if (found.tag === 'tip') return { tag: 'opened', tip: found.tip, floor };
    // A start that opens again may be collecting at the same time: then it is its own floor that has moved on.
    if (verified.current.floor <= floor) return found;
    floor = verified.current.floor;
  }
}

function* acquire(
  ctx: LineageContext,
): Lineage<{ tag: 'acquired'; current: CurrentGeneration } | Stopped> {
  for (let attempt = 1; ; attempt++) {
    const current = yield* readCurrent(ctx.paths);
    if (current.tag !== 'found') return current;
    const decision = resolveGeneration(current.value, ctx.generation, ctx.me);
    if (decision === 'own') return { tag: 'acquired', current: current.value };
    if (decision === 'retire') return { tag: 'fenced', by: current.value };
    const after: CurrentGeneration = {
      ...current.value,
      incarnation: ctx.me,
      writeId: ctx.nextWriteId(),
      updatedAtMs: ctx.nowMs,
    };
    assert(currentGrows(current.value, after), 'an acquisition only moves on');
    const written = yield* putIfMatches(
      ctx.paths.current,
      currentGenerationCodec.encode(after),
      current.etag,
    );
    if (written.tag === 'stored') return { tag: 'acquired', current: after };
    if (written.tag === 'unanswered') return unavailable(written.message);
    if (attempt === STORE_ATTEMPTS_MAX)
      return unavailable(`acquisition of generation ${ctx.generation} did not get through`);
    if (written.tag === 'unknown') yield* pauseAfter(attempt);
  }
}

function* findTip(
  paths: LineagePaths,
  floor: number,
): Lineage<{ tag: 'tip'; tip: Tip } | Broken | Unavailable> {
  const listed = yield* listEpochs(paths, floor);
  if (listed.tag === 'unavailable') return listed;
  const end = deriveEnd(floor, listed.epochs);
  if (end.tag === 'new') return { tag: 'tip', tip: NEW_LINEAGE };
  if (end.tag === 'hole')
    return broken(`${paths.record(end.epoch)} is missing, though the floor is ${floor}`);
  const record = yield* readRecord(paths, end.epoch);
  if (record.tag === 'missing')
    return broken(`${paths.record(end.epoch)} is missing, though it was listed`);
  if (record.tag !== 'found') return record;
  return yield* readCheckpoint(paths, record.value);
}

/** Epochs ≥ `floor` that have a record, ascending; strays lie below it. */
export function* listEpochs(
  paths: LineagePaths,
  floor: number,
): Lineage<{ tag: 'epochs'; epochs: number[] } | Unavailable> {
  const listed = yield* listAll(paths.epochs, paths.record(Math.max(floor, 1) - 1));
  if (listed.tag === 'unanswered') return unavailable(listed.message);
  const epochs: number[] = [];
  for (const key of listed.keys) {
    const name = paths.parse(key);
    if (name?.tag === 'record') epochs.push(name.epoch);
  }
  return { tag: 'epochs', epochs };
}
