/**
 * R2 as workerd has it: what the lineage needs of a store, through the Worker's own adapter, and the commit
 * of sinks, which is effective once however often, at once and late it is asked for.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LocalRuntime, startRuntime } from '../../src/cli/local-runtime.ts';
import type { StagedObject } from '../../src/connectors/connector.ts';
import type { ConnectorSpec } from '../../src/graph/graph.ts';
import type { SinkItem } from '../../src/lineage/types.ts';
import type { StoreAnswer, StoreOp } from '../../src/lineage/store.ts';
import { commitItems } from '../../src/platform/committers.ts';
import { stageObject } from '../../src/platform/objects.ts';
import { performStoreOp } from '../../src/platform/r2-store.ts';
import {
  describeObjectStore,
  type ObjectStoreDriver,
} from '../harness/object-store-conformance.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'thalweg-r2-'));
let runtime: LocalRuntime;
let bucket: R2Bucket;
beforeAll(async () => {
  runtime = await startRuntime({ stateDir });
  bucket = await runtime.r2();
});
afterAll(async () => {
  await runtime.dispose();
  rmSync(stateDir, { recursive: true, force: true });
});

let stores = 0;

/** An empty store: a part of the bucket that nobody else uses. */
function storeInBucket(): ObjectStoreDriver {
  const root = `store-${stores++}/`;
  const inside = (op: StoreOp): StoreOp => {
    switch (op.op) {
      case 'get':
      case 'put':
        return { ...op, key: root + op.key };
      case 'list':
        return {
          ...op,
          prefix: root + op.prefix,
          ...(op.startAfter === undefined ? {} : { startAfter: root + op.startAfter }),
        };
      case 'delete':
        return { ...op, keys: op.keys.map((key) => root + key) };
      case 'pause':
        return op;
    }
  };
  return {
    async answer(op): Promise<StoreAnswer> {
      const answer = await performStoreOp(bucket, inside(op));
      return answer.tag === 'keys'
        ? { ...answer, keys: answer.keys.map((key) => key.slice(root.length)) }
        : answer;
    },
  };
}

describeObjectStore('R2 in workerd', storeInBucket);

const connectorOf = (path: string): ConnectorSpec =>
  ({ name: 'r2', options: { path } }) as unknown as ConnectorSpec;
const itemOf = (staged: StagedObject): SinkItem => ({ payload: staged }) as unknown as SinkItem;
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const textAt = async (key: string): Promise<string | null> =>
  (await (await bucket.get(key))?.text()) ?? null;
const keysUnder = async (prefix: string): Promise<string[]> =>
  (await bucket.list({ prefix })).objects.map(({ key }) => key);

/** The bucket, but the first `count` calls that change it lose their answers: they are applied, and seem to fail. */
function losingAnswers(real: R2Bucket, count: number): R2Bucket {
  let left = count;
  const lost = async <T>(applied: Promise<T>): Promise<T> => {
    const result = await applied;
    if (left-- > 0) throw new Error('the answer was lost');
    return result;
  };
  const double = {
    get: (key: string) => real.get(key),
    head: (key: string) => real.head(key),
    put: (key: string, value: Uint8Array, options: R2PutOptions) =>
      lost(real.put(key, value, options)),
    resumeMultipartUpload: (key: string, uploadId: string) => {
      const upload = real.resumeMultipartUpload(key, uploadId);
      return { complete: (parts: R2UploadedPart[]) => lost(upload.complete(parts)) };
    },
  };
  return double as unknown as R2Bucket;
}

describe('files under a prefix', () => {
  const token = (epoch: number) => ({ pipelineId: 'pl_files', sink: 'sink-1', epoch });
  const stage = async (key: string, text: string): Promise<SinkItem> =>
    itemOf(await stageObject(bucket, { key, bytes: bytesOf(text), rows: 1, method: 'multipart' }));

  test('staged files are invisible, committed ones are whole', async () => {
    const items = [await stage('files/a/1', 'one\n'), await stage('files/a/2', 'two\n')];
    expect(await keysUnder('files/a/')).toEqual([]);
    await commitItems(bucket, token(1), connectorOf('files/a'), items);
    expect(await keysUnder('files/a/')).toEqual(['files/a/1', 'files/a/2']);
    expect(await textAt('files/a/2')).toBe('two\n');
  });

  test('a commit that is asked for again, at once by several, and 20 epochs later changes nothing', async () => {
    const items = [await stage('files/b/1', 'one\n')];
    const commit = (): Promise<void> =>
      commitItems(bucket, token(1), connectorOf('files/b'), items);
    await Promise.all([commit(), commit(), commit(), commit()]);
    await commit();
    const before = await bucket.head('files/b/1');
    for (let epoch = 2; epoch <= 21; epoch++) {
      await commitItems(bucket, token(epoch), connectorOf('files/b'), [
        await stage(`files/b/${epoch}`, `${epoch}\n`),
      ]);
    }
    await commit();
    expect((await bucket.head('files/b/1'))?.version).toBe(before?.version);
    expect(await keysUnder('files/b/')).toHaveLength(21);
  });

  test('a commit whose answer is lost is found to be done', async () => {
    const items = [await stage('files/c/1', 'one\n'), await stage('files/c/2', 'two\n')];
    await commitItems(losingAnswers(bucket, 2), token(1), connectorOf('files/c'), items);
    expect(await keysUnder('files/c/')).toEqual(['files/c/1', 'files/c/2']);
  });

  test('what an attempt staged and nobody committed never appears, also beside files of the same name', async () => {
    await stage('files/d/1', 'given up\n');
    const kept = await stage('files/d/1', 'kept\n');
    await commitItems(bucket, token(1), connectorOf('files/d'), [kept]);
    await stage('files/d/1', 'too late\n');
    expect(await textAt('files/d/1')).toBe('kept\n');
    expect(await keysUnder('files/d/')).toEqual(['files/d/1']);
  });

  test('an upload that is gone without its file is an error, never a silent loss', async () => {
    const item = await stage('files/e/1', 'one\n');
    const { key, uploadId } = item.payload as unknown as StagedObject;
    await bucket.resumeMultipartUpload(key, uploadId ?? '').abort();
    await expect(
      commitItems(bucket, token(1), connectorOf('files/e'), [item]),
    ).rejects.toMatchObject({ code: 'SINK_FAILED' });
  });
});

describe('one file that grows', () => {
  const token = (epoch: number) => ({ pipelineId: 'pl_grows', sink: 'sink-1', epoch });
  const stage = async (key: string, text: string): Promise<SinkItem> =>
    itemOf(await stageObject(bucket, { key, bytes: bytesOf(text), rows: 1, method: 'object' }));

  test('it grows by whole epochs in the order of items', async () => {
    const path = 'grows/a.ndjson';
    await commitItems(bucket, token(1), connectorOf(path), [
      await stage('staged/a/1', 'one\n'),
      await stage('staged/a/2', 'two\n'),
    ]);
    expect(await textAt(path)).toBe('one\ntwo\n');
    await commitItems(bucket, token(3), connectorOf(path), [await stage('staged/a/3', 'three\n')]);
    expect(await textAt(path)).toBe('one\ntwo\nthree\n');
  });

  test('a commit that is asked for again, at once by several, and 20 epochs later appends once', async () => {
    const path = 'grows/b.ndjson';
    const items = [await stage('staged/b/1', '1\n')];
    const commit = (): Promise<void> => commitItems(bucket, token(1), connectorOf(path), items);
    await Promise.all([commit(), commit(), commit(), commit()]);
    await commit();
    expect(await textAt(path)).toBe('1\n');
    for (let epoch = 2; epoch <= 21; epoch++) {
      await commitItems(bucket, token(epoch), connectorOf(path), [
        await stage(`staged/b/${epoch}`, `${epoch}\n`),
      ]);
    }
    await commit();
    expect(await textAt(path)).toBe(
      Array.from({ length: 21 }, (_, index) => `${index + 1}\n`).join(''),
    );
  });

  test('an append whose answer is lost is not made again', async () => {
    const path = 'grows/c.ndjson';
    for (let epoch = 1; epoch <= 3; epoch++) {
      await commitItems(losingAnswers(bucket, 1), token(epoch), connectorOf(path), [
        await stage(`staged/c/${epoch}`, `${epoch}\n`),
      ]);
    }
    expect(await textAt(path)).toBe('1\n2\n3\n');
  });

  test("another sink's or a user's file is never written over", async () => {
    const path = 'grows/d.ndjson';
    await bucket.put(path, 'precious\n');
    const items = [await stage('staged/d/1', 'one\n')];
    await expect(commitItems(bucket, token(1), connectorOf(path), items)).rejects.toMatchObject({
      code: 'SINK_FAILED',
    });
    const other = 'grows/e.ndjson';
    await commitItems(bucket, { ...token(5), sink: 'sink-2' }, connectorOf(other), items);
    await expect(commitItems(bucket, token(9), connectorOf(other), items)).rejects.toMatchObject({
      code: 'SINK_FAILED',
    });
    expect([await textAt(path), await textAt(other)]).toEqual(['precious\n', 'one\n']);
  });

  test('staged rows that are gone are an error, and nothing of the epoch is appended', async () => {
    const path = 'grows/f.ndjson';
    const items = [await stage('staged/f/1', 'one\n'), await stage('staged/f/2', 'two\n')];
    await bucket.delete('staged/f/2');
    await expect(commitItems(bucket, token(1), connectorOf(path), items)).rejects.toMatchObject({
      code: 'SINK_FAILED',
    });
    expect(await textAt(path)).toBe(null);
  });
});
