/**
 * docs/audit.md says how to check a bucket without our code. This does what it says, step by step, knowing the format
 * from that page alone: nothing of `src` is used but the run that makes the bucket.
 */
import { expect, test, vi } from 'vitest';
import type { MemoryObjectStore } from '../harness/memory-object-store.ts';
import { bucketOf, clusterOf, FILES, linesOf } from './world.ts';

// Whole runs of a cluster: a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

type Json = ReturnType<typeof JSON.parse>;

const PREFIX = 'pl/job/';
const MASK = 0xffffffffn;
const rotl = (value: bigint, by: bigint): bigint => ((value << by) | (value >> (32n - by))) & MASK;

/** MurmurHash3 x86 128 as its reference describes it, with big integers. */
function contentHash(bytes: Uint8Array): string {
  const c = [0x239b961bn, 0xab0e9789n, 0x38b34ae5n, 0xa1e38b93n];
  const [turns, plus, mixes] = [
    [15n, 16n, 17n, 18n],
    [0x561ccd1bn, 0x0bcaa747n, 0x96cd1c35n, 0x32ac3b17n],
    [19n, 17n, 15n, 13n],
  ];
  const h = [0n, 0n, 0n, 0n];
  const scramble = (k: bigint, lane: number): bigint =>
    (rotl((k * c[lane]!) & MASK, turns![lane]!) * c[(lane + 1) % 4]!) & MASK;
  const word = (at: number): bigint => {
    let value = 0n;
    for (let byte = 3; byte >= 0; byte--) value = (value << 8n) | BigInt(bytes[at + byte] ?? 0);
    return value;
  };
  const blocks = Math.floor(bytes.length / 16);
  for (let block = 0; block < blocks; block++) {
    for (let lane = 0; lane < 4; lane++) {
      h[lane]! ^= scramble(word(block * 16 + lane * 4), lane);
      h[lane] = (rotl(h[lane]!, mixes![lane]!) + h[(lane + 1) % 4]!) & MASK;
      h[lane] = (h[lane]! * 5n + plus![lane]!) & MASK;
    }
  }
  for (let lane = 0; lane < 4; lane++) {
    h[lane]! ^= scramble(word(blocks * 16 + lane * 4), lane);
    h[lane]! ^= BigInt(bytes.length);
  }
  const spread = (): void => {
    h[0] = (h[0]! + h[1]! + h[2]! + h[3]!) & MASK;
    for (const lane of [1, 2, 3]) h[lane] = (h[lane]! + h[0]) & MASK;
  };
  spread();
  for (let lane = 0; lane < 4; lane++) {
    let k = h[lane]!;
    k = ((k ^ (k >> 16n)) * 0x85ebca6bn) & MASK;
    k = ((k ^ (k >> 13n)) * 0xc2b2ae35n) & MASK;
    h[lane] = k ^ (k >> 16n);
  }
  spread();
  return h.map((each) => each.toString(16).padStart(8, '0')).join('');
}

function streamHash(bytes: Uint8Array): string {
  const padded = Buffer.alloc(Math.ceil(bytes.length / 64) * 64);
  padded.set(bytes);
  const lanes = [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n];
  for (let block = 0; block < padded.length; block += 64) {
    for (const [lane, value] of lanes.entries()) {
      const left = BigInt(padded.readUInt32LE(block + lane * 4));
      const right = BigInt(padded.readUInt32LE(block + 32 + lane * 4));
      const mixed = (value ^ left) * 0x85ebca6bn + right * 0xc2b2ae3dn;
      lanes[lane] = rotl(mixed & MASK, 13n);
    }
  }
  const result = Buffer.alloc(40);
  lanes.forEach((lane, index) => result.writeUInt32LE(Number(lane), index * 4));
  result.writeBigUInt64LE(BigInt(bytes.length), 32);
  return contentHash(result);
}

function json(store: MemoryObjectStore, key: string): Json {
  const found = store.objects.get(key);
  expect(found, key).toBeDefined();
  return JSON.parse(new TextDecoder().decode(found!.body));
}

function offsetsOf(manifest: Json): Map<string, string> {
  const entries = (manifest?.broadcast ?? []).filter(({ table }: Json) => table === 'offsets');
  return new Map(
    entries.flatMap(({ operator, value }: Json) =>
      Object.entries(value).map(([partition, offset]) => [
        `${operator} ${partition}`,
        JSON.stringify(offset),
      ]),
    ),
  );
}

function countersOf(manifest: Json): Json {
  const sums: Json = {};
  for (const { operator, table, value } of manifest?.broadcast ?? []) {
    if (table !== 'counters') continue;
    sums[operator] ??= {};
    for (const [name, count] of Object.entries(value))
      sums[operator][name] = (sums[operator][name] ?? 0) + (count as number);
  }
  return sums;
}

test('a run is checked step by step as docs/audit.md says', () => {
  const cluster = clusterOf(FILES, 'outsider');
  cluster.startGeneration('created');
  cluster.runFor(900);
  cluster.splitBrain();
  cluster.runFor(600);
  cluster.crashHost(1);
  expect(cluster.runToOutcome()).toMatchObject({ tag: 'finished' });
  const store = bucketOf(cluster);
  const input = new TextEncoder().encode(linesOf('outsider', 1_500));
  const keys = store.keys();

  // 1, 2
  const floor = Math.max(json(store, `${PREFIX}current-generation.json`).floor, 1);
  const epochs = keys
    .filter((key) => key.startsWith(`${PREFIX}epochs/`))
    .map((key) => Number(/(\d{10})\.record$/.exec(key)?.[1]))
    .filter((epoch) => epoch >= floor);
  expect(epochs).toEqual(Array.from({ length: epochs.length }, (_, index) => floor + index));
  expect(epochs.length).toBeGreaterThan(5);
  const digits = (value: number): string => String(value).padStart(10, '0');
  let before: Json = null;
  let parent: Json = null;
  const markers = new Set<string>();
  const committed = new Set<string>();
  const appended = new Map<string, Uint8Array>();
  let rangesHashed = 0;
  for (const epoch of epochs) {
    const record = json(store, `${PREFIX}epochs/${digits(epoch)}.record`);
    const folder = `${PREFIX}generations/${digits(record.generation)}/${record.nonce}/`;
    const ref = `${folder}checkpoints/${digits(epoch)}/manifest`;
    expect(record).toMatchObject({
      epoch,
      checkpoint: { ref },
      parent: before?.checkpoint ?? null,
    });
    expect(record.generation).toBeGreaterThanOrEqual(before?.generation ?? 0);
    // 3
    expect(contentHash(store.objects.get(ref)!.body)).toBe(record.checkpoint.hash);
    const manifest = json(store, ref);
    const { generation, nonce } = record;
    expect(manifest).toMatchObject({ epoch, generation, nonce, parent: record.parent });
    // 4
    for (const { key, size, hash } of manifest.files) {
      expect(store.objects.get(key)?.body.length).toBe(size);
      expect(contentHash(store.objects.get(key)!.body)).toBe(hash);
    }
    // 5
    if (manifest.needsCommit) {
      const marker = ref.replace(/manifest$/, 'committed.json');
      expect(json(store, marker)).toMatchObject({ epoch, ref });
      markers.add(marker);
    }
    // 6
    const stands = offsetsOf(parent);
    for (const { operator, partition, from, to, hash } of manifest.inputs) {
      const place = `${operator} ${partition}`;
      expect(JSON.stringify(from)).toBe(stands.get(place) ?? '{"offset":0,"line":1}');
      stands.set(place, JSON.stringify(to));
      if (hash !== null) expect(streamHash(input.subarray(from.offset, to.offset))).toBe(hash);
      rangesHashed++;
    }
    for (const [place, offset] of offsetsOf(manifest)) expect(offset).toBe(stands.get(place));
    // 7
    if (manifest.kind === 'data') {
      const sums = countersOf(manifest);
      const known = countersOf(parent);
      const since = (operator: string, name: string): number =>
        (sums[operator]?.[name] ?? 0) - (known[operator]?.[name] ?? 0);
      for (const { operator, kind, inputs, linePerRow } of json(store, `${folder}manifest.json`)
        .operators) {
        const rowsOf = (list: Json[]): number => list.reduce((sum, each) => sum + each.rows, 0);
        const given =
          kind === 'source'
            ? rowsOf(manifest.inputs.filter((range: Json) => range.operator === operator))
            : inputs.reduce((sum: number, name: string) => sum + since(name, 'rowsOut'), 0);
        expect(since(operator, 'rowsIn'), operator).toBe(given);
        const wrong = since(operator, 'errors');
        const out = since(operator, 'rowsOut');
        if (['source', 'project', 'union'].includes(kind)) expect(given).toBe(out + wrong);
        if (kind === 'filter') expect(given).toBe(out + wrong + since(operator, 'filtered'));
        const pieces = manifest.items.filter(({ sink }: Json) => sink === operator);
        if (linePerRow) expect(given).toBe(rowsOf(pieces.map(({ payload }: Json) => payload)));
      }
    }
    // 8
    for (const { payload } of manifest.items) {
      const { target, uploadId, size, hash } = payload;
      const body = store.objects.get(target)!.body;
      if (uploadId !== null) {
        committed.add(target);
        expect(body.length).toBe(size);
        expect(contentHash(body)).toBe(hash);
        continue;
      }
      const rest = appended.get(target) ?? body;
      expect(contentHash(rest.subarray(0, size))).toBe(hash);
      appended.set(target, rest.subarray(size));
    }
    before = record;
    parent = manifest;
  }
  expect(rangesHashed).toBeGreaterThan(2);
  expect([...appended.values()].map(({ length }) => length)).toEqual([0]);
  expect(new Set(keys.filter((key) => key.endsWith('/committed.json')))).toEqual(markers);
  // 9
  expect(new Set(keys.filter((key) => key.startsWith('windows/')))).toEqual(committed);
});
