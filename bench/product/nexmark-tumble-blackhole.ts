/** Rows a second through one host without outside input or output: nexmark bids → tumble by auction → blackhole. */
import { Instance } from './instance.ts';
import type { Bench, BenchOptions, Measurement } from './measurement.ts';

const query = (events: number): string => `
CREATE TABLE nexmark WITH (connector = 'nexmark', table = 'bid', events = ${events}, seed = 1, type = 'source');
CREATE TABLE nothing WITH (connector = 'blackhole', type = 'sink');
INSERT INTO nothing SELECT auction, window.start, bids, top FROM (
  SELECT auction, tumble(interval '10 seconds') AS window, count(*) AS bids, max(price) AS top FROM nexmark GROUP BY auction, window);
`;

const ROWS = 10_000_000;
/** 46 of every 50 Nexmark events are bids. */
const BID_SHARE = 46 / 50;

async function once(instance: Instance, events: number): Promise<number> {
  const pipeline = await instance.create(query(events), 10_000);
  await instance.untilJob(
    pipeline.id,
    (job) => job.state !== 'Created' && job.state !== 'Scheduling',
    30_000,
  );
  const began = performance.now();
  await instance.untilJob(pipeline.id, (job) => job.state === 'Finished', 300_000);
  const seconds = (performance.now() - began) / 1000;
  await (await instance.fetch(`/api/v1/pipelines/${pipeline.id}`, { method: 'DELETE' })).text();
  return events / seconds;
}

async function run({ rows: given, runs, log }: BenchOptions): Promise<Measurement[]> {
  const rows = given ?? ROWS;
  const values: number[] = [];
  const instance = await Instance.start();
  try {
    for (let index = 0; index < runs; index++) {
      values.push(await once(instance, rows));
      log(`run ${index + 1}: ${Math.round(values.at(-1) ?? 0)} events/s`);
    }
  } finally {
    await instance.close();
  }
  const bids = Math.round(rows * BID_SHARE).toLocaleString('en-US');
  const note = `${rows.toLocaleString('en-US')} events generated in the host, of which ${bids} are bids and pass on; from running to finished, last checkpoint included`;
  return [{ name: 'nexmark → tumble → blackhole, one host', unit: 'rows/s', values, note }];
}

export const nexmarkTumbleBlackhole: Bench = {
  summary: 'rows/s through one host: nexmark → tumble → blackhole',
  run,
};
