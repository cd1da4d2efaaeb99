/**
 * The lineage protocol, explored: every order of requests of a few actors under a few faults.
 *
 * Each run is exhaustive within its bounds and prints what it visited. It is bounded search, not a proof.
 */
import { describe, expect, test } from 'vitest';
import { incarnation } from '../harness/lineage-leader.ts';
import type { ActorPlan } from './actors.ts';
import { Explorer } from './explorer.ts';
import type { Exploration } from './explorer.ts';
import { MUTANTS } from './mutants.ts';

type LeaderOptions = { startNo?: number; epochs: number; keep?: number; after?: number };

function leader(
  generation: number,
  { startNo = 1, epochs, keep, after }: LeaderOptions,
): ActorPlan {
  const name = `generation ${generation} start ${startNo}`;
  const plan = { generation, me: incarnation(generation, startNo), epochs, keep: keep ?? null };
  return { tag: 'leader', name, after: after ?? null, plan };
}

function controller(name: string, expected: number, after: number | null = null): ActorPlan {
  return { tag: 'controller', name: `controller ${name}`, after, expected };
}

/** Generation 1 runs; a controller replaces it at any moment; generation 2 starts. */
const takeover = (first: number, second: number): ActorPlan[] => [
  leader(1, { epochs: first }),
  controller('a', 1),
  leader(2, { epochs: second, after: 1 }),
];

const collecting = (first: number, second: number, keep: number): ActorPlan[] => [
  leader(1, { epochs: first, keep }),
  controller('a', 1),
  leader(2, { epochs: second, keep, after: 1 }),
];

const resumed: ActorPlan[] = [leader(1, { epochs: 2 }), leader(1, { startNo: 2, epochs: 2 })];

const racing: ActorPlan[] = [
  leader(1, { epochs: 1 }),
  controller('a', 1),
  controller('b', 1),
  leader(2, { epochs: 1, after: 1 }),
];

const threeGenerations: ActorPlan[] = [
  leader(1, { epochs: 1 }),
  controller('a', 1),
  leader(2, { epochs: 1, after: 1 }),
  controller('b', 2, 1),
  leader(3, { epochs: 1, after: 3 }),
];

const RUNS: [string, Exploration][] = [
  [
    'two generations, one lost and one late request',
    { actors: takeover(2, 1), losses: 1, delays: 1 },
  ],
  [
    'two generations that collect, one late request',
    { actors: collecting(2, 2, 0), losses: 0, delays: 1 },
  ],
  [
    'two generations that collect and keep one epoch, one lost request',
    { actors: collecting(3, 3, 1), losses: 1, delays: 0 },
  ],
  [
    'a leader and its later start, one lost and one late request',
    { actors: resumed, losses: 1, delays: 1 },
  ],
  ['two controllers that race, one lost request', { actors: racing, losses: 1, delays: 0 }],
  ['three generations', { actors: threeGenerations, losses: 0, delays: 0 }],
];

describe('no order of requests breaks the lineage', () => {
  test.each(RUNS)('%s', { timeout: 60_000 }, (name, exploration) => {
    const startedAt = performance.now();
    const report = new Explorer(exploration).explore();
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const { states, moves, depth, ends } = report;
    process.stdout.write(
      `model: ${name}: ${states} states, ${moves} moves, depth ${depth}, ${ends} ends, ${seconds} s\n`,
    );
    expect(report.violation).toBe(null);
    expect(report.exhausted).toBe(true);
    expect(ends).toBeGreaterThan(0);
    expect(states).toBeGreaterThan(1000);
  });
});

/** For each thing removed: bounds within which a violation exists, and the rule that it breaks first. */
const FOUND: [string, Exploration, RegExp][] = [
  ['no verify after a claim', { actors: collecting(2, 3, 0), losses: 0, delays: 0 }, /^(I2|I6)/],
  [
    'a claim that exists is taken for mine',
    { actors: takeover(2, 1), losses: 0, delays: 0 },
    /^(I2|I3|I4|L1)/,
  ],
  [
    'deletes without moving the floor',
    { actors: collecting(2, 1, 0), losses: 0, delays: 0 },
    /^(I1|I8)/,
  ],
  [
    'the floor is overwritten',
    { actors: collecting(2, 1, 0), losses: 0, delays: 0 },
    /O1 does not grow/,
  ],
  [
    'the acquisition is overwritten',
    { actors: takeover(2, 1), losses: 0, delays: 0 },
    /O1 does not grow/,
  ],
  ['the allocation is overwritten', { actors: racing, losses: 0, delays: 0 }, /O1 does not grow/],
  ['nothing is redone before the fence', { actors: takeover(1, 1), losses: 0, delays: 0 }, /^I2/],
  ['marked before the sink has answered', { actors: takeover(1, 1), losses: 0, delays: 0 }, /^I4/],
  [
    'nothing listed is taken for a new lineage',
    { actors: takeover(1, 1), losses: 0, delays: 0 },
    /^I6/,
  ],
];

describe('the exploration notices what is removed', () => {
  test('every mutant has its bounds', () => {
    expect(FOUND.map(([name]) => name).sort()).toEqual(Object.keys(MUTANTS).sort());
  });

  test.each(FOUND)('%s', { timeout: 60_000 }, (name, exploration, rule) => {
    const { violation, states } = new Explorer({
      ...exploration,
      programs: MUTANTS[name]!,
    }).explore();
    const steps = violation?.trace.length;
    process.stdout.write(
      `model: without "${name}": ${violation?.rule} after ${steps} steps, ${states} states\n`,
    );
    expect(violation?.rule).toMatch(rule);
  });
});
