/**
 * The rules of the lineage as named predicates.
 *
 * Place in the walk: stages 8-10. The workflows assert them before every conditional put, the tests and the model use
 * the same ones. A predicate that fails is a bug in Thalweg, never a matter of what lies in the bucket.
 * Failure: none; they return false.
 */
import type { LineagePaths } from './paths.ts';
import { sameRef } from './derive.ts';
import type {
  CheckpointManifest,
  CurrentGeneration,
  EpochRecord,
  StateFile,
  Tip,
} from './types.ts';

/** INV-01: (generation, start number, floor) only grows, so the content of O1 never repeats and no old condition holds again. */
export function currentGrows(before: CurrentGeneration | null, after: CurrentGeneration): boolean {
  if (before === null)
    return after.generation === 1 && after.incarnation === null && after.floor === 0;
  if (after.floor < before.floor) return false;
  if (after.generation !== before.generation) {
    return (
      after.generation === before.generation + 1 &&
      after.incarnation === null &&
      after.floor === before.floor
    );
  }
  if (after.incarnation === null) return false;
  if (before.incarnation === null) return after.floor === before.floor;
  if (after.incarnation.startNo !== before.incarnation.startNo) {
    const sameObject = after.incarnation.objectId === before.incarnation.objectId;
    return (
      sameObject &&
      after.incarnation.startNo > before.incarnation.startNo &&
      after.floor === before.floor
    );
  }
  return after.incarnation.nonce === before.incarnation.nonce && after.floor > before.floor;
}

/** INV-02: no epoch follows one whose commit may be open; nobody would redo it once it is not the tip. */
export function tipIsReady(tip: Tip): boolean {
  return tip.committed;
}

/** INV-03: a checkpoint is the child of the tip: next epoch, parent named with its hash. */
export function childOfTip(tip: Tip, manifest: CheckpointManifest): boolean {
  return manifest.epoch === tip.epoch + 1 && sameRef(manifest.parent, tip.ref);
}

/**
 * INV-04: a child references its parent's files unchanged, or files below its own epoch's name.
 *
 * Garbage collection relies on it: what the oldest retained manifest does not name and lies below older epochs is needed by no
 * retained one.
 */
export function filesDescend(
  paths: LineagePaths,
  parent: CheckpointManifest | null,
  manifest: CheckpointManifest,
): boolean {
  const inherited = new Map<string, StateFile>(
    (parent?.files ?? []).map((file) => [file.key, file]),
  );
  return manifest.files.every((file) => {
    const before = inherited.get(file.key);
    if (before !== undefined) return before.hash === file.hash && before.size === file.size;
    const name = paths.parse(file.key);
    return (
      name?.tag === 'file' &&
      name.epoch === manifest.epoch &&
      name.generation === manifest.generation &&
      name.nonce === manifest.nonce
    );
  });
}

/** INV-05: a fence takes effect by existing; there is nothing of it to commit. */
export function fenceIsInert(manifest: CheckpointManifest): boolean {
  return manifest.kind !== 'fence' || (!manifest.needsCommit && manifest.items.length === 0);
}

/** INV-06: what needs no commit has no items; what has items needs one. */
export function itemsNeedCommit(manifest: CheckpointManifest): boolean {
  return manifest.needsCommit || manifest.items.length === 0;
}

/** INV-07: a claim names a manifest under the claimer's own name and the epoch it claims. */
export function claimIsOwn(
  paths: LineagePaths,
  record: EpochRecord,
  generation: number,
  nonce: string,
): boolean {
  return (
    record.generation === generation &&
    record.nonce === nonce &&
    record.checkpoint.ref === paths.manifest(generation, nonce, record.epoch)
  );
}

/** INV-08: a file is what its manifest says it is. Whoever restores checks this before using the bytes. */
export function fileIsIntact(file: StateFile, size: number, hash: string): boolean {
  return file.size === size && file.hash === hash;
}

/** INV-10: the floor stays at or below the tip, so that the tip and its manifest are never collected. */
export function floorBelowTip(floor: number, tip: Tip): boolean {
  return floor >= 1 && floor <= tip.epoch;
}
