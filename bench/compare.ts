/** One job on several engines: equal answers first, then runs in turns. */
import { peakRssBytes, processorNanos } from './child.ts';
import type { DataSet } from './data.ts';
import type { Digest } from './digest.ts';
import { rowsRead } from './engines/engine.ts';
import type { Engine, Places, RunningEngine } from './engines/engines.ts';
import { NotSupported } from './engines/thalweg.ts';
import type { Job } from './job.ts';
import { readable, summarise } from './product/statistics.ts';

export type Compared = {
  job: string;
  engine: string;
  /** The median; null: see `failure`. */
  rowsPerSecond: number | null;
  peakRssBytes: number | null;
  runs: number;
  /** Of each run, rows a second. */
  samples: number[];
  /** The median over the processor's time instead of the clock's: nearer the truth where other work runs. */
  rowsPerProcessorSecond: number | null;
  /** Rows of the answer. */
  answerRows: number | null;
  /** Why there is no figure; `not supported: …` when the engine refuses the query. */
  failure: string | null;
};

/** How the reason begins when an engine does not have what a query needs: no failure of the run. */
export const NOT_SUPPORTED = 'not supported';

type Runner = {
  engine: Engine;
  running: RunningEngine | null;
  digest: Digest | null;
  samples: number[];
  processorSamples: number[];
  peak: number | null;
  failure: string | null;
};

/** Each engine runs for so long, and at least once, before its runs count. */
const WARM_UP_MS = 1000;

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';

async function attempt(runner: Runner, what: (running: RunningEngine) => Promise<void>) {
  if (runner.running === null || runner.failure !== null) return;
  try {
    await what(runner.running);
  } catch (error) {
    runner.failure = messageOf(error);
  }
}

async function begin(engine: Engine, job: Job, places: Places): Promise<Runner> {
  const runner: Runner = {
    engine,
    running: null,
    digest: null,
    samples: [],
    processorSamples: [],
    peak: null,
    failure: null,
  };
  try {
    runner.running = await engine.start(job, places);
  } catch (error) {
    const why = messageOf(error);
    runner.failure = error instanceof NotSupported ? `${NOT_SUPPORTED}: ${why}` : why;
  }
  return runner;
}

/** What most say is right; of two that disagree, the first one that is not Thalweg. */
function judge(runners: readonly Runner[]): void {
  const told = runners.filter(({ digest }) => digest !== null);
  const votes = new Map<string, number>();
  const textOf = ({ digest }: Runner): string => `${digest?.rows} rows, hash ${digest?.hash}`;
  for (const runner of told) votes.set(textOf(runner), (votes.get(textOf(runner)) ?? 0) + 1);
  const most = Math.max(0, ...votes.values());
  const candidates = told.filter((runner) => votes.get(textOf(runner)) === most);
  const right = candidates.find(({ engine }) => engine.package !== null) ?? candidates[0];
  if (right === undefined) return;
  for (const runner of told) {
    if (textOf(runner) !== textOf(right))
      runner.failure = `wrong answer: ${textOf(runner)}, where ${right.engine.title} has ${textOf(right)}`;
  }
}

export type CompareOptions = {
  runs: number;
  log: (line: string) => void;
};

export async function compare(
  job: Job,
  engines: readonly Engine[],
  data: DataSet,
  places: Places,
  { runs, log }: CompareOptions,
): Promise<Compared[]> {
  const runners: Runner[] = [];
  const rows = rowsRead(job, data.rows);
  try {
    for (const engine of engines) {
      const runner = await begin(engine, job, places);
      runners.push(runner);
      await attempt(runner, async (running) => {
        runner.digest = await running.answer();
        // Nobody is measured cold: what is compiled while it runs has been, as it is when a pipeline runs for days.
        const began = performance.now();
        do await running.run();
        while (performance.now() - began < WARM_UP_MS);
      });
    }
    judge(runners);
    for (let run = 0; run < runs; run++) {
      // Another one begins each time: nobody always runs behind the same neighbour.
      for (let turn = 0; turn < runners.length; turn++) {
        const runner = runners[(run + turn) % runners.length] as Runner;
        await attempt(runner, async (running) => {
          const before = processorNanos(running.pid);
          const { ms } = await running.run();
          const nanos = processorNanos(running.pid) - before;
          runner.samples.push((rows / ms) * 1000);
          if (nanos > 0) runner.processorSamples.push((rows / nanos) * 1e9);
        });
      }
    }
    for (const runner of runners)
      await attempt(runner, async ({ pid }) => void (runner.peak = peakRssBytes(pid)));
  } finally {
    for (const { running } of runners) await running?.stop();
  }
  return runners.map((runner) => {
    const found = outcome(job, runner);
    const { rowsPerSecond: rate, rowsPerProcessorSecond: perProcessor } = found;
    const text =
      rate === null
        ? found.failure
        : `${readable(rate / 1e6)} M rows/s${perProcessor === null ? '' : `, ${readable(perProcessor / 1e6)} M for a second of the processor`}`;
    log(`${job.name.padEnd(14)}${runner.engine.name.padEnd(12)}${text}`);
    return found;
  });
}

function outcome(job: Job, runner: Runner): Compared {
  const { engine, digest, samples, processorSamples, peak, failure } = runner;
  const median = (of: readonly number[]): number | null =>
    failure !== null || of.length === 0 ? null : Math.round(summarise(of).median);
  return {
    job: job.name,
    engine: engine.name,
    rowsPerSecond: median(samples),
    peakRssBytes: peak,
    runs: samples.length,
    samples: samples.map(Math.round),
    rowsPerProcessorSecond: median(processorSamples),
    answerRows: digest?.rows ?? null,
    failure,
  };
}
