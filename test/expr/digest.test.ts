import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { md5 } from '../../src/expr/digest/md5.ts';
import { sha2 } from '../../src/expr/digest/sha2.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('digests equal those of node:crypto', () => {
  it.each(['md5', 'sha224', 'sha256', 'sha384', 'sha512'] as const)('%s', (kind) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(3), (bytes, from) => {
        const start = Math.min(from, bytes.length);
        const wanted = createHash(kind).update(bytes.subarray(start)).digest('hex');
        const digest =
          kind === 'md5' ? md5(bytes, start, bytes.length) : sha2(kind, bytes, start, bytes.length);
        expect(hex(digest)).toBe(wanted);
      }),
      { seed: 20261129, numRuns: 200 },
    );
  });
});
