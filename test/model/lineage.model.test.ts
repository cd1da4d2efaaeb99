/**
 * The lineage protocol, explored: every order of requests of a few actors under a few faults, and from every state the future.
 *
 * Each run is exhaustive within its bounds and prints what it visited. It is bounded search, not a proof. Larger bounds:
 * `MODEL_LARGE=1 npx vitest run test/model`, or any others with `npm run model`.
 */
import { describe, expect, test } from 'vitest';
import type { ActorPlan } from './actors.ts';
import { Explorer } from './explorer.ts';
import type { Exploration } from './explorer.ts';
import { HEALING_REQUESTS_MAX, LOSING_REQUESTS_MAX } from './healing.ts';
import { controller, generations, leader } from './plans.ts';

const resumed = (epochs: number): ActorPlan[] => [
  leader(1, { epochs }),
  leader(1, { startNo: 2, epochs }),
];

const racing = [
  leader(1, { epochs: 1 }),
  controller('a', 1),
  controller('b', 1),
  leader(2, { epochs: 1, after: 1 }),
];

const RUNS: [string, Exploration][] = [
  [
    'two generations of three epochs, keep 0, one lost and one late request',
    { actors: generations([3, 3], { keep: 0 }), losses: 1, delays: 1 },
  ],
  [
    'two generations of two epochs, keep 1, one lost and one late request',
    { actors: generations([2, 2], { keep: 1 }), losses: 1, delays: 1 },
  ],
  [
    'three generations of two epochs, keep 0',
    { actors: generations([2, 2, 2], { keep: 0 }), losses: 0, delays: 0 },
  ],
  [
    'two generations, the second forgets its state, one lost and one late request',
    { actors: generations([2, 1], { resets: [2], keep: 0 }), losses: 1, delays: 1 },
  ],
  [
    'a leader and its later start, one lost and one late request',
    { actors: resumed(2), losses: 1, delays: 1 },
  ],
  [
    'a leader, its later start and its successor, one lost request',
    {
      actors: [...resumed(1), controller('2', 1), leader(2, { epochs: 1, after: 2 })],
      losses: 1,
      delays: 0,
    },
  ],
  [
    'two controllers that race, one lost and one late request',
    { actors: racing, losses: 1, delays: 1 },
  ],
  [
    'two generations while storage loses a record that is not the newest',
    { actors: generations([2, 2], { keep: 1 }), losses: 0, delays: 0, decay: true },
  ],
];

const LARGE: [string, Exploration][] = [
  [
    'two generations of three epochs, keep 1, one lost and one late request',
    { actors: generations([3, 3], { keep: 1 }), losses: 1, delays: 1 },
  ],
  [
    'two generations of four epochs, keep 0, one lost and two late requests',
    { actors: generations([4, 4], { keep: 0 }), losses: 1, delays: 2 },
  ],
  [
    'three generations of two epochs, keep 0, one lost request',
    { actors: generations([2, 2, 2], { keep: 0 }), losses: 1, delays: 0 },
  ],
  ['four generations of one epoch', { actors: generations([1, 1, 1, 1]), losses: 0, delays: 0 }],
];

const large = process.env['MODEL_LARGE'] !== undefined;

describe('no order of requests breaks the lineage', () => {
  test.each(large ? [...RUNS, ...LARGE] : RUNS)(
    '%s',
    { timeout: large ? 3_600_000 : 240_000 },
    (name, exploration) => {
      const startedAt = process.cpuUsage();
      const report = new Explorer(exploration).explore();
      const used = process.cpuUsage(startedAt);
      const seconds = ((used.user + used.system) / 1e6).toFixed(1);
      const { states, moves, depth, ends, healed, bound, losing } = report;
      process.stdout.write(
        `model: ${name}: ${states} states, ${moves} moves, depth ${depth}, ${ends} ends, ` +
          `${healed} recoveries within ${bound} requests, losers within ${losing}, ${seconds} s\n`,
      );
      expect(report.violation).toBe(null);
      expect(report.exhausted).toBe(true);
      expect(ends).toBeGreaterThan(0);
      expect(states).toBeGreaterThan(1000);
      expect(bound).toBeLessThanOrEqual(HEALING_REQUESTS_MAX);
      expect(losing).toBeLessThanOrEqual(LOSING_REQUESTS_MAX);
      expect(healed).toBeGreaterThan(10);
    },
  );
});
