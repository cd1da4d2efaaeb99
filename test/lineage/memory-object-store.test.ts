import { expect, test } from 'vitest';
import { MemoryObjectStore } from '../harness/memory-object-store.ts';
import { describeObjectStore } from '../harness/object-store-conformance.ts';

describeObjectStore('the object store in memory', () => new MemoryObjectStore());

const put = {
  op: 'put',
  key: 'k',
  body: new Uint8Array([1]),
  condition: { tag: 'absent' },
} as const;

test('a request whose answer is lost has been done', () => {
  const store = new MemoryObjectStore();
  expect(store.answer(put, 'lose-answer').tag).toBe('unknown');
  expect(store.keys()).toEqual(['k']);
});

test('a delayed request is done when it lands, under its condition of then', () => {
  const store = new MemoryObjectStore();
  expect(store.answer(put, 'delay').tag).toBe('unknown');
  expect(store.keys()).toEqual([]);
  store.answer({ ...put, body: new Uint8Array([2]) });
  expect(store.land().tag).toBe('refused');
  expect([...store.objects.get('k')!.body]).toEqual([2]);
});

test('a throttled or failed request has not been done', () => {
  const store = new MemoryObjectStore();
  expect(store.answer(put, 'throttle').tag).toBe('throttled');
  expect(store.answer(put, 'fail').tag).toBe('unknown');
  expect(store.answer({ op: 'get', key: 'k' }, 'fail').tag).toBe('failed');
  expect(store.keys()).toEqual([]);
});
