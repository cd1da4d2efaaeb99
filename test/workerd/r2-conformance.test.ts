/**
 * R2 as workerd has it: what the lineage needs of a store, through the Worker's own adapter, and what the
 * two-phase sinks need of it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type LocalRuntime, startRuntime } from '../../src/cli/local-runtime.ts';
import type { StoreAnswer, StoreOp } from '../../src/lineage/store.ts';
import { performStoreOp } from '../../src/platform/r2-store.ts';
import {
  describeObjectStore,
  type ObjectStoreDriver,
} from '../harness/object-store-conformance.ts';
import { describeTwoPhaseSink } from '../harness/two-phase-sink-conformance.ts';
import { appendedWorld, multipartWorld } from '../harness/two-phase-worlds.ts';

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
      case 'abort':
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

describeTwoPhaseSink('files by multipart upload, in workerd', () =>
  multipartWorld(bucket, `files-${stores++}`),
);
describeTwoPhaseSink('one object that is appended to, in workerd', () =>
  appendedWorld(bucket, `grows-${stores++}`),
);
