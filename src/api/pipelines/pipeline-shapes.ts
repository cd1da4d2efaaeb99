/** Shapes of pipelines: Arroyo's, with more. All times are microseconds since 1970. */
import { z } from '@hono/zod-openapi';
import { LIMITS } from '../../base/limits.ts';
import {
  DiagnosticSchema,
  QueryOutputSchema,
  QueryTableSchema,
} from '../authoring/diagnostic-shapes.ts';
import { MoreSchema } from '../http/problem.ts';
import { strictShape } from '../http/strict-shape.ts';

export const STOP_MODES = ['none', 'checkpoint', 'graceful', 'immediate', 'force'] as const;

const name = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^\P{Cc}*$/u, 'must have no control characters')
  .openapi({ example: 'delays per airport' });

const parallelism = z
  .int()
  .min(1)
  .max(LIMITS.parallelismMax)
  .openapi({ description: 'Subtasks of every operator.', example: 2 });

const checkpointInterval = z
  .int()
  .min(LIMITS.checkpointIntervalMinMs * 1000, 'must be at least one second')
  .max(LIMITS.checkpointIntervalMaxMs * 1000, 'must be at most one day')
  .openapi({ description: 'Microseconds; one second to one day.', example: 10_000_000 });

const tags = z.record(z.string().max(100), z.string().max(1000));

const milliseconds = z.int().min(1).max(86_400_000);
const batchRows = z.int().min(1).max(LIMITS.batchRowsMax);

/** What a pipeline may run with instead of the defaults; the names are those of the runtime's settings. */
export const SettingsSchema = strictShape({
  batch_rows: batchRows.optional(),
  linger_ms: z.int().min(0).max(60_000).optional(),
  heartbeat_interval_ms: milliseconds.optional(),
  heartbeat_timeout_ms: milliseconds.optional(),
  start_timeout_ms: milliseconds.optional(),
  checkpoint_timeout_ms: milliseconds.optional(),
  publish_timeout_ms: milliseconds.optional(),
  commit_timeout_ms: milliseconds.optional(),
  redo_timeout_ms: milliseconds.optional(),
  leader_alarm_ms: milliseconds.optional(),
  checkpoints_kept: z.int().min(1).max(1000).optional(),
  state_bytes_max: z
    .int()
    .min(1024 * 1024)
    .max(LIMITS.stateBytesMax)
    .optional(),
})
  .refine(
    ({ heartbeat_interval_ms: interval, heartbeat_timeout_ms: timeout }) =>
      (interval ?? LIMITS.heartbeatIntervalMs) * 3 <= (timeout ?? LIMITS.heartbeatTimeoutMs),
    { message: 'heartbeat_timeout_ms must be at least three times heartbeat_interval_ms' },
  )
  .openapi('PipelineSettings');

/** Functions for this query alone; each definition is a CREATE FUNCTION. */
export const UdfsSchema = z
  .array(
    strictShape({
      definition: z.string(),
      language: z.enum(['javascript', 'typescript']).nullish(),
    }),
  )
  .max(100)
  .nullish();

/** Fields of Arroyo that are taken and have no effect here; the answer says so when they hold something. */
const unused = {
  state_url: z.string().nullish(),
  env_vars: z.record(z.string(), z.unknown()).nullish(),
  scheduler_config: z.unknown().optional(),
};

/** The names of those fields that hold something. */
export function ignoredFields(request: { [Name in keyof typeof unused]?: unknown }): string[] {
  return Object.keys(unused).filter((name) => {
    const value = request[name as keyof typeof unused];
    return (
      value !== undefined &&
      value !== null &&
      value !== '' &&
      (typeof value !== 'object' || Object.keys(value).length > 0)
    );
  });
}

export const PipelinePostSchema = strictShape({
  name,
  query: z.string().openapi({
    example:
      "CREATE TABLE ev (id BIGINT) WITH (connector = 'http', format = 'json', type = 'source');\nSELECT id FROM ev;",
  }),
  parallelism: parallelism.default(1),
  checkpoint_interval_micros: checkpointInterval.default(LIMITS.checkpointIntervalDefaultMs * 1000),
  tags: tags.default({}),
  default_sink: z
    .enum(['preview', 'stdout'])
    .default('preview')
    .openapi({ description: 'Where a bare SELECT writes.' }),
  batch_rows: batchRows.optional().openapi({ description: 'The same as settings.batch_rows.' }),
  settings: SettingsSchema.default({}),
  udfs: UdfsSchema,
  ...unused,
}).openapi('PipelinePost');

export const PipelinePatchSchema = strictShape(
  {
    name: name.optional(),
    tags: tags.optional(),
    stop: z
      .enum(STOP_MODES)
      .optional()
      .openapi({ description: 'none starts it; the others stop it.' }),
    parallelism: parallelism.optional(),
    checkpoint_interval_micros: checkpointInterval.optional(),
    env_vars: unused.env_vars,
    scheduler_config: unused.scheduler_config,
  },
  { query: 'the query of a pipeline can not be changed: create another pipeline' },
).openapi('PipelinePatch', { example: { stop: 'checkpoint' } });

export const PipelineRestartSchema = strictShape({
  force: z.boolean().default(false).openapi({ description: 'Without a last checkpoint.' }),
  ignore_state: z
    .boolean()
    .default(false)
    .openapi({ description: 'From the last source offsets, with empty state.' }),
}).openapi('PipelineRestart');

export const ValidateQuerySchema = strictShape({
  udfs: UdfsSchema,
  query: z.string(),
  parallelism: parallelism.default(1),
  default_sink: z.enum(['preview', 'stdout']).default('preview'),
}).openapi('ValidateQuery');

export const GraphSchema = z
  .object({
    nodes: z.array(
      z.object({
        node_id: z.int(),
        operator: z.string(),
        description: z.string(),
        parallelism: z.int(),
      }),
    ),
    edges: z.array(
      z.object({
        src_id: z.int(),
        dest_id: z.int(),
        key_type: z.string(),
        value_type: z.string(),
        edge_type: z.string(),
      }),
    ),
  })
  .openapi('PipelineGraph');

export const SinkSchema = z
  .object({
    operator_id: z.string(),
    table: z.string(),
    connector: z.string(),
    path: z
      .string()
      .nullable()
      .openapi({ description: 'Where the rows go, of connectors with a path.' }),
    updating: z.boolean().openapi({ description: 'Whether rows may be taken back.' }),
  })
  .openapi('PipelineSink');

export const ColumnSchema = z
  .object({ name: z.string(), type: z.string(), required: z.boolean() })
  .openapi('Column');

export const SourceSchema = z
  .object({
    operator_id: z.string(),
    table: z.string(),
    connector: z.string(),
    columns: z.array(ColumnSchema),
    rows_url: z
      .string()
      .nullable()
      .openapi({ description: 'Where rows are posted, of http tables.' }),
  })
  .openapi('PipelineSource');

export const JOB_STATES = [
  'Created',
  'Scheduling',
  'Running',
  'CheckpointStopping',
  'Stopping',
  'Stopped',
  'Recovering',
  'Restarting',
  'Finishing',
  'Finished',
  'Failed',
] as const;

/** What can be done next with a pipeline, as the button of its row says it. */
export const ACTION_FIELDS = {
  action: z
    .enum(STOP_MODES)
    .nullable()
    .openapi({ description: 'The stop mode of the next sensible action; null: wait.' }),
  action_text: z.string(),
  action_in_progress: z.boolean(),
};

export const PipelineSchema = z
  .object({
    id: z.string().openapi({ example: 'pl_5bY2kd81Qz' }),
    name: z.string(),
    query: z.string(),
    udfs: z.array(z.object({ definition: z.string() })),
    parallelism: z.int(),
    checkpoint_interval_micros: z.int(),
    stop: z.enum(STOP_MODES).openapi({ description: 'none: it is wanted to run.' }),
    created_at: z.int(),
    state: z.enum(JOB_STATES).openapi({ description: 'Of its job.' }),
    ...ACTION_FIELDS,
    graph: GraphSchema,
    preview: z.boolean(),
    state_url: z.string().nullable(),
    tags: z.record(z.string(), z.string()),
    settings: SettingsSchema,
    sources: z.array(SourceSchema),
    sinks: z.array(SinkSchema),
    warnings: z.array(z.string()).optional().openapi({
      description:
        'What of the request had no effect, what it cost, or what shares a path with the pipeline.',
    }),
  })
  .openapi('Pipeline');

export const PipelinePageSchema = z
  .object({ data: z.array(PipelineSchema), hasMore: z.boolean() })
  .openapi('PipelinePage');

export const ValidationSchema = z
  .object({
    graph: GraphSchema.optional().openapi({ description: 'Only when there are no errors.' }),
    errors: z.array(DiagnosticSchema),
    warnings: z.array(DiagnosticSchema),
    more: MoreSchema.optional(),
    tables: z.array(QueryTableSchema).openapi({
      description: 'What the text declares, and as far as it could be read when it has errors.',
    }),
    outputs: z
      .array(QueryOutputSchema)
      .openapi({ description: 'What the query writes; none when it has errors.' }),
    logical: z.string().openapi({ description: 'The logical plan as text.' }),
    physical: z.string().openapi({ description: 'The physical plan as text.' }),
  })
  .openapi('QueryValidationResult');
export type QueryValidation = z.infer<typeof ValidationSchema>;

export const PipelineIdSchema = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9_-]+$/, 'may hold letters, digits, _ and - only');

export const PipelineParams = z.object({
  id: PipelineIdSchema.openapi({ param: { name: 'id', in: 'path' }, example: 'pl_5bY2kd81Qz' }),
});

export const PageQuery = z.object({
  starting_after: z
    .string()
    .optional()
    .openapi({ description: 'Id of the last entry of the page before.' }),
  limit: z.coerce.number().int().min(1).max(100).default(10),
});
