/**
 * Step 1, for controllers: make generation `expected` + 1 exist.
 *
 * Place in the walk: before stage 4. From the moment O1 holds the new number, no older generation can pass a verify,
 * so allocating is what fences; starting the new leader only puts the lineage to use again.
 *
 * Invariants: O1 never decreases; racing controllers that know the same number reach the same next one. O1 is created
 * only where no object of the lineage lies. Failure: `unavailable` may have allocated; repeating finds out.
 */
import { assert } from '../base/assert.ts';
import { currentGenerationCodec } from './codec.ts';
import { broken, read, unavailable } from './context.ts';
import type { Broken, Unavailable } from './context.ts';
import { currentGrows } from './invariants.ts';
import type { LineagePaths } from './paths.ts';
import { resolveAllocation } from './resolve.ts';
import { listAll, pauseAfter, put, STORE_ATTEMPTS_MAX } from './store.ts';
import type { Lineage } from './store.ts';
import type { CurrentGeneration } from './types.ts';

/** `writeId` is fresh for each call. */
export type AllocationContext = { paths: LineagePaths; nowMs: number; writeId: string };

export type AllocationOutcome = { tag: 'allocated'; generation: number } | Broken | Unavailable;

/**
 * The generation to start: `expected` + 1, or a later one that another controller has allocated.
 *
 * @param expected  the generation the controller last knew, 0 for none
 */
export function* allocateGeneration(
  ctx: AllocationContext,
  expected: number,
): Lineage<AllocationOutcome> {
  for (let attempt = 1; ; attempt++) {
    const current = yield* readCurrentOrNone(ctx.paths);
    if (current.tag === 'broken' || current.tag === 'unavailable') return current;
    const before = current.tag === 'none' ? null : current.value;
    const decision = before === null ? resolveFirst(expected) : resolveAllocation(before, expected);
    if (decision.tag === 'behind') {
      return broken(
        `generation ${expected} was running, but the bucket knows ${before?.generation ?? 'none'}`,
      );
    }
    if (decision.tag === 'reached') return { tag: 'allocated', generation: decision.generation };
    const after: CurrentGeneration = {
      version: 1,
      generation: decision.generation,
      incarnation: null,
      floor: before?.floor ?? 0,
      writeId: ctx.writeId,
      updatedAtMs: ctx.nowMs,
    };
    assert(currentGrows(before, after), 'an allocation only moves on');
    const condition =
      current.tag === 'none'
        ? ({ tag: 'absent' } as const)
        : ({ tag: 'matches', etag: current.etag } as const);
    const written = yield* put(ctx.paths.current, currentGenerationCodec.encode(after), condition);
    if (written.tag === 'stored') return { tag: 'allocated', generation: after.generation };
    if (written.tag === 'unanswered') return unavailable(written.message);
    if (attempt === STORE_ATTEMPTS_MAX)
      return unavailable(`allocation of generation ${after.generation} did not get through`);
    if (written.tag === 'unknown') yield* pauseAfter(attempt);
  }
}

function resolveFirst(
  expected: number,
): { tag: 'advance'; generation: number } | { tag: 'behind' } {
  return expected === 0 ? { tag: 'advance', generation: 1 } : { tag: 'behind' };
}

/** O1, or `none` when the whole lineage is empty; without O1, other objects are the rest of a damaged lineage. */
function* readCurrentOrNone(
  paths: LineagePaths,
): Lineage<
  { tag: 'found'; value: CurrentGeneration; etag: string } | { tag: 'none' } | Broken | Unavailable
> {
  const first = yield* read(paths.current, currentGenerationCodec);
  if (first.tag !== 'missing') return first;
  const others = yield* listAll(paths.prefix);
  if (others.tag === 'unanswered') return unavailable(others.message);
  if (others.keys.length === 0) return { tag: 'none' };
  // A racing controller may have created it, and its leader more, since the first look.
  const second = yield* read(paths.current, currentGenerationCodec);
  return second.tag === 'missing'
    ? broken(`${paths.current} is missing, but ${others.keys[0]} exists`)
    : second;
}
