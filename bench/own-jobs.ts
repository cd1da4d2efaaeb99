/** Jobs of Thalweg alone: what a checkpoint stops, how fast state comes back, what the shuffle costs. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Compared } from './compare.ts';
import type { DataSet } from './data.ts';
import type { Places } from './engines/engines.ts';
import { runOnce, specOf } from './engines/thalweg.ts';
import type { Job } from './job.ts';
import { JOBS } from './jobs.ts';
import { readable, summarise } from './product/statistics.ts';
import type { CheckpointAnswer } from './thalweg/worker.ts';
import { type BenchWorkerd, startWorkerd } from './thalweg/workerd.ts';
import { peakRssBytes } from './child.ts';
import type { JobRecord } from './table.ts';

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
  const out = join(places.work, 'out-own');
  mkdirSync(out, { recursive: true });
  const workerd = await startWorkerd(places.root, places.work, places.data, out);
  try {
    return await what(workerd);
  } finally {
    await workerd.stop();
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
  answerRows,
  failure: null,
});

/** One group, and about 100 bytes of state, for each bid: the state of 1 M bids is about 100 MB. */
const STATE: Job = {
  name: 'state',
  summary: '',
  inputs: ['bids'],
  thalweg:
    'SELECT auction, bidder, price, datetime, count(*) AS n, sum(price) AS total, max(url) AS url FROM bid GROUP BY auction, bidder, price, datetime',
};

async function timed<T>(what: () => Promise<T>): Promise<{ ms: number; value: T }> {
  const began = performance.now();
  const value = await what();
  return { ms: performance.now() - began, value };
}

/** What a request costs that does nothing: taken off what is measured as one. */
async function emptyRequest(workerd: BenchWorkerd): Promise<number> {
  const samples: number[] = [];
  for (let at = 0; at < 20; at++) samples.push((await timed(() => workerd.ask('/nothing'))).ms);
  return summarise(samples).median;
}

const state: OwnJob = {
  name: 'state',
  summary: 'checkpoint and restore of one group a bid',
  run: async (_data, places, { runs, log }) =>
    await withWorkerd(places, async (workerd) => {
      const { metrics } = await runOnce(workerd, specOf(STATE, false), {
        twins: false,
        keep: false,
      });
      const groups = metrics.reduce((sum, { stateRows }) => sum + stateRows, 0);
      const nothing = await emptyRequest(workerd);
      const pauses: number[] = [];
      const restores: number[] = [];
      let size: CheckpointAnswer = { bytes: 0, rows: 0 };
      for (let run = 0; run < runs; run++) {
        const cut = await timed(() => workerd.ask<CheckpointAnswer>('/checkpoint'));
        size = cut.value;
        pauses.push(cut.ms - nothing);
        restores.push((await timed(() => workerd.ask('/restore'))).ms - nothing);
      }
      const megabytes = size.bytes / 1e6;
      const pause = summarise(pauses).median;
      const back = summarise(restores).median;
      const rates = restores.map((ms) => (size.rows / ms) * 1000);
      log(`state         thalweg     ${megabytes.toFixed(0)} MB: cut ${pause.toFixed(0)} ms`);
      return {
        rows: size.rows,
        results: [result('state', rates, peakRssBytes(workerd.pid), groups)],
        figures: [
          { name: 'state files', value: `${readable(megabytes)} MB` },
          {
            name: 'cut of the whole state, for 10 MB',
            value: `${readable((pause / megabytes) * 10)} ms`,
          },
          { name: 'restore', value: `${readable(megabytes / (back / 1000))} MB/s` },
        ],
      };
    }),
};

/** The tumble job with a shuffle between source and windows: all rows are read by host 0. */
const SCALED = JOBS.find(({ name }) => name === 'tumble') as Job;
const HOSTS = [1, 2, 4];

const scaling: OwnJob = {
  name: 'scaling',
  summary: 'tumble on 1, 2 and 4 hosts that share one core',
  run: async (data, places, { runs, log }) =>
    await withWorkerd(places, async (workerd) => {
      const rows = data.rows.bids;
      const times = HOSTS.map((): number[] => []);
      const specs = HOSTS.map((hosts) => specOf(SCALED, false, hosts));
      let answered = 0;
      for (let run = -1; run < runs; run++) {
        for (const [at, spec] of specs.entries()) {
          const one = await runOnce(workerd, spec, { twins: false, keep: false });
          if (run >= 0) times[at]?.push(one.ms);
          if (answered !== 0 && answered !== one.rows)
            throw new Error(`${one.rows} rows on ${HOSTS[at]} hosts, ${answered} on others`);
          answered = one.rows;
        }
      }
      const medians = times.map((each) => summarise(each).median);
      const alone = medians[0] as number;
      const figures = HOSTS.flatMap((hosts, at) => {
        const ms = medians[at] as number;
        const rate = { name: `${hosts} host${hosts === 1 ? '' : 's'}`, value: '' };
        rate.value = `${readable((rows / ms) * 1000)} rows/s`;
        if (hosts === 1) return [rate];
        const sent = rows * (1 - 1 / hosts);
        const cost = ((ms - alone) * 1e6) / sent;
        return [
          rate,
          { name: `${rate.name}: a row that goes to another`, value: `${readable(cost)} ns` },
        ];
      });
      for (const { name, value } of figures) log(`scaling       thalweg     ${name}: ${value}`);
      const rates = (times[0] as number[]).map((ms) => (rows / ms) * 1000);
      return {
        rows,
        results: [result('scaling', rates, peakRssBytes(workerd.pid), answered)],
        figures,
      };
    }),
};

export const OWN_JOBS: readonly OwnJob[] = [state, scaling];
