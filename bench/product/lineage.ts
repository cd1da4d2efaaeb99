/**
 * What the lineage costs: R2 operations per epoch by class, and the time from claim to marker.
 *
 * Operations are counted on the production generators and machines, run by the simulated cluster over a bucket in
 * memory (a count does not depend on the machine); times are those of workerd, from the checkpoints the API reports.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import type { StoreOp } from '../../src/lineage/store.ts';
import { SimulatedCluster } from '../../test/harness/cluster.ts';
import { Instance } from './instance.ts';
import type { Bench, BenchOptions, Measurement } from './measurement.ts';

const INTERVAL_MS = 10_000;
const EPOCHS = 100;
/** Calls of a two-phase sink for one file: create, part, probe of pre-commit, complete. */
const SINK_CALLS_PER_FILE = 4;

const sqlOf = (rate: number): string => `
CREATE TABLE n WITH (connector = 'impulse', event_rate = ${rate});
CREATE TABLE out WITH (connector = 'r2', path = 'lineage', format = 'json', type = 'sink');
INSERT INTO out SELECT counter FROM n;`;

type Counts = { classA: number; classB: number; deletes: number; epochs: number };

const classOf = ({ op }: StoreOp): 'classA' | 'classB' | 'deletes' | null => {
  if (op === 'put' || op === 'list') return 'classA';
  if (op === 'get') return 'classB';
  return op === 'delete' ? 'deletes' : null;
};

/** Counts while `EPOCHS` checkpoints go by. `rate`: rows a second. */
function countOperations(rate: number): Counts {
  const { graph, errors } = planSql(sqlOf(rate), DECLARATIONS, { defaultSink: 'preview' });
  if (graph === null) throw new Error(JSON.stringify(errors));
  const cluster = new SimulatedCluster({
    seed: 'lineage',
    graph,
    parallelism: 1,
    files: {},
    checkpointIntervalMs: INTERVAL_MS,
    settings: { batchRows: 2048, checkpointsKept: 4 },
  });
  const counts: Counts = { classA: 0, classB: 0, deletes: 0, epochs: 0 };
  let counting = false;
  const answer = cluster.store.answer.bind(cluster.store);
  cluster.store.answer = (op, fate) => {
    const found = classOf(op);
    if (counting && found !== null) counts[found]++;
    return answer(op, fate);
  };
  cluster.startGeneration('created');
  cluster.runFor(20 * INTERVAL_MS);
  const firstEpoch = cluster.status().epoch;
  const firstFile = cluster.committed.length;
  counting = true;
  while (cluster.status().epoch < firstEpoch + EPOCHS) cluster.runFor(INTERVAL_MS);
  counts.epochs = cluster.status().epoch - firstEpoch;
  counts.classA += SINK_CALLS_PER_FILE * (cluster.committed.length - firstFile);
  return counts;
}

type Checkpoint = {
  epoch: number;
  events: { event: string; start_time: number; finish_time: number | null }[];
};

/** Milliseconds from the claim to the marker of one epoch after the other. */
async function claimToMarker(runs: number, log: (line: string) => void): Promise<number[]> {
  const instance = await Instance.start();
  try {
    const pipeline = await instance.create(sqlOf(100), 1_000);
    const job = await instance.untilJob(pipeline.id, ({ state }) => state === 'Running', 30_000);
    const byEpoch = new Map<number, number>();
    while (byEpoch.size < runs) {
      await pause(500);
      const { data } = await instance.getJson<{ data: Checkpoint[] }>(
        `/api/v1/pipelines/${pipeline.id}/jobs/${job.id}/checkpoints`,
      );
      for (const { epoch, events } of data) {
        const committing = events.find(({ event }) => event === 'Committing');
        if (committing === undefined || committing.finish_time === null) continue;
        byEpoch.set(epoch, (committing.finish_time - committing.start_time) / 1000);
      }
    }
    const values = [...byEpoch.values()].slice(0, runs);
    log(`claim to marker: ${values.map(Math.round).join(', ')} ms`);
    return values;
  } finally {
    await instance.close();
  }
}

async function run({ runs, log }: BenchOptions): Promise<Measurement[]> {
  const busy = countOperations(100);
  const idle = countOperations(1e-6);
  const perEpoch = (counts: Counts, kind: 'classA' | 'classB'): number =>
    counts[kind] / counts.epochs;
  const note = (what: string): string =>
    `${what}; parallelism 1, no keyed state, collection included, ${EPOCHS} epochs counted on the simulated cluster`;
  const perMinute = 60_000 / INTERVAL_MS;
  return [
    {
      name: 'R2 class A per epoch',
      unit: 'operations',
      values: [perEpoch(busy, 'classA')],
      note: note(`one output file an epoch: ${SINK_CALLS_PER_FILE} of them are the sink's`),
    },
    {
      name: 'R2 class B per epoch',
      unit: 'operations',
      values: [perEpoch(busy, 'classB')],
      note: note('one output file an epoch'),
    },
    {
      name: 'R2 class A per idle minute',
      unit: 'operations',
      values: [perEpoch(idle, 'classA') * perMinute],
      note: note('no rows, a checkpoint every 10 s'),
    },
    {
      name: 'R2 class B per idle minute',
      unit: 'operations',
      values: [perEpoch(idle, 'classB') * perMinute],
      note: note('no rows, a checkpoint every 10 s'),
    },
    {
      name: 'claim → marker',
      unit: 'ms',
      values: await claimToMarker(runs, log),
      note: 'one host, one output file an epoch, checkpoint every second; as the API reports it',
    },
  ];
}

export const lineage: Bench = {
  summary: 'R2 operations per epoch and per idle minute, time from claim to marker',
  run,
};
