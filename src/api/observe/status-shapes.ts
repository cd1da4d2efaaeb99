/** Shapes of a pipeline's status: what every operator, subtask, partition and checkpoint does now. Times are microseconds. */
import { z } from '@hono/zod-openapi';
import { FailureSchema } from '../jobs/job-shapes.ts';
import { JOB_STATES, STOP_MODES } from '../pipelines/pipeline-shapes.ts';

const micros = z.int();
const count = z.int();
const rate = z.number().openapi({ description: 'Per second, over the last two heartbeats.' });

export const WatermarkSchema = z
  .union([z.int(), z.literal('end')])
  .nullable()
  .openapi('Watermark', {
    description: "Event time that has been reached; 'end': the input has ended; null: unknown yet.",
  });

export const StatusCheckpointSchema = z
  .object({
    epoch: z.int(),
    kind: z.enum(['scheduled', 'stopping', 'final']),
    attempt: z.int(),
    started_at: micros,
    aligned_at: micros.nullable().openapi({ description: 'All hosts have reported.' }),
    published_at: micros.nullable(),
    committed_at: micros.nullable(),
    bytes: count.openapi({ description: 'Of the state files that were written.' }),
    rows: count,
    items: count.openapi({ description: 'Pieces of output its commit makes visible.' }),
    hosts: z.array(
      z.object({
        index: z.int(),
        bytes: count,
        align_micros: z.int(),
        snapshot_micros: z.int(),
        upload_micros: z.int(),
        reported_at: micros,
      }),
    ),
  })
  .openapi('StatusCheckpoint');

export const OpenWindowsSchema = z
  .object({
    count,
    first_end: micros
      .nullable()
      .openapi({ description: 'End of the window that closes first; null: it is not known.' }),
  })
  .openapi('OpenWindows');

export const StatusSubtaskSchema = z
  .object({
    index: z.int(),
    host: z.int(),
    rows_in: count,
    rows_out: count,
    rows_in_per_second: rate,
    backpressure: z.number(),
    watermark: WatermarkSchema,
    state_bytes: count,
    state_rows: count,
    errors: count,
    late: count,
  })
  .openapi('StatusSubtask');

export const StatusOperatorSchema = z
  .object({
    operator_id: z.string(),
    node_id: z.int(),
    kind: z.string().openapi({ example: 'window-aggregate' }),
    description: z.string(),
    parallelism: z.int(),
    rows_in: count.openapi({ description: 'Since the pipeline began.' }),
    rows_out: count,
    bytes_in: count,
    bytes_out: count,
    rows_in_per_second: rate,
    rows_out_per_second: rate,
    errors: count,
    late: count,
    filtered: count,
    backpressure: z.number().openapi({ description: 'Of the fullest subtask, 0 to 1.' }),
    state_bytes: count,
    state_rows: count,
    watermark: WatermarkSchema,
    lag_micros: z.int().nullable(),
    open_windows: OpenWindowsSchema.nullable(),
    uncommitted_rows: count.nullable().openapi({
      description:
        'Of a sink: rows received in this generation that no committed checkpoint covers yet; null of others.',
    }),
    subtasks: z.array(StatusSubtaskSchema),
  })
  .openapi('StatusOperator');

export const StatusPartitionSchema = z
  .object({
    partition: z.int(),
    subtask: z.int(),
    rows: count.openapi({ description: 'Read since this generation began.' }),
    last_row_at: micros.nullable().openapi({ description: 'When the newest row was read.' }),
    last_event_time: micros.nullable(),
    watermark: WatermarkSchema,
    idle: z.boolean().openapi({ description: 'Steps aside: it holds nobody back.' }),
    ended: z.boolean(),
    backlog_rows: count
      .nullable()
      .openapi({ description: 'Stored and not read yet; null where the source cannot tell.' }),
  })
  .openapi('StatusPartition');

export const StatusSourceSchema = z
  .object({
    operator_id: z.string(),
    table: z.string(),
    connector: z.string(),
    partitions: z.array(StatusPartitionSchema),
  })
  .openapi('StatusSource');

export const PipelineStatusSchema = z
  .object({
    pipeline_id: z.string(),
    job_id: z.string(),
    name: z.string(),
    state: z.enum(JOB_STATES),
    action: z.enum(STOP_MODES).nullable(),
    action_text: z.string(),
    action_in_progress: z.boolean(),
    generation: z.int(),
    reason: z.string().openapi({ description: 'Why this generation exists.' }),
    epoch: z.int(),
    committed_epoch: z.int(),
    restarts: z.int(),
    started_at: micros.nullable(),
    running_since: micros.nullable().openapi({ description: 'When sources began to read.' }),
    at: micros.openapi({ description: 'When this was measured.' }),
    leader: z.enum(['answers', 'silent', 'none']),
    code_version: z.string(),
    rates: z.object({
      rows_in: rate.openapi({ description: 'Rows that sources read, per second.' }),
      rows_out: rate.openapi({ description: 'Rows that sinks receive, per second.' }),
      bytes_in: rate,
    }),
    totals: z.object({
      rows_in: count,
      rows_out: count,
      errors: count,
      late: count,
      filtered: count,
    }),
    lag_micros: z.int().nullable().openapi({
      description: 'Now less the lowest watermark; null before the first one and at the end.',
    }),
    hosts: z.array(
      z.object({ index: z.int(), incarnation: z.string().nullable(), last_heard_at: micros }),
    ),
    checkpoint: z.object({
      interval_micros: z.int(),
      next_at: micros.nullable(),
      running: StatusCheckpointSchema.nullable(),
      last: StatusCheckpointSchema.nullable(),
      recent: z.array(StatusCheckpointSchema).openapi({ description: 'Newest first.' }),
    }),
    operators: z.array(StatusOperatorSchema),
    sources: z.array(StatusSourceSchema),
    failure: FailureSchema.nullable(),
  })
  .openapi('PipelineStatus');

export type PipelineStatus = z.infer<typeof PipelineStatusSchema>;
export type StatusOperator = z.infer<typeof StatusOperatorSchema>;
export type StatusSubtask = z.infer<typeof StatusSubtaskSchema>;
export type StatusSource = z.infer<typeof StatusSourceSchema>;
export type StatusPartition = z.infer<typeof StatusPartitionSchema>;
export type StatusCheckpoint = z.infer<typeof StatusCheckpointSchema>;
