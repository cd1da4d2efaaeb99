/** The index under a join against lists of numbers, newest first, which share nothing with it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Column } from '../../src/batch/column.ts';
import { hashRows } from '../../src/batch/row-hash.ts';
import { INT32, INT64, TEXT, type SqlType } from '../../src/batch/types.ts';
import { RowLists, type RowList, type RowPairs } from '../../src/state/row-lists.ts';

const KEYS = 12;
const SEED = 20_261_130;

type Side = 'left' | 'right';
type Step =
  | { tag: 'one'; side: Side; key: number }
  | { tag: 'many'; side: Side; keys: number[] }
  | { tag: 'run'; side: Side; keys: number[] }
  | { tag: 'remove'; side: Side; pick: number }
  | { tag: 'strangers'; count: number };

const key = fc.nat(KEYS - 1);
const side = fc.constantFrom<Side>('left', 'right');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ tag: fc.constant('one' as const), side, key }),
  fc.record({ tag: fc.constant('many' as const), side, keys: fc.array(key, { maxLength: 40 }) }),
  fc.record({ tag: fc.constant('run' as const), side, keys: fc.array(key, { maxLength: 40 }) }),
  fc.record({ tag: fc.constant('remove' as const), side, pick: fc.nat() }),
  fc.record({ tag: fc.constant('strangers' as const), count: fc.constantFrom(3, 1500) }),
);

/** Key `k` in row `k`, from `first` on. */
function columnOf(type: SqlType, first: number, length: number): Column {
  const common = { type, length, validity: null };
  const values = Int32Array.from({ length }, (_, k) => (first + k) * 7);
  if (type.tag === 'int32') return { tag: 'int32', ...common, values };
  if (type.tag === 'text') {
    const texts = Array.from(values, (value) => `key ${value}`);
    const bytes = new TextEncoder().encode(texts.join(''));
    const offsets = new Int32Array(length + 1);
    texts.forEach((text, at) => (offsets[at + 1] = (offsets[at] as number) + text.length));
    return { tag: 'text', ...common, offsets, bytes };
  }
  const words = Int32Array.from({ length: length * 2 }, (_, at) =>
    at % 2 === 0 ? (values[at >> 1] as number) : 1,
  );
  return { tag: 'int64', ...common, words };
}

/** Rows are numbered as a caller does: places that were given back come first. */
class Model {
  readonly lists: number[][] = Array.from({ length: KEYS }, () => []);
  readonly #free: number[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  place(k: number): number {
    const id = this.#free.pop() ?? this.#size++;
    this.lists[k]?.unshift(id);
    return id;
  }

  /** A place behind all others. */
  placeLast(k: number): void {
    this.lists[k]?.unshift(this.#size++);
  }

  /** Any one of the rows, which is gone then; undefined: there is none. */
  take(pick: number): number | undefined {
    const all = this.lists.flat();
    const id = all[pick % all.length];
    if (id === undefined) return undefined;
    for (const list of this.lists) if (list.includes(id)) list.splice(list.indexOf(id), 1);
    this.#free.push(id);
    return id;
  }
}

/** What rows with keys `numbers` meet, a few pairs at a time; each fifth row meets nobody. */
function pairsOf(list: RowList, numbers: Int32Array): number[][] {
  const pairs: RowPairs = {
    rows: new Int32Array(2),
    ids: new Int32Array(2),
    count: 0,
    grow: () => {
      pairs.rows = Int32Array.from([...pairs.rows, 0, 0]);
      pairs.ids = Int32Array.from([...pairs.ids, 0, 0]);
    },
  };
  const nulls = Uint8Array.from(numbers, (_, row) => (row % 5 === 4 ? 1 : 0));
  const met: number[][] = [];
  for (let row = 0; row < numbers.length;) {
    pairs.count = 0;
    const before = row;
    row = list.meet(numbers, nulls, row, numbers.length, 3, pairs);
    expect(row).toBeGreaterThan(before);
    for (let at = 0; at < pairs.count; at++)
      met.push([pairs.rows[at] as number, pairs.ids[at] as number]);
  }
  return met;
}

function expectLists(lists: RowLists, models: Record<Side, Model>, column: Column): void {
  const hashes = new Uint32Array(KEYS);
  hashRows([column], KEYS, hashes);
  const numbers = lists.number([column], KEYS).slice(0, KEYS);
  for (const name of ['left', 'right'] as const) {
    const rows = lists[name];
    const model = models[name];
    const found = Array.from(numbers, (number) => {
      const list: number[] = [];
      for (let id = rows.first(number); id >= 0 && list.length < 10_000; id = rows.next(id))
        list.push(id);
      return list;
    });
    expect(found).toEqual(model.lists);
    expect(pairsOf(rows, numbers)).toEqual(
      model.lists.flatMap((list, k) => (k % 5 === 4 ? [] : list.map((id) => [k, id]))),
    );
    expect(rows.count).toBe(model.lists.flat().length);
    const held = new Set(model.lists.flat());
    for (let id = 0; id < model.size; id++) expect(rows.has(id)).toBe(held.has(id));
    model.lists.forEach((list, k) => {
      for (const id of list) {
        expect(rows.keyOf(id)).toBe(numbers[k]);
        expect(rows.hashOf(id)).toBe(hashes[k]);
      }
    });
  }
}

function live(type: SqlType, steps: readonly Step[]): void {
  const column = columnOf(type, 0, KEYS);
  const lists = new RowLists([type]);
  const models = { left: new Model(), right: new Model() };
  let stranger = KEYS;
  for (const doing of steps) {
    if (doing.tag === 'strangers') {
      lists.number([columnOf(type, stranger, doing.count)], doing.count);
      stranger += doing.count;
    } else if (doing.tag === 'remove') {
      const id = models[doing.side].take(doing.pick);
      if (id !== undefined) lists[doing.side].remove(id);
    } else {
      const model = models[doing.side];
      const numbers = lists.number([column], KEYS);
      if (doing.tag === 'one')
        lists[doing.side].add(model.place(doing.key), numbers[doing.key] as number);
      else if (doing.tag === 'run') {
        const keys = Int32Array.from([0, ...doing.keys], (k) => numbers[k] as number);
        lists[doing.side].addRun(model.size, keys, 1, doing.keys.length);
        for (const k of doing.keys) model.placeLast(k);
      } else {
        const ids = Int32Array.from(doing.keys, (k) => model.place(k));
        lists[doing.side].addAll(ids, numbers, Int32Array.from(doing.keys), model.size);
      }
    }
    lists.tidy();
    expectLists(lists, models, column);
  }
}

test.each([
  ['BIGINT', INT64],
  ['INT', INT32],
  ['TEXT', TEXT],
])('rows of a key of %s are found newest first, whatever comes and goes', (_, type) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => live(type, steps)),
    { seed: SEED, numRuns: 100 },
  );
});

test('keys that no row has any more give their memory back', () => {
  const lists = new RowLists([INT64]);
  const size = 500;
  const bytes: number[] = [];
  for (let round = 0; round < 40; round++) {
    const keys = lists.number([columnOf(INT64, round * size, size)], size);
    const ids = Int32Array.from({ length: size }, (_, id) => id);
    lists.left.addAll(ids, keys, ids, size);
    for (const id of ids) lists.left.remove(id);
    lists.tidy();
    bytes.push(lists.bytes());
  }
  expect(Math.max(...bytes.slice(10))).toBeLessThanOrEqual(Math.max(...bytes.slice(0, 10)));
});
