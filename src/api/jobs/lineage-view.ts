/**
 * The lineage as a tree for people: generations, the canonical line, and beside it the checkpoints that lost, each with
 * what beat it.
 */
import { z } from '@hono/zod-openapi';
import { toldOf } from '../../audit/entries.ts';
import { isReset, piecesOf } from '../../audit/totals.ts';
import type { LineageView, OtherManifest } from '../../lineage/read.ts';
import type { CheckpointManifest } from '../../lineage/types.ts';
import { microsOf } from '../views.ts';

const BeatenSchema = z
  .object({
    by: z.enum(['record', 'generation']).openapi({
      description:
        'record: the epoch has another checkpoint; generation: it was not claimed before a newer generation took over.',
    }),
    ref: z.string().nullable().openapi({ description: 'The checkpoint that won.' }),
    generation: z.int(),
  })
  .openapi('Beaten');

const OtherSchema = z.object({
  ref: z.string(),
  generation: z.int(),
  nonce: z.string(),
  state: z.enum(['lost', 'unclaimed']),
  beaten: BeatenSchema.nullable().openapi({ description: 'Null: it may still be claimed.' }),
});

const EpochSchema = z
  .object({
    epoch: z.int(),
    ref: z.string().openapi({ description: 'Key of the canonical manifest.' }),
    parent: z.string().nullable().openapi({ description: 'Key of the manifest it continues.' }),
    parent_epoch: z.int().nullable(),
    generation: z.int(),
    nonce: z.string().openapi({ description: 'Of the start of the leader that claimed it.' }),
    kind: z.enum(['data', 'fence']),
    reset: z.boolean(),
    attempt: z.int(),
    created_at: z.int(),
    committed: z.boolean(),
    commit: z.enum(['none', 'marked', 'open']),
    finished: z.boolean(),
    files: z.int(),
    bytes: z.int().openapi({ description: 'Of the state files.' }),
    items: z.int(),
    input_rows: z.int().nullable().openapi({ description: 'Null: its version did not tell.' }),
    input_bytes: z.int().nullable(),
    output_rows: z.int(),
    output_bytes: z.int(),
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
    epochs: z.array(EpochSchema).openapi({ description: 'The canonical line, newest first.' }),
    unclaimed: z.array(OtherSchema.extend({ epoch: z.int() })),
    generations: z.array(
      z.object({
        generation: z.int(),
        nonce: z.string(),
        reason: z.string(),
        base_epoch: z.int().openapi({ description: 'The epoch it went on from.' }),
        epochs: z.array(z.int()).openapi({ description: 'What it won, of what is kept.' }),
        parallelism: z.int(),
        plan_hash: z.string(),
        created_at: z.int(),
      }),
    ),
    unreadable: z.array(z.string()),
  })
  .openapi('Lineage');

export type Lineage = z.infer<typeof LineageSchema>;
type EpochView = z.infer<typeof EpochSchema>;

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
  const epochs = epochViews(view);
  const known = new Set(epochs.map(({ epoch }) => epoch));
  return {
    generation: view.current.generation,
    floor: view.current.floor,
    epochs: epochs.sort((left, right) => right.epoch - left.epoch),
    unclaimed: view.others
      .filter((other) => !known.has(other.epoch))
      .map((other) => ({ epoch: other.epoch, ...otherView(view, other) })),
    generations: view.generations.map((manifest) => ({
      generation: manifest.generation,
      nonce: manifest.incarnation.nonce,
      reason: manifest.reason,
      base_epoch: manifest.baseEpoch,
      epochs: view.checkpoints
        .filter(
          ({ record }) =>
            record.generation === manifest.generation &&
            record.nonce === manifest.incarnation.nonce,
        )
        .map(({ epoch }) => epoch),
      parallelism: manifest.parallelism,
      plan_hash: manifest.planHash,
      created_at: microsOf(manifest.createdAtMs),
    })),
    unreadable: view.unreadable,
  };
}

function epochViews(view: LineageView): EpochView[] {
  const epochOf = new Map(
    view.checkpoints.map((checkpoint) => [checkpoint.record.checkpoint.ref, checkpoint.epoch]),
  );
  return toldOf(view.checkpoints).map(({ record, manifest, parent, committed }) => {
    const pieces = piecesOf(manifest.items);
    const from = record.parent?.ref ?? null;
    return {
      epoch: record.epoch,
      ref: record.checkpoint.ref,
      parent: from,
      parent_epoch: from === null ? null : (epochOf.get(from) ?? null),
      generation: manifest.generation,
      nonce: manifest.nonce,
      kind: manifest.kind,
      reset: isReset(parent ?? null, manifest),
      attempt: manifest.attempt,
      created_at: microsOf(manifest.createdAtMs),
      committed,
      commit: manifest.needsCommit ? (committed ? 'marked' : 'open') : 'none',
      finished: manifest.finished,
      files: manifest.files.length,
      bytes: sum(manifest.files, (file) => file.size),
      items: manifest.items.length,
      ...inputOf(manifest),
      output_rows: sum(pieces, (piece) => piece.rows),
      output_bytes: sum(pieces, (piece) => piece.size),
      others: view.others
        .filter((other) => other.epoch === record.epoch)
        .map((other) => otherView(view, other)),
    };
  });
}

function inputOf({ inputs }: CheckpointManifest): Pick<EpochView, 'input_rows' | 'input_bytes'> {
  if (inputs === null) return { input_rows: null, input_bytes: null };
  return {
    input_rows: sum(inputs, (range) => range.rows),
    input_bytes: sum(inputs, (range) => range.bytes),
  };
}

function otherView(view: LineageView, other: OtherManifest): z.infer<typeof OtherSchema> {
  const { ref, epoch, generation, nonce, state } = other;
  return { ref, generation, nonce, state, beaten: beatenBy(view, epoch, other) };
}

function beatenBy(
  view: LineageView,
  epoch: number,
  other: OtherManifest,
): z.infer<typeof BeatenSchema> | null {
  const winner = view.checkpoints.find((checkpoint) => checkpoint.epoch === epoch);
  if (winner !== undefined) {
    const { checkpoint, generation } = winner.record;
    return { by: 'record', ref: checkpoint.ref, generation };
  }
  const { generation, incarnation } = view.current;
  const isOwners =
    other.generation === generation && (incarnation === null || incarnation.nonce === other.nonce);
  return isOwners ? null : { by: 'generation', ref: null, generation };
}

const sum = <T>(items: readonly T[], value: (item: T) => number): number =>
  items.reduce((total, item) => total + value(item), 0);
