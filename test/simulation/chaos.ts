/** One run of the simulated cluster in which everything is drawn from the seed: pipeline, faults, and what befalls it. */
import { LIMITS } from '../../src/base/limits.ts';
import { Prng } from '../../src/base/prng.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import type { Outcome, RuntimeSettings } from '../../src/protocol/messages.ts';
import { SimulatedCluster } from '../harness/cluster.ts';
import { drawFaults, type Faults } from '../harness/cluster/faults.ts';
import { checkRun } from './checks.ts';
import { drawPipeline, type Pipeline } from './pipelines.ts';

export type ChaosOptions = {
  /** Instead of those drawn. */
  faults?: Faults;
  events?: number;
};

const EVENTS = [
  'crash host',
  'crash host',
  'crash host',
  'crash leader',
  'crash leader',
  'split brain',
  'rescale',
  'restart',
  'reset',
  'stop',
  'run',
  'run',
  'cut leader',
  'cut leader from host',
  'cut hosts',
  'deploy',
  'clock',
  'flush',
  'wait',
] as const;

/** Once nothing new goes wrong, a job is at rest by then: even the longest pauses of recoveries are over. */
const PROGRESS_MS = 1_800_000;
const AWAITED_MS = 20_000;
/** How often a job that spent its restarts is started again by hand. */
const REVIVALS_MAX = 3;

type Run = { cluster: SimulatedCluster; pipeline: Pipeline; prng: Prng; reset: boolean };

/** @throws an error that names the seed and tells what happened */
export function runChaos(seed: string, options: ChaosOptions = {}): SimulatedCluster {
  const prng = new Prng(`chaos/${seed}`);
  const pipeline = drawPipeline(prng, seed);
  const planned = planSql(pipeline.sql, DECLARATIONS, { defaultSink: 'preview' });
  if (planned.graph === null) throw new Error(JSON.stringify(planned.errors));
  const limits = LIMITS as { channelBytesMax: number };
  const before = limits.channelBytesMax;
  limits.channelBytesMax = prng.pick([1, 2_000, before]);
  const delayMaxMs = prng.pick([5, 20, 150]);
  const drawn = drawFaults(prng);
  const cluster = new SimulatedCluster({
    seed,
    graph: planned.graph,
    parallelism: 1 + prng.below(4),
    files: pipeline.files,
    ...(pipeline.logs === undefined ? {} : { logs: pipeline.logs }),
    checkpointIntervalMs: prng.pick([50, 150, 1_000]),
    readBytesMax: prng.pick([200, 500, 500, 3_000, 100_000]),
    settings: settingsOf(prng, limits.channelBytesMax < before || delayMaxMs > 20),
    faults: options.faults ?? drawn,
    delayMaxMs,
    pollMs: prng.pick([2_000, 10_000, 60_000]),
  });
  try {
    const run = { cluster, pipeline, prng, reset: false };
    go(run, options.events ?? prng.below(14));
    checkRun(cluster, pipeline, run.reset);
    return cluster;
  } catch (thrown) {
    const { message, stack } = thrown as Error;
    const tail = cluster.trace.slice(-60).join('\n');
    throw new Error(`seed ${seed}, ${pipeline.name}: ${message}\n${stack ?? ''}\n${tail}`, {
      cause: thrown,
    });
  } finally {
    limits.channelBytesMax = before;
  }
}

/** Short timeouts, so that attempts are given up and retried; not where rows are `slow` to get through anyway. */
function settingsOf(prng: Prng, slow: boolean): Partial<RuntimeSettings> {
  return {
    batchRows: prng.pick([1, 7, 64]),
    checkpointsKept: prng.below(4),
    checkpointTimeoutMs: slow ? 10_000 : prng.pick([500, 2_000, 10_000]),
    commitTimeoutMs: prng.pick([1_000, 20_000]),
    heartbeatTimeoutMs: prng.pick([3_500, 10_000]),
  };
}

function go(run: Run, events: number): void {
  const { cluster, pipeline, prng } = run;
  cluster.startGeneration('created');
  feedLogs(cluster, pipeline, new Prng(`${cluster.generation}/${pipeline.name}`));
  const patient = prng.chance(0.6);
  for (let event = 0; event < events; event++) {
    if (patient) awaitRunning(cluster);
    cluster.runFor(prng.below(prng.pick([50, 400, 3_000])));
    befall(run, prng.pick(EVENTS));
  }
  cluster.runFor(prng.below(5_000));
  // What is still under way may strike; from here on nothing new does.
  cluster.heal();
  if (cluster.catalog.pipeline.desiredState === 'stopped') cluster.want({ tag: 'run' });
  if (pipeline.rowsCommitted !== undefined) stopAfterRows(cluster, pipeline.rowsCommitted);
  const outcome = rest(cluster);
  const wanted = pipeline.rowsCommitted === undefined ? 'finished' : 'stopped';
  if (outcome.tag !== wanted) throw new Error(`ended as ${JSON.stringify(outcome)}`);
  // Late calls land after the end as well, and change nothing.
  cluster.runFor(60_000);
  if (cluster.outcome?.tag !== wanted) throw new Error(`went on as ${cluster.catalog.job.state}`);
}

/** What befalls a pipeline that runs tells more than what befalls one that is starting. */
function awaitRunning(cluster: SimulatedCluster): void {
  const untilMs = cluster.nowMs + AWAITED_MS;
  while (
    cluster.nowMs < untilMs &&
    cluster.outcome === null &&
    cluster.status().phase !== 'running'
  )
    cluster.runFor(20);
}

/** The end of the job; what spent its restarts is started again, as a user would. */
function rest(cluster: SimulatedCluster): Outcome {
  for (let revivals = 0; ; revivals++) {
    const outcome = cluster.runToOutcome(5_000_000, PROGRESS_MS);
    if (!spent(outcome) || revivals === REVIVALS_MAX) return outcome;
    cluster.want({ tag: 'run' });
  }
}

const spent = (outcome: Outcome | null): boolean =>
  outcome?.tag === 'failed' && outcome.report.code === 'RESTARTS_EXHAUSTED';

function befall(run: Run, event: (typeof EVENTS)[number]): void {
  const { cluster, pipeline, prng } = run;
  switch (event) {
    case 'crash host':
      return cluster.crashHost(prng.below(cluster.parallelism));
    case 'crash leader':
      return cluster.crashLeader();
    case 'split brain':
      return cluster.splitBrain();
    case 'rescale':
      return cluster.want({ tag: 'configure', parallelism: 1 + prng.below(4) });
    case 'deploy':
      cluster.deploy(prng.chance(0.5));
      // Seen by the minute's round only, unless something makes a controller look.
      if (prng.chance(0.7)) cluster.want({ tag: 'describe', name: 'renamed' });
      return;
    case 'cut leader':
      return cluster.cutLeader(null, prng.pick([1_000, 10_000, 60_000]));
    case 'cut leader from host':
      return cluster.cutLeader(prng.below(cluster.parallelism), prng.pick([500, 2_000, 20_000]));
    case 'cut hosts':
      return cluster.cutHosts(
        prng.below(cluster.parallelism),
        prng.below(cluster.parallelism),
        prng.pick([500, 2_000, 20_000]),
      );
    case 'clock':
      return cluster.jumpClock(
        prng.chance(0.5) ? null : prng.below(cluster.parallelism),
        prng.pick([-8_000, -500, 500, 8_000]),
      );
    case 'flush':
      return cluster.flush();
    case 'run':
      return cluster.want({ tag: 'run' });
    case 'stop':
      return cluster.stop(prng.pick(['checkpoint', 'graceful', 'immediate'] as const));
    case 'restart':
    case 'reset': {
      const mode = prng.pick(['checkpoint', 'graceful', 'immediate'] as const);
      const reset = event === 'reset' && pipeline.stateless;
      run.reset ||= reset;
      return cluster.stop(mode, { parallelism: 1 + prng.below(4), reset });
    }
    case 'wait':
      return;
  }
}

/** Appends the rows of `http` tables one piece after the other, now and then twice under one key. */
function feedLogs(cluster: SimulatedCluster, { logs, appends }: Pipeline, prng: Prng): void {
  if (logs === undefined || appends === undefined) return;
  const { clock } = cluster.world;
  const next = (at: number): void => {
    const append = appends[at];
    if (append === undefined) return;
    clock.at(clock.nowMs + prng.below(60), () => {
      for (let times = prng.chance(0.2) ? 2 : 1; times > 0; times--)
        logs.append('t', append.partition, append.rows, `append-${at}`, clock.nowMs);
      next(at + 1);
    });
  };
  next(0);
}

/** Waits until as many rows are committed, then stops with a checkpoint. */
function stopAfterRows(cluster: SimulatedCluster, rows: number): void {
  const untilMs = cluster.nowMs + PROGRESS_MS;
  while (cluster.rows().length < rows) {
    if (cluster.nowMs > untilMs)
      throw new Error(`${cluster.rows().length} of ${rows} rows after a long time`);
    if (spent(cluster.outcome)) cluster.want({ tag: 'run' });
    else if (cluster.outcome !== null)
      throw new Error(`ended as ${JSON.stringify(cluster.outcome)}`);
    cluster.runFor(200);
  }
  cluster.runFor(2_000);
  cluster.stop('checkpoint');
}
