/**
 * Everything at once: pipelines of all kinds under lost, late and repeated calls, resets at any point, stops, other
 * parallelisms and jumping clocks, all drawn from one seed. `SEEDS=n` runs more of them, `FROM=n` others,
 * `SEED=name` one.
 */
import { expect, test } from 'vitest';
import { runChaos } from './chaos.ts';

const from = Number(process.env['FROM'] ?? 0);
const seeds =
  process.env['SEED'] === undefined
    ? Array.from(
        { length: Number(process.env['SEEDS'] ?? 40) },
        (_, index) => `chaos-${from + index}`,
      )
    : [process.env['SEED']];

test.each(seeds)(
  'nothing is lost or doubled, seed %s',
  (seed) => {
    runChaos(seed);
  },
  120_000,
);

test('the same seed gives the same trace', () => {
  for (const seed of ['twice-1', 'twice-2', 'twice-3'])
    expect(runChaos(seed).trace).toEqual(runChaos(seed).trace);
}, 120_000);
