import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Column } from '../../src/batch/column.ts';
import { INT32, INT64, TEXT, type SqlType } from '../../src/batch/types.ts';
import { columnFromValues, type Value } from '../../src/batch/values.ts';
import { CompositeTable } from '../../src/state/composite-table.ts';
import { TextTable } from '../../src/state/text-table.ts';

const SEED = 90_412;

/** The numbers of rows by a map of strings, beside those that a table gives batch by batch. */
function numbersOf(
  types: readonly SqlType[],
  batches: readonly (readonly (readonly Value[])[])[],
): { expected: number[][]; found: number[][] } {
  const table = new CompositeTable(types);
  const known = new Map<string, number>();
  const expected: number[][] = [];
  const found: number[][] = [];
  for (const rows of batches) {
    expected.push(
      rows.map((row) => {
        const name = row.map(String).join('|');
        if (!known.has(name)) known.set(name, known.size);
        return known.get(name) as number;
      }),
    );
    const columns = types.map((type, at) =>
      columnFromValues(
        type,
        rows.map((row) => row[at] as Value),
      ),
    );
    const out = new Int32Array(rows.length);
    table.lookupOrInsert(columns, 0, rows.length, out);
    found.push([...out]);
  }
  return { expected, found };
}

test.each<{ title: string; types: readonly SqlType[] }>([
  { title: 'four words', types: [INT32, INT64] },
  { title: 'more words', types: [INT32, INT64, INT64] },
])('a table of $title that has outgrown what is near numbers keys as they came', ({ types }) => {
  let state = SEED;
  const next = (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
  // Keys come back in the batch that has them first, and in later ones.
  const batches = Array.from({ length: 12 }, (_, batch) =>
    Array.from({ length: 5000 }, () => {
      const key = next(6000 * (batch + 1));
      return [key % 7, ...types.slice(1).map((_type, at) => BigInt(Math.floor(key / 7) + at))];
    }),
  );
  const { expected, found } = numbersOf(types, batches);
  expect(Math.max(...expected.flat())).toBeGreaterThan(25_000);
  expect(found).toEqual(expected);
});

test('texts keep their numbers, whether or not the row before has the same one', () => {
  const word = fc.oneof(
    fc.constantFrom('', 'a', 'ab', 'abc', 'abd', '2026-01-01', '2026-01-02', '2025-01-01'),
    fc.constant(null),
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(word, fc.integer({ min: 1, max: 4 })), { maxLength: 30 }),
      (runs) => {
        const texts = runs.flatMap(([text, times]) => Array.from({ length: times }, () => text));
        const table = new TextTable(TEXT);
        const out = new Int32Array(texts.length);
        const column: Column = columnFromValues(TEXT, texts);
        table.lookupOrInsert([column], 0, texts.length, out);
        const known = [...new Set(texts)];
        expect([...out]).toEqual(texts.map((text) => known.indexOf(text)));
      },
    ),
    { seed: SEED, numRuns: 300 },
  );
});
