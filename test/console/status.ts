/** Statuses for tests of the console: a running pipeline with what a test says. */
import type {
  PipelineStatus,
  StatusCheckpoint,
  StatusOperator,
} from '../../src/api/observe/status-shapes.ts';

type Said = {
  generation?: number;
  epoch?: number;
  running?: Partial<StatusCheckpoint> | null;
  last?: Partial<StatusCheckpoint> | null;
  recent?: Partial<StatusCheckpoint>[];
  operators?: Partial<StatusOperator>[];
  /** Rows read since the pipeline began. */
  read?: number;
  backlog?: number | null;
  at?: number;
};

export const checkpoint = (said: Partial<StatusCheckpoint> = {}): StatusCheckpoint => ({
  epoch: 1,
  kind: 'scheduled',
  attempt: 1,
  started_at: 0,
  aligned_at: null,
  published_at: null,
  committed_at: null,
  bytes: 0,
  rows: 0,
  items: 0,
  hosts: [],
  ...said,
});

const operator = (said: Partial<StatusOperator>): StatusOperator => ({
  operator_id: 'project-1',
  node_id: 1,
  kind: 'project',
  description: '',
  parallelism: 1,
  rows_in: 0,
  rows_out: 0,
  bytes_in: 0,
  bytes_out: 0,
  rows_in_per_second: 0,
  rows_out_per_second: 0,
  errors: 0,
  late: 0,
  filtered: 0,
  backpressure: 0,
  state_bytes: 0,
  state_rows: 0,
  watermark: null,
  lag_micros: null,
  open_windows: null,
  uncommitted_rows: null,
  subtasks: [],
  ...said,
});

export function statusOf(said: Said): PipelineStatus {
  const { generation = 1, epoch = 1, running = null, last = null, backlog = null } = said;
  return {
    pipeline_id: 'pl',
    job_id: 'job',
    name: 'orders',
    state: 'Running',
    action: 'checkpoint',
    action_text: 'Stop',
    action_in_progress: false,
    generation,
    reason: 'created',
    epoch,
    committed_epoch: epoch,
    restarts: 0,
    started_at: 0,
    running_since: 0,
    at: said.at ?? 0,
    leader: 'answers',
    code_version: '',
    rates: { rows_in: 0, rows_out: 0, bytes_in: 0 },
    totals: { rows_in: said.read ?? 0, rows_out: 0, errors: 0, late: 0, filtered: 0 },
    lag_micros: null,
    hosts: [],
    checkpoint: {
      interval_micros: 10_000_000,
      next_at: null,
      running: running === null ? null : checkpoint(running),
      last: last === null ? null : checkpoint(last),
      recent: (said.recent ?? []).map(checkpoint),
    },
    operators: (said.operators ?? []).map(operator),
    sources: [
      {
        operator_id: 'source-1',
        table: 't',
        connector: 'http',
        partitions: [
          {
            partition: 0,
            subtask: 0,
            rows: 0,
            last_row_at: null,
            last_event_time: null,
            watermark: null,
            idle: false,
            ended: false,
            backlog_rows: backlog,
          },
        ],
      },
    ],
    failure: null,
  };
}
