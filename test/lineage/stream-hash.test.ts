import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contentHash } from '../../src/lineage/content-hash.ts';
import { StreamHash } from '../../src/lineage/stream-hash.ts';

/** The definition, word by word. */
function oracle(bytes: Uint8Array): string {
  const padded = new Uint8Array(Math.ceil(bytes.length / 32) * 32);
  padded.set(bytes);
  const words = new DataView(padded.buffer);
  const lanes = [1, 2, 3, 4, 5, 6, 7, 8];
  for (let word = 0; word < padded.length / 4; word++) {
    const lane = word % 8;
    const product =
      (BigInt((lanes[lane]! ^ words.getInt32(word * 4, true)) >>> 0) * 0x9e3779b1n) & 0xffffffffn;
    lanes[lane] = Number(((product << 13n) | (product >> 19n)) & 0xffffffffn) | 0;
  }
  const result = new DataView(new ArrayBuffer(40));
  lanes.forEach((lane, index) => result.setInt32(index * 4, lane, true));
  result.setBigUint64(32, BigInt(bytes.length), true);
  return contentHash(new Uint8Array(result.buffer));
}

function hashOf(...pieces: Uint8Array[]): string {
  const hash = new StreamHash();
  for (const piece of pieces) hash.update(piece);
  return hash.digest();
}

test('the hash is what its definition says, wherever the pieces are cut', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(fc.nat({ max: 300 }), { maxLength: 6 }),
      (bytes, cuts) => {
        const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length];
        places.sort((left, right) => left - right);
        const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        expect(hashOf(...pieces)).toBe(oracle(bytes));
      },
    ),
    { numRuns: 500 },
  );
});

test('a digest does not disturb what follows', () => {
  const bytes = Uint8Array.from({ length: 100 }, (_, index) => index);
  const hash = new StreamHash();
  for (let at = 0; at < 100; at += 7) {
    hash.update(bytes.subarray(at, at + 7));
    expect(hash.digest()).toBe(oracle(bytes.subarray(0, Math.min(at + 7, 100))));
  }
  expect(hash.bytes).toBe(100);
});

test('one changed bit, swapped lines and zeros at the end are seen', () => {
  const bytes = new TextEncoder().encode('{"i":1}\n{"i":2}\n'.repeat(20));
  const seen = new Set([hashOf(bytes)]);
  for (let at = 0; at < bytes.length; at++) {
    const damaged = bytes.slice();
    damaged[at] = damaged[at]! ^ 1;
    seen.add(hashOf(damaged));
  }
  expect(seen.size).toBe(bytes.length + 1);
  expect(hashOf(bytes, Uint8Array.of(0))).not.toBe(hashOf(bytes));
  expect(hashOf()).not.toBe(hashOf(Uint8Array.of(0)));
});
