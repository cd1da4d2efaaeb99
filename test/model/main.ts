/**
 * `npm run model -- --generations 3 --epochs 3 --losses 1 --delays 1 --keep 0`: one exploration of any size.
 *
 * Options: `generations` (2), `epochs` of each (3), `losses` and `delays` along one history (1, 1), `keep` (absent: no
 * collection), `reset` (a generation that forgets its state), `states` (stop there). Exit code 1 on a violation, 2 when
 * the bounds were not exhausted.
 */
import { parseArgs } from 'node:util';
import { Explorer } from './explorer.ts';
import { generations } from './plans.ts';

const { values } = parseArgs({
  options: {
    generations: { type: 'string', default: '2' },
    epochs: { type: 'string', default: '3' },
    losses: { type: 'string', default: '1' },
    delays: { type: 'string', default: '1' },
    keep: { type: 'string' },
    reset: { type: 'string' },
    states: { type: 'string' },
  },
});

const epochs = Array.from({ length: Number(values.generations) }, () => Number(values.epochs));
const actors = generations(epochs, {
  keep: values.keep === undefined ? null : Number(values.keep),
  resets: values.reset === undefined ? [] : [Number(values.reset)],
});
const startedAt = process.cpuUsage();
const report = new Explorer({
  actors,
  losses: Number(values.losses),
  delays: Number(values.delays),
  statesMax: values.states === undefined ? Infinity : Number(values.states),
}).explore();
const used = process.cpuUsage(startedAt);
const seconds = ((used.user + used.system) / 1e6).toFixed(1);
const { violation, ...counts } = report;
const memoryMb = Math.round(process.memoryUsage().rss / 2 ** 20);
const lines = [JSON.stringify({ ...counts, seconds: Number(seconds), memoryMb })];
if (violation !== null) {
  lines.push(violation.rule);
  for (const [step, text] of violation.trace.entries()) lines.push(`${step + 1}. ${text}`);
}
process.stdout.write(`${lines.join('\n')}\n`);
process.exitCode = violation !== null ? 1 : report.exhausted ? 0 : 2;
