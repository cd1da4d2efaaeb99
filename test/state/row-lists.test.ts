/** The index under a join against lists of numbers, newest first, which share nothing with it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Column } from '../../src/batch/column.ts';
import { hashRows } from '../../src/batch/row-hash.ts';
import { INT32, INT64, TEXT, type SqlType } from '../../src/batch/types.ts';
import { RowLists, type RowList, type PairList, type RowTimes } from '../../src/state/row-lists.ts';

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

/** Any time, before 1970 too; some rows have none. */
const timeOfRow = (id: number, k: number): number =>
  id % 7 === 6 ? -Infinity : (id * 7_919 - k * 104_729) * 1_000_003;

const timesOf = (times: readonly number[]): RowTimes => {
  const words = new Int32Array(times.length * 2);
  times.forEach((time, at) => {
    words[at * 2] = time | 0;
    words[at * 2 + 1] = Math.max(-(2 ** 31), Math.floor(time / 2 ** 32));
  });
  return { words, all: 0 };
};

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

  add(list: RowList, k: number, numbers: Int32Array): void {
    const id = this.place(k);
    list.add(id, numbers[k] as number, timeOfRow(id, k));
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
  const pairs: PairList = {
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
    // Three pairs are enough: no row was looked at after them.
    const last = row - 1;
    expect(pairs.rows.subarray(0, pairs.count).filter((each) => each < last).length).toBeLessThan(
      3,
    );
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
      const names = rows.namesOf(Int32Array.from(list));
      expect([...names.hashes]).toEqual(list.map(() => hashes[k]));
      const saved = list.map((id) => Math.max(-(2 ** 53), timeOfRow(id, k)));
      expect(names.times).toEqual(timesOf(saved).words);
      for (const id of list) {
        expect(rows.timeOf(id)).toBe(timeOfRow(id, k));
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
      if (doing.tag === 'one') model.add(lists[doing.side], doing.key, numbers);
      else if (doing.tag === 'run') {
        const keys = Int32Array.from([0, ...doing.keys], (k) => numbers[k] as number);
        const times = timesOf([0, ...doing.keys.map((k, at) => timeOfRow(model.size + at, k))]);
        lists[doing.side].addRun(model.size, keys, times, 1, doing.keys.length);
        for (const k of doing.keys) model.placeLast(k);
      } else for (const k of doing.keys) model.add(lists[doing.side], k, numbers);
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

test('rows of keys of one row each are met in order, up to a number of pairs, and two of a key from the second on', () => {
  const lists = new RowLists([INT64]);
  const size = 300;
  const numbers = lists.number([columnOf(INT64, 0, size)], size).slice(0, size);
  const wanted = (kept: readonly number[][]): number[][] =>
    kept.flatMap((ids, k) => (k % 5 === 4 ? [] : ids.map((id) => [k, id])));
  const kept: number[][] = Array.from({ length: size }, () => []);
  // Each third key has a row; neighbours among them are added at once.
  let end = 0;
  for (let k = 0; k < size; k += 3) {
    kept[k]?.unshift(end);
    lists.right.addRun(end++, numbers, timesOf(new Array(size).fill(0)), k, 1);
  }
  expect(pairsOf(lists.right, numbers)).toEqual(wanted(kept));
  expect(pairsOf(lists.left, numbers)).toEqual([]);
  lists.right.remove(2);
  kept[6] = [];
  expect(pairsOf(lists.right, numbers)).toEqual(wanted(kept));
  // The place that was given back, for a key that has a row.
  lists.right.add(2, numbers[3] as number, 0);
  kept[3]?.unshift(2);
  expect(pairsOf(lists.right, numbers)).toEqual(wanted(kept));
});

test('two rows of a key in one run are both met', () => {
  const lists = new RowLists([INT32]);
  const numbers = lists.number([columnOf(INT32, 0, 3)], 3).slice(0, 3);
  const keys = Int32Array.from([0, 1, 0, 2], (k) => numbers[k] as number);
  lists.left.addRun(0, keys, { words: null, all: 0 }, 0, 4);
  expect(pairsOf(lists.left, numbers)).toEqual([
    [0, 2],
    [0, 0],
    [1, 1],
    [2, 3],
  ]);
});

test('keys that no row has any more give their memory back', () => {
  const lists = new RowLists([INT64]);
  const size = 500;
  const bytes: number[] = [];
  for (let round = 0; round < 40; round++) {
    const keys = lists.number([columnOf(INT64, round * size, size)], size);
    const ids = Int32Array.from({ length: size }, (_, id) => id);
    for (const id of ids) lists.left.add(id, keys[id] as number, 0);
    for (const id of ids) lists.left.remove(id);
    lists.tidy();
    bytes.push(lists.bytes());
  }
  expect(Math.max(...bytes.slice(10))).toBeLessThanOrEqual(Math.max(...bytes.slice(0, 10)));
});

test('of a pair the later time counts, whichever side has it', () => {
  const lists = new RowLists([INT32]);
  const time = fc.integer({ min: -(2 ** 50), max: 2 ** 50 });
  fc.assert(
    fc.property(fc.array(fc.tuple(time, time), { maxLength: 20 }), time, (pairs, all) => {
      const kept = timesOf(pairs.map(([, other]) => other));
      lists.number([columnOf(INT32, 0, 1)], 1);
      const count = pairs.length;
      lists.right.addRun(0, new Int32Array(count), kept, 0, count);
      const every = Int32Array.from(pairs, (_, at) => at);
      const own = timesOf(pairs.map(([one]) => one));
      const later = pairs.map(([one, other]) => Math.max(one, other));
      expect(lists.right.laterTimes(own, every, every)).toEqual(timesOf(later).words);
      const since = pairs.map(([, other]) => Math.max(all, other));
      const alike: RowTimes = { words: null, all };
      expect(lists.right.laterTimes(alike, every, every)).toEqual(timesOf(since).words);
    }),
    { seed: SEED, numRuns: 100 },
  );
});

test('rows that have one time for all of them fill several blocks', () => {
  const lists = new RowLists([INT32]);
  lists.number([columnOf(INT32, 0, 5)], 5);
  const count = 20_000;
  const keys = Int32Array.from({ length: count + 3 }, (_, row) => row % 5);
  lists.left.addRun(0, keys, { words: null, all: -5 }, 0, 7);
  lists.left.addRun(7, keys, { words: null, all: Infinity }, 3, count);
  for (let key = 0; key < 5; key++) {
    let wanted = count + 6;
    while ((wanted < 7 ? wanted : wanted - 4) % 5 !== key) wanted--;
    expect(lists.left.first(key)).toBe(wanted);
  }
  let listed = 0;
  for (let key = 0; key < 5; key++)
    for (let id = lists.left.first(key); id >= 0; id = lists.left.next(id)) listed++;
  expect(listed).toBe(count + 7);
  expect(lists.left.timeOf(6)).toBe(-5);
  expect(lists.left.timeOf(count)).toBe(Infinity);
});
