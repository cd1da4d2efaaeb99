/** Shapes of jobs, checkpoints, metrics and output: Arroyo's, with more. All times are microseconds since 1970. */
import { z } from '@hono/zod-openapi';
import { JOB_STATES, PipelineParams } from '../pipelines/pipeline-shapes.ts';
import { ReportSchema } from '../http/problem.ts';

const micros = z.int();

export const FailureSchema = ReportSchema.extend({
  error: z.string().openapi({ description: 'The same as message.' }),
}).openapi('FailureReason');

export const JobSchema = z
  .object({
    id: z.string().openapi({ example: 'job_8sh2LK0qWx' }),
    pipeline_id: z.string(),
    state: z.enum(JOB_STATES),
    running_desired: z.boolean(),
    run_id: z.int().openapi({ description: 'The same as generation.' }),
    generation: z.int(),
    reason: z.string().openapi({ description: 'Why this generation exists.' }),
    epoch: z.int().openapi({ description: 'The newest canonical checkpoint.' }),
    committed_epoch: z
      .int()
      .openapi({ description: 'The newest epoch whose output is committed.' }),
    restarts: z.int().openapi({ description: 'Recoveries since the job was last healthy.' }),
    start_time: micros.nullable(),
    finish_time: micros.nullable(),
    tasks: z.int().openapi({ description: 'Subtasks of all operators.' }),
    rows: z
      .object({
        in: z.int().openapi({ description: 'Rows the sources have read, bad ones included.' }),
        out: z.int().openapi({ description: 'Rows the sinks have received.' }),
        errors: z.int().openapi({ description: 'Rows that could not be decoded or computed.' }),
        late: z.int().openapi({ description: 'Rows that came after their windows had closed.' }),
      })
      .nullable()
      .openapi({
        description:
          'Counts since the pipeline began, as of the last report of its hosts; null when no leader answers, or none has had a report yet.',
      }),
    failure_reason: FailureSchema.nullable(),
    created_at: micros,
  })
  .openapi('Job');

export const JobsSchema = z.object({ data: z.array(JobSchema) }).openapi('JobCollection');

export const JobLogMessageSchema = z
  .object({
    id: z.string(),
    created_at: micros,
    operator_id: z.string().nullable(),
    task_index: z.int().nullable(),
    level: z.enum(['error', 'warn', 'info']),
    message: z.string(),
    details: z.string(),
    error_domain: z.enum(['user', 'external', 'internal']),
    code: z.string(),
    generation: z.int(),
  })
  .openapi('JobLogMessage');

export const JobLogPageSchema = z
  .object({ data: z.array(JobLogMessageSchema), hasMore: z.boolean() })
  .openapi('JobLogMessagePage');

const SpanOfTime = {
  start_time: micros,
  finish_time: micros.nullable(),
  event: z.string(),
  description: z.string(),
};

export const CheckpointSchema = z
  .object({
    epoch: z.int(),
    backend: z.string().openapi({ example: 'r2' }),
    checkpoint_type: z.enum(['scheduled', 'stopping', 'final', 'fence']),
    generation: z.int(),
    start_time: micros,
    finish_time: micros.nullable(),
    committed: z.boolean().openapi({ description: 'Its output is committed, or it had none.' }),
    bytes: z.int(),
    rows: z.int(),
    items: z.int().openapi({ description: 'Pieces of output its commit makes visible.' }),
    events: z.array(z.object(SpanOfTime)),
  })
  .openapi('Checkpoint');

export const CheckpointsSchema = z
  .object({ data: z.array(CheckpointSchema) })
  .openapi('CheckpointCollection');

export const OperatorCheckpointGroupSchema = z
  .object({
    operator_id: z.string(),
    bytes: z.int(),
    rows: z.int(),
    started_metadata_write: micros.nullable(),
    finish_time: micros.nullable(),
    subtasks: z.array(
      z.object({ index: z.int(), bytes: z.int(), event_spans: z.array(z.object(SpanOfTime)) }),
    ),
  })
  .openapi('OperatorCheckpointGroup');

export const OperatorCheckpointGroupsSchema = z
  .object({ data: z.array(OperatorCheckpointGroupSchema) })
  .openapi('OperatorCheckpointGroupCollection');

export const METRIC_NAMES = [
  'messages_recv',
  'messages_sent',
  'bytes_recv',
  'bytes_sent',
  'backpressure',
  'errors',
  'late',
  'filtered',
  'state_bytes',
  'state_rows',
  'tx_queue_size',
  'tx_queue_rem',
] as const;

export const OperatorMetricGroupSchema = z
  .object({
    node_id: z.int(),
    operator_id: z.string(),
    metric_groups: z.array(
      z.object({
        name: z.enum(METRIC_NAMES).openapi({
          description:
            'Messages are rows; counters count since the pipeline began. tx_queue_size and tx_queue_rem are the bytes of the fullest input queue and those of them that are free.',
        }),
        subtasks: z.array(
          z.object({
            index: z.int(),
            metrics: z.array(z.object({ time: micros, value: z.number() })).openapi({
              description: 'One point a heartbeat, for five minutes, oldest first.',
            }),
          }),
        ),
      }),
    ),
    watermarks: z
      .array(
        z.object({ index: z.int(), watermark: z.union([z.int(), z.literal('end')]).nullable() }),
      )
      .openapi({
        description: "Event time each subtask has reached; 'end' when its input has ended.",
      }),
  })
  .openapi('OperatorMetricGroup');

export const OperatorMetricGroupsSchema = z
  .object({ data: z.array(OperatorMetricGroupSchema) })
  .openapi('OperatorMetricGroupCollection');

export const OutputDataSchema = z
  .object({
    operator_id: z.string(),
    subtask_idx: z.int(),
    generation: z.int(),
    timestamps: z.array(micros).openapi({ description: 'When each row was read here.' }),
    start_id: z.int().openapi({
      description: 'Number of the first row among those of this subtask and generation.',
    }),
    batch: z.string().openapi({
      description: 'The rows, as the text of a JSON array.',
      example: '[{"id":9007199254740993}]',
    }),
  })
  .openapi('OutputData');

export const JobParams = PipelineParams.extend({
  job_id: z
    .string()
    .min(1)
    .max(64)
    .openapi({ param: { name: 'job_id', in: 'path' }, example: 'job_8sh2LK0qWx' }),
});

export const EpochParams = JobParams.extend({
  epoch: z.coerce
    .number()
    .int()
    .min(0)
    .openapi({ param: { name: 'epoch', in: 'path' }, example: 12 }),
});
