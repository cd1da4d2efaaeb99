/**
 * The lineage as the API shows it: reads only, decides nothing.
 *
 * Place in the walk: beside it. Invariants: no request writes; anybody may call it at any time. Not guaranteed: one
 * moment in time, since the owner goes on; an object that was collected or damaged meanwhile appears under
 * `unreadable`. Failure: `unavailable` when the store does not answer; `none` when there is no lineage yet.
 */
import { currentGenerationCodec, generationManifestCodec } from './codec.ts';
import { read, readCheckpoint, readRecord, unavailable } from './context.ts';
import type { Broken, Unavailable } from './context.ts';
import { listEpochs } from './open.ts';
import type { LineageName, LineagePaths } from './paths.ts';
import { listAll } from './store.ts';
import type { Lineage } from './store.ts';
import type {
  CheckpointManifest,
  CurrentGeneration,
  EpochRecord,
  GenerationManifest,
} from './types.ts';

/** A canonical checkpoint. `committed`: nothing to commit, or its marker exists. */
export type CanonicalCheckpoint = {
  epoch: number;
  record: EpochRecord;
  manifest: CheckpointManifest;
  committed: boolean;
};

/** A manifest that is not canonical. `lost`: its epoch went to another; `unclaimed`: its epoch has no record (yet). */
export type OtherManifest = {
  ref: string;
  epoch: number;
  generation: number;
  nonce: string;
  state: 'lost' | 'unclaimed';
};

export type LineageView = {
  current: CurrentGeneration;
  /** Epochs at or above the floor, ascending. */
  checkpoints: CanonicalCheckpoint[];
  /** What leaders noted when they began, by generation; older ones go with their last object. */
  generations: GenerationManifest[];
  others: OtherManifest[];
  /** Keys and reasons, one line each. */
  unreadable: string[];
};

export type ReadOutcome =
  | { tag: 'read'; view: LineageView }
  | { tag: 'none' }
  | Broken
  | Unavailable;

/** The canonical checkpoints, the generations seen and the manifests that lost. */
export function* readLineage(paths: LineagePaths): Lineage<ReadOutcome> {
  const current = yield* read(paths.current, currentGenerationCodec);
  if (current.tag === 'missing') return { tag: 'none' };
  if (current.tag !== 'found') return current;
  const view: LineageView = {
    current: current.value,
    checkpoints: [],
    generations: [],
    others: [],
    unreadable: [],
  };
  const listed = yield* listEpochs(paths, current.value.floor);
  if (listed.tag === 'unavailable') return listed;
  for (const epoch of listed.epochs) {
    const failed = yield* readEpoch(paths, epoch, view);
    if (failed !== null) return failed;
  }
  const objects = yield* listAll(paths.generations);
  if (objects.tag === 'unanswered') return unavailable(objects.message);
  for (const key of objects.keys) {
    const name = paths.parse(key);
    if (name?.tag === 'manifest') noteOther(key, name, listed.epochs, view);
    if (name?.tag !== 'generation') continue;
    const manifest = yield* read(key, generationManifestCodec);
    if (manifest.tag === 'unavailable') return manifest;
    if (manifest.tag === 'found') view.generations.push(manifest.value);
    else view.unreadable.push(lineOf(key, manifest));
  }
  return { tag: 'read', view };
}

function* readEpoch(
  paths: LineagePaths,
  epoch: number,
  view: LineageView,
): Lineage<Unavailable | null> {
  const key = paths.record(epoch);
  const record = yield* readRecord(paths, epoch);
  if (record.tag === 'unavailable') return record;
  if (record.tag !== 'found') {
    view.unreadable.push(lineOf(key, record));
    return null;
  }
  const checkpoint = yield* readCheckpoint(paths, record.value);
  if (checkpoint.tag === 'unavailable') return checkpoint;
  if (checkpoint.tag === 'broken') {
    view.unreadable.push(lineOf(key, checkpoint));
    return null;
  }
  const { manifest, tip } = checkpoint;
  view.checkpoints.push({ epoch, record: record.value, manifest, committed: tip.committed });
  return null;
}

function noteOther(
  ref: string,
  name: Extract<LineageName, { tag: 'manifest' }>,
  epochs: readonly number[],
  view: LineageView,
): void {
  const { epoch, generation, nonce } = name;
  if (epoch < view.current.floor) return;
  if (!epochs.includes(epoch)) {
    view.others.push({ ref, epoch, generation, nonce, state: 'unclaimed' });
    return;
  }
  // Of an epoch whose record cannot be read nobody knows who lost it.
  const canonical = view.checkpoints.find((checkpoint) => checkpoint.epoch === epoch);
  if (canonical === undefined || canonical.record.checkpoint.ref === ref) return;
  view.others.push({ ref, epoch, generation, nonce, state: 'lost' });
}

function lineOf(key: string, why: { tag: 'missing' } | Broken): string {
  return why.tag === 'missing' ? `${key} is missing` : why.report.message;
}
