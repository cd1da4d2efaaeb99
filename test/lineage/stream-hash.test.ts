import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contentHash } from '../../src/lineage/content-hash.ts';
import { StreamHash } from '../../src/lineage/stream-hash.ts';

/** The definition, word by word. */
function oracle(bytes: Uint8Array): string {
  const padded = new Uint8Array(Math.ceil(bytes.length / 64) * 64);
  padded.set(bytes);
  const words = new DataView(padded.buffer);
  const word = (block: number, index: number): bigint =>
    BigInt(words.getUint32(block * 64 + index * 4, true));
  const lanes = [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n].map((start, lane) => {
    let value = start;
    for (let block = 0; block < padded.length / 64; block++) {
      const left = (value ^ word(block, lane)) * 0x85ebca6bn;
      const mixed = (left + word(block, lane + 8) * 0xc2b2ae3dn) & 0xffffffffn;
      value = ((mixed << 13n) | (mixed >> 19n)) & 0xffffffffn;
    }
    return value;
  });
  const result = new DataView(new ArrayBuffer(40));
  lanes.forEach((lane, index) => result.setUint32(index * 4, Number(lane), true));
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
  // Changes of the top bits of one word can look like one of another word's: the product has no room for more of them.
  const bits = Array.from({ length: bytes.length * 8 }, (_, bit) => bit).filter(
    (bit) => bit % 32 < 29,
  );
  for (const bit of bits) {
    const damaged = bytes.slice();
    damaged[bit >> 3] = damaged[bit >> 3]! ^ (1 << (bit & 7));
    seen.add(hashOf(damaged));
  }
  expect(seen.size).toBe(bits.length + 1);
  expect(hashOf(bytes, Uint8Array.of(0))).not.toBe(hashOf(bytes));
  expect(hashOf()).not.toBe(hashOf(Uint8Array.of(0)));
});

test('words that change places are seen, wherever they stand', () => {
  const bytes = new TextEncoder().encode(
    Array.from({ length: 12 }, (_, row) => `{"id":${1000 + row},"price":${7919 * row}}\n`).join(''),
  );
  const whole = hashOf(bytes);
  const words = Math.floor(bytes.length / 4);
  for (let left = 0; left < words; left++) {
    for (let right = left + 1; right < words; right++) {
      const swapped = bytes.slice();
      swapped.set(bytes.subarray(right * 4, right * 4 + 4), left * 4);
      swapped.set(bytes.subarray(left * 4, left * 4 + 4), right * 4);
      if (swapped.some((byte, at) => byte !== bytes[at]))
        expect(hashOf(swapped), `${left} and ${right}`).not.toBe(whole);
    }
  }
});
