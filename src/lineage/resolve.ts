/**
 * What to do about what was read: pure decisions, named by verbs.
 *
 * Place in the walk: stage 10. Invariants: a decision depends on its arguments only; the workflows carry it out and
 * decide nothing themselves but the order of requests. Failure: none.
 */
import { isMine } from './derive.ts';
import type { LineagePaths } from './paths.ts';
import type { CurrentGeneration, Incarnation, Tip } from './types.ts';

/** A controller wants generation `expected` + 1 to exist. */
export type Allocation =
  | { tag: 'advance'; generation: number }
  /** Another controller, or this one's unanswered request, has been there. */
  | { tag: 'reached'; generation: number }
  /** The store knows less than the controller: it was put back or replaced. */
  | { tag: 'behind' };

export function resolveAllocation(current: CurrentGeneration, expected: number): Allocation {
  if (current.generation < expected) return { tag: 'behind' };
  if (current.generation > expected) return { tag: 'reached', generation: current.generation };
  return { tag: 'advance', generation: expected + 1 };
}

/** What a starting leader may do: go on as owner, become the owner, or retire. */
export type Acquisition = 'own' | 'acquire' | 'retire';

export function resolveGeneration(
  current: CurrentGeneration,
  generation: number,
  me: Incarnation,
): Acquisition {
  if (isMine(current, generation, me)) return 'own';
  if (current.generation !== generation) return 'retire';
  if (current.incarnation === null) return 'acquire';
  const earlierStart =
    current.incarnation.objectId === me.objectId && current.incarnation.startNo < me.startNo;
  return earlierStart ? 'acquire' : 'retire';
}

/** The floor that keeps the tip and `keep` epochs before it, or null when that is no progress. */
export function resolveFloor(current: CurrentGeneration, tip: Tip, keep: number): number | null {
  const floor = tip.epoch - keep;
  return floor > current.floor ? floor : null;
}

/**
 * The keys that nothing retained needs once the floor is `floor`.
 *
 * `keys`: all names under `generations/`, and the records; `kept`: state files of the manifest of epoch `floor`. A child
 * references only its parent's files or its own new ones, so that one manifest stands for all later ones. Manifests
 * of dead generations (O2) go with their last object. Names that are not ours stay.
 */
export function planDeletion(
  keys: readonly string[],
  paths: LineagePaths,
  floor: number,
  kept: ReadonlySet<string>,
  generation: number,
): string[] {
  const doomed: string[] = [];
  const alive = new Set<string>();
  const starts: { key: string; start: string }[] = [];
  for (const key of keys) {
    const name = paths.parse(key);
    if (name === null || name.tag === 'current') continue;
    const start = name.tag === 'record' ? '' : `${name.generation}/${name.nonce}`;
    if (name.tag === 'generation') {
      if (name.generation < generation) starts.push({ key, start });
    } else if (name.epoch < floor && !kept.has(key)) {
      doomed.push(key);
    } else {
      alive.add(start);
    }
  }
  for (const { key, start } of starts) if (!alive.has(start)) doomed.push(key);
  return doomed;
}
