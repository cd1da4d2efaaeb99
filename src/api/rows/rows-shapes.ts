/** Shapes of rows in by HTTP. */
import { z } from '@hono/zod-openapi';
import { PipelineParams } from '../pipelines/pipeline-shapes.ts';

export const TableParams = PipelineParams.extend({
  table: z
    .string()
    .min(1)
    .max(200)
    .openapi({ param: { name: 'table', in: 'path' }, example: 'ev' }),
});

export const RowsHeaders = z.object({
  'idempotency-key': z.string().min(1).max(200).optional().openapi({
    description:
      'A retry with the same key and body stores nothing again and gets the first answer, with replayed.',
    example: 'batch-17',
  }),
});

export const RowErrorSchema = z
  .object({
    index: z
      .int()
      .openapi({ description: 'Of the row in the body, from 0; blank lines are no rows.' }),
    code: z.string().openapi({ example: 'TYPE_MISMATCH' }),
    column: z.string().nullable(),
    message: z.string(),
    expected: z
      .string()
      .optional()
      .openapi({ description: 'The type of the column.', example: 'INT' }),
    hint: z.string().optional(),
  })
  .openapi('RowError');

export const RowWarningSchema = z
  .object({ index: z.int(), code: z.literal('UNKNOWN_FIELD'), column: z.string() })
  .openapi('RowWarning');

export const RowsAnswerSchema = z
  .object({
    accepted: z.int(),
    rejected: z.int(),
    first_offset: z
      .int()
      .nullable()
      .openapi({ description: 'Of the first accepted row in the log; null when none was.' }),
    partition: z.int(),
    notice: z.string().optional().openapi({
      description: 'Of a pipeline at rest: nothing reads the rows until it is started.',
    }),
    replayed: z
      .boolean()
      .openapi({ description: 'The rows were stored by an earlier request with this key.' }),
    errors: z.array(RowErrorSchema).openapi({ description: 'Of the rejected rows; at most 1000.' }),
    warnings: z
      .array(RowWarningSchema)
      .openapi({ description: 'Fields that the table does not have; at most 1000.' }),
  })
  .openapi('RowsAnswer');

export const RejectedRowSchema = z
  .object({
    id: z.string(),
    partition: z.int(),
    created_at: z.int(),
    index: z.int(),
    code: z.string(),
    column: z.string().nullable(),
    message: z.string(),
    raw: z.string().nullable().openapi({ description: 'The beginning of the row as it was sent.' }),
  })
  .openapi('RejectedRow');

export const RejectedRowsSchema = z
  .object({ data: z.array(RejectedRowSchema) })
  .openapi('RejectedRowCollection');
