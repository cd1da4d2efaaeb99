/**
 * A pipeline's status: the catalogue's word on what is wanted, the leader's on what happens.
 *
 * What nobody knows is null or zero, never a guess: counters are those that the leader heard last, and rates are zero
 * until every host was heard twice.
 */
import type { PipelineAndJob } from '../../catalog/schema.ts';
import { TERMINAL_STATES } from '../../catalog/schema.ts';
import type { GraphOperator, PhysicalGraph } from '../../graph/graph.ts';
import type {
  CheckpointSummary,
  LeaderStatus,
  OperatorMetrics,
  OperatorRates,
  PartitionMetrics,
} from '../../protocol/messages.ts';
import type { ApiServices } from '../services.ts';
import { actionOf, failureView, graphOf, microsOf, microsOrNull } from '../views.ts';
import type {
  PipelineStatus,
  StatusCheckpoint,
  StatusOperator,
  StatusPartition,
  StatusSource,
  StatusSubtask,
} from './status-shapes.ts';

type Watermark = OperatorMetrics['watermark'];

/** Asks the leader; one that does not answer within its deadline is `silent`. */
export async function pipelineStatus(
  services: ApiServices,
  found: PipelineAndJob,
): Promise<PipelineStatus> {
  return statusOf(found, await leaderOf(services, found), services.nowMs());
}

/** What the leader of the job's generation says; null when there is none, or it does not answer. */
export async function leaderOf(
  services: ApiServices,
  { job }: PipelineAndJob,
): Promise<LeaderStatus | null> {
  return job.generation === 0 ? null : await services.leaderStatus(job.pipelineId, job.generation);
}

/** @param leader  null: there is none, or it did not answer */
export function statusOf(
  found: PipelineAndJob,
  leader: LeaderStatus | null,
  nowMs: number,
): PipelineStatus {
  const { pipeline, job } = found;
  const graph = graphOf(pipeline);
  const live = leader?.generation === job.generation ? leader : null;
  const operators = graph.operators.map((operator, index) =>
    operatorStatus(operator, index, pipeline.parallelism, live, nowMs),
  );
  return {
    pipeline_id: pipeline.id,
    job_id: job.id,
    name: pipeline.name,
    state: job.state,
    ...actionOf(pipeline, job.state),
    generation: job.generation,
    reason: job.reason,
    epoch: Math.max(job.epoch, live?.epoch ?? 0),
    committed_epoch: Math.max(job.committedEpoch, live?.committedEpoch ?? 0),
    restarts: job.restarts,
    started_at: microsOrNull(job.startMs),
    running_since: microsOrNull(live?.runningSinceMs ?? null),
    at: microsOf(nowMs),
    leader: live !== null ? 'answers' : leaderExpected(found) ? 'silent' : 'none',
    code_version: live?.codeVersion ?? '',
    ...sums(operators, live?.rates ?? []),
    lag_micros: lagOf(lowest(operators.map((operator) => operator.watermark)), nowMs),
    hosts: (live?.hosts ?? []).map(({ index, incarnation, lastHeardMs }) => ({
      index,
      incarnation,
      last_heard_at: microsOf(lastHeardMs),
    })),
    checkpoint: checkpointStatus(pipeline.checkpointIntervalMs, live),
    operators,
    sources: sourcesOf(graph, live),
    failure: failureView(job),
  };
}

const leaderExpected = ({ job }: PipelineAndJob): boolean =>
  job.generation > 0 && !TERMINAL_STATES.includes(job.state);

function sums(
  operators: readonly StatusOperator[],
  rates: readonly OperatorRates[],
): Pick<PipelineStatus, 'rates' | 'totals'> {
  const sources = operators.filter((operator) => operator.kind === 'source');
  const sinks = operators.filter((operator) => operator.kind === 'sink');
  const ids = new Set(sources.map((operator) => operator.operator_id));
  return {
    rates: {
      rows_in: sum(sources, (operator) => operator.rows_in_per_second),
      rows_out: sum(sinks, (operator) => operator.rows_in_per_second),
      bytes_in: sum(rates, (rate) => (ids.has(rate.operator) ? rate.bytesIn : 0)),
    },
    totals: {
      rows_in: sum(sources, (operator) => operator.rows_in),
      rows_out: sum(sinks, (operator) => operator.rows_in),
      errors: sum(operators, (operator) => operator.errors),
      late: sum(operators, (operator) => operator.late),
      filtered: sum(operators, (operator) => operator.filtered),
    },
  };
}

function operatorStatus(
  operator: GraphOperator,
  index: number,
  parallelism: number,
  live: LeaderStatus | null,
  nowMs: number,
): StatusOperator {
  const { id } = operator;
  const metrics = (live?.metrics ?? [])
    .filter((each) => each.operator === id)
    .toSorted((left, right) => left.subtask - right.subtask);
  const rates = (live?.rates ?? []).filter((each) => each.operator === id);
  const watermark = lowest(metrics.map((each) => each.watermark));
  return {
    operator_id: id,
    node_id: index + 1,
    kind: operator.spec.tag,
    description: operator.description,
    parallelism: operator.parallelism ?? parallelism,
    rows_in: sum(metrics, (each) => each.rowsIn),
    rows_out: sum(metrics, (each) => each.rowsOut),
    bytes_in: sum(metrics, (each) => each.bytesIn),
    bytes_out: sum(metrics, (each) => each.bytesOut),
    rows_in_per_second: sum(rates, (each) => each.rowsIn),
    rows_out_per_second: sum(rates, (each) => each.rowsOut),
    errors: sum(metrics, (each) => each.errors),
    late: sum(metrics, (each) => each.late),
    filtered: sum(metrics, (each) => each.filtered),
    backpressure: Math.max(0, ...metrics.map((each) => each.backpressure)),
    state_bytes: sum(metrics, (each) => each.stateBytes),
    state_rows: sum(metrics, (each) => each.stateRows),
    watermark,
    lag_micros: lagOf(watermark, nowMs),
    open_windows: openWindows(operator, metrics),
    uncommitted_rows:
      operator.spec.tag === 'sink' ? sum(metrics, (each) => each.uncommittedRows ?? 0) : null,
    subtasks: metrics.map((each) => subtaskStatus(each, rates)),
  };
}

function subtaskStatus(metrics: OperatorMetrics, rates: readonly OperatorRates[]): StatusSubtask {
  const { subtask } = metrics;
  return {
    index: subtask,
    // Subtask i of every operator runs on host i.
    host: subtask,
    rows_in: metrics.rowsIn,
    rows_out: metrics.rowsOut,
    rows_in_per_second: rates.find((rate) => rate.subtask === subtask)?.rowsIn ?? 0,
    backpressure: metrics.backpressure,
    watermark: wholeMicros(metrics.watermark),
    state_bytes: metrics.stateBytes,
    state_rows: metrics.stateRows,
    errors: metrics.errors,
    late: metrics.late,
  };
}

function openWindows(
  { spec }: GraphOperator,
  metrics: readonly OperatorMetrics[],
): StatusOperator['open_windows'] {
  const windows = metrics.flatMap((each) => (each.windows === undefined ? [] : [each.windows]));
  if (windows.length === 0) return null;
  const ends = windows.flatMap(({ firstEnd }) => (firstEnd === null ? [] : [firstEnd]));
  const counts = windows.map((each) => each.count);
  const areSessions = spec.tag === 'window-aggregate' && spec.window.tag === 'session';
  return {
    // Sessions are each of one key. Other windows have groups on every subtask: the largest count is the nearest.
    count: areSessions ? sum(counts, (each) => each) : Math.max(...counts),
    first_end: ends.length === 0 ? null : Math.floor(Math.min(...ends)),
  };
}

function sourcesOf(graph: PhysicalGraph, live: LeaderStatus | null): StatusSource[] {
  return graph.operators.flatMap(({ id, spec }) => {
    if (spec.tag !== 'source') return [];
    const partitions = (live?.metrics ?? [])
      .filter((each) => each.operator === id)
      .flatMap(({ subtask, partitions: list }) =>
        (list ?? []).map((each) => partitionStatus(subtask, each)),
      )
      .toSorted((left, right) => left.partition - right.partition);
    return { operator_id: id, table: spec.table, connector: spec.connector.connector, partitions };
  });
}

const partitionStatus = (subtask: number, each: PartitionMetrics): StatusPartition => ({
  partition: each.partition,
  subtask,
  rows: each.rows,
  last_row_at: microsOrNull(each.lastRowMs),
  last_event_time: each.lastEventTime,
  watermark: wholeMicros(each.watermark),
  idle: each.idle,
  ended: each.ended,
  backlog_rows: each.backlogRows,
});

function checkpointStatus(
  intervalMs: number,
  live: LeaderStatus | null,
): PipelineStatus['checkpoint'] {
  const recent = (live?.recent ?? []).toReversed().map(checkpointView);
  return {
    interval_micros: microsOf(intervalMs),
    next_at: microsOrNull(live?.nextCheckpointMs ?? null),
    running:
      live?.checkpoint === undefined || live.checkpoint === null
        ? null
        : checkpointView(live.checkpoint),
    last: recent[0] ?? null,
    recent,
  };
}

export function checkpointView(summary: CheckpointSummary): StatusCheckpoint {
  return {
    epoch: summary.epoch,
    kind: summary.kind,
    attempt: summary.attempt,
    started_at: microsOf(summary.startedMs),
    aligned_at: microsOrNull(summary.alignedMs),
    published_at: microsOrNull(summary.publishedMs),
    committed_at: microsOrNull(summary.committedMs),
    bytes: summary.bytes,
    rows: summary.rows,
    items: summary.items,
    hosts: summary.hosts.map((host) => ({
      index: host.index,
      bytes: host.bytes,
      align_micros: microsOf(host.alignMs),
      snapshot_micros: microsOf(host.snapshotMs),
      upload_micros: microsOf(host.uploadMs),
      reported_at: microsOf(host.reportedMs),
    })),
  };
}

/** The lowest of those that are known; 'end' when all that are known have ended. */
export function lowest(watermarks: readonly Watermark[]): Watermark {
  let least: Watermark = null;
  for (const watermark of watermarks) {
    if (watermark === null) continue;
    if (least === null || least === 'end' || (watermark !== 'end' && watermark < least))
      least = watermark;
  }
  return wholeMicros(least);
}

/** The clock moves a watermark by parts of a microsecond. */
const wholeMicros = (watermark: Watermark): Watermark =>
  typeof watermark === 'number' ? Math.floor(watermark) : watermark;

const lagOf = (watermark: Watermark, nowMs: number): number | null =>
  typeof watermark === 'number' ? microsOf(nowMs) - watermark : null;

const sum = <T>(items: readonly T[], value: (item: T) => number): number =>
  items.reduce((total, item) => total + value(item), 0);
