import { describe, expect, test } from 'vitest';
import { Prng } from '../../src/base/prng.ts';
import { TERMINAL_STATES } from '../../src/catalog/schema.ts';
import type { JobState } from '../../src/catalog/schema.ts';
import { QUICK_RESTARTS, recoveryPauseMs } from '../../src/controller/backoff.ts';
import { LEGAL_TRANSITIONS, transition } from '../../src/controller/transitions.ts';

const STATES = Object.keys(LEGAL_TRANSITIONS) as JobState[];

describe('the table of transitions', () => {
  test('lets every state be reached from the first', () => {
    const reached = new Set<JobState>(['Created']);
    for (const state of reached) for (const next of LEGAL_TRANSITIONS[state]) reached.add(next);
    expect([...reached].toSorted()).toEqual(STATES.toSorted());
  });

  test('lets nothing at rest come to life but by scheduling', () => {
    for (const state of TERMINAL_STATES) {
      expect(LEGAL_TRANSITIONS[state].filter((next) => !TERMINAL_STATES.includes(next))).toEqual([
        'Scheduling',
      ]);
    }
  });

  test('lets every live state come to every rest', () => {
    for (const state of STATES.filter(
      (each) => !TERMINAL_STATES.includes(each) && each !== 'Created',
    )) {
      for (const rest of TERMINAL_STATES) expect(transition(state, rest)).toBe(rest);
    }
  });

  test('is enforced', () => {
    expect(transition('Running', 'Running')).toBe('Running');
    expect(() => transition('Failed', 'Running')).toThrow('from Failed to Running');
  });
});

describe('the pause before a recovery', () => {
  test('is none for the first ones, and then between half of a doubling bound and the bound', () => {
    const prng = new Prng('pauses');
    for (let restarts = 0; restarts < 30; restarts++) {
      const boundMs =
        restarts < QUICK_RESTARTS ? 0 : Math.min(500 * 2 ** (restarts - QUICK_RESTARTS), 60_000);
      expect(recoveryPauseMs(restarts, 0)).toBe(boundMs);
      const pauseMs = recoveryPauseMs(restarts, prng.below(1000) / 1000);
      expect(pauseMs).toBeGreaterThanOrEqual(boundMs / 2);
      expect(pauseMs).toBeLessThanOrEqual(boundMs);
    }
  });
});
