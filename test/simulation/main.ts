/**
 * `npm run sim -- --seed N --runs M`: lives of whole pipelines, one a seed, and what the checkers say.
 *
 * Seeds are N, N + 1, …; a failure prints its trace and how to live it again. `--twice` lives every seed two times
 * and compares the hashes of the traces.
 */
import { parseArgs } from 'node:util';
import { contentHash } from '../../src/lineage/content-hash.ts';
import { runChaos } from './chaos.ts';

const USAGE = 'npm run sim -- [--seed N] [--runs M] [--twice] [--keep-going]';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '100' },
    twice: { type: 'boolean', default: false },
    'keep-going': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const liveOnce = (seed: string): string =>
  contentHash(new TextEncoder().encode(runChaos(seed).trace.join('\n')));

function live(seed: string): string {
  const hash = liveOnce(seed);
  if (values.twice) {
    const again = liveOnce(seed);
    if (again !== hash) throw new Error(`seed ${seed}: two lives, two traces: ${hash}, ${again}`);
  }
  return hash;
}

function main(): number {
  const first = Number(values.seed);
  const runs = Number(values.runs);
  if (values.help || !Number.isSafeInteger(first) || !Number.isSafeInteger(runs)) {
    say(USAGE);
    return values.help ? 0 : 1;
  }
  const startedMs = performance.now();
  const failed: string[] = [];
  let done = 0;
  for (let seed = first; seed < first + runs; seed++) {
    done++;
    try {
      const hash = live(String(seed));
      if (runs === 1) say(`seed ${seed}: trace ${hash}`);
    } catch (thrown) {
      failed.push(String(seed));
      say((thrown as Error).message);
      say(`again: npm run sim -- --seed ${seed} --runs 1`);
      if (!values['keep-going']) break;
    }
    if (done % 500 === 0) say(`${done} of ${runs} seeds, ${failed.length} failed`);
  }
  const minutes = (performance.now() - startedMs) / 60_000;
  say(`${done} seeds in ${minutes.toFixed(1)} min, ${Math.round(done / minutes)} a minute`);
  say(`${done - failed.length} passed, ${failed.length} failed`);
  return failed.length === 0 ? 0 : 1;
}

process.exitCode = main();
