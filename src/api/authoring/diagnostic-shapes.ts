/** Shapes of what is told of a query: findings with the edits that remove them, its tables and what it writes. */
import { z } from '@hono/zod-openapi';
import { ReportSchema, SpanSchema } from '../http/problem.ts';

/** A replacement of a stretch of the text; an empty stretch inserts. */
export const TextEditSchema = z
  .object({
    span: SpanSchema,
    text: z.string().openapi({ description: 'What stands there afterwards.' }),
  })
  .openapi('TextEdit');
export type TextEdit = z.infer<typeof TextEditSchema>;

export const FixSchema = z
  .object({
    title: z.string().openapi({ example: 'Change to "city"' }),
    edits: z
      .array(TextEditSchema)
      .openapi({ description: 'Of the text that was sent; in its order, none over another.' }),
  })
  .openapi('Fix');
export type Fix = z.infer<typeof FixSchema>;

/** An error or warning with ways to remove it. */
export const DiagnosticSchema = ReportSchema.extend({
  fixes: z
    .array(FixSchema)
    .optional()
    .openapi({ description: 'Each removes the finding; the likeliest first.' }),
}).openapi('Diagnostic');
export type Diagnostic = z.infer<typeof DiagnosticSchema>;

const TypedColumnSchema = z
  .object({
    name: z.string(),
    type: z.string().openapi({ example: 'BIGINT' }),
    required: z.boolean().openapi({ description: 'It is never NULL.' }),
  })
  .openapi('TypedColumn');

export const TABLE_KINDS = ['source', 'sink', 'memory', 'view', 'lookup', 'stored'] as const;

/** What has a name in the text and can stand behind FROM or INSERT INTO. */
export const QueryTableSchema = z
  .object({
    name: z.string(),
    kind: z.enum(TABLE_KINDS).openapi({
      description:
        'stored: declared outside of the text. lookup: a TEMPORARY table. memory: filled by an INSERT of the text.',
    }),
    connector: z.string().nullable(),
    columns: z.array(TypedColumnSchema),
    span: SpanSchema.nullable().openapi({ description: 'Of its name, where it is declared.' }),
  })
  .openapi('QueryTable');
export type QueryTable = z.infer<typeof QueryTableSchema>;

/** What the query writes, a bare SELECT too. */
export const QueryOutputSchema = z
  .object({
    table: z.string(),
    connector: z.string(),
    columns: z.array(TypedColumnSchema),
    updating: z.boolean().openapi({ description: 'Rows may be taken back.' }),
  })
  .openapi('QueryOutput');
export type QueryOutput = z.infer<typeof QueryOutputSchema>;
