/** Pipelines and jobs of the catalogue as the API shows them. */
import type { z } from '@hono/zod-openapi';
import type { ErrorReport } from '../base/errors.ts';
import { typeName } from '../batch/types.ts';
import type { Job, JobState, Pipeline, PipelineAndJob } from '../catalog/schema.ts';
import type { PhysicalGraph } from '../graph/graph.ts';
import { viewGraph } from '../graph/graph-view.ts';
import type { LeaderStatus } from '../protocol/messages.ts';
import type { FailureSchema, JobSchema } from './jobs/job-shapes.ts';
import type {
  PipelineSchema,
  SettingsSchema,
  SinkSchema,
  SourceSchema,
  STOP_MODES,
} from './pipelines/pipeline-shapes.ts';

export type PipelineView = z.infer<typeof PipelineSchema>;
export type JobView = z.infer<typeof JobSchema>;
type SettingsView = z.infer<typeof SettingsSchema>;
type StopView = (typeof STOP_MODES)[number];

export const microsOf = (ms: number): number => Math.round(ms * 1000);

export const microsOrNull = (ms: number | null): number | null =>
  ms === null ? null : microsOf(ms);

export const graphOf = (pipeline: Pipeline): PhysicalGraph =>
  JSON.parse(pipeline.graph) as PhysicalGraph;

export function pipelineView({ pipeline, job }: PipelineAndJob): PipelineView {
  const graph = graphOf(pipeline);
  return {
    id: pipeline.id,
    name: pipeline.name,
    query: pipeline.query,
    udfs: pipeline.udfs,
    parallelism: pipeline.parallelism,
    checkpoint_interval_micros: pipeline.checkpointIntervalMs * 1000,
    stop: pipeline.desiredState === 'running' ? 'none' : (pipeline.stopMode ?? 'checkpoint'),
    created_at: microsOf(pipeline.createdMs),
    state: job.state,
    ...actionOf(pipeline, job.state),
    graph: viewGraph(graph, pipeline.parallelism),
    preview: pipeline.watchedMs !== null,
    state_url: null,
    tags: pipeline.tags,
    settings: settingsView(pipeline.settings),
    sources: sourcesOf(pipeline.id, graph),
    sinks: sinksOf(graph),
  };
}

/** What a user would do next, as Arroyo's console has it on its one button. */
export function actionOf(
  pipeline: Pick<Pipeline, 'desiredState'>,
  state: JobState,
): { action: StopView | null; action_text: string; action_in_progress: boolean } {
  switch (state) {
    case 'Stopped':
      return pipeline.desiredState === 'running'
        ? { action: null, action_text: 'Starting', action_in_progress: true }
        : { action: 'none', action_text: 'Start', action_in_progress: false };
    case 'Finished':
    case 'Failed':
      return { action: 'none', action_text: 'Start', action_in_progress: false };
    case 'Running':
      return pipeline.desiredState === 'running'
        ? { action: 'checkpoint', action_text: 'Stop', action_in_progress: false }
        : { action: null, action_text: 'Stopping', action_in_progress: true };
    case 'CheckpointStopping':
    case 'Stopping':
      return { action: null, action_text: 'Stopping', action_in_progress: true };
    case 'Finishing':
      return { action: null, action_text: 'Finishing', action_in_progress: true };
    case 'Created':
    case 'Scheduling':
    case 'Recovering':
    case 'Restarting':
      return { action: 'checkpoint', action_text: 'Stop', action_in_progress: true };
  }
}

function sourcesOf(pipelineId: string, graph: PhysicalGraph): z.infer<typeof SourceSchema>[] {
  return graph.operators.flatMap(({ id, spec }) => {
    if (spec.tag !== 'source') return [];
    const isHttp = spec.connector.connector === 'http';
    return {
      operator_id: id,
      table: spec.table,
      connector: spec.connector.connector,
      columns: spec.declared.map((column) => ({
        name: column.name,
        type: typeName(column.type),
        required: !column.nullable && column.default === null,
      })),
      rows_url: isHttp
        ? `/api/v1/pipelines/${pipelineId}/tables/${encodeURIComponent(spec.table)}/rows`
        : null,
    };
  });
}

function sinksOf(graph: PhysicalGraph): z.infer<typeof SinkSchema>[] {
  return graph.operators.flatMap(({ id, spec }) => {
    if (spec.tag !== 'sink') return [];
    const { connector, options } = spec.connector;
    const path = options['path'];
    return {
      operator_id: id,
      table: spec.table,
      connector,
      path: typeof path === 'string' ? path : null,
      updating: spec.updating,
    };
  });
}

/** `batch_rows` of the API is `batchRows` of the runtime, and so on. */
export function settingsOf(view: SettingsView): Record<string, number> {
  const entries = Object.entries(view).filter(
    (entry): entry is [string, number] => entry[1] !== undefined,
  );
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}

function settingsView(settings: Record<string, number>): SettingsView {
  const entries = Object.entries(settings).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return Object.fromEntries(entries) as SettingsView;
}

/** @param status  what the leader says now: the catalogue learns of epochs later */
export function jobView({ pipeline, job }: PipelineAndJob, status: LeaderStatus | null): JobView {
  const live = status !== null && status.generation === job.generation ? status : null;
  return {
    id: job.id,
    pipeline_id: pipeline.id,
    state: job.state,
    running_desired: pipeline.desiredState === 'running',
    run_id: job.generation,
    generation: job.generation,
    reason: job.reason,
    epoch: Math.max(job.epoch, live?.epoch ?? 0),
    committed_epoch: Math.max(job.committedEpoch, live?.committedEpoch ?? 0),
    restarts: job.restarts,
    start_time: microsOrNull(job.startMs),
    finish_time: microsOrNull(job.finishMs),
    tasks: graphOf(pipeline).operators.reduce(
      (sum, operator) => sum + (operator.parallelism ?? pipeline.parallelism),
      0,
    ),
    // A leader that was reset knows no counts until a host has reported; zeros would say that rows are lost.
    rows: live === null || live.metrics.length === 0 ? null : rowCounts(graphOf(pipeline), live),
    failure_reason: failureView(job),
    created_at: microsOf(pipeline.createdMs),
  };
}

function rowCounts(graph: PhysicalGraph, status: LeaderStatus): NonNullable<JobView['rows']> {
  const tags = new Map(graph.operators.map(({ id, spec }) => [id, spec.tag]));
  const counts = { in: 0, out: 0, errors: 0, late: 0 };
  for (const { operator, rowsIn, errors, late } of status.metrics) {
    if (tags.get(operator) === 'source') counts.in += rowsIn;
    if (tags.get(operator) === 'sink') counts.out += rowsIn;
    counts.errors += errors;
    counts.late += late;
  }
  return counts;
}

export function failureView({ failure }: Job): z.infer<typeof FailureSchema> | null {
  return failure === null ? null : { ...reportView(failure), error: failure.message };
}

/** A report as plain data of its shape; what it has beyond that is left out. */
function reportView({
  code,
  domain,
  retry,
  message,
  detail,
  hint,
  suggestion,
  span,
}: ErrorReport): ErrorReport {
  return {
    code,
    domain,
    retry,
    message,
    ...(detail === undefined ? {} : { detail }),
    ...(hint === undefined ? {} : { hint }),
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(span === undefined ? {} : { span }),
  };
}
