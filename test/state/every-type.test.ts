/** State of every type: stores, keys, hashes and table files hold values of random nested types. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyRangeOf } from '../../src/base/hash.ts';
import type { Column } from '../../src/batch/column.ts';
import { intervalOfLiteral } from '../../src/batch/interval.ts';
import { compareValues } from '../../src/batch/row-equal.ts';
import { hashRows } from '../../src/batch/row-hash.ts';
import { sliceColumn, takeColumn } from '../../src/batch/take.ts';
import { INTERVAL, JSON_TYPE, listType, type SqlType } from '../../src/batch/types.ts';
import { columnFromValues, valueAt, type Row, type Value } from '../../src/batch/values.ts';
import { makeColumnStore } from '../../src/state/column-store.ts';
import { allGroups, GroupIndex } from '../../src/state/group-index.ts';
import { decodeStateTable, encodeStateTable } from '../../src/state/table-file.ts';
import { anyType, anyValue } from '../batch/arbitrary.ts';

const valuesOf = (column: Column): Value[] =>
  Array.from({ length: column.length }, (_, index) => valueAt(column, index));

/** A text that two values share exactly when GROUP BY takes them for one. */
function keyOf(value: Value, type: SqlType): string {
  if (value === null) return 'null';
  if (type.tag === 'list')
    return `[${(value as readonly Value[]).map((element) => keyOf(element, type.element)).join()}]`;
  if (type.tag === 'struct')
    return `{${type.fields.map((field) => keyOf((value as Row)[field.name] as Value, field.type)).join()}}`;
  if (type.tag === 'interval') {
    const { months, days, micros } = intervalOfLiteral(String(value));
    return String((BigInt(months) * 30n + BigInt(days)) * 86_400_000_000n + micros);
  }
  if (typeof value === 'number') return String(value + 0);
  return JSON.stringify(String(value));
}

/** A type with values of which many come again. */
const anyKeys = anyType.chain((type) =>
  fc
    .tuple(
      fc.array(anyValue(type), { minLength: 1, maxLength: 8 }),
      fc.array(fc.nat(7), { maxLength: 40 }),
    )
    .map(([pool, picks]) => ({
      type,
      values: picks.map((pick) => pool[pick % pool.length] as Value),
    })),
);

const SEED = 20_241_130;

test('rows of any type are in one group exactly when their keys are equal, alone and beside others', () => {
  fc.assert(
    fc.property(fc.array(anyKeys, { minLength: 1, maxLength: 3 }), (keys) => {
      const rows = Math.min(...keys.map(({ values }) => values.length));
      const columns = keys.map(({ type, values }) => columnFromValues(type, values.slice(0, rows)));
      const index = new GroupIndex(keys.map(({ type }) => type));
      const groups = new Int32Array(rows);
      index.lookupOrInsert(columns, 0, rows, groups);
      const numbers = new Map<string, number>();
      for (let row = 0; row < rows; row++) {
        const key = keys.map(({ type, values }) => keyOf(values[row] as Value, type)).join(';');
        if (!numbers.has(key)) numbers.set(key, numbers.size);
        expect(groups[row]).toBe(numbers.get(key));
      }
      const read = index.keyColumns(allGroups(index.count));
      for (let row = 0; row < rows; row++)
        keys.forEach(({ type, values }, at) => {
          const back = valueAt(read[at] as Column, groups[row] as number);
          expect(keyOf(back, type)).toBe(keyOf(values[row] as Value, type));
        });
    }),
    { numRuns: 200, seed: SEED },
  );
});

test('equal values have equal hashes and no order between them, whatever lies around them', () => {
  fc.assert(
    fc.property(anyKeys, fc.nat(5), ({ type, values }, before) => {
      const plain = columnFromValues(type, values);
      const hashes = new Uint32Array(values.length);
      hashRows([plain], values.length, hashes);
      // The same values in another order and within a longer column.
      const indices = Int32Array.from(values, (_, index) => values.length - 1 - index);
      const turned = takeColumn(plain, indices, values.length);
      const others = new Uint32Array(values.length);
      hashRows([turned], values.length, others);
      values.forEach((value, row) => {
        const mirror = values.length - 1 - row;
        expect(others[mirror]).toBe(hashes[row]);
        const other = (row + before) % values.length;
        const same = keyOf(value, type) === keyOf(values[other] as Value, type);
        const order = compareValues(plain, row, plain, other);
        expect(order === 0).toBe(same);
        if (same) expect(hashes[row]).toBe(hashes[other]);
        expect(Math.sign(compareValues(plain, other, plain, row))).toBe(-Math.sign(order) + 0);
      });
    }),
    { numRuns: 200, seed: SEED },
  );
});

test('a store gives back what was put and put over, and a table file what it was made of', () => {
  fc.assert(
    fc.property(
      anyKeys,
      fc.array(fc.tuple(fc.nat(39), fc.nat(39)), { maxLength: 20 }),
      ({ type, values }, changes) => {
        const column = columnFromValues(type, values);
        const store = makeColumnStore(type);
        const model = [...values];
        for (let row = 0; row < values.length; row++) store.append(column, row);
        for (const [to, from] of values.length === 0 ? [] : changes) {
          store.set(to % values.length, column, from % values.length);
          model[to % values.length] = values[from % values.length] as Value;
        }
        const gathered = store.gather(Int32Array.from(model, (_, index) => index));
        expect(valuesOf(gathered)).toEqual(model);
        model.forEach((value, index) => {
          const at = (index * 7) % values.length;
          const same = keyOf(value, type) === keyOf(values[at] as Value, type);
          expect(store.equals(index, column, at)).toBe(same);
        });
        const hashes = new Uint32Array(model.length);
        hashRows([gathered], model.length, hashes);
        const schema = [{ name: 'v', type, nullable: true }];
        const bytes = encodeStateTable({
          table: 't',
          schema,
          rows: model.length,
          columns: [gathered],
          hashes,
          changes: null,
        });
        const back = decodeStateTable(bytes, keyRangeOf(0, 1));
        expect(back.schema).toEqual(schema);
        expect(valuesOf(back.columns[0] as Column)).toEqual(model);
      },
    ),
    { numRuns: 200, seed: SEED },
  );
});

test('stretches of any type go behind what is there, whatever was put over before', () => {
  fc.assert(
    fc.property(
      anyKeys,
      fc.array(fc.tuple(fc.nat(39), fc.nat(39), fc.nat(39)), { maxLength: 8 }),
      fc.boolean(),
      ({ type, values }, stretches, sliced) => {
        // Of text that is a slice of more, the first offset is not zero.
        const whole = columnFromValues(type, [...values, ...values]);
        const column = sliced ? sliceColumn(whole, values.length, values.length * 2) : whole;
        const store = makeColumnStore(type);
        const model: Value[] = [];
        for (const [one, other, over] of stretches) {
          if (values.length === 0) break;
          const [from, to] = [one % values.length, other % values.length].toSorted((x, y) => x - y);
          store.appendRows(column, from as number, (to as number) - (from as number));
          model.push(...values.slice(from, to));
          if (model.length === 0) continue;
          store.set(over % model.length, column, over % values.length);
          model[over % model.length] = values[over % values.length] as Value;
        }
        expect(store.length).toBe(model.length);
        const gathered = store.gather(Int32Array.from(model, (_, index) => index));
        expect(valuesOf(gathered)).toEqual(model);
      },
    ),
    { numRuns: 200, seed: SEED },
  );
});

test('a list store forgets what was put over', () => {
  const type = listType(JSON_TYPE);
  const column = columnFromValues(type, [Array.from({ length: 1000 }, (_, n) => `${n}`), ['1']]);
  const store = makeColumnStore(type);
  store.append(column, 0);
  store.append(column, 1);
  let most = 0;
  for (let round = 0; round < 300; round++) {
    store.set(0, column, 0);
    most = Math.max(most, store.bytes());
  }
  expect(most).toBeLessThan(2_000_000);
  expect(valueAt(store.gather(Int32Array.of(1)), 0)).toEqual(['1']);
});

test('one month and thirty days are one key, which keeps the form it came in first', () => {
  const index = new GroupIndex([INTERVAL]);
  const groups = new Int32Array(3);
  const column = columnFromValues(INTERVAL, ['1 0 0', '0 30 0', '0 29 86400000000']);
  index.lookupOrInsert([column], 0, 3, groups);
  expect([...groups]).toEqual([0, 0, 0]);
  expect(valueAt(index.keyColumns(allGroups(1))[0] as Column, 0)).toBe('1 0 0');
});
