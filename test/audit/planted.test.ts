/**
 * Corruptions planted into the bucket of a real run, one each: verification has to say what is wrong and where, and
 * nothing else. Some are planted with all hashes made right again, as a bug in the writer would.
 */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { must } from '../../src/base/assert.ts';
import type { FindingCode } from '../../src/audit/findings.ts';
import {
  checkpointManifestCodec,
  committedMarkerCodec,
  epochRecordCodec,
  type Codec,
} from '../../src/lineage/codec.ts';
import { contentHash } from '../../src/lineage/content-hash.ts';
import type { CheckpointManifest, EpochRecord, InputRange } from '../../src/lineage/types.ts';
import { PATHS } from '../harness/cluster/bucket.ts';
import { MemoryObjectStore } from '../harness/memory-object-store.ts';
import { bucketOf, clusterOf, FILES, put, verdictOn } from './world.ts';

// Whole runs of a cluster: a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** The bucket under attack. */
class Victim {
  readonly store = new MemoryObjectStore({ pageSize: 7 });

  constructor(from: MemoryObjectStore) {
    for (const [key, { body }] of from.objects) put(this.store, key, body.slice());
  }

  bytes(key: string): Uint8Array {
    return must(this.store.objects.get(key), key).body;
  }

  read<T>(key: string, codec: Codec<T>): T {
    const decoded = codec.decode(this.bytes(key));
    if (decoded.tag === 'broken') throw new Error(`${key}: ${decoded.message}`);
    return decoded.value;
  }

  write(key: string, change: (body: Uint8Array) => Uint8Array): void {
    put(this.store, key, change(this.bytes(key).slice()));
  }

  delete(key: string): void {
    must(this.store.objects.get(key), key);
    this.store.objects.delete(key);
  }

  record(epoch: number): EpochRecord {
    return this.read(PATHS.record(epoch), epochRecordCodec);
  }

  manifest(epoch: number): CheckpointManifest {
    return this.read(this.record(epoch).checkpoint.ref, checkpointManifestCodec);
  }

  marker(epoch: number): string {
    const { generation, nonce } = this.record(epoch);
    return PATHS.marker(generation, nonce, epoch);
  }

  mark(ref: string, epoch: number, key: string): void {
    const writer = { objectId: 'o', startNo: 1, nonce: 'n' };
    put(this.store, key, committedMarkerCodec.encode({ version: 1, epoch, ref, writer }));
  }

  /** Changes manifests from `first` on and links the chain anew, so that every hash is right. */
  relink(first: number, change: (manifest: CheckpointManifest) => CheckpointManifest): void {
    let parent = first === 1 ? null : this.record(first - 1).checkpoint;
    for (let epoch = first; this.store.objects.has(PATHS.record(epoch)); epoch++) {
      const record = this.record(epoch);
      const manifest = change({ ...this.manifest(epoch), parent });
      const body = checkpointManifestCodec.encode(manifest);
      put(this.store, record.checkpoint.ref, body);
      const checkpoint = { ref: record.checkpoint.ref, hash: contentHash(body) };
      const after = { ...record, checkpoint, parent: manifest.parent };
      put(this.store, PATHS.record(epoch), epochRecordCodec.encode(after));
      parent = checkpoint;
    }
  }
}

type Lie = (victim: Victim, epochs: Epochs) => [FindingCode, number | null][];

/** Where the run has what a lie needs. */
type Epochs = {
  /** Data epochs, ascending, each with output and input, and none of them the last epoch. */
  data: number[];
  withState: number;
  fence: number;
  last: number;
  /** Key of a manifest that lost its epoch. */
  loser: { key: string; epoch: number; generation: number; nonce: string };
};

let sound: MemoryObjectStore;
let epochs: Epochs;

/** A run with two leaders at once, some of which lost an epoch. */
function runOf(seed: number): MemoryObjectStore {
  const cluster = clusterOf(FILES, `planted ${seed}`, {
    checkpointIntervalMs: 50,
    readBytesMax: 250,
  });
  cluster.startGeneration('created');
  for (let run = 0; run < 3; run++) {
    cluster.runFor(600);
    cluster.splitBrain();
  }
  expect(cluster.runToOutcome()).toMatchObject({ tag: 'finished' });
  return bucketOf(cluster);
}

/** Null when the run lacks something that a lie needs. */
function epochsOf(store: MemoryObjectStore): Epochs | null {
  const victim = new Victim(store);
  const keys = store.keys();
  const last = keys.filter((key) => PATHS.parse(key)?.tag === 'record').length;
  const manifests = Array.from({ length: last }, (_, index) => victim.manifest(index + 1));
  const [loser] = keys.flatMap((key) => {
    const name = PATHS.parse(key);
    if (name?.tag !== 'manifest' || name.epoch >= last) return [];
    return victim.record(name.epoch).checkpoint.ref === key ? [] : [{ ...name, key }];
  });
  const data = manifests
    .filter(
      ({ epoch, items, inputs }) => epoch < last && items.length > 1 && (inputs ?? []).length > 0,
    )
    .map(({ epoch }) => epoch);
  const withState = manifests.find(({ files }) => files.length > 0)?.epoch;
  const fence = manifests.find(
    ({ kind, epoch }) => kind === 'fence' && epoch > (data[0] ?? last),
  )?.epoch;
  if (withState === undefined || fence === undefined || loser === undefined || data.length < 4)
    return null;
  return { data, withState, fence, last, loser };
}

beforeAll(() => {
  for (let seed = 0; ; seed++) {
    sound = runOf(seed);
    const found = epochsOf(sound);
    const counts = verdictOn(sound).counts;
    if (found !== null && counts.epochs - counts.fences > 6) {
      epochs = found;
      return;
    }
    expect(seed, 'runs that lack something').toBeLessThan(20);
  }
});

const flip = (body: Uint8Array): Uint8Array => {
  const at = body.length >> 1;
  body[at] = (body[at] as number) ^ 1;
  return body;
};

const at = (list: readonly number[], index: number): number => must(list[index], `entry ${index}`);

const pieceOf = (
  manifest: CheckpointManifest,
  sink: 'part' | 'appended',
): { key: string; target: string; size: number } => {
  const pieces = manifest.items.map(
    ({ payload }) => payload as { key: string; target: string; size: number },
  );
  return must(
    pieces.find(({ key, target }) => (key === target) === (sink === 'part')),
    sink,
  );
};

/** Where the first appended piece of an epoch stands in the file. */
function spanOf(victim: Victim, epoch: number): { target: string; start: number; end: number } {
  const { target, size } = pieceOf(victim.manifest(epoch), 'appended');
  const start = Array.from({ length: epoch - 1 }, (_, index) => victim.manifest(index + 1))
    .flatMap(({ items }) => items.map(({ payload }) => payload as { target: string; size: number }))
    .filter((piece) => piece.target === target)
    .reduce((sum, piece) => sum + piece.size, 0);
  return { target, start, end: start + size };
}

/** The next epoch that appended to the file. */
function appendedAfter(victim: Victim, epoch: number): number {
  const appends = ({ items }: CheckpointManifest): boolean =>
    items.some(({ payload }) => {
      const { key, target } = payload as { key: string; target: string };
      return key !== target;
    });
  let next = epoch + 1;
  while (!appends(victim.manifest(next))) next++;
  return next;
}

/** The epoch that a part was staged for. */
const labelOf = (key: string): number => Number(/part-(\d+)/.exec(key)?.[1]);

/** An epoch with a part of its own among those with output. */
const partEpoch = (victim: Victim, { data }: Epochs): number =>
  must(
    data.find((epoch) =>
      victim
        .manifest(epoch)
        .items.some(({ payload }) => (payload as { uploadId: string | null }).uploadId !== null),
    ),
    'an epoch with a part',
  );

const withRange = (
  manifest: CheckpointManifest,
  change: (range: InputRange) => InputRange,
): CheckpointManifest => ({
  ...manifest,
  inputs: (manifest.inputs ?? []).map((range, index) => (index === 0 ? change(range) : range)),
});

const shifted = (range: InputRange, by: number): InputRange => {
  const { offset, line } = range.from as { offset: number; line: number };
  return { ...range, from: { offset: offset + by, line }, bytes: range.bytes - by };
};

const LIES: Record<string, Lie> = {
  'the record of an epoch is missing': (victim, { data }) => {
    const epoch = at(data, 1);
    victim.delete(PATHS.record(epoch));
    return [['EPOCH_MISSING', epoch]];
  },
  'the newest record is lost after its commit': (victim, { last }) => {
    const pieces = victim
      .manifest(last)
      .items.map(({ payload }) => payload as { key: string; target: string });
    victim.delete(PATHS.record(last));
    return [
      ['MARKER_FOREIGN', last],
      ...pieces
        .filter(({ key, target }) => key === target)
        .map(({ key }): [FindingCode, number] => ['OUTPUT_UNKNOWN', labelOf(key)]),
      ['OUTPUT_UNKNOWN', null],
    ];
  },
  'a record cannot be read': (victim, { data }) => {
    const epoch = at(data, 1);
    victim.write(PATHS.record(epoch), (body) => body.subarray(0, 20));
    return [['RECORD_BROKEN', epoch]];
  },
  'a record is a copy of the one before': (victim, { data }) => {
    const epoch = at(data, 1);
    victim.write(PATHS.record(epoch), () => victim.bytes(PATHS.record(epoch - 1)));
    return [['RECORD_BROKEN', epoch]];
  },
  'the record of an epoch names the checkpoint that lost it': (victim, { loser }) => {
    const { epoch, key, generation, nonce } = loser;
    const { parent } = victim.read(key, checkpointManifestCodec);
    const checkpoint = { ref: key, hash: contentHash(victim.bytes(key)) };
    const record = { version: 1, epoch, checkpoint, parent, generation, nonce } as const;
    put(victim.store, PATHS.record(epoch), epochRecordCodec.encode(record));
    return [['RECORD_FOREIGN', epoch]];
  },
  'a record is of a generation that was never allocated': (victim, { last }) => {
    const record = victim.record(last);
    const manifest = { ...victim.manifest(last), generation: 99 };
    const body = checkpointManifestCodec.encode(manifest);
    const ref = PATHS.manifest(99, record.nonce, last);
    put(victim.store, ref, body);
    put(victim.store, PATHS.marker(99, record.nonce, last), victim.bytes(victim.marker(last)));
    const after = { ...record, generation: 99, checkpoint: { ref, hash: contentHash(body) } };
    put(victim.store, PATHS.record(last), epochRecordCodec.encode(after));
    return [
      ['MARKER_BROKEN', last],
      ['RECORD_FOREIGN', last],
    ];
  },
  'an epoch continues the one before its parent': (victim, { last }) => {
    const parent = victim.record(last - 2).checkpoint;
    victim.relink(last, (manifest) => ({ ...manifest, parent }));
    return [['PARENT_MISMATCH', last]];
  },
  'the manifests of two epochs are swapped': (victim, { data }) => {
    const [left, right] = [at(data, 0), at(data, 2)];
    const [one, two] = [left, right].map((epoch) => victim.record(epoch).checkpoint.ref) as [
      string,
      string,
    ];
    const body = victim.bytes(one);
    put(victim.store, one, victim.bytes(two));
    put(victim.store, two, body);
    return [
      ['MANIFEST_SWAPPED', left],
      ['MANIFEST_SWAPPED', right],
    ];
  },
  'a manifest says another number of rows': (victim, { data }) => {
    const epoch = at(data, 1);
    const { ref } = victim.record(epoch).checkpoint;
    put(
      victim.store,
      ref,
      checkpointManifestCodec.encode({ ...victim.manifest(epoch), createdAtMs: 1 }),
    );
    return [['MANIFEST_ALTERED', epoch]];
  },
  'a manifest is missing': (victim, { data }) => {
    const epoch = at(data, 1);
    victim.delete(victim.record(epoch).checkpoint.ref);
    return [['MANIFEST_MISSING', epoch]];
  },
  'a fence has output to commit': (victim, { fence, data }) => {
    const { items } = victim.manifest(at(data, 0));
    victim.relink(fence, (manifest) =>
      manifest.epoch === fence ? { ...manifest, items } : manifest,
    );
    return [
      ['MANIFEST_INVALID', fence],
      ['MANIFEST_INVALID', fence],
      // What it says it committed is in the file once, not twice.
      ['OUTPUT_ALTERED', fence],
      ...items.map((): [FindingCode, number] => ['OUTPUT_TWICE', fence]),
    ];
  },
  'a checkpoint names state of a stranger': (victim, { withState }) => {
    const [file] = victim.manifest(withState).files;
    const key = `${must(file, 'file').key.replace(/[^/]*$/, '')}0-stranger`.replace(
      `/${PATHS.record(withState).slice(-17, -7)}/`,
      '/0000000099/',
    );
    put(victim.store, key, victim.bytes(must(file, 'file').key));
    victim.relink(withState, (manifest) => ({
      ...manifest,
      files: manifest.files.map((each) => (each.key === file?.key ? { ...each, key } : each)),
    }));
    return [['MANIFEST_INVALID', withState]];
  },
  'a byte of a state file is another': (victim, { withState }) => {
    victim.write(must(victim.manifest(withState).files[0], 'file').key, flip);
    return [['STATE_ALTERED', withState]];
  },
  'a state file is cut short': (victim, { withState }) => {
    victim.write(must(victim.manifest(withState).files[0], 'file').key, (body) =>
      body.subarray(0, -1),
    );
    return [['STATE_ALTERED', withState]];
  },
  'a state file is missing': (victim, { withState }) => {
    victim.delete(must(victim.manifest(withState).files[0], 'file').key);
    return [['STATE_MISSING', withState]];
  },
  'a byte of committed output is another': (victim, all) => {
    const epoch = partEpoch(victim, all);
    victim.write(pieceOf(victim.manifest(epoch), 'part').key, flip);
    return [['OUTPUT_ALTERED', epoch]];
  },
  'committed output is cut short': (victim, all) => {
    const epoch = partEpoch(victim, all);
    victim.write(pieceOf(victim.manifest(epoch), 'part').key, (body) => body.subarray(0, -10));
    return [['OUTPUT_ALTERED', epoch]];
  },
  'committed output is missing': (victim, all) => {
    const epoch = partEpoch(victim, all);
    victim.delete(pieceOf(victim.manifest(epoch), 'part').key);
    return [['OUTPUT_MISSING', epoch]];
  },
  'an epoch was committed a second time by another writer': (victim, all) => {
    const epoch = partEpoch(victim, all);
    const { key } = pieceOf(victim.manifest(epoch), 'part');
    put(victim.store, key.replace('.ndjson', 'again.ndjson'), victim.bytes(key));
    return [['OUTPUT_UNKNOWN', labelOf(key)]];
  },
  'the last rows were appended twice': (victim, { last }) => {
    const { target, size } = pieceOf(victim.manifest(last), 'appended');
    victim.write(target, (body) => Buffer.concat([body, body.subarray(-size)]));
    return [['OUTPUT_UNKNOWN', null]];
  },
  'rows of an epoch in the middle were appended twice': (victim, { data }) => {
    const epoch = at(data, 1);
    const { target, start, end } = spanOf(victim, epoch);
    victim.write(target, (body) => Buffer.concat([body.subarray(0, end), body.subarray(start)]));
    return [['OUTPUT_ALTERED', appendedAfter(victim, epoch)]];
  },
  'rows of an epoch were never appended': (victim, { data }) => {
    const epoch = at(data, 0);
    const { target, start, end } = spanOf(victim, epoch);
    victim.write(target, (body) => Buffer.concat([body.subarray(0, start), body.subarray(end)]));
    return [['OUTPUT_ALTERED', epoch]];
  },
  'an epoch is marked as committed, but its output is not there': (victim, { last }) => {
    const { key } = pieceOf(victim.manifest(last), 'part');
    victim.delete(key);
    return [['OUTPUT_MISSING', last]];
  },
  'a checkpoint that lost was committed': (victim, { loser }) => {
    victim.mark(loser.key, loser.epoch, PATHS.marker(loser.generation, loser.nonce, loser.epoch));
    return [['MARKER_FOREIGN', loser.epoch]];
  },
  'a fence is marked as committed': (victim, { fence }) => {
    victim.mark(victim.record(fence).checkpoint.ref, fence, victim.marker(fence));
    return [['MARKER_FOREIGN', fence]];
  },
  'an epoch in the middle has no marker': (victim, { data }) => {
    const epoch = at(data, 1);
    victim.delete(victim.marker(epoch));
    return [['MARKER_MISSING', epoch]];
  },
  'a marker is about another checkpoint': (victim, { data, loser }) => {
    const epoch = at(data, 1);
    victim.mark(loser.key, epoch, victim.marker(epoch));
    return [['MARKER_BROKEN', epoch]];
  },
  'input was skipped between two epochs': (victim, { data }) => {
    const epoch = at(data, 1);
    victim.relink(epoch, (manifest) =>
      manifest.epoch === epoch ? withRange(manifest, (range) => shifted(range, 40)) : manifest,
    );
    return [['INPUT_GAP', epoch]];
  },
  'input was read twice': (victim, { data }) => {
    const epoch = at(data, 1);
    victim.relink(epoch, (manifest) =>
      manifest.epoch === epoch ? withRange(manifest, (range) => shifted(range, -40)) : manifest,
    );
    return [['INPUT_OVERLAP', epoch]];
  },
  'an epoch does not tell its input': (victim, { data }) => {
    const epoch = at(data, 1);
    victim.relink(epoch, (manifest) =>
      manifest.epoch === epoch ? { ...manifest, inputs: [] } : manifest,
    );
    return [
      ['INPUT_GAP', epoch],
      ['ROWS_MISCOUNTED', epoch],
    ];
  },
  'a range holds other bytes than its offsets say': (victim, { data }) => {
    const epoch = at(data, 1);
    victim.relink(epoch, (manifest) =>
      manifest.epoch === epoch
        ? withRange(manifest, (range) => ({ ...range, bytes: range.bytes + 1 }))
        : manifest,
    );
    return [['INPUT_MISCOUNTED', epoch]];
  },
  'rows vanished between two operators': (victim, { data }) => {
    const epoch = at(data, 1);
    const [sink] = victim
      .manifest(epoch)
      .items.filter(
        ({ payload }) =>
          (payload as { key: string; target: string }).key !==
          (payload as { target: string }).target,
      );
    const operator = must(sink, 'appended item').sink;
    victim.relink(epoch, (manifest) => ({
      ...manifest,
      broadcast: manifest.broadcast.map((entry) => {
        if (entry.operator !== operator || entry.table !== 'counters' || entry.subtask !== 0)
          return entry;
        const value = entry.value as { rowsIn: number };
        return { ...entry, value: { ...value, rowsIn: value.rowsIn - 3 } };
      }),
    }));
    return [
      ['ROWS_MISCOUNTED', epoch],
      ['ROWS_MISCOUNTED', epoch],
    ];
  },
  'it is not known who owns the pipeline': (victim) => {
    victim.delete(PATHS.current);
    return [['CURRENT_BROKEN', null]];
  },
};

describe('a planted corruption is found, and nothing else', () => {
  test('the bucket of the run is sound', () => {
    expect(verdictOn(sound)).toMatchObject({ proved: true, findings: [] });
  });

  test.each(Object.keys(LIES))('%s', (name) => {
    const victim = new Victim(sound);
    const expected = must(LIES[name], name)(victim, epochs);
    const verdict = verdictOn(victim.store);
    expect(verdict.proved).toBe(false);
    const told = verdict.findings.map(({ code, epoch }) => `${code} ${epoch}`).sort();
    expect(told, JSON.stringify(verdict.findings, null, 1)).toEqual(
      expected.map(([code, epoch]) => `${code} ${epoch}`).sort(),
    );
  });
});
