/** Shapes of what an editor needs: formatting, completion, guessed schemas, checked rows and functions tried out. */
import { z } from '@hono/zod-openapi';
import { ReportSchema } from '../http/problem.ts';
import { DiagnosticSchema } from './diagnostic-shapes.ts';
import { strictShape } from '../http/strict-shape.ts';
import { RowErrorSchema, RowWarningSchema } from '../rows/rows-shapes.ts';

const query = z.string().openapi({ example: 'select id from ev where id>7' });

// Formatting.

export const FormatRequestSchema = strictShape({ query }).openapi('FormatRequest');
export const FormatAnswerSchema = z.object({ query: z.string() }).openapi('FormatAnswer');
export type FormatRequest = z.infer<typeof FormatRequestSchema>;
export type FormatAnswer = z.infer<typeof FormatAnswerSchema>;

// Completion.

export const CompletionFunctionSchema = z
  .object({
    name: z.string().openapi({ example: 'date_trunc' }),
    kind: z.enum(['scalar', 'aggregate', 'window', 'table', 'operator']),
    category: z.string().openapi({ example: 'date and time' }),
    signatures: z
      .array(z.string())
      .openapi({ example: ['date_trunc(unit TEXT, value TIMESTAMP) → TIMESTAMP'] }),
    doc: z.string(),
    example: z.string().nullable(),
    aliases: z.array(z.string()).optional().openapi({ description: 'Other names of the same.' }),
  })
  .openapi('CompletionFunction');
export type CompletionFunction = z.infer<typeof CompletionFunctionSchema>;

export const CompletionOptionSchema = z
  .object({
    name: z.string(),
    type: z.enum(['text', 'integer', 'number', 'boolean', 'duration', 'bytes', 'choice', 'names']),
    doc: z.string(),
    required: z.boolean(),
    default: z.union([z.string(), z.number(), z.boolean()]).nullable(),
    choices: z.array(z.string()).optional(),
    for: z.enum(['source', 'sink', 'both']),
  })
  .openapi('CompletionOption');
export type CompletionOption = z.infer<typeof CompletionOptionSchema>;

export const CompletionConnectorSchema = z
  .object({
    name: z.string(),
    doc: z.string(),
    source: z.boolean(),
    sink: z.boolean(),
    options: z
      .array(CompletionOptionSchema)
      .openapi({ description: 'Its own, then those of every table that it takes.' }),
    columns: z
      .array(z.object({ name: z.string(), type: z.string() }))
      .nullable()
      .openapi({ description: 'Of connectors whose tables declare no columns.' }),
  })
  .openapi('CompletionConnector');
export type CompletionConnector = z.infer<typeof CompletionConnectorSchema>;

export const SnippetSchema = z
  .object({
    label: z.string(),
    doc: z.string(),
    template: z
      .string()
      .openapi({ description: 'Holes are ${name}: the text between the braces stands in them.' }),
  })
  .openapi('Snippet');
export type Snippet = z.infer<typeof SnippetSchema>;

export const CompletionsSchema = z
  .object({
    keywords: z.array(z.string()),
    types: z.array(z.object({ name: z.string(), doc: z.string() })),
    functions: z.array(CompletionFunctionSchema),
    connectors: z.array(CompletionConnectorSchema),
    snippets: z.array(SnippetSchema),
  })
  .openapi('Completions');
export type Completions = z.infer<typeof CompletionsSchema>;

// Schemas of pasted rows.

/** Pasted text, in characters: a sample, not a load. */
export const PASTED_MAX = 1_000_000;

const rows = z.string().max(PASTED_MAX).openapi({
  description: 'NDJSON, a JSON array, or one object over several lines.',
  example: '{"id": 1, "at": "2026-01-01T00:00:00Z"}\n{"id": 2, "at": "2026-01-01T00:00:01Z"}',
});

const place = {
  index: z.int().openapi({ description: 'Of the row, from 0; blank lines are no rows.' }),
  line: z.int().openapi({ description: 'Of the pasted text, from 1, where the row begins.' }),
};

export const InferRequestSchema = strictShape({
  rows,
  table: z.string().trim().min(1).max(200).optional().openapi({ example: 'orders' }),
}).openapi('InferSchemaRequest');
export type InferRequest = z.infer<typeof InferRequestSchema>;

export const InferredColumnSchema = z
  .object({
    name: z.string(),
    type: z.string(),
    required: z
      .boolean()
      .openapi({ description: 'At least two rows were read, and each has a value here.' }),
    examples: z
      .array(z.string())
      .openapi({ description: 'Different values as they were written; at most 3.' }),
    note: z.string().nullable().openapi({ description: 'What was hard to tell.' }),
  })
  .openapi('InferredColumn');
export type InferredColumn = z.infer<typeof InferredColumnSchema>;

export const InferredRowSchema = z
  .object({
    ...place,
    accepted: z.boolean().openapi({ description: 'By the table as the SQL declares it.' }),
    errors: z.array(RowErrorSchema),
    raw: z.string().openapi({ description: 'The beginning of the row as it was pasted.' }),
  })
  .openapi('InferredRow');
export type InferredRow = z.infer<typeof InferredRowSchema>;

export const InferAnswerSchema = z
  .object({
    table: z.string(),
    columns: z.array(InferredColumnSchema),
    event_time: z
      .string()
      .nullable()
      .openapi({ description: 'The column that seems to say when a row happened.' }),
    left_out: z.int().openapi({
      description: 'Keys that became no column: the empty one, and those beyond 500.',
    }),
    sql: z.string().openapi({ description: 'CREATE TABLE.' }),
    accepted: z.int().openapi({ description: 'Of all rows that were looked at, at most 10000.' }),
    rejected: z.int(),
    rows: z.array(InferredRowSchema).openapi({ description: 'At most 1000.' }),
  })
  .openapi('InferSchemaAnswer');
export type InferAnswer = z.infer<typeof InferAnswerSchema>;

export const CheckRowsRequestSchema = strictShape({
  sql: z.string().openapi({ description: 'One CREATE TABLE.' }),
  rows,
}).openapi('CheckRowsRequest');
export type CheckRowsRequest = z.infer<typeof CheckRowsRequestSchema>;

export const CheckedRowSchema = InferredRowSchema.extend({
  warnings: z.array(RowWarningSchema),
  value: z
    .string()
    .nullable()
    .openapi({ description: 'The row as it was understood, as JSON; null when it was refused.' }),
}).openapi('CheckedRow');
export type CheckedRow = z.infer<typeof CheckedRowSchema>;

export const CheckRowsAnswerSchema = z
  .object({
    rows: z.array(CheckedRowSchema).openapi({ description: 'At most 1000.' }),
    accepted: z.int(),
    rejected: z.int(),
    reports: z
      .array(DiagnosticSchema)
      .openapi({ description: 'What is wrong with the CREATE TABLE; no row is checked then.' }),
  })
  .openapi('CheckRowsAnswer');
export type CheckRowsAnswer = z.infer<typeof CheckRowsAnswerSchema>;

// Functions tried out.

export const CALLS_MAX = 100;

export const EvaluateRequestSchema = strictShape({
  definition: z.string().openapi({
    description: 'One CREATE FUNCTION statement.',
    example:
      'CREATE FUNCTION twice(n BIGINT) RETURNS BIGINT LANGUAGE javascript AS $$ return n * 2n; $$',
  }),
  calls: z
    .array(z.string().max(1_000_000))
    .max(CALLS_MAX)
    .openapi({
      description: 'Each a JSON array of the arguments, as text, so that no digit is lost.',
      example: ['[21]', '[9007199254740993]', '[null]'],
    }),
}).openapi('EvaluateUdfRequest');
export type EvaluateRequest = z.infer<typeof EvaluateRequestSchema>;

export const EvaluatedCallSchema = z
  .object({
    value: z.string().nullable().openapi({
      description:
        'The result as JSON, as text; of a table function an array of its rows. null: there is none.',
    }),
    error: z.string().nullable(),
    micros: z.int().openapi({ description: 'Of the call with the way there and back.' }),
  })
  .openapi('EvaluatedCall');
export type EvaluatedCall = z.infer<typeof EvaluatedCallSchema>;

export const EvaluateAnswerSchema = z
  .object({
    udf_name: z.string().nullable(),
    reports: z.array(ReportSchema).openapi({ description: 'What is wrong with the definition.' }),
    results: z
      .array(EvaluatedCallSchema)
      .openapi({ description: 'One for each call; none when the definition is wrong.' }),
  })
  .openapi('EvaluateUdfAnswer');
export type EvaluateAnswer = z.infer<typeof EvaluateAnswerSchema>;
