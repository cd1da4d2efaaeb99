/** Jobs of Thalweg alone: what a checkpoint stops, how fast state comes back, what the shuffle costs. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { GenerationSpec, OperatorMetrics } from '../src/protocol/messages.ts';
import type { Compared } from './compare.ts';
import type { DataSet } from './data.ts';
import type { Places } from './engines/engines.ts';
import { runOnce, specOf } from './engines/thalweg.ts';
import type { Job } from './job.ts';
import { ownFolder } from './leftovers.ts';
import { JOBS } from './jobs.ts';
import { readable, summarise } from './product/statistics.ts';
import type { CheckpointAnswer } from './thalweg/worker.ts';
import { type BenchWorkerd, startWorkerd } from './thalweg/workerd.ts';
import { peakRssBytes, processorNanos } from './child.ts';
import { type Figure, figureText, type JobRecord } from './table.ts';

export type OwnJob = {
  name: string;
  summary: string;
  run(
    data: DataSet,
    places: Places,
    options: { runs: number; log: (line: string) => void },
  ): Promise<Pick<JobRecord, 'rows' | 'results' | 'figures'>>;
};

async function withWorkerd<T>(
  places: Places,
  what: (workerd: BenchWorkerd) => Promise<T>,
): Promise<T> {
  const out = join(ownFolder(places.work), 'own');
  mkdirSync(out, { recursive: true });
  const workerd = await startWorkerd(places.root, places.work, places.data, out);
  try {
    return await what(workerd);
  } finally {
    await workerd.stop();
    rmSync(out, { recursive: true });
  }
}

const result = (
  job: string,
  samples: readonly number[],
  peak: number,
  answerRows: number,
): Compared => ({
  job,
  engine: 'thalweg',
  rowsPerSecond: Math.round(summarise(samples).median),
  peakRssBytes: peak,
  runs: samples.length,
  samples: samples.map(Math.round),
  rowsPerProcessorSecond: null,
  answerRows,
  failure: null,
});

/** A group for four of nine bids, 230 bytes each: 1 M bids make about 100 MB of state. */
const STATE: Job = {
  name: 'state',
  summary: '',
  inputs: ['bids'],
  thalweg:
    'SELECT auction, bidder, price, datetime, count(*) AS n, sum(price) AS total, max(url) AS url FROM bid WHERE price % 9 < 4 GROUP BY auction, bidder, price, datetime',
};

async function timed(what: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await what();
  return performance.now() - began;
}

/** What a request costs that does nothing: taken off what is measured as one. */
async function emptyRequest(workerd: BenchWorkerd): Promise<number> {
  const samples: number[] = [];
  for (let at = 0; at < 20; at++) samples.push(await timed(() => workerd.ask('/nothing')));
  return summarise(samples).median;
}

/** Names of figures that have a target. */
export const PAUSE_WHOLE = 'pause for 10 MB when all of the state is new';
export const PAUSE_CHANGED = 'pause for 10 MB when a part of the state is new';
export const RESTORE = 'restore';

/** What was new when the last barrier came: everything, or what came behind an earlier checkpoint. */
type Pause = { ms: number; megabytes: number };

/** Pauses grow with the state: what they are for ten megabytes of it. */
const forTenMegabytes = (pauses: readonly Pause[]): number =>
  summarise(pauses.map(({ ms, megabytes }) => (ms / megabytes) * 10)).median;

/** The share of the bids that comes behind the first of two checkpoints. */
const LATER_SHARE = 0.1;

async function pauseAndRestore(
  workerd: BenchWorkerd,
  checkpointAt: number | null,
): Promise<{ pause: Pause; restoreMs: number; size: CheckpointAnswer }> {
  const options = {
    twins: false,
    keep: false,
    inMemory: false,
    ...(checkpointAt !== null && { checkpointAt }),
  };
  await runOnce(workerd, specOf(STATE, false), options);
  const nothing = await emptyRequest(workerd);
  const { headMs, value: size } = await workerd.askInSteps<CheckpointAnswer>('/checkpoint');
  const pause = { ms: Math.max(0, headMs - nothing), megabytes: size.newBytes / 1e6 };
  const restore = await timed(() => workerd.ask('/restore'));
  return { pause, restoreMs: restore - nothing, size };
}

const state: OwnJob = {
  name: 'state',
  summary: 'restore of groups of 230 bytes',
  run: async (data, places, { runs, log }) =>
    await withWorkerd(places, async (workerd) => {
      const whole: Pause[] = [];
      const changed: Pause[] = [];
      const restores: number[] = [];
      let size: CheckpointAnswer = { bytes: 0, rows: 0, newBytes: 0 };
      for (let run = 0; run < runs; run++) {
        const first = await pauseAndRestore(workerd, null);
        whole.push(first.pause);
        restores.push(first.restoreMs);
        size = first.size;
        const at = Math.floor(data.bytes.bids * (1 - LATER_SHARE));
        changed.push((await pauseAndRestore(workerd, at)).pause);
      }
      const megabytes = size.bytes / 1e6;
      const rates = restores.map((ms) => (size.rows / ms) * 1000);
      const newest = readable(summarise(changed.map((pause) => pause.megabytes)).median);
      const figures: Figure[] = [
        { name: 'state files', value: megabytes, unit: 'MB' },
        { name: PAUSE_WHOLE, value: forTenMegabytes(whole), unit: 'ms' },
        { name: `${PAUSE_CHANGED}, ${newest} MB`, value: forTenMegabytes(changed), unit: 'ms' },
        { name: RESTORE, value: megabytes / (summarise(restores).median / 1000), unit: 'MB/s' },
      ];
      for (const figure of figures) log(`state         thalweg     ${figureText(figure)}`);
      return {
        rows: size.rows,
        results: [result('state', rates, peakRssBytes(workerd.pid), size.rows)],
        figures,
      };
    }),
};

/** The tumble job with a shuffle between source and windows: all rows are read by host 0. */
const SCALED = JOBS.find(({ name }) => name === 'tumble') as Job;
const HOSTS = [1, 2, 4];

/** Bytes that came over channels from other hosts: sources count what they read. */
function frameBytes({ graph }: GenerationSpec, metrics: readonly OperatorMetrics[]): number {
  const sources = graph.operators.filter(({ spec }) => spec.tag === 'source').map(({ id }) => id);
  return metrics
    .filter(({ operator }) => !sources.includes(operator))
    .reduce((sum, { bytesIn }) => sum + bytesIn, 0);
}

const scaling: OwnJob = {
  name: 'scaling',
  summary: 'tumble on 1, 2 and 4 hosts that share one core',
  run: async (data, places, { runs, log }) =>
    await withWorkerd(places, async (workerd) => {
      const rows = data.rows.bids;
      const times = HOSTS.map((): number[] => []);
      const costs = HOSTS.map((): number[] => []);
      const specs = HOSTS.map((hosts) => specOf(SCALED, false, hosts));
      const sentBytes = HOSTS.map(() => 0);
      let answered = 0;
      for (let run = -1; run < runs; run++) {
        for (const [at, spec] of specs.entries()) {
          const before = processorNanos(workerd.pid);
          const one = await runOnce(workerd, spec, {
            twins: false,
            keep: false,
            inMemory: true,
          });
          const nanos = processorNanos(workerd.pid) - before;
          if (run >= 0) {
            times[at]?.push(one.ms);
            costs[at]?.push(Number.isNaN(nanos) ? one.ms * 1e6 : nanos);
          }
          sentBytes[at] = frameBytes(spec, one.metrics);
          if (answered !== 0 && answered !== one.rows)
            throw new Error(`${one.rows} rows on ${HOSTS[at]} hosts, ${answered} on others`);
          answered = one.rows;
        }
      }
      const medians = times.map((each) => summarise(each).median);
      const alone = summarise(costs[0] as number[]).median;
      const figures = HOSTS.flatMap((hosts, at): Figure[] => {
        const ms = medians[at] as number;
        const name = `${hosts} host${hosts === 1 ? '' : 's'}`;
        const rate: Figure = { name, value: (rows / ms) * 1000, unit: 'rows/s' };
        if (hosts === 1) return [rate];
        const sent = rows * (1 - 1 / hosts);
        const nanos = summarise(costs[at] as number[]).median - alone;
        const megabytes = (sentBytes[at] as number) / 1e6;
        return [
          rate,
          { name: `${name}: a row that goes to another`, value: nanos / sent, unit: 'ns' },
          { name: `${name}: frames`, value: megabytes / (nanos / 1e9), unit: 'MB/s' },
        ];
      });
      for (const figure of figures) log(`scaling       thalweg     ${figureText(figure)}`);
      const rates = (times[0] as number[]).map((ms) => (rows / ms) * 1000);
      return {
        rows,
        results: [result('scaling', rates, peakRssBytes(workerd.pid), answered)],
        figures,
      };
    }),
};

export const OWN_JOBS: readonly OwnJob[] = [state, scaling];
