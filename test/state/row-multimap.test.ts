/** The index under a join against lists of numbers, newest first, which share nothing with it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Column } from '../../src/batch/column.ts';
import { hashRows } from '../../src/batch/row-hash.ts';
import { INT32, INT64, type SqlType } from '../../src/batch/types.ts';
import { makeColumnStore } from '../../src/state/column-store.ts';
import { RowMultimap } from '../../src/state/row-multimap.ts';

const KEYS = 12;
const SEED = 20_261_130;

type Step =
  | { tag: 'one'; key: number }
  | { tag: 'many'; keys: number[] }
  | { tag: 'remove'; pick: number };

const key = fc.nat(KEYS - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ tag: fc.constant('one' as const), key }),
  fc.record({ tag: fc.constant('many' as const), keys: fc.array(key, { maxLength: 40 }) }),
  fc.record({ tag: fc.constant('remove' as const), pick: fc.nat() }),
);

/** Key `k` in row `k`: words of 64 bits, whose key is kept with the row, or of 32, whose key is not. */
function columnOf(type: SqlType): Column {
  const common = { type, length: KEYS, validity: null };
  const values = Int32Array.from({ length: KEYS }, (_, k) => k * 7);
  if (type.tag === 'int32') return { tag: 'int32', ...common, values };
  const words = Int32Array.from({ length: KEYS * 2 }, (_, word) => (word % 2) + (word >> 1) * 7);
  return { tag: 'int64', ...common, words };
}

/** Rows are numbered as a caller does: places that were given back come first. */
function live(type: SqlType, steps: readonly Step[]): void {
  const columns = [columnOf(type)];
  const hashes = new Uint32Array(KEYS);
  hashRows(columns, KEYS, hashes);
  const store = makeColumnStore(type);
  const map = new RowMultimap([store], false);
  const lists: number[][] = Array.from({ length: KEYS }, () => []);
  const free: number[] = [];
  let size = 0;
  const place = (k: number): number => {
    const id = free.pop() ?? size++;
    store.put(Int32Array.of(id), columns[0] as Column, Int32Array.of(k), 1);
    lists[k]?.unshift(id);
    return id;
  };
  for (const doing of steps) {
    if (doing.tag === 'one')
      map.insert(place(doing.key), columns, doing.key, hashes[doing.key] as number);
    else if (doing.tag === 'many')
      map.insertAll(
        Int32Array.from(doing.keys.map(place)),
        columns,
        Int32Array.from(doing.keys),
        hashes,
      );
    else {
      const all = lists.flat();
      if (all.length === 0) continue;
      const id = all[doing.pick % all.length] as number;
      map.remove(id);
      for (const list of lists) if (list.includes(id)) list.splice(list.indexOf(id), 1);
      free.push(id);
    }
    expectLists(map, columns, hashes, lists);
  }
  for (const list of lists) for (const id of list) expect(map.firstOf(id)).toBe(list[0]);
}

function expectLists(
  map: RowMultimap,
  columns: readonly Column[],
  hashes: Uint32Array,
  lists: readonly number[][],
): void {
  const heads = new Int32Array(KEYS);
  map.find(columns, KEYS, hashes, heads);
  const found = Array.from(heads, (head) => {
    const list: number[] = [];
    for (let id = head; id >= 0 && list.length < 10_000; id = map.next(id)) list.push(id);
    return list;
  });
  expect(found).toEqual(lists);
}

test.each([
  ['kept with the row', INT64],
  ['kept in its column', INT32],
])('rows of a key %s are found newest first, whatever comes and goes', (_, type) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => live(type, steps)),
    { seed: SEED, numRuns: 150 },
  );
});
