/**
 * From a posted row to the row that comes out: http → filter → preview, followed live over HTTP as a page does it.
 *
 * First single rows into an idle pipeline, then rows among a load of about half of what the pipeline takes: that is what it
 * drained of a burst, measured right before. Times include the HTTP request, its durable storage and the live stream.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { followOutput } from '../../examples/output-stream.ts';
import { Instance } from './instance.ts';
import type { Bench, BenchOptions, Measurement } from './measurement.ts';

const QUERY = `
CREATE TABLE readings (id BIGINT NOT NULL, probe BOOLEAN NOT NULL, note TEXT)
  WITH (connector = 'http', format = 'json', type = 'source');
SELECT id FROM readings WHERE probe;
`;
const IDLE_ROWS = 60;
const IDLE_GAP_MS = 40;
const BURST_ROWS = 400_000;
const LOAD_SECONDS = 6;
const BLOCK_MS = 20;
const WAIT_MS = 60_000;

/** Follows the output and knows when each probe came out. */
class Probes {
  readonly #seen = new Map<number, number>();
  readonly #stop = new AbortController();
  readonly #done: Promise<unknown>;

  constructor(instance: Instance, pipelineId: string, jobId: string) {
    this.#done = followOutput(instance.fetch, pipelineId, jobId, this.#stop.signal, ({ rows }) => {
      for (const row of rows)
        this.#seen.set(Number((row as { id: number | string }).id), performance.now());
    });
  }

  async seenAt(id: number): Promise<number> {
    const deadline = performance.now() + WAIT_MS;
    for (;;) {
      const at = this.#seen.get(id);
      if (at !== undefined) return at;
      if (performance.now() > deadline) throw new Error(`probe ${id} never came out`);
      await pause(1);
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }
}

const line = (id: number, probe: boolean): string =>
  `{"id":${id},"probe":${probe},"note":"something that is read and not asked for ${id % 1000}"}`;

async function run({ runs, log }: BenchOptions): Promise<Measurement[]> {
  const instance = await Instance.start();
  try {
    const { id } = await instance.create(QUERY, 10_000);
    const job = await instance.untilJob(id, ({ state }) => state === 'Running', WAIT_MS);
    const probes = new Probes(instance, id, job.id);
    let next = 1;
    let request = 0;
    const send = (rows: string[]): Promise<void> =>
      instance.send(id, 'readings', rows.join('\n'), rows.length, `r${request++}`);
    const probe = async (around: number): Promise<number> => {
      const number = next++;
      const rows = Array.from({ length: around }, (_, at) => line(at, false));
      const began = performance.now();
      await send([...rows, line(number, true)]);
      return (await probes.seenAt(number)) - began;
    };
    for (let warm = 0; warm < 20; warm++) await probe(0);
    const idle: number[] = [];
    const loaded: number[] = [];
    for (let index = 0; index < runs; index++) {
      for (let row = 0; row < IDLE_ROWS; row++) {
        idle.push(await probe(0));
        await pause(IDLE_GAP_MS);
      }
      const began = performance.now();
      for (let sent = 0; sent < BURST_ROWS; sent += 20_000) await probeBlock(send, 20_000);
      await probe(0);
      const rowsPerMs = BURST_ROWS / (performance.now() - began);
      const block = Math.round((rowsPerMs / 2) * BLOCK_MS);
      const pending: Promise<number>[] = [];
      const start = performance.now();
      for (let at = start; at < start + LOAD_SECONDS * 1000; at += BLOCK_MS) {
        await pause(Math.max(0, at - performance.now()));
        pending.push(probe(block));
      }
      loaded.push(...(await Promise.all(pending)));
      log(
        `run ${index + 1}: idle ${median(idle).toFixed(1)} ms, at ${Math.round(rowsPerMs * 500)} rows/s p99 ${quantile(loaded, 0.99).toFixed(1)} ms`,
      );
    }
    await probes.close();
    return [
      {
        name: 'row in → row out, idle pipeline',
        unit: 'ms',
        values: idle,
        note: `POST of one row to http → filter → preview, until the live stream gives it; one every ${IDLE_GAP_MS} ms`,
      },
      {
        name: 'row in → row out at half of the maximum rate, p99',
        unit: 'ms',
        values: [quantile(loaded, 0.99)],
        note: `of ${loaded.length} rows, each at the end of a request among the load; median ${median(loaded).toFixed(1)} ms`,
      },
    ];
  } finally {
    await instance.close();
  }
}

const probeBlock = (send: (rows: string[]) => Promise<void>, rows: number): Promise<void> =>
  send(Array.from({ length: rows }, (_, at) => line(at, false)));

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

const median = (values: readonly number[]): number => quantile(values, 0.5);

export const latency: Bench = {
  summary: 'a row from POST to the live output, idle and loaded',
  run,
};
