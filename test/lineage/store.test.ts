import { expect, test } from 'vitest';
import { driveSync } from '../../src/lineage/drive.ts';
import {
  createConfirmed,
  deleteAll,
  DELETE_KEYS_MAX,
  get,
  listAll,
  putIfAbsent,
  STORE_ATTEMPTS_MAX,
} from '../../src/lineage/store.ts';
import type { Lineage } from '../../src/lineage/store.ts';
import { MemoryObjectStore } from '../harness/memory-object-store.ts';
import type { Fate } from '../harness/memory-object-store.ts';

const one = new Uint8Array([1]);
const two = new Uint8Array([2]);

/** Runs with these fates for the first requests, pauses not counted, and `apply` for the rest. */
function run<T>(store: MemoryObjectStore, workflow: Lineage<T>, fates: Fate[] = []): T {
  const left = [...fates];
  return driveSync(workflow, (op) =>
    store.answer(op, op.op === 'pause' ? 'apply' : (left.shift() ?? 'apply')),
  );
}

const times = (count: number, fate: Fate): Fate[] => Array.from({ length: count }, () => fate);

test('a read that fails is repeated after growing pauses, and is unanswered in the end, never missing', () => {
  const store = new MemoryObjectStore();
  expect(run(store, get('k'), times(STORE_ATTEMPTS_MAX - 1, 'fail'))).toEqual({ tag: 'missing' });
  expect(store.pausesMs).toEqual([1000, 2000, 4000, 8000]);
  expect(run(store, get('k'), times(STORE_ATTEMPTS_MAX, 'fail')).tag).toBe('unanswered');
  expect(run(store, listAll('k'), times(STORE_ATTEMPTS_MAX, 'fail')).tag).toBe('unanswered');
});

test('a throttled write is repeated, a write without an answer is handed to the caller', () => {
  const store = new MemoryObjectStore();
  expect(run(store, putIfAbsent('k', one), ['throttle', 'throttle']).tag).toBe('stored');
  expect(run(store, putIfAbsent('l', one), ['lose-answer']).tag).toBe('unknown');
  expect(run(store, putIfAbsent('m', one), times(STORE_ATTEMPTS_MAX, 'throttle')).tag).toBe(
    'unanswered',
  );
  expect(store.keys()).toEqual(['k', 'l']);
});

test('a creation is confirmed whatever happens to its answers, and tells different content', () => {
  for (const fate of ['apply', 'lose-answer', 'delay', 'throttle', 'fail'] satisfies Fate[]) {
    const store = new MemoryObjectStore();
    expect(run(store, createConfirmed('k', one), [fate]), fate).toEqual({ tag: 'confirmed' });
    expect(run(store, createConfirmed('k', one), [fate]), fate).toEqual({ tag: 'confirmed' });
    expect(run(store, createConfirmed('k', two), [fate]), fate).toEqual({
      tag: 'different',
      body: one,
    });
  }
  const silent = new MemoryObjectStore();
  expect(run(silent, createConfirmed('k', one), times(STORE_ATTEMPTS_MAX, 'fail')).tag).toBe(
    'unanswered',
  );
});

test('a list collects all pages, and an interrupted page is asked for again', () => {
  const store = new MemoryObjectStore({ pageSize: 3 });
  const keys = Array.from({ length: 10 }, (_, index) => `a/${index}`);
  for (const key of keys) run(store, putIfAbsent(key, one));
  expect(run(store, listAll('a/'), ['apply', 'fail', 'apply', 'fail'])).toEqual({
    tag: 'keys',
    keys,
  });
  expect(run(store, listAll('a/', 'a/6'))).toEqual({ tag: 'keys', keys: keys.slice(7) });
});

test('more keys than one delete takes are deleted in several', () => {
  const store = new MemoryObjectStore();
  const keys = Array.from({ length: DELETE_KEYS_MAX + 5 }, (_, index) => `a/${index}`);
  for (const key of keys) run(store, putIfAbsent(key, one));
  expect(run(store, deleteAll(keys), ['fail'])).toEqual({ tag: 'done' });
  expect(store.keys()).toEqual([]);
});
