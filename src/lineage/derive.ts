/**
 * What the objects that were read say: pure functions from records to observable facts.
 *
 * Place in the walk: stage 10. Facts have adjectives for names; what to do about them is decided in `resolve.ts`.
 * Invariants: none of these functions takes the absence of knowledge for knowledge of absence. Failure: none.
 */
import { checkpointManifestCodec } from './codec.ts';
import { bytesEqual } from './store.ts';
import type {
  CheckpointManifest,
  CurrentGeneration,
  EpochRecord,
  Incarnation,
  ManifestRef,
  Tip,
} from './types.ts';

/** Before the first checkpoint of a lineage. */
export const NEW_LINEAGE: Tip = { epoch: 0, ref: null, manifest: null, committed: true };

export function sameIncarnation(left: Incarnation | null, right: Incarnation): boolean {
  return (
    left !== null &&
    left.objectId === right.objectId &&
    left.startNo === right.startNo &&
    left.nonce === right.nonce
  );
}

export function sameRef(left: ManifestRef | null, right: ManifestRef | null): boolean {
  if (left === null || right === null) return left === right;
  return left.ref === right.ref && left.hash === right.hash;
}

/** O1 names this start of this leader. */
export function isMine(current: CurrentGeneration, generation: number, me: Incarnation): boolean {
  return current.generation === generation && sameIncarnation(current.incarnation, me);
}

/** Where the lineage ends, by the epochs ≥ floor that have records, ascending. */
export type LineageEnd =
  | { tag: 'new' }
  | { tag: 'tip'; epoch: number }
  | { tag: 'hole'; epoch: number };

export function deriveEnd(floor: number, epochs: readonly number[]): LineageEnd {
  if (epochs.length === 0) return floor === 0 ? { tag: 'new' } : { tag: 'hole', epoch: floor };
  let wanted = Math.max(floor, 1);
  for (const epoch of epochs) {
    if (epoch !== wanted) return { tag: 'hole', epoch: wanted };
    wanted++;
  }
  return { tag: 'tip', epoch: wanted - 1 };
}

/** `ready`: nothing is left to do for it. `committing`: its commit may or may not have happened. */
export type CheckpointState = 'ready' | 'committing';

export function deriveCheckpointState(
  manifest: CheckpointManifest,
  marked: boolean,
): CheckpointState {
  return !manifest.needsCommit || marked ? 'ready' : 'committing';
}

/** Whether a record is the one this claim wanted; the answer "exists" alone says nothing. */
export function claimsSame(record: EpochRecord, wanted: EpochRecord): boolean {
  return record.epoch === wanted.epoch && sameRef(record.checkpoint, wanted.checkpoint);
}

/** The record, its manifest and its epoch agree. */
export function agrees(record: EpochRecord, manifest: CheckpointManifest): boolean {
  return (
    record.epoch === manifest.epoch &&
    record.generation === manifest.generation &&
    record.nonce === manifest.nonce &&
    sameRef(record.parent, manifest.parent)
  );
}

/** Equal but for the time of writing: what one start of a leader may write when it repeats itself. */
export function sameButTime(left: CheckpointManifest, right: CheckpointManifest): boolean {
  const { encode } = checkpointManifestCodec;
  return bytesEqual(encode({ ...left, createdAtMs: 0 }), encode({ ...right, createdAtMs: 0 }));
}
