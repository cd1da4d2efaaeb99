/**
 * What each epoch of a line did, as entries that hold the hash of the one before: a whole history is one value.
 *
 * The hash of an entry is the SHA-256 of its JSON text without the member `hash`, members in the order of `EpochEntry`.
 * Where the epoch before is not told, `previous` is the SHA-256 of the JSON text of `parent`, which names the history before.
 *
 * Invariants: an entry depends on records, manifests and markers alone, so whoever reads the same bucket gets the same
 * values; the entry of a tip whose commit is still open changes once more. Failure: none.
 */
import { sha256 } from '../base/sha256.ts';
import { sameRef } from '../lineage/derive.ts';
import type { CanonicalCheckpoint } from '../lineage/read.ts';
import type { CheckpointManifest, EpochRecord, InputRange, ManifestRef } from '../lineage/types.ts';
import { deltasOf, isReset, type OutputPiece, piecesOf } from './totals.ts';

/** An epoch to tell of. `parent`: null before the first; undefined: not kept any more. */
export type ToldEpoch = {
  record: EpochRecord;
  manifest: CheckpointManifest;
  parent: CheckpointManifest | null | undefined;
  committed: boolean;
};

export type EpochEntry = {
  epoch: number;
  kind: 'data' | 'fence';
  /** The fence forgot the state: counting begins anew, offsets go on. */
  reset: boolean;
  /** Nothing follows. */
  finished: boolean;
  generation: number;
  nonce: string;
  attempt: number;
  /** What the record names. */
  checkpoint: ManifestRef;
  parent: ManifestRef | null;
  /** When the manifest was made, in microseconds since 1970. */
  created_at: number;
  /** Null: its version did not tell. */
  inputs: InputRange[] | null;
  /** What each operator counted since the parent; null: the parent is not kept. */
  counters: { [operator: string]: { [counter: string]: number } } | null;
  state: { files: number; rows: number; bytes: number };
  outputs: OutputPiece[];
  /** `none`: there is nothing to commit. */
  commit: 'none' | 'marked' | 'open';
  previous: string;
  hash: string;
};

export const textHash = (text: string): string => sha256(new TextEncoder().encode(text));

/** One entry for each of the epochs, ascending. */
export function auditEpochs(epochs: readonly ToldEpoch[]): EpochEntry[] {
  const entries: EpochEntry[] = [];
  for (const epoch of epochs) {
    const before = entries.at(-1);
    const follows = before !== undefined && before.epoch + 1 === epoch.record.epoch;
    const previous = follows ? before.hash : textHash(JSON.stringify(epoch.record.parent));
    const content = { ...contentOf(epoch), previous };
    entries.push({ ...content, hash: textHash(JSON.stringify(content)) });
  }
  return entries;
}

function contentOf({
  record,
  manifest,
  parent,
  committed,
}: ToldEpoch): Omit<EpochEntry, 'previous' | 'hash'> {
  const counters =
    parent === undefined || manifest.kind === 'fence'
      ? null
      : Object.fromEntries(
          [...deltasOf(parent, manifest)].map(([operator, counts]) => [operator, { ...counts }]),
        );
  return {
    epoch: record.epoch,
    kind: manifest.kind,
    reset: isReset(parent ?? null, manifest),
    finished: manifest.finished,
    generation: record.generation,
    nonce: record.nonce,
    attempt: manifest.attempt,
    checkpoint: record.checkpoint,
    parent: record.parent,
    created_at: Math.round(manifest.createdAtMs * 1000),
    inputs: manifest.inputs,
    counters,
    state: {
      files: manifest.files.length,
      rows: manifest.files.reduce((sum, { rows }) => sum + rows, 0),
      bytes: manifest.files.reduce((sum, { size }) => sum + size, 0),
    },
    outputs: piecesOf(manifest.items),
    commit: manifest.needsCommit ? (committed ? 'marked' : 'open') : 'none',
  };
}

/** The canonical checkpoints of a lineage that was read, ascending, as epochs to tell of. */
export function toldOf(checkpoints: readonly CanonicalCheckpoint[]): ToldEpoch[] {
  return checkpoints.map(({ record, manifest, committed }, index) => {
    const before = checkpoints[index - 1];
    const known = before !== undefined && sameRef(record.parent, before.record.checkpoint);
    const parent = known ? before.manifest : record.parent === null ? null : undefined;
    return { record, manifest, parent, committed };
  });
}
