/** Casts for explorations: which controllers and leaders there are, and what each sets out to do. */
import { incarnation } from '../harness/lineage-leader.ts';
import type { ActorPlan } from './actors.ts';

/**
 * `after`: number of the controller whose allocation it waits for. `keep`: epochs kept by collection, absent for none.
 * `reset`: forgets the state that older generations left. `forgetful`: see `LeaderPlan`.
 */
export type LeaderOptions = {
  startNo?: number;
  epochs: number;
  keep?: number | null;
  after?: number;
  reset?: boolean;
  forgetful?: boolean;
};

export function leader(
  generation: number,
  { startNo = 1, epochs, keep = null, after, reset = false, forgetful = false }: LeaderOptions,
): ActorPlan {
  const name = `generation ${generation} start ${startNo}`;
  const plan = { generation, me: incarnation(generation, startNo), epochs, keep, reset, forgetful };
  return { tag: 'leader', name, after: after ?? null, plan };
}

/** Allocates generation `expected` + 1, once the controller with number `after` has done its own. */
export function controller(name: string, expected: number, after: number | null = null): ActorPlan {
  return { tag: 'controller', name: `controller ${name}`, after, expected };
}

/** Generations 1, 2, … with so many epochs each; a controller replaces each by the next at any moment. */
export function generations(
  epochs: readonly number[],
  options: { keep?: number | null; resets?: readonly number[] } = {},
): ActorPlan[] {
  const actors: ActorPlan[] = [];
  let before: number | null = null;
  for (const [index, count] of epochs.entries()) {
    const generation = index + 1;
    const reset = options.resets?.includes(generation) ?? false;
    const plan: LeaderOptions = { epochs: count, keep: options.keep ?? null, reset };
    if (generation === 1) {
      actors.push(leader(1, plan));
      continue;
    }
    actors.push(controller(String(generation), generation - 1, before));
    before = actors.length - 1;
    actors.push(leader(generation, { ...plan, after: before }));
  }
  return actors;
}
