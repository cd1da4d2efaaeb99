/** Texts picked from a column and from a store, of every length about which copies differ. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Column } from '../../src/batch/column.ts';
import { sliceColumn, takeColumn } from '../../src/batch/take.ts';
import { TEXT } from '../../src/batch/types.ts';
import { columnFromValues, valueAt } from '../../src/batch/values.ts';
import { makeColumnStore } from '../../src/state/column-store.ts';

const length = fc.oneof(
  fc.integer({ min: 0, max: 9 }),
  fc.constantFrom(16, 30, 31, 32, 33, 63, 64, 65, 200),
);
const text = length.chain((size) =>
  fc.array(fc.integer({ min: 97, max: 122 }), { minLength: size, maxLength: size }),
);
const texts = fc
  .array(
    text.map((codes) => String.fromCharCode(...codes)),
    { minLength: 1, maxLength: 20 },
  )
  .chain((all) => fc.tuple(fc.constant(all), fc.array(fc.nat(all.length - 1), { maxLength: 30 })));

const valuesOf = (column: Column): unknown[] =>
  Array.from({ length: column.length }, (_, at) => valueAt(column, at));

test('texts are picked as they are, at the end of their bytes and in the midst of them', () => {
  fc.assert(
    fc.property(texts, fc.nat(3), ([all, picks], before) => {
      const more = [...all.slice(0, before), ...all];
      const first = more.length - all.length;
      const column = sliceColumn(columnFromValues(TEXT, more), first, more.length);
      const indices = Int32Array.from(picks);
      const wanted = picks.map((pick) => all[pick]);
      const taken = takeColumn(column, indices, indices.length);
      expect(valuesOf(taken)).toEqual(wanted);
      const store = makeColumnStore(TEXT);
      store.appendRows(column, 0, all.length);
      const gathered = store.gather(indices);
      expect(valuesOf(gathered)).toEqual(wanted);
      for (const { tag, ...found } of [taken, gathered]) {
        expect(tag).toBe('text');
        if ('bytes' in found) expect(found.bytes.length).toBe(wanted.join('').length);
      }
    }),
    { seed: 20_261_130, numRuns: 500 },
  );
});

test('where no text is picked there is NULL, and its neighbours stay as they are', () => {
  const column = columnFromValues(TEXT, ['one', 'two', 'three', '']);
  const taken = takeColumn(column, Int32Array.of(2, -1, 0, 3, -1, 1), 6);
  expect(valuesOf(taken)).toEqual(['three', null, 'one', '', null, 'two']);
});
