import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { sha256 } from '../../src/base/sha256.ts';

test('it is SHA-256, at every length around the block size and beyond', () => {
  for (let length = 0; length < 300; length++) {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 31 + length) & 255);
    expect(sha256(bytes), `length ${length}`).toBe(
      createHash('sha256').update(bytes).digest('hex'),
    );
  }
});
