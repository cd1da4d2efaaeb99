/** Shapes of a pipeline's stream of changes: which topics there are, and what their events hold beyond shapes of their own. */
import { z } from '@hono/zod-openapi';
import { OutputDataSchema } from '../jobs/job-shapes.ts';
import { LineageSchema } from '../jobs/lineage-view.ts';
import { HealthSchema } from '../observe/health-shapes.ts';
import { HistorySchema } from '../observe/history-shapes.ts';
import { PipelineStatusSchema } from '../observe/status-shapes.ts';
import { ErrorRowSchema } from './detail-shapes.ts';

export const TOPICS = ['status', 'health', 'history', 'output', 'lineage', 'errors'] as const;
export type Topic = (typeof TOPICS)[number];

/** Data of `event: output`. */
export const OutputEventSchema = OutputDataSchema.extend({
  dropped: z.int().openapi({
    description:
      'Rows of this subtask that are missing since its last event: the reader was too slow, or away for too long.',
  }),
}).openapi('OutputEvent');

/** Data of `event: lineage`. */
export const LineageEventSchema = LineageSchema.extend({
  version: z.string().openapi({ description: 'Changes whenever the lineage does.' }),
}).openapi('LineageEvent');

/** Data of `event: errors`: new ones only, oldest first. */
export const ErrorsEventSchema = z.object({ data: z.array(ErrorRowSchema) }).openapi('ErrorsEvent');

/** Data of `event: gone`: the last event. */
export const GoneEventSchema = z.object({ pipeline_id: z.string() }).openapi('GoneEvent');

/** The data of an event, by its name; see the schemas for what each holds. */
export const PageEventSchema = z
  .union([
    PipelineStatusSchema,
    HealthSchema,
    HistorySchema,
    OutputEventSchema,
    LineageEventSchema,
    ErrorsEventSchema,
    GoneEventSchema,
  ])
  .openapi('PageEvent');

export const EventsQuery = z.object({
  topics: z
    .string()
    .optional()
    .transform((text, context): Topic[] => {
      const names = (text ?? TOPICS.join(',')).split(',').filter((name) => name !== '');
      const known = TOPICS.filter((topic) => names.includes(topic));
      const unknown = names.filter((name) => !TOPICS.some((topic) => topic === name));
      if (unknown.length > 0)
        context.addIssue({
          code: 'custom',
          message: `there is no topic ${unknown.join(', ')}; topics are ${TOPICS.join(', ')}`,
        });
      return known;
    })
    .openapi({
      type: 'string',
      description: 'By commas; all without it.',
      example: 'status,output',
    }),
  last_event_id: z
    .string()
    .max(32_000)
    .optional()
    .openapi({ description: 'Where to go on, for clients that can not send Last-Event-ID.' }),
});

export type OutputEvent = z.infer<typeof OutputEventSchema>;
export type LineageEvent = z.infer<typeof LineageEventSchema>;
export type ErrorsEvent = z.infer<typeof ErrorsEventSchema>;
