/**
 * The tables of `migrations/`, as kysely sees them, and the records made of their rows.
 *
 * Invariants: `pipelines` says what is wanted and is written by the API, `jobs` says what was observed and is written by
 * controllers; only `next_poll_ms` is written by both. Each row carries a version that every write increments.
 */
import type { Generated, Selectable } from 'kysely';
import type { ErrorReport } from '../base/errors.ts';

export type DesiredState = 'running' | 'stopped';
export type StopMode = 'checkpoint' | 'graceful' | 'immediate';

export type JobState =
  | 'Created'
  | 'Scheduling'
  | 'Running'
  | 'CheckpointStopping'
  | 'Stopping'
  | 'Stopped'
  | 'Recovering'
  | 'Restarting'
  | 'Finishing'
  | 'Finished'
  | 'Failed';

/** Nothing runs and nothing will, until somebody asks. */
export const TERMINAL_STATES: readonly JobState[] = ['Stopped', 'Finished', 'Failed'];

export type PipelineTable = {
  id: string;
  name: string;
  query: string;
  parallelism: number;
  checkpoint_interval_ms: number;
  graph: string;
  plan_hash: string;
  settings: string;
  tags: string;
  udfs: Generated<string>;
  connectors: Generated<string>;
  watched_ms: Generated<number | null>;
  desired_state: DesiredState;
  stop_mode: StopMode | null;
  stop_nonce: string | null;
  restart_nonce: string | null;
  restart_mode: StopMode | null;
  restart_reset: number;
  next_poll_ms: number | null;
  created_ms: number;
  updated_ms: number;
  version: number;
};

export type JobTable = {
  id: string;
  pipeline_id: string;
  state: JobState;
  generation: number;
  reason: string;
  epoch: number;
  committed_epoch: number;
  restarts: number;
  failure: string | null;
  start_ms: number | null;
  finish_ms: number | null;
  healthy_since_ms: number | null;
  unreachable_since_ms: number | null;
  retry_at_ms: number | null;
  restart_done: string | null;
  reset_from: number | null;
  updated_ms: number;
  version: number;
};

export type JobErrorTable = {
  id: Generated<number>;
  job_id: string;
  generation: number;
  at_ms: number;
  report: string;
};

export type FunctionTable = {
  id: string;
  prefix: string;
  name: string;
  language: string;
  definition: string;
  description: string | null;
  created_ms: number;
  updated_ms: number;
};

/** The newest change of each pipeline, written by triggers. */
export type ChangeTable = { sequence: Generated<number>; pipeline_id: string };

export type ConnectionProfileTable = {
  id: string;
  name: string;
  connector: string;
  config: string;
  created_ms: number;
};

export type ConnectionTableTable = {
  id: string;
  name: string;
  connector: string;
  profile_id: string | null;
  table_type: 'source' | 'sink' | 'lookup';
  config: string;
  schema: string;
  created_ms: number;
};

export type ConnectionConsumerTable = { table_id: string; pipeline_id: string };

export type Database = {
  changes: ChangeTable;
  pipelines: PipelineTable;
  jobs: JobTable;
  job_errors: JobErrorTable;
  udfs: FunctionTable;
  connection_profiles: ConnectionProfileTable;
  connection_tables: ConnectionTableTable;
  connection_table_pipelines: ConnectionConsumerTable;
};

/** What is wanted. `graph` is the JSON text that was stored; `settings` and `tags` are decoded. */
export type Pipeline = {
  id: string;
  name: string;
  query: string;
  parallelism: number;
  checkpointIntervalMs: number;
  graph: string;
  planHash: string;
  settings: Record<string, number>;
  tags: Record<string, string>;
  /** Functions that were sent with it. */
  udfs: { definition: string }[];
  /** Of a preview: when somebody last looked; null: no preview. */
  watchedMs: number | null;
  desiredState: DesiredState;
  stopMode: StopMode | null;
  stopNonce: string | null;
  restartNonce: string | null;
  restartMode: StopMode | null;
  restartReset: boolean;
  nextPollMs: number | null;
  createdMs: number;
  updatedMs: number;
  version: number;
};

/** What was observed. Times are epoch milliseconds. */
export type Job = {
  id: string;
  pipelineId: string;
  state: JobState;
  generation: number;
  reason: string;
  epoch: number;
  committedEpoch: number;
  restarts: number;
  failure: ErrorReport | null;
  startMs: number | null;
  finishMs: number | null;
  healthySinceMs: number | null;
  unreachableSinceMs: number | null;
  retryAtMs: number | null;
  restartDone: string | null;
  resetFrom: number | null;
  updatedMs: number;
  version: number;
};

export type PipelineAndJob = { pipeline: Pipeline; job: Job };

export function pipelineOf(row: Selectable<PipelineTable>): Pipeline {
  return {
    id: row.id,
    name: row.name,
    query: row.query,
    parallelism: row.parallelism,
    checkpointIntervalMs: row.checkpoint_interval_ms,
    graph: row.graph,
    planHash: row.plan_hash,
    settings: JSON.parse(row.settings) as Record<string, number>,
    tags: JSON.parse(row.tags) as Record<string, string>,
    udfs: JSON.parse(row.udfs) as { definition: string }[],
    watchedMs: row.watched_ms,
    desiredState: row.desired_state,
    stopMode: row.stop_mode,
    stopNonce: row.stop_nonce,
    restartNonce: row.restart_nonce,
    restartMode: row.restart_mode,
    restartReset: row.restart_reset !== 0,
    nextPollMs: row.next_poll_ms,
    createdMs: row.created_ms,
    updatedMs: row.updated_ms,
    version: row.version,
  };
}

export function jobOf(row: Selectable<JobTable>): Job {
  return {
    id: row.id,
    pipelineId: row.pipeline_id,
    state: row.state,
    generation: row.generation,
    reason: row.reason,
    epoch: row.epoch,
    committedEpoch: row.committed_epoch,
    restarts: row.restarts,
    failure: row.failure === null ? null : (JSON.parse(row.failure) as ErrorReport),
    startMs: row.start_ms,
    finishMs: row.finish_ms,
    healthySinceMs: row.healthy_since_ms,
    unreachableSinceMs: row.unreachable_since_ms,
    retryAtMs: row.retry_at_ms,
    restartDone: row.restart_done,
    resetFrom: row.reset_from,
    updatedMs: row.updated_ms,
    version: row.version,
  };
}
