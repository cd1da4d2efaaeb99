/** Shape of a pipeline's health: one sentence that answers "why is nothing coming out?", with its code and the way out. */
import { z } from '@hono/zod-openapi';
import { WatermarkSchema } from './status-shapes.ts';

/** In the order of their weight: of several that hold, the first is the health, the rest are `others`. */
export const HEALTH_CODES = [
  'FAILED',
  'LEADER_SILENT',
  'RECOVERING',
  'STOPPED',
  'FINISHED',
  'STOPPING',
  'STARTING',
  'ALL_BAD',
  'WATERMARK_IN_FUTURE',
  'ALL_LATE',
  'CHECKPOINT_FAILING',
  'BACKPRESSURE',
  'BEHIND',
  'NO_ROWS_YET',
  'PARTITION_HOLDS_WATERMARK',
  'NO_WATERMARK',
  'WINDOW_OPEN',
  'ALL_FILTERED',
  'JOIN_WITHOUT_MATCH',
  'SOME_BAD',
  'SOURCE_SILENT',
  'CHECKPOINT_SLOW',
  'COMMIT_PENDING',
  'OK',
] as const;

const finding = {
  level: z.enum(['ok', 'waiting', 'warning', 'failed', 'stopped']),
  code: z.enum(HEALTH_CODES),
  sentence: z.string().openapi({
    example:
      '1 open window, waiting for watermark 10:01:00, now 10:00:20; no events for 90 s in table t.',
  }),
  fix: z
    .object({
      text: z.string(),
      sql: z.string().optional().openapi({ description: 'To paste into the query.' }),
      action: z.enum(['start', 'restart', 'restart_without_state']).optional(),
    })
    .nullable(),
  source: z
    .object({ operator_id: z.string(), table: z.string(), partition: z.int().nullable() })
    .nullable(),
  watermark: WatermarkSchema,
  window: z
    .object({ operator_id: z.string(), count: z.int(), first_end: z.int().nullable() })
    .nullable(),
  since: z.int().nullable().openapi({ description: 'Since when this has been so, if known.' }),
  at: z.int(),
};

export const HealthFindingSchema = z.object(finding).openapi('HealthFinding');

export const HealthSchema = z
  .object({
    ...finding,
    others: z
      .array(HealthFindingSchema)
      .openapi({ description: 'What else holds, most useful first.' }),
  })
  .openapi('Health');

export type HealthCode = (typeof HEALTH_CODES)[number];
export type HealthFinding = z.infer<typeof HealthFindingSchema>;
export type Health = z.infer<typeof HealthSchema>;
