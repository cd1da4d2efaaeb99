/** Shapes of a pipeline's details: rows that went wrong, manifests of its lineage, its sinks, and the server itself. */
import { z } from '@hono/zod-openapi';

const micros = z.int();

export const ErrorRowSchema = z
  .object({
    id: z.string(),
    time: micros,
    generation: z.int().openapi({ description: '0: the row was refused when it was sent.' }),
    operator_id: z.string(),
    table: z.string().nullable().openapi({ description: 'Of a source or sink.' }),
    subtask: z.int(),
    partition: z.int().nullable(),
    code: z.string().openapi({ example: 'TYPE_MISMATCH' }),
    column: z.string().nullable().openapi({
      description: 'The column, or the text of the expression, that could not be read or computed.',
      example: 'price / qty',
    }),
    reason: z.string(),
    hint: z.string().nullable(),
    raw: z.string().nullable().openapi({
      description: "The row's beginning; null: it has none, or errors.raw = 'redact' on its table.",
    }),
    raw_sha256: z
      .string()
      .nullable()
      .openapi({ description: "SHA-256 of the row's bytes, in hexadecimal." }),
  })
  .openapi('ErrorRow');

export const ErrorRowsSchema = z
  .object({ data: z.array(ErrorRowSchema), hasMore: z.boolean() })
  .openapi('ErrorRowPage');

export const ManifestQuery = z.object({
  ref: z.string().min(1).max(1024).openapi({
    description: 'Key of an object of the lineage, as GET …/lineage names it.',
    example: 'pl_5bY2kd81Qz/job_8sh2LK0qWx/epochs/0000000012.record',
  }),
});

export const ManifestSchema = z
  .object({
    ref: z.string(),
    kind: z.enum(['checkpoint', 'generation', 'record', 'commit']),
    bytes: z.int().openapi({ description: 'Of the object itself.' }),
    manifest: z.record(z.string(), z.unknown()).openapi({ description: 'As it is stored.' }),
    files: z
      .array(
        z.object({
          key: z.string(),
          operator: z.string(),
          table: z.string(),
          bytes: z.int(),
          rows: z.int(),
        }),
      )
      .openapi({ description: 'State files, of a checkpoint.' }),
    outputs: z
      .array(
        z.object({
          key: z.string().openapi({ description: 'Where the output is staged.' }),
          target: z.string().openapi({ description: 'Where the commit puts it.' }),
          rows: z.int(),
          bytes: z.int(),
          committed: z.boolean(),
        }),
      )
      .openapi({ description: 'What the commit of a checkpoint makes visible.' }),
    phases: z
      .object({
        kind: z.enum(['scheduled', 'stopping', 'final']),
        attempt: z.int(),
        started_at: micros,
        aligned_at: micros.nullable(),
        published_at: micros.nullable(),
        committed_at: micros.nullable(),
        hosts: z.array(
          z.object({
            index: z.int(),
            bytes: z.int(),
            align_micros: z.int(),
            snapshot_micros: z.int(),
            upload_micros: z.int(),
            reported_at: micros,
          }),
        ),
      })
      .nullable()
      .openapi({ description: 'When the leader that cut it still remembers.' }),
  })
  .openapi('LineageManifest');

export const SinkStatusSchema = z
  .object({
    operator_id: z.string(),
    table: z.string(),
    connector: z.string(),
    path: z.string().nullable(),
    updating: z.boolean(),
    rows_received: z.int(),
    rows_staged: z
      .int()
      .openapi({ description: 'Received and not yet committed; 0 of sinks that do not stage.' }),
    rows_committed: z
      .int()
      .openapi({ description: 'Of sinks that do not stage: the same as rows_received.' }),
    last_commit_at: micros.nullable(),
    last_commit_epoch: z.int().nullable(),
    next_commit_at: micros.nullable().openapi({
      description: 'When the next checkpoint is due; null of sinks that do not stage, and at rest.',
    }),
    files: z
      .int()
      .nullable()
      .openapi({ description: 'Committed, of the epochs that are kept; null: it writes none.' }),
    files_since_epoch: z.int().nullable().openapi({
      description:
        'The oldest epoch that files are counted of: what was committed before is there and not counted. Null: all are.',
    }),
  })
  .openapi('SinkStatus');

export const SinksSchema = z.object({ data: z.array(SinkStatusSchema) }).openapi('SinkCollection');

export const FlushSchema = z
  .object({
    epoch: z.int().openapi({ description: 'Of the checkpoint that was begun, or runs already.' }),
  })
  .openapi('CheckpointStarted');

export const ServerSchema = z
  .object({
    name: z.literal('Thalweg'),
    version: z.string().openapi({ example: '0.1.0' }),
    local: z.boolean().openapi({ description: "On one's own machine: objects can be reset." }),
    code_version: z.string(),
    api: z.literal('v1'),
  })
  .openapi('Server');

export const ErrorRowsQuery = z.object({
  starting_after: z
    .string()
    .max(200)
    .optional()
    .openapi({ description: 'Id of the last entry of the page before.' }),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});

export type ErrorRow = z.infer<typeof ErrorRowSchema>;
export type ErrorRows = z.infer<typeof ErrorRowsSchema>;
export type LineageManifest = z.infer<typeof ManifestSchema>;
export type SinkStatus = z.infer<typeof SinkStatusSchema>;
export type Sinks = z.infer<typeof SinksSchema>;
export type FlushAnswer = z.infer<typeof FlushSchema>;
export type ServerInfo = z.infer<typeof ServerSchema>;
