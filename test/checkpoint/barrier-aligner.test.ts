import { describe, expect, test } from 'vitest';
import { BarrierAligner } from '../../src/checkpoint/barrier-aligner.ts';
import { Prng } from '../../src/base/prng.ts';

const at = (epoch: number, attempt = 1): { epoch: number; attempt: number } => ({ epoch, attempt });

describe('barrier alignment', () => {
  test('completes when every input has delivered the barrier, and blocks those that were early', () => {
    const aligner = new BarrierAligner(['a', 'b']);
    expect(aligner.arrive('a', at(1))).toBe(false);
    expect(aligner.isBlocked('a')).toBe(true);
    expect(aligner.isBlocked('b')).toBe(false);
    expect(aligner.arrive('b', at(1))).toBe(true);
    aligner.release();
    expect(aligner.isBlocked('a')).toBe(false);
  });

  test('a higher attempt supersedes the one under way and unblocks its inputs', () => {
    const aligner = new BarrierAligner(['a', 'b']);
    aligner.arrive('a', at(3, 1));
    expect(aligner.arrive('b', at(3, 2))).toBe(false);
    expect(aligner.isBlocked('a')).toBe(false);
    expect(aligner.arrive('a', at(3, 1))).toBe(false);
    expect(aligner.isBlocked('a')).toBe(false);
    expect(aligner.arrive('a', at(3, 2))).toBe(true);
  });

  test('a barrier at or below one that was honoured is ignored', () => {
    const aligner = new BarrierAligner(['a']);
    expect(aligner.arrive('a', at(2, 2))).toBe(true);
    aligner.release();
    expect(aligner.arrive('a', at(2, 2))).toBe(false);
    expect(aligner.arrive('a', at(2, 1))).toBe(false);
    expect(aligner.arrive('a', at(1, 9))).toBe(false);
    expect(aligner.isBlocked('a')).toBe(false);
    expect(aligner.arrive('a', at(4, 1))).toBe(true);
  });

  test('an ended input counts as aligned, for the barrier under way and for all later ones', () => {
    const aligner = new BarrierAligner(['a', 'b']);
    aligner.arrive('a', at(1));
    expect(aligner.end('b')).toBe(true);
    aligner.release();
    expect(aligner.arrive('a', at(2))).toBe(true);
    aligner.release();
    expect(aligner.end('a')).toBe(false);
    expect(aligner.announce(at(3))).toBe(true);
  });

  test('the announcement completes nothing while an input is open', () => {
    const aligner = new BarrierAligner(['a']);
    expect(aligner.announce(at(1))).toBe(false);
    expect(aligner.arrive('a', at(1))).toBe(true);
  });

  test('whatever the order of arrivals, an alignment completes exactly once', () => {
    const prng = new Prng('aligner');
    for (let round = 0; round < 500; round++) {
      const inputs = Array.from({ length: 1 + prng.below(5) }, (_, index) => `i${index}`);
      const aligner = new BarrierAligner(inputs);
      const todo = [...inputs];
      let completions = 0;
      while (todo.length > 0) {
        const [input] = todo.splice(prng.below(todo.length), 1) as [string];
        const completed = prng.chance(0.3) ? aligner.end(input) : aligner.arrive(input, at(7));
        if (completed) completions++;
        if (completed) expect(todo).toEqual([]);
      }
      if (completions === 0) completions += aligner.announce(at(7)) ? 1 : 0;
      expect(completions).toBe(1);
    }
  });
});
