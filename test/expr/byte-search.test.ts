import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteSearch } from '../../src/expr/byte-search.ts';

const few = fc.constantFrom(0, 97, 98, 99, 255);

test('a sequence is found at its first place within the bounds, as a look at every place finds it', () => {
  fc.assert(
    fc.property(
      fc.array(few, { maxLength: 5 }),
      fc.array(few, { maxLength: 40 }),
      fc.nat({ max: 40 }),
      fc.nat({ max: 40 }),
      (wanted, text, one, other) => {
        const [from, to] = [
          Math.min(one, other, text.length),
          Math.min(Math.max(one, other), text.length),
        ];
        const bytes = Uint8Array.from(text);
        let first = -1;
        for (let at = to - wanted.length; at >= from; at--)
          if (wanted.every((byte, index) => bytes[at + index] === byte)) first = at;
        expect(new ByteSearch(Uint8Array.from(wanted)).find(bytes, from, to)).toBe(first);
      },
    ),
    { seed: 20261130, numRuns: 2000 },
  );
});

test('a sequence longer than a step may be is found as well', () => {
  const wanted = Uint8Array.from({ length: 700 }, (_, at) => (at * 7) % 251);
  const bytes = new Uint8Array(3000);
  bytes.set(wanted, 1234);
  expect(new ByteSearch(wanted).find(bytes, 0, bytes.length)).toBe(1234);
  expect(new ByteSearch(wanted).find(bytes, 1235, bytes.length)).toBe(-1);
});
