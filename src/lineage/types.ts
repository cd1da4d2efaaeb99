/**
 * The records of the lineage protocol, as they lie in the bucket.
 *
 * Place in the walk: stage 8 and 9. Format: JSON, one object per key, every key from `paths.ts`.
 * Invariants: INV-08 every file a manifest names exists with the size and hash it states;
 * INV-09 no name is written by two incarnations (names carry generation and nonce).
 */
import type { KeyRange } from '../base/hash.ts';

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | JsonValue[]
  | { [key: string]: JsonValue };

/** One start of a leader: the object, how often it has started, and a nonce fresh at each start. */
export type Incarnation = { objectId: string; startNo: number; nonce: string };

/** O1: who owns the pipeline. (generation, startNo, floor) only grows, so its content never repeats. */
export type CurrentGeneration = {
  version: 1;
  generation: number;
  incarnation: Incarnation | null;
  /** Epochs below the floor may have been collected. */
  floor: number;
  writeId: string;
  updatedAtMs: number;
};

/** One operator of the plan, as far as an audit needs it: whose rows it gets, and whether rows may vanish in it. */
export type PlannedOperator = {
  operator: string;
  /** `source`, `change-source`, `filter`, `project`, `union`, `window-aggregate`, `updating-aggregate`, `sink`. */
  kind: string;
  /** Operators whose rows it receives. */
  inputs: string[];
  /** Of a two-phase sink that writes one line a row; false for every other operator. */
  linePerRow: boolean;
  /** The object that a source reads; null when it reads none, or its version did not tell. */
  reads: string | null;
};

/** O2: informational. */
export type GenerationManifest = {
  version: 1;
  generation: number;
  incarnation: Incarnation;
  baseEpoch: number;
  baseRef: string | null;
  planHash: string;
  codeVersion: string;
  parallelism: number;
  reason: string;
  /** Null when the version that wrote it did not tell. */
  operators: PlannedOperator[] | null;
  createdAtMs: number;
};

/**
 * A state file (O3f). Rows hold keys whose routing hash lies in `keyRange`.
 *
 * The files of one operator, table and subtask are layers: those of layer 0 hold the whole table as it once was, those of
 * layer n what has changed since layer n − 1. A manifest names all of them. Several files of one layer are parts of it.
 */
export type StateFile = {
  operator: string;
  table: string;
  subtask: number;
  key: string;
  size: number;
  /** 32 hex digits: `contentHash` of the file's bytes (`content-hash.ts`). */
  hash: string;
  rows: number;
  keyRange: KeyRange;
  /** From 0; null from versions that knew whole tables only: 0. */
  layer: number | null;
};

/** Small state that every subtask of the operator sees on restore: source offsets, watermarks, counters. */
export type BroadcastState = { operator: string; table: string; subtask: number; value: JsonValue };

/**
 * Input that became part of the state since the parent: `[from, to)` of one partition of a source. Offsets are the
 * source's own, as in the broadcast table `offsets`. Several ranges of one partition follow each other.
 */
export type InputRange = {
  operator: string;
  partition: number;
  from: JsonValue;
  to: JsonValue;
  /** Rows, accepted or not. */
  rows: number;
  bytes: number;
  /** `StreamHash` of the bytes; null: there were none, because rows were generated or nothing was read. */
  hash: string | null;
};

/** One independent unit of a two-phase sink's commit; any host may commit it. */
export type SinkItem = { sink: string; subtask: number; index: number; payload: JsonValue };

/** O3: what a checkpoint is. */
export type CheckpointManifest = {
  version: 1;
  kind: 'data' | 'fence';
  epoch: number;
  generation: number;
  nonce: string;
  attempt: number;
  /** The newest data checkpoint of the line, this one included; a fence inherits its parent's, null before the first. */
  data: DataCheckpoint | null;
  parent: ManifestRef | null;
  planHash: string;
  parallelism: number;
  files: StateFile[];
  broadcast: BroadcastState[];
  /** Null in checkpoints of versions that did not tell; a fence has none. */
  inputs: InputRange[] | null;
  needsCommit: boolean;
  items: SinkItem[];
  /** Every source has ended: nothing will follow this epoch. */
  finished: boolean;
  createdAtMs: number;
};

/** Names one data checkpoint: which generation cut it, and at which attempt. */
export type DataCheckpoint = { generation: number; epoch: number; attempt: number };

/** Names a checkpoint: the key of its manifest and the `contentHash` of the manifest's bytes. */
export type ManifestRef = { ref: string; hash: string };

/** O4: the authority. The first record of an epoch names the canonical checkpoint. */
export type EpochRecord = {
  version: 1;
  epoch: number;
  checkpoint: ManifestRef;
  parent: ManifestRef | null;
  generation: number;
  nonce: string;
};

/** O5: every sink item of the epoch has been committed. */
export type CommittedMarker = { version: 1; epoch: number; ref: string; writer: Incarnation };

/**
 * The newest canonical checkpoint, as the owner knows it.
 * `epoch` 0 with `manifest` null is a new lineage. `committed`: nothing to commit, or the marker exists.
 */
export type Tip = {
  epoch: number;
  ref: ManifestRef | null;
  manifest: CheckpointManifest | null;
  committed: boolean;
};
