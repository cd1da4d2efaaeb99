/**
 * The bucket of the simulated cluster: the lineage's store with fates, staged uploads, and what commits made
 * visible. It watches by itself that no record changes and that only what is canonical is committed.
 */
import { must } from '../../../src/base/assert.ts';
import type { StagedObject, StageRequest } from '../../../src/connectors/connector.ts';
import {
  checkpointManifestCodec,
  currentGenerationCodec,
  epochRecordCodec,
} from '../../../src/lineage/codec.ts';
import { contentHash } from '../../../src/lineage/content-hash.ts';
import { LineagePaths } from '../../../src/lineage/paths.ts';
import type { StoreAnswer, StoreOp } from '../../../src/lineage/store.ts';
import type { CheckpointManifest, EpochRecord, SinkItem } from '../../../src/lineage/types.ts';
import { MemoryObjectStore } from '../memory-object-store.ts';
import type { VirtualClock } from './clock.ts';
import type { Dice } from './faults.ts';

export const PATHS = new LineagePaths('pl', 'job');

/** What one commit of one sink made visible. */
export type Committed = {
  key: string;
  sink: string;
  epoch: number;
  /** The name it was staged under. */
  piece: string;
  bytes: Uint8Array;
  text: string;
};

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

export class ClusterBucket {
  readonly store = new MemoryObjectStore();
  readonly committed: Committed[] = [];
  /** Manifests that were canonical at some time, by epoch: a record says once and for ever. */
  readonly canonical = new Map<number, CheckpointManifest>();
  readonly #records = new Map<number, string>();
  readonly #staged = new Map<string, Uint8Array>();
  readonly #completed = new Set<string>();
  /** Last epoch appended, by sink, for sinks that append to one object. */
  readonly #appended = new Map<string, number>();
  readonly #clock: VirtualClock;
  readonly #dice: Dice;
  #unique = 0;

  constructor(clock: VirtualClock, dice: Dice) {
    this.#clock = clock;
    this.#dice = dice;
  }

  /** One request of the lineage, under a fate. */
  answer(op: StoreOp): StoreAnswer {
    if (op.op === 'pause') return this.store.answer(op);
    const fate = this.#fate();
    const answer = this.store.answer(op, fate);
    if (fate === 'delay')
      this.#clock.at(this.#clock.nowMs + this.#dice.prng.below(20_000), () => {
        this.store.land(this.#dice.prng.below(this.store.delayed.length));
        this.#look();
      });
    if (op.op === 'put') this.#look();
    return answer;
  }

  #fate(): 'apply' | 'lose-answer' | 'delay' | 'throttle' | 'fail' {
    if (this.#dice.strikes('storeAnswerLost')) return 'lose-answer';
    if (this.#dice.strikes('storeLate')) return 'delay';
    if (this.#dice.strikes('storeThrottled')) return 'throttle';
    return this.#dice.strikes('storeFailed') ? 'fail' : 'apply';
  }

  /** Epochs below it are history: a claim that comes too late may put a record there again, and nobody reads it. */
  #floor(): number {
    const current = this.store.objects.get(PATHS.current);
    return current === undefined ? 0 : decoded(currentGenerationCodec.decode(current.body)).floor;
  }

  /** Every record says what it said first. */
  #look(): void {
    const floor = this.#floor();
    for (const [key, { body }] of this.store.objects) {
      const name = PATHS.parse(key);
      if (name?.tag !== 'record' || name.epoch < floor) continue;
      const text = textOf(body);
      const known = this.#records.get(name.epoch);
      if (known === text) continue;
      if (known !== undefined) throw new Error(`the record of epoch ${name.epoch} has changed`);
      this.#records.set(name.epoch, text);
      this.canonical.set(name.epoch, this.#manifestOf(decoded(epochRecordCodec.decode(body))));
    }
  }

  #manifestOf(record: EpochRecord): CheckpointManifest {
    const { ref, hash } = record.checkpoint;
    const { body } = must(this.store.objects.get(ref), `manifest ${ref}`);
    if (contentHash(body) !== hash) throw new Error(`${ref} is not what its record says`);
    const manifest = decoded(checkpointManifestCodec.decode(body));
    for (const file of manifest.files) {
      const stored = must(this.store.objects.get(file.key), `file ${file.key}`);
      if (contentHash(stored.body) !== file.hash) throw new Error(`${file.key} has another hash`);
    }
    return manifest;
  }

  stage({ key, bytes, rows, method }: StageRequest): StagedObject {
    const id = `u${this.#unique++}`;
    const uploadId = method === 'multipart' ? id : null;
    this.#staged.set(uploadId ?? key, bytes);
    return { key, uploadId, etag: id, size: bytes.byteLength, rows };
  }

  /** Commits the items of one sink, once whatever is repeated; returns the keys that appeared. */
  commit(sink: string, path: string, epoch: number, items: readonly SinkItem[]): string[] {
    this.#mustBeCanonical(epoch, items);
    const staged = items.map((item) => item.payload as unknown as StagedObject);
    const keys = staged
      .filter(({ uploadId }) => uploadId !== null)
      .flatMap((item) => this.#complete(sink, item, epoch));
    const appended = staged.filter(({ uploadId }) => uploadId === null);
    if (appended.length === 0 || (this.#appended.get(sink) ?? 0) >= epoch) return keys;
    this.#appended.set(sink, epoch);
    for (const { key } of appended) {
      const bytes = must(this.#staged.get(key), key);
      this.committed.push({ key: path, sink, epoch, piece: key, bytes, text: textOf(bytes) });
    }
    return [...keys, path];
  }

  #mustBeCanonical(epoch: number, items: readonly SinkItem[]): void {
    const manifest = must(this.canonical.get(epoch), `canonical checkpoint of epoch ${epoch}`);
    const known = new Set(manifest.items.map((item) => JSON.stringify(item)));
    for (const item of items)
      if (!known.has(JSON.stringify(item)))
        throw new Error(`epoch ${epoch} commits what is not in it: ${JSON.stringify(item)}`);
  }

  #complete(sink: string, item: StagedObject, epoch: number): string[] {
    const uploadId = must(item.uploadId, 'upload id');
    if (this.#completed.has(uploadId)) return [];
    // What was thrown away must not be needed any more: not by a checkpoint that was canonical then, nor by a later one.
    if (this.store.aborted.some(({ payload }) => (payload as StagedObject).uploadId === uploadId))
      throw new Error(`${item.key} is committed after it was thrown away`);
    this.#completed.add(uploadId);
    if (this.committed.some((object) => object.key === item.key))
      throw new Error(`${item.key} was committed twice`);
    const bytes = must(this.#staged.get(uploadId), 'upload');
    const { key } = item;
    this.committed.push({ key, sink, epoch, piece: key, bytes, text: textOf(bytes) });
    return [item.key];
  }

  /** What has to hold of the store by itself, at any time. */
  check(): void {
    const floor = this.#floor();
    const epochs = [...this.#records.keys()].sort((left, right) => left - right);
    epochs.forEach((epoch, at) => {
      if (epoch !== at + 1) throw new Error(`epochs ${epochs.join(' ')} have a hole`);
      if (epoch < floor) return;
      const { body } = must(this.store.objects.get(PATHS.record(epoch)), `record ${epoch}`);
      const record = decoded(epochRecordCodec.decode(body));
      const manifest = this.#manifestOf(record);
      const before = this.#records.get(epoch - 1);
      const parent = before === undefined ? null : (JSON.parse(before) as EpochRecord).checkpoint;
      if (JSON.stringify(record.parent) !== JSON.stringify(parent))
        throw new Error(`epoch ${epoch} is no child of epoch ${epoch - 1}`);
      const marker = PATHS.marker(record.generation, record.nonce, epoch);
      if (epoch < epochs.length && manifest.needsCommit && !this.store.objects.has(marker))
        throw new Error(`epoch ${epoch + 1} follows epoch ${epoch}, which has no marker`);
    });
  }
}

function decoded<T>(result: { tag: 'decoded'; value: T } | { tag: 'broken'; message: string }): T {
  if (result.tag === 'broken') throw new Error(result.message);
  return result.value;
}
