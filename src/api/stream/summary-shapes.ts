/** Shapes of the list of pipelines, small enough for thousands of them. All times are microseconds since 1970. */
import { z } from '@hono/zod-openapi';
import { ACTION_FIELDS, JOB_STATES, PipelineIdSchema } from '../pipelines/pipeline-shapes.ts';

export const LiveSchema = z
  .object({
    rows_in_per_second: z.number(),
    rows_out_per_second: z.number(),
    lag_micros: z.int().nullable().openapi({
      description: 'Time behind the least watermark; null before the first and at the end.',
    }),
    rates: z
      .array(z.number())
      .openapi({ description: 'The last 30 points of rows_in_per_second, oldest first.' }),
    backpressure: z.number().openapi({ description: 'The largest of all subtasks, 0 to 1.' }),
    errors: z.int(),
    late: z.int(),
    epoch: z.int().openapi({ description: 'As its leader has it.' }),
    committed_epoch: z.int(),
  })
  .openapi('PipelineLive');

export const PipelineSummarySchema = z
  .object({
    id: z.string().openapi({ example: 'pl_5bY2kd81Qz' }),
    name: z.string(),
    state: z.enum(JOB_STATES),
    ...ACTION_FIELDS,
    created_at: z.int(),
    parallelism: z.int(),
    generation: z.int(),
    epoch: z.int(),
    committed_epoch: z.int(),
    restarts: z.int(),
    tags: z.record(z.string(), z.string()),
    failure: z.object({ code: z.string(), message: z.string() }).nullable(),
    sources: z.array(z.string()).openapi({ description: 'Connectors, each once.' }),
    sinks: z.array(z.string()).openapi({ description: 'Connectors, each once.' }),
    live: LiveSchema.nullable().openapi({
      description: 'Null: not watched, or no leader answers.',
    }),
  })
  .openapi('PipelineSummary');

export const PipelineSummariesSchema = z
  .object({
    data: z.array(PipelineSummarySchema),
    total: z.int().openapi({ description: 'That match, also beyond the limit.' }),
  })
  .openapi('PipelineSummaryCollection');

/** What the `changed` event of the list holds. */
export const ChangedSummariesSchema = z
  .object({
    changed: z.array(PipelineSummarySchema),
    removed: z.array(z.string()).openapi({ description: 'Ids of pipelines that are deleted.' }),
    total: z.int(),
  })
  .openapi('ChangedSummaries');

export const SORT_KEYS = ['created', 'name', 'state', 'epoch', 'restarts'] as const;

export const SummariesQuery = z.object({
  q: z
    .string()
    .max(200)
    .optional()
    .openapi({ description: 'Part of the name, id, a tag or a connector, in any case.' }),
  state: z
    .string()
    .optional()
    .openapi({ description: 'One state or several, by commas.', example: 'Running,Failed' }),
  sort: z.enum(SORT_KEYS).default('created'),
  descending: z.enum(['true', 'false']).default('true'),
  limit: z.coerce.number().int().min(1).max(5000).default(5000),
});

/** Pipelines whose live numbers one list may ask for. */
export const WATCHED_MAX = 100;

export const ListEventsQuery = z.object({
  last_event_id: z
    .string()
    .max(100)
    .optional()
    .openapi({ description: 'Where to go on, for clients that can not send Last-Event-ID.' }),
  watch: z
    .string()
    .optional()
    .transform((text, context) => {
      const ids = [...new Set((text ?? '').split(',').filter((id) => id !== ''))];
      if (ids.length > WATCHED_MAX)
        context.addIssue({ code: 'custom', message: `at most ${WATCHED_MAX} ids` });
      if (ids.some((id) => !PipelineIdSchema.safeParse(id).success))
        context.addIssue({ code: 'custom', message: 'ids of pipelines, by commas' });
      return ids;
    })
    .openapi({
      type: 'string',
      description: `Ids by commas, at most ${WATCHED_MAX}: those whose live numbers are wanted.`,
    }),
});

export type PipelineLive = z.infer<typeof LiveSchema>;
export type PipelineSummary = z.infer<typeof PipelineSummarySchema>;
export type PipelineSummaries = z.infer<typeof PipelineSummariesSchema>;
export type ChangedSummaries = z.infer<typeof ChangedSummariesSchema>;
export type SortKey = (typeof SORT_KEYS)[number];
