/** Shape of a pipeline's history for charts: columns aligned with `times`, null where nothing is known. */
import { z } from '@hono/zod-openapi';

/** Six hours: as long as leaders keep points. */
export const HISTORY_SECONDS_MAX = 21_600;

const rates = z.array(z.number().nullable());

export const HistoryMarkSchema = z
  .object({
    time: z.int(),
    kind: z.enum(['generation', 'checkpoint', 'failure']),
    text: z.string(),
    generation: z.int(),
    epoch: z.int().nullable(),
  })
  .openapi('HistoryMark');

export const HistoryOperatorSchema = z
  .object({
    operator_id: z.string(),
    rows_in: rates,
    rows_out: rates,
    bytes_in: rates,
    backpressure: rates,
    state_bytes: rates,
    late: rates,
    errors: rates,
    lag_micros: rates,
  })
  .openapi('HistoryOperator');

export const HistorySchema = z
  .object({
    step_micros: z.int(),
    from: z.int(),
    to: z.int(),
    times: z.array(z.int()).openapi({ description: 'The beginning of each step.' }),
    pipeline: z.object({ rows_in: rates, rows_out: rates, lag_micros: rates }),
    operators: z.array(HistoryOperatorSchema),
    marks: z.array(HistoryMarkSchema).openapi({ description: 'Oldest first.' }),
    append: z.boolean().optional().openapi({
      description: 'In a stream of events: only the points since the last one.',
    }),
  })
  .openapi('History', {
    description: 'Rows, bytes, late rows and errors are rates per second; the rest are values.',
  });

export const HistoryQuery = z.object({
  seconds: z.coerce
    .number()
    .int()
    .min(1)
    .max(HISTORY_SECONDS_MAX)
    .default(300)
    .openapi({ param: { name: 'seconds', in: 'query' }, example: 300 }),
});

export type History = z.infer<typeof HistorySchema>;
export type HistoryOperator = z.infer<typeof HistoryOperatorSchema>;
export type HistoryMark = z.infer<typeof HistoryMarkSchema>;
