/**
 * What must hold, watched from outside: the oracle sees each request that takes effect and remembers what the bucket forgets.
 *
 * Rules by their names in the specification of the lineage: I1 one canonical checkpoint an epoch for ever; I2 only canonical
 * ones are committed, in order; I3 parent chain; I4 a marker means committed; I5 output is exactly once; I6 a generation
 * restores from the tip; I7 a start that was replaced wins at most one epoch more; I8 what retained checkpoints reference
 * exists unchanged; I9 no name has two writers; I10 "no checkpoint" only for a new lineage; I11 a commit token has one
 * content.
 */
import {
  checkpointManifestCodec,
  committedMarkerCodec,
  currentGenerationCodec,
  epochRecordCodec,
} from '../../src/lineage/codec.ts';
import type { Codec } from '../../src/lineage/codec.ts';
import { contentHash } from '../../src/lineage/content-hash.ts';
import { sameRef } from '../../src/lineage/derive.ts';
import { currentGrows } from '../../src/lineage/invariants.ts';
import type {
  CheckpointManifest,
  CurrentGeneration,
  EpochRecord,
  ManifestRef,
  SinkItem,
} from '../../src/lineage/types.ts';
import { PATHS } from '../harness/lineage-leader.ts';
import type { SinkCall } from '../harness/lineage-leader.ts';
import type { BucketOp, Buckets, Objects } from './bucket.ts';
import { Interner } from './interning.ts';
import { demand, Violation } from './search.ts';

/** One canonical checkpoint, as it was when its record was created. */
type Canonical = {
  epoch: number;
  checkpoint: ManifestRef;
  kind: 'data' | 'fence';
  nonce: string;
  needsCommit: boolean;
  /** What there is to commit, as JSON. */
  items: string;
};

/** The target of one of several sinks: the last epoch it took, and how many rows of each partition it holds. */
export type Target = { sink: string; lastEpoch: number; rows: readonly number[] };

/**
 * All canonical checkpoints from epoch 1, what the sink's target holds (rows 0 to `rows` − 1), and the nonces of starts that
 * have won an epoch after O1 had ceased to name them.
 */
export type Memory = {
  canonical: readonly Canonical[];
  rows: number;
  lastEpoch: number;
  late: readonly string[];
  /** The epoch whose record storage has lost, null for none: after that only silence is asked for, not progress. */
  decayed: number | null;
  /** Of a pipeline with several sinks; `lastEpoch` is then the least of theirs, `rows` 0. */
  targets: readonly Target[];
};

export class Oracle {
  readonly #buckets: Buckets;
  readonly #memories = new Interner<Memory>();
  readonly #hashes = new Map<number, string>();
  readonly #whole = new Set<number>();
  readonly #manifests = new Map<number, CheckpointManifest>();
  readonly #records = new Map<number, EpochRecord>();
  readonly #owners = new Map<number, CurrentGeneration>();
  readonly empty: number;

  constructor(buckets: Buckets, targets: readonly Target[] = []) {
    this.#buckets = buckets;
    this.empty = this.#intern({
      canonical: [],
      rows: 0,
      lastEpoch: 0,
      late: [],
      decayed: null,
      targets,
    });
  }

  memory(number: number): Memory {
    return this.#memories.value(number);
  }

  /** The memory after a request that changed the bucket from `before` to `after`; throws a `Violation`. */
  watch(memory: number, op: BucketOp, before: number, after: number): number {
    if (before === after) return memory;
    let next = memory;
    if (op.op === 'put') {
      const name = PATHS.parse(op.key);
      if (name?.tag === 'record')
        next = this.#watchRecord(memory, op.body, this.#buckets.objects(before), name.epoch);
      if (name?.tag === 'marker') this.#watchMarker(memory, op.body);
      if (name?.tag === 'current') this.#watchCurrent(this.#buckets.objects(before), op.body);
    }
    this.#watchWhole(next, after);
    return next;
  }

  /** The memory after a call has reached the sink's target, which ignores epochs it has had. */
  watchSink(
    memory: number,
    call: SinkCall,
    takes: (epoch: number, lastEpoch: number) => boolean,
  ): number {
    const known = this.memory(memory);
    const canonical = known.canonical[call.epoch - 1];
    demand(
      canonical?.checkpoint.ref === call.ref,
      `I2, I11: epoch ${call.epoch} is committed from ${call.ref}, which is not canonical`,
    );
    if (!takes(call.epoch, known.lastEpoch)) return memory;
    const skipped = known.canonical.find(
      (each) => each.needsCommit && each.epoch > known.lastEpoch && each.epoch < call.epoch,
    );
    demand(
      skipped === undefined,
      `I2: epoch ${call.epoch} is committed before epoch ${skipped?.epoch}`,
    );
    call.rows.forEach((row, index) =>
      demand(row === known.rows + index, `I5: row ${row} follows ${known.rows + index} rows`),
    );
    return this.#intern({ ...known, rows: known.rows + call.rows.length, lastEpoch: call.epoch });
  }

  /** The memory after one of several sinks was told to commit its items of an epoch; rows are [partition, offset]. */
  watchItems(memory: number, sink: string, epoch: number, items: readonly SinkItem[]): number {
    const known = this.memory(memory);
    const canonical = known.canonical[epoch - 1];
    const wanted = (JSON.parse(canonical?.items ?? '[]') as SinkItem[]).filter(
      (item) => item.sink === sink,
    );
    demand(
      JSON.stringify(wanted) === JSON.stringify(items),
      `I2, I11: sink ${sink} is told to commit of epoch ${epoch} what is not canonical`,
    );
    const at = known.targets.findIndex((each) => each.sink === sink);
    const target = known.targets[at];
    demand(target !== undefined, `there is no sink ${sink}`);
    if (epoch <= target.lastEpoch) return memory;
    const skipped = known.canonical.find(
      (each) => each.needsCommit && each.epoch > target.lastEpoch && each.epoch < epoch,
    );
    demand(skipped === undefined, `I2: epoch ${epoch} is committed before ${skipped?.epoch}`);
    const rows = [...target.rows];
    for (const [partition, offset] of items.flatMap((item) => item.payload as [number, number][])) {
      demand(
        rows[partition] === offset,
        `I5: row ${offset} of partition ${partition} follows ${rows[partition]} rows in sink ${sink}`,
      );
      rows[partition] = offset + 1;
    }
    const targets = known.targets.with(at, { sink, lastEpoch: epoch, rows });
    const lastEpoch = Math.min(...targets.map((each) => each.lastEpoch));
    return this.#intern({ ...known, targets, lastEpoch });
  }

  /** The memory after storage has lost the record of an epoch. */
  decay(memory: number, epoch: number): number {
    return this.#intern({ ...this.memory(memory), decayed: epoch });
  }

  /** I6, I10: a leader opens the newest checkpoint, or the one before it if a zombie has just won one more. */
  watchOpened(memory: number, epoch: number): void {
    const { canonical } = this.memory(memory);
    demand(
      canonical.length - epoch <= 1,
      `${epoch === 0 ? 'I10' : 'I6'}: epoch ${epoch} is opened as the tip, but epoch ${canonical.length} is canonical`,
    );
  }

  /** I9: what an incarnation is about to write under `generations/` carries its nonce. */
  watchIntent(op: BucketOp, nonce: string): void {
    if (op.op !== 'put') return;
    const name = PATHS.parse(op.key);
    demand(name !== null, `I9: ${op.key} is no name of a lineage`);
    if (name.tag === 'manifest' || name.tag === 'file' || name.tag === 'generation') {
      demand(name.nonce === nonce, `I9: ${nonce} writes ${op.key}`);
    }
  }

  #watchRecord(memory: number, body: Uint8Array, objects: Objects, epoch: number): number {
    const known = this.memory(memory);
    const record = this.#decode(epochRecordCodec, body);
    // A claim that takes the place of a record that storage has lost is beyond anybody's power to refuse.
    if (epoch < this.#floor(objects) || epoch === known.decayed) return memory;
    const first = known.canonical[epoch - 1];
    demand(first === undefined, `I1: epoch ${epoch} is claimed again, by ${record.checkpoint.ref}`);
    demand(
      epoch === known.canonical.length + 1,
      `I3: epoch ${epoch} follows epoch ${known.canonical.length}`,
    );
    const manifest = this.#manifest(objects, record.checkpoint);
    demand(manifest !== null, `I8: epoch ${epoch} is claimed before its manifest is there`);
    const parent = known.canonical[epoch - 2];
    demand(
      sameRef(manifest.parent, parent?.checkpoint ?? null),
      `I3: the parent of epoch ${epoch} is not canonical`,
    );
    demand(
      !parent?.needsCommit || known.lastEpoch === parent.epoch,
      `I2: epoch ${epoch} is claimed while its parent is not committed`,
    );
    demand(
      manifest.kind === 'fence' || parent?.nonce === manifest.nonce,
      `I6: epoch ${epoch} follows another's checkpoint without a fence`,
    );
    const { kind, nonce, needsCommit } = manifest;
    const zombie = this.owner(objects)?.incarnation?.nonce !== nonce;
    demand(
      !zombie || !known.late.includes(nonce),
      `I7: ${nonce} wins epoch ${epoch} though it has already won one since it was replaced`,
    );
    return this.#intern({
      ...known,
      late: zombie ? [...known.late, nonce].toSorted() : known.late,
      canonical: [
        ...known.canonical,
        {
          epoch,
          checkpoint: record.checkpoint,
          kind,
          nonce,
          needsCommit,
          items: JSON.stringify(manifest.items),
        },
      ],
    });
  }

  #watchMarker(memory: number, body: Uint8Array): void {
    const known = this.memory(memory);
    const marker = this.#decode(committedMarkerCodec, body);
    demand(
      known.canonical[marker.epoch - 1]?.checkpoint.ref === marker.ref,
      `I4: a marker for ${marker.ref}, which is not canonical`,
    );
    demand(
      known.lastEpoch >= marker.epoch,
      `I4: epoch ${marker.epoch} is marked but was not committed`,
    );
  }

  #watchCurrent(objects: Objects, body: Uint8Array): void {
    const before = objects.get(PATHS.current);
    const old =
      before === undefined
        ? null
        : this.#decode(currentGenerationCodec, this.#buckets.body(before));
    demand(currentGrows(old, this.#decode(currentGenerationCodec, body)), 'O1 does not grow');
  }

  /** I8, and no canonical record at or above the floor is ever gone. */
  #watchWhole(memory: number, bucket: number): void {
    const memo = memory * 2 ** 24 + bucket;
    if (this.#whole.has(memo)) return;
    this.#whole.add(memo);
    const objects = this.#buckets.objects(bucket);
    const floor = this.#floor(objects);
    for (const { epoch, checkpoint } of this.memory(memory).canonical) {
      if (epoch < floor || epoch === this.memory(memory).decayed) continue;
      const record = objects.get(PATHS.record(epoch));
      demand(record !== undefined, `I1: the record of epoch ${epoch} is gone`);
      const named = this.#record(record).checkpoint;
      demand(sameRef(named, checkpoint), `I1: the record of epoch ${epoch} has changed`);
      const manifest = this.#manifest(objects, checkpoint);
      demand(manifest !== null, `I8: the manifest of epoch ${epoch} is gone`);
      for (const file of manifest.files) {
        const body = objects.get(file.key);
        demand(
          body !== undefined && this.#hash(body) === file.hash,
          `I8: ${file.key} of epoch ${epoch} is gone or changed`,
        );
      }
    }
  }

  #manifest(objects: Objects, checkpoint: ManifestRef): CheckpointManifest | null {
    const body = objects.get(checkpoint.ref);
    if (body === undefined || this.#hash(body) !== checkpoint.hash) return null;
    let manifest = this.#manifests.get(body);
    if (manifest === undefined) {
      manifest = this.#decode(checkpointManifestCodec, this.#buckets.body(body));
      this.#manifests.set(body, manifest);
    }
    return manifest;
  }

  #record(body: number): EpochRecord {
    let record = this.#records.get(body);
    if (record === undefined) {
      record = this.#decode(epochRecordCodec, this.#buckets.body(body));
      this.#records.set(body, record);
    }
    return record;
  }

  /** O1, null before the first allocation. */
  owner(objects: Objects): CurrentGeneration | null {
    const body = objects.get(PATHS.current);
    if (body === undefined) return null;
    let current = this.#owners.get(body);
    if (current === undefined) {
      current = this.#decode(currentGenerationCodec, this.#buckets.body(body));
      this.#owners.set(body, current);
    }
    return current;
  }

  #floor(objects: Objects): number {
    return this.owner(objects)?.floor ?? 0;
  }

  #hash(body: number): string {
    let hash = this.#hashes.get(body);
    if (hash === undefined) this.#hashes.set(body, (hash = contentHash(this.#buckets.body(body))));
    return hash;
  }

  #decode<T>(codec: Codec<T>, body: Uint8Array): T {
    const decoded = codec.decode(body);
    if (decoded.tag === 'broken') throw new Violation(decoded.message);
    return decoded.value;
  }

  #intern(memory: Memory): number {
    return this.#memories.intern(JSON.stringify(memory), () => memory);
  }
}
