import { expect, test } from 'vitest';
import { contentHash, hashLanes } from '../../src/lineage/content-hash.ts';

function littleEndian(lanes: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(lanes.length * 4);
  const view = new DataView(bytes.buffer);
  lanes.forEach((lane, index) => view.setInt32(index * 4, lane, true));
  return bytes;
}

test('the hash is MurmurHash3 x86 128 by its published verification value', () => {
  const all = new Uint8Array(256 * 16);
  for (let length = 0; length < 256; length++) {
    const key = Uint8Array.from({ length }, (_, index) => index);
    all.set(littleEndian(hashLanes(key, 256 - length)), length * 16);
  }
  expect(hashLanes(all, 0)[0] >>> 0).toBe(0xb3ece62a);
});

test('the hash does not depend on where in a buffer the bytes lie', () => {
  const whole = Uint8Array.from({ length: 200 }, (_, index) => (index * 37) & 255);
  for (let start = 0; start < 9; start++) {
    const slice = whole.subarray(start, start + 150);
    expect(contentHash(slice)).toBe(contentHash(slice.slice()));
  }
});

test('a truncated, extended or changed file has another hash', () => {
  const bytes = Uint8Array.from({ length: 100 }, (_, index) => index);
  const hash = contentHash(bytes);
  expect(hash).toMatch(/^[0-9a-f]{32}$/);
  for (let length = 0; length < 100; length++)
    expect(contentHash(bytes.subarray(0, length))).not.toBe(hash);
  for (let index = 0; index < 100; index++) {
    const changed = bytes.slice();
    changed[index] = (changed[index] as number) ^ 1;
    expect(contentHash(changed)).not.toBe(hash);
  }
  expect(contentHash(new Uint8Array([0]))).not.toBe(contentHash(new Uint8Array([0, 0])));
});
