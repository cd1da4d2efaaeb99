/**
 * Functions of the user's own in the simulated cluster: their answers come late and out of order, sandboxes are lost, hosts and
 * leaders are reset, the parallelism changes. The committed rows are those of a reader that calls them row after row.
 */
import { describe, expect, test } from 'vitest';
import { Prng } from '../../src/base/prng.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { SimulatedCluster } from '../harness/cluster.ts';
import { checkRun } from './checks.ts';
import { calledAhead, calledBehind, calledForRows } from './function-pipelines.ts';

const MAKERS = { calledAhead, calledBehind, calledForRows };

describe.each(Object.entries(MAKERS))('%s', (_name, make) => {
  const seeds = Array.from({ length: 8 }, (_, index) => `functions-${index}`);
  test.each(seeds)('commits what was computed once, seed %s', (seed) => {
    const prng = new Prng(seed);
    const pipeline = make(seed, 600);
    const planned = planSql(pipeline.sql, DECLARATIONS, { defaultSink: 'preview' });
    if (planned.graph === null) throw new Error(JSON.stringify(planned.errors));
    const cluster = new SimulatedCluster({
      seed,
      graph: planned.graph,
      parallelism: 1 + prng.below(3),
      files: pipeline.files,
      checkpointIntervalMs: 150,
      readBytesMax: 1_000,
      faults: { callSlow: 0.3, callLost: 0.002 },
      settings: { batchRows: prng.pick([1, 16, 256]) },
    });
    cluster.startGeneration('created');
    for (let fault = 0; fault < 4; fault++) {
      cluster.runFor(prng.below(3_000));
      const kind = prng.below(5);
      if (kind === 0) cluster.crashLeader();
      else if (kind === 1) cluster.splitBrain();
      else if (kind === 2) cluster.parallelism = 1 + prng.below(3);
      else cluster.crashHost(prng.below(cluster.parallelism));
    }
    cluster.heal();
    expect(cluster.runToOutcome().tag, cluster.trace.join('\n')).toBe('finished');
    checkRun(cluster, pipeline, false);
  });
});
