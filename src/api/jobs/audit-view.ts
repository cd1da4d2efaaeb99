/** What each kept epoch did, as hash-chained entries. */
import { z } from '@hono/zod-openapi';
import { auditEpochs, toldOf } from '../../audit/entries.ts';
import type { LineageView } from '../../lineage/read.ts';

const RefSchema = z.object({ ref: z.string(), hash: z.string() });

const InputRangeSchema = z.object({
  operator: z.string(),
  partition: z.int(),
  from: z.unknown().openapi({ description: "The source's own offset; the range is [from, to)." }),
  to: z.unknown(),
  rows: z.int(),
  bytes: z.int(),
  hash: z.string().nullable().openapi({ description: 'Null: rows were generated, or none read.' }),
});

const OutputSchema = z.object({
  sink: z.string(),
  subtask: z.int(),
  index: z.int(),
  key: z.string().openapi({ description: 'Where it was staged.' }),
  target: z.string().openapi({ description: 'The object its rows are seen in once committed.' }),
  rows: z.int(),
  size: z.int(),
  hash: z.string().nullable(),
});

const EntrySchema = z
  .object({
    epoch: z.int(),
    kind: z.enum(['data', 'fence']),
    reset: z.boolean().openapi({ description: 'State was forgotten here; offsets go on.' }),
    finished: z.boolean(),
    generation: z.int(),
    nonce: z.string(),
    attempt: z.int(),
    checkpoint: RefSchema.openapi({ description: 'What the winning record names.' }),
    parent: RefSchema.nullable(),
    created_at: z.int(),
    inputs: z.array(InputRangeSchema).nullable(),
    counters: z
      .record(z.string(), z.record(z.string(), z.int()))
      .nullable()
      .openapi({ description: 'Counted since the parent, by operator; null: it is not kept.' }),
    state: z.object({ files: z.int(), rows: z.int(), bytes: z.int() }),
    outputs: z.array(OutputSchema),
    commit: z.enum(['none', 'marked', 'open']),
    previous: z.string(),
    hash: z.string().openapi({
      description: 'SHA-256 of the JSON text of this entry without the member hash, as sent.',
    }),
  })
  .openapi('AuditEntry');

export const AuditQuery = z.object({
  from: z.coerce.number().int().min(0).optional().openapi({ description: 'First epoch.' }),
  to: z.coerce.number().int().min(0).optional().openapi({ description: 'Last epoch.' }),
});

export const AuditSchema = z
  .object({
    floor: z.int().openapi({ description: 'Epochs below it may have been collected.' }),
    head: z
      .string()
      .nullable()
      .openapi({ description: 'The hash of the newest entry: all of them in one value.' }),
    data: z.array(EntrySchema).openapi({ description: 'Oldest first.' }),
    unreadable: z.array(z.string()).openapi({ description: 'The chain begins anew behind these.' }),
  })
  .openapi('Audit');

export function auditView(
  view: LineageView | null,
  { from = 0, to = Infinity }: z.infer<typeof AuditQuery>,
): z.infer<typeof AuditSchema> {
  const entries = auditEpochs(toldOf(view?.checkpoints ?? []));
  return {
    floor: view?.current.floor ?? 0,
    head: entries.at(-1)?.hash ?? null,
    data: entries.filter(({ epoch }) => epoch >= from && epoch <= to),
    unreadable: view?.unreadable ?? [],
  };
}
