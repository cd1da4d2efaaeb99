/**
 * Lineage objects to bytes and back.
 *
 * Place in the walk: stages 8-10. Format: JSON in UTF-8, members in the order of `types.ts`, so that equal records have
 * equal bytes and a repeated write can be told from a different one.
 *
 * Invariants: an object that cannot be decoded is `broken`, never empty and never "missing"; what was encoded decodes to
 * an equal record. Failure: `broken` with the place in the object.
 */
import type { KeyRange } from '../base/hash.ts';
import {
  anyJson,
  count,
  exactly,
  flag,
  hash,
  listOf,
  nullable,
  optional,
  record,
  ShapeError,
  text,
  timeMs,
} from './shape.ts';
import type { Reader } from './shape.ts';
import type {
  BroadcastState,
  CheckpointManifest,
  CommittedMarker,
  CurrentGeneration,
  DataCheckpoint,
  EpochRecord,
  GenerationManifest,
  Incarnation,
  InputRange,
  JsonValue,
  ManifestRef,
  PlannedOperator,
  SinkItem,
  StateFile,
} from './types.ts';

export type Decoded<T> = { tag: 'decoded'; value: T } | { tag: 'broken'; message: string };

/** Turns one kind of record into bytes and back. */
export type Codec<T> = { encode(value: T): Uint8Array; decode(bytes: Uint8Array): Decoded<T> };

const incarnation = record<Incarnation>({ objectId: text, startNo: count, nonce: text });
const manifestRef = record<ManifestRef>({ ref: text, hash });
const keyRange = record<KeyRange>({ lower: count, upper: count });

const plannedOperator = record<PlannedOperator>({
  operator: text,
  kind: text,
  inputs: listOf(text),
  linePerRow: flag,
  reads: optional(text),
});
const inputRange = record<InputRange>({
  operator: text,
  partition: count,
  from: anyJson,
  to: anyJson,
  rows: count,
  bytes: count,
  hash: nullable(hash),
});

export const currentGenerationCodec = codecOf(
  'current generation',
  record<CurrentGeneration>({
    version: exactly(1),
    generation: count,
    incarnation: nullable(incarnation),
    floor: count,
    writeId: text,
    updatedAtMs: timeMs,
  }),
);

export const generationManifestCodec = codecOf(
  'generation manifest',
  record<GenerationManifest>({
    version: exactly(1),
    generation: count,
    incarnation,
    baseEpoch: count,
    baseRef: nullable(text),
    planHash: text,
    codeVersion: text,
    parallelism: count,
    reason: text,
    operators: optional(listOf(plannedOperator)),
    createdAtMs: timeMs,
  }),
);

const stateFile = record<StateFile>({
  operator: text,
  table: text,
  subtask: count,
  key: text,
  size: count,
  hash,
  rows: count,
  keyRange,
  layer: optional(count),
});

export const checkpointManifestCodec = codecOf(
  'checkpoint manifest',
  record<CheckpointManifest>({
    version: exactly(1),
    kind: exactly('data', 'fence'),
    epoch: count,
    generation: count,
    nonce: text,
    attempt: count,
    data: nullable(record<DataCheckpoint>({ generation: count, epoch: count, attempt: count })),
    parent: nullable(manifestRef),
    planHash: text,
    parallelism: count,
    files: listOf(stateFile),
    broadcast: listOf(
      record<BroadcastState>({ operator: text, table: text, subtask: count, value: anyJson }),
    ),
    inputs: optional(listOf(inputRange)),
    needsCommit: flag,
    items: listOf(record<SinkItem>({ sink: text, subtask: count, index: count, payload: anyJson })),
    finished: flag,
    createdAtMs: timeMs,
  }),
);

export const epochRecordCodec = codecOf(
  'epoch record',
  record<EpochRecord>({
    version: exactly(1),
    epoch: count,
    checkpoint: manifestRef,
    parent: nullable(manifestRef),
    generation: count,
    nonce: text,
  }),
);

export const committedMarkerCodec = codecOf(
  'committed marker',
  record<CommittedMarker>({
    version: exactly(1),
    epoch: count,
    ref: text,
    writer: incarnation,
  }),
);

function codecOf<T extends object>(what: string, reader: Reader<T>): Codec<T> {
  return {
    /** Reading before writing orders the members and stops a record that could not be read back. */
    encode: (value) => new TextEncoder().encode(JSON.stringify(reader(value as JsonValue, what))),
    decode: (bytes) => decodeJson(bytes, what, reader),
  };
}

function decodeJson<T>(bytes: Uint8Array, what: string, reader: Reader<T>): Decoded<T> {
  try {
    const source = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { tag: 'decoded', value: reader(JSON.parse(source) as JsonValue, what) };
  } catch (thrown) {
    if (thrown instanceof ShapeError) return { tag: 'broken', message: thrown.message };
    return { tag: 'broken', message: `the ${what} is not JSON` };
  }
}
