/**
 * Thalweg in workerd: the job's SQL is planned here, as the API does it, and run there. What is timed is one request: hosts
 * are built, the files are read, decoded, computed and given to the sink until everything is drained.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LIMITS } from '../../src/base/limits.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { DEFAULT_SETTINGS } from '../../src/controller/generation-spec.ts';
import { planSql, type SqlPlan } from '../../src/graph/plan-sql.ts';
import type { GenerationSpec, OperatorMetrics } from '../../src/protocol/messages.ts';
import type { Job } from '../job.ts';
import { thalwegTables } from '../tables.ts';
import type { RunAnswer, RunRequest } from '../thalweg/worker.ts';
import type { BenchWorkerd } from '../thalweg/workerd.ts';

/** Whole data sets become state here: more than a Durable Object may hold. */
const STATE_BYTES_MAX = 4 * 2 ** 30;

/** Why a job is not measured: the planner's own words. */
export class NotSupported extends Error {}

function planned(text: string): SqlPlan {
  const plan = planSql(text, DECLARATIONS, { defaultSink: 'preview' });
  const error = plan.errors[0];
  if (error !== undefined) throw new NotSupported(`${error.code}: ${error.message}`);
  return plan;
}

/** Views stand before the query. */
function program(job: Job, sink: string): string {
  const statements = job.thalweg.split(/;\s*\n/);
  const query = statements.pop() ?? '';
  const views = statements.map((view) => `${view};\n`).join('');
  return `${thalwegTables(job.inputs)}${views}CREATE TABLE result WITH (${sink}, type = 'sink');\nINSERT INTO result ${query};`;
}

const fileSink = (format: string): string =>
  `connector = 'single_file', path = 'result', format = '${format}'`;

/** @param kept its rows are to be seen: as lines, changes included */
export function specOf(job: Job, kept: boolean, parallelism = 1): GenerationSpec {
  let plan = planned(program(job, "connector = 'blackhole'"));
  const updating = plan.sinks.some(({ spec }) => spec.updating);
  if (kept) plan = planned(program(job, fileSink(updating ? 'debezium_json' : 'json')));
  else if (job.sink === 'ndjson') plan = planned(program(job, fileSink('json')));
  else if (job.sink === 'parquet')
    plan = planned(program(job, "connector = 'r2', path = 'result', format = 'parquet'"));
  return {
    protocol: 1,
    pipelineId: 'bench',
    jobId: 'bench',
    name: job.name,
    generation: 1,
    graph: plan.graph as NonNullable<SqlPlan['graph']>,
    parallelism,
    checkpointIntervalMs: LIMITS.checkpointIntervalDefaultMs,
    settings: { ...DEFAULT_SETTINGS, stateBytesMax: STATE_BYTES_MAX },
    pipelineCreatedMs: 0,
    reason: 'created',
    reset: false,
    codeVersion: 'bench',
  };
}

export type RunResult = { rows: number; ms: number; metrics: OperatorMetrics[] };

/** One run; throws when rows were refused or late: every row of the data is good and in order. */
export async function runOnce(
  workerd: BenchWorkerd,
  spec: GenerationSpec,
  options: { twins: boolean; keep: boolean; inMemory: boolean; checkpointAt?: number },
): Promise<RunResult> {
  const sinks = spec.graph.operators.filter((operator) => operator.spec.tag === 'sink');
  const stages = sinks.some(
    ({ spec: what }) => what.tag === 'sink' && what.connector.connector !== 'blackhole',
  );
  const request: RunRequest = {
    spec,
    finalCheckpoint: stages,
    checkpointAt: null,
    ...options,
  };
  const began = performance.now();
  const answer = await workerd.ask<RunAnswer>('/run', request);
  const ms = performance.now() - began;
  const refused = answer.metrics.reduce((sum, { errors, late }) => sum + errors + late, 0);
  if (refused > 0) throw new Error(`${refused} rows were refused: ${answer.problem}`);
  const rows = answer.metrics
    .filter(({ operator }) => sinks.some(({ id }) => id === operator))
    .reduce((sum, { rowsIn }) => sum + rowsIn, 0);
  return { rows, ms, metrics: answer.metrics };
}

/** The files that a kept run left in `directory`; those of an earlier one are removed before it. */
export function clearKept(directory: string): void {
  for (const name of readdirSync(directory)) rmSync(join(directory, name));
}

export const keptFiles = (directory: string): string[] =>
  readdirSync(directory).map((name) => join(directory, name));
