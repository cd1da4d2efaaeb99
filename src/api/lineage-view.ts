/** The lineage as a tree for people: canonical checkpoints, each with the manifests of its epoch that lost. */
import { z } from '@hono/zod-openapi';
import type { LineageView } from '../lineage/read.ts';
import { microsOf } from './views.ts';

const OtherSchema = z.object({
  ref: z.string(),
  generation: z.int(),
  state: z.enum(['lost', 'unclaimed']),
});

const EpochSchema = z
  .object({
    epoch: z.int(),
    ref: z.string().openapi({ description: 'Key of the canonical manifest.' }),
    parent: z.string().nullable().openapi({ description: 'Key of the manifest it continues.' }),
    parent_epoch: z.int().nullable(),
    generation: z.int(),
    kind: z.enum(['data', 'fence']),
    created_at: z.int(),
    committed: z.boolean(),
    finished: z.boolean(),
    files: z.int(),
    bytes: z.int(),
    items: z.int(),
    others: z
      .array(OtherSchema)
      .openapi({ description: 'Manifests of the same epoch that are not canonical.' }),
  })
  .openapi('LineageEpoch');

export const LineageSchema = z
  .object({
    generation: z
      .int()
      .nullable()
      .openapi({ description: 'The owner; null: there is no lineage yet.' }),
    floor: z.int().openapi({ description: 'Epochs below it may have been collected.' }),
    epochs: z.array(EpochSchema).openapi({ description: 'Newest first.' }),
    unclaimed: z.array(z.object({ ref: z.string(), epoch: z.int(), generation: z.int() })),
    generations: z.array(
      z.object({
        generation: z.int(),
        reason: z.string(),
        base_epoch: z.int(),
        parallelism: z.int(),
        plan_hash: z.string(),
        created_at: z.int(),
      }),
    ),
    unreadable: z.array(z.string()),
  })
  .openapi('Lineage');

export function lineageView(view: LineageView | null): z.infer<typeof LineageSchema> {
  if (view === null)
    return {
      generation: null,
      floor: 0,
      epochs: [],
      unclaimed: [],
      generations: [],
      unreadable: [],
    };
  const epochOf = new Map(
    view.checkpoints.map((checkpoint) => [checkpoint.record.checkpoint.ref, checkpoint.epoch]),
  );
  const epochs = view.checkpoints.map(({ epoch, record, manifest, committed }) => {
    const parent = record.parent?.ref ?? null;
    return {
      epoch,
      ref: record.checkpoint.ref,
      parent,
      parent_epoch: parent === null ? null : (epochOf.get(parent) ?? null),
      generation: manifest.generation,
      kind: manifest.kind,
      created_at: microsOf(manifest.createdAtMs),
      committed,
      finished: manifest.finished,
      files: manifest.files.length,
      bytes: manifest.files.reduce((sum, file) => sum + file.size, 0),
      items: manifest.items.length,
      others: view.others
        .filter((other) => other.epoch === epoch)
        .map(({ ref, generation, state }) => ({ ref, generation, state })),
    };
  });
  const known = new Set(epochs.map(({ epoch }) => epoch));
  return {
    generation: view.current.generation,
    floor: view.current.floor,
    epochs: epochs.sort((left, right) => right.epoch - left.epoch),
    unclaimed: view.others
      .filter((other) => !known.has(other.epoch))
      .map(({ ref, epoch, generation }) => ({ ref, epoch, generation })),
    generations: view.generations.map((manifest) => ({
      generation: manifest.generation,
      reason: manifest.reason,
      base_epoch: manifest.baseEpoch,
      parallelism: manifest.parallelism,
      plan_hash: manifest.planHash,
      created_at: microsOf(manifest.createdAtMs),
    })),
    unreadable: view.unreadable,
  };
}
