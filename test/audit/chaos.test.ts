/** Whatever pipeline and whatever faults a seed draws, what is left in the bucket is proved. */
import { expect, test } from 'vitest';
import { runChaos } from '../simulation/chaos.ts';
import { bucketOf, verdictOn } from './world.ts';

const SEEDS = Array.from({ length: 40 }, (_, index) => `audit-${index}`);

test('buckets of random pipelines under random faults are proved', { timeout: 120_000 }, () => {
  for (const seed of SEEDS) {
    const verdict = verdictOn(bucketOf(runChaos(seed)));
    expect(verdict.findings, seed).toEqual([]);
    expect(verdict.proved, seed).toBe(true);
  }
});
