import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineagePaths } from '../../src/lineage/paths.ts';

const paths = new LineagePaths('pl_1', 'job_1');
const number = fc.nat({ max: 9_999_999_999 });
const nonce = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);
const part = fc.string({ minLength: 1 });

test('every name that is built is read back', () => {
  fc.assert(
    fc.property(
      number,
      number,
      nonce,
      part,
      part,
      fc.nat(64),
      nonce,
      (generation, epoch, start, operator, table, subtask, uuid) => {
        expect(paths.parse(paths.record(epoch))).toEqual({ tag: 'record', epoch });
        expect(paths.parse(paths.generation(generation, start))).toEqual({
          tag: 'generation',
          generation,
          nonce: start,
        });
        expect(paths.parse(paths.manifest(generation, start, epoch))).toEqual({
          tag: 'manifest',
          generation,
          nonce: start,
          epoch,
        });
        expect(paths.parse(paths.marker(generation, start, epoch))).toEqual({
          tag: 'marker',
          generation,
          nonce: start,
          epoch,
        });
        const file = paths.file(generation, start, epoch, operator, table, subtask, uuid);
        expect(paths.parse(file)).toEqual({ tag: 'file', generation, nonce: start, epoch });
      },
    ),
  );
  expect(paths.parse(paths.current)).toEqual({ tag: 'current' });
});

test('the order of names is the order of epochs', () => {
  fc.assert(
    fc.property(number, number, (left, right) => {
      expect(paths.record(left) < paths.record(right)).toBe(left < right);
      expect(paths.manifest(1, 'n', left) < paths.manifest(1, 'n', right)).toBe(left < right);
    }),
  );
});

test('names of other pipelines, other jobs and other shapes are not ours', () => {
  const other = new LineagePaths('pl_1', 'job_10');
  for (const key of [
    other.record(1),
    `${paths.epochs}1.record`,
    `${paths.epochs}0000000001.recordx`,
    `${paths.epochs}0000000001.record/x`,
    `${paths.generations}0000000001//manifest.json`,
    `${paths.generations}0000000001/n/checkpoints/0000000001/other`,
    `${paths.generations}0000000001/n/checkpoints/0000000001/a/b`,
    '',
  ]) {
    expect(paths.parse(key), key).toBe(null);
  }
});

test('text with slashes stays one part of a name', () => {
  const file = paths.file(1, 'n', 2, 'a/../b', 'c/d', 0, 'u');
  expect(paths.parse(file)).toEqual({ tag: 'file', generation: 1, nonce: 'n', epoch: 2 });
  expect(() => paths.manifest(1, 'a/b', 2)).toThrow('not a nonce');
  expect(() => paths.record(-1)).toThrow('not a number');
  expect(() => paths.record(10_000_000_000)).toThrow('too large');
});
