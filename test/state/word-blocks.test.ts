/** Values in blocks against a plain array, over the borders of several blocks. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WordBlocks } from '../../src/state/word-blocks.ts';

const SEED = 20_261_130;
/** Sizes on both sides of a block's. */
const size = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constantFrom(1000, 8191, 8192, 8193));
const step = fc.oneof(
  fc.record({ tag: fc.constant('run' as const), size, from: fc.nat(7) }),
  fc.record({ tag: fc.constant('put' as const), picks: fc.array(fc.nat(), { maxLength: 30 }) }),
  fc.record({ tag: fc.constant('set' as const), at: fc.nat(), value: fc.nat(8999) }),
  fc.record({ tag: fc.constant('clear' as const), at: fc.nat() }),
  fc.record({ tag: fc.constant('reach' as const), size }),
);

/** Value `k` has the words k, k + 1 …; 0 stands for one that nobody has set. */
const sourceOf = (width: number): Int32Array =>
  Int32Array.from({ length: 9000 * width }, (_, at) => Math.floor(at / width) + 1 + (at % width));
const wordsOf = (value: number, width: number): number[] =>
  Array.from({ length: width }, (_, word) => (value === 0 ? 0 : value + word));

test.each([1, 2, 4])('values of %i words are where they were put, as more come', (width) => {
  const source = sourceOf(width);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const blocks = new WordBlocks(width);
      const model: number[] = [];
      for (const doing of steps) {
        if (doing.tag === 'run') {
          blocks.reach(model.length + doing.size);
          blocks.setRun(model.length, source, doing.from, doing.size);
          for (let at = 0; at < doing.size; at++) model.push(doing.from + at + 1);
        } else if (doing.tag === 'reach') {
          blocks.reach(model.length + doing.size);
          for (let at = 0; at < doing.size; at++) model.push(0);
        } else if (model.length === 0) continue;
        else if (doing.tag === 'put') {
          const indices = Int32Array.from(doing.picks, (pick) => pick % model.length);
          const rows = Int32Array.from(doing.picks, (pick) => pick % 9000);
          blocks.put(indices, source, rows, indices.length);
          doing.picks.forEach(
            (pick, at) => (model[pick % model.length] = (rows[at] as number) + 1),
          );
        } else if (doing.tag === 'set') {
          blocks.set(doing.at % model.length, source, doing.value);
          model[doing.at % model.length] = doing.value + 1;
        } else {
          blocks.clear(doing.at % model.length);
          model[doing.at % model.length] = 0;
        }
      }
      const all = Int32Array.from(model, (_, at) => at);
      expect([...blocks.gather(all)]).toEqual(model.flatMap((value) => wordsOf(value, width)));
      const some = all.filter((at) => at % 3 !== 1).toReversed();
      const wanted = [...some].flatMap((at) => wordsOf(model[at] as number, width));
      expect([...blocks.gather(some)]).toEqual(wanted);
      const far = Int32Array.of(model.length + 20_000, 0, model.length + 20_000);
      if (model.length > 0) {
        const [nothing, first] = [wordsOf(0, width), wordsOf(model[0] as number, width)];
        expect([...blocks.gather(far)]).toEqual([...nothing, ...first, ...nothing]);
      }
    }),
    { seed: SEED, numRuns: 30 },
  );
});

test('what is compared are numbers, by their highest word first', () => {
  const blocks = new WordBlocks(2);
  const source = Int32Array.of(5, 0, -1, 0, 0, 1, 0, -1);
  blocks.reach(8200);
  for (let row = 0; row < 4; row++) blocks.set(row * 2733, source, row);
  const sorted = (unsigned: boolean): number[] =>
    [0, 1, 2, 3].toSorted((one, other) => blocks.compare(one * 2733, other * 2733, unsigned));
  expect(sorted(false)).toEqual([3, 0, 1, 2]);
  expect(sorted(true)).toEqual([0, 1, 2, 3]);
  expect(blocks.equals(8199, source, 3)).toBe(true);
  expect(blocks.equals(8199, source, 2)).toBe(false);
});
