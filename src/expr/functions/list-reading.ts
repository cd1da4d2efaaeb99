/** What lists hold: searches, sizes, extremes; series. Maps are lists of entries (`map-rows.ts`). */
import type { Column, Int64Column, ListColumn } from '../../batch/column.ts';
import { setBit } from '../../batch/column.ts';
import { compareValues } from '../../batch/row-equal.ts';
import type { ListType, SqlType } from '../../batch/types.ts';
import { BOOLEAN, INT64, TEXT, listType, sameType } from '../../batch/types.ts';
import { LIMITS } from '../../base/limits.ts';
import type { Evaluate, FunctionExample, ScalarFunction } from '../function-types.ts';
import { always } from '../function-types.ts';
import { tooLargeMessage } from '../row-errors.ts';
import { takeWithin } from '../select.ts';
import {
  Outcome,
  combineValidity,
  isPresent,
  makeBoolean,
  makeInt64,
  strideOf,
} from '../vector.ts';
import { int64AsNumber, writeSafeInt64 } from '../wide.ts';
import { endOf, equal, isNullAt, listFunction, occurs, sizeOf, startOf } from './list-rows.ts';
import { fromText, toText } from './list-text.ts';
import { entriesType, entryOf, extract, makeMap, side } from './map-rows.ts';

const indexIn = (column: Column, row: number): number => row * strideOf(column);

/** A truth about each row's lists; NULL where a list is NULL. */
const truth =
  (holds: (row: number, args: readonly Column[]) => boolean): Evaluate =>
  (args, rows) => {
    const lists = args.filter(({ tag }) => tag === 'list');
    const result = makeBoolean(rows, combineValidity(lists, rows));
    for (let row = 0; row < rows; row++)
      if (lists.every((list) => isPresent(list, row)) && holds(row, args)) setBit(result.bits, row);
    return result;
  };

const has = (row: number, [list, element]: readonly Column[]): boolean =>
  occurs(
    (list as ListColumn).child,
    startOf(list as ListColumn, row),
    endOf(list as ListColumn, row),
    element as Column,
    indexIn(element as Column, row),
  );

/** How many elements of the second list occur in the first. */
function shared(row: number, args: readonly Column[]): number {
  const [left, right] = args as readonly [ListColumn, ListColumn];
  let count = 0;
  for (let index = startOf(right, row); index < endOf(right, row); index++)
    if (occurs(left.child, startOf(left, row), endOf(left, row), right.child, index)) count++;
  return count;
}

/** A whole number about each row's list, or NULL. */
const number =
  (measure: (row: number, args: readonly Column[]) => number | null): Evaluate =>
  (args, rows, errors) => {
    const outcome = new Outcome([args[0] as Column], rows, errors);
    const result = makeInt64(rows, INT64);
    for (let row = 0; row < rows; row++) {
      const value = outcome.has(row) ? measure(row, args) : null;
      if (value === null) outcome.makeNull(row);
      else writeSafeInt64(result.words, row, value);
    }
    return { ...result, validity: outcome.validity };
  };

const numberAt = (column: Column | undefined, row: number, otherwise: number): number =>
  column === undefined
    ? otherwise
    : int64AsNumber((column as Int64Column).words, indexIn(column, row));

function position(row: number, [list, element, start]: readonly Column[]): number | null {
  const { child } = list as ListColumn;
  const from = startOf(list as ListColumn, row);
  for (
    let index = from + numberAt(start, row, 1) - 1;
    index < endOf(list as ListColumn, row);
    index++
  )
    if (index >= from && equal(child, index, element as Column, indexIn(element as Column, row)))
      return index - from + 1;
  return null;
}

/** Elements of a dimension: of the list itself, or of the first list in it. */
function lengthOf(row: number, [list, dimension]: readonly Column[]): number | null {
  let column = list as Column;
  let at = indexIn(column, row);
  for (let depth = numberAt(dimension, row, 1); depth > 1; depth--) {
    if (
      column.tag !== 'list' ||
      isNullAt(column, at) ||
      column.offsets[at] === column.offsets[at + 1]
    )
      return null;
    at = column.offsets[at] as number;
    column = column.child;
  }
  if (column.tag !== 'list' || isNullAt(column, at)) return null;
  return (column.offsets[at + 1] as number) - (column.offsets[at] as number);
}

/** Elements of all lists inside. */
function cardinality(column: Column, at: number): number {
  if (column.tag !== 'list') return 1;
  if (isNullAt(column, at)) return 0;
  let count = 0;
  for (
    let index = column.offsets[at] as number;
    index < (column.offsets[at + 1] as number);
    index++
  )
    count += cardinality(column.child, index);
  return count;
}

const depthOf = (type: SqlType): number => (type.tag === 'list' ? 1 + depthOf(type.element) : 0);

const extreme =
  (direction: 1 | -1): Evaluate =>
  (args, rows, errors) => {
    const [list] = args as readonly [ListColumn];
    const picked = new Int32Array(rows).fill(-1);
    for (let row = 0; row < rows; row++) {
      if (!isPresent(list, row)) continue;
      for (let index = startOf(list, row); index < endOf(list, row); index++) {
        if (isNullAt(list.child, index)) continue;
        const best = picked[row] as number;
        if (best < 0 || compareValues(list.child, index, list.child, best) * direction > 0)
          picked[row] = index;
      }
    }
    return takeWithin(list.child, picked, rows, errors);
  };

/** Of an element; while lists are made there is as much again. */
const INT64_BYTES = 8;

/** Whole numbers from one to another. */
const series =
  (inclusive: boolean): Evaluate =>
  (args, rows, errors, type) => {
    const [first, second, third] = args as readonly [Column, Column?, Column?];
    const outcome = new Outcome(args, rows, errors);
    const values: number[] = [];
    const offsets = new Int32Array(rows + 1);
    for (let row = 0; row < rows; row++) {
      const from = second === undefined ? 0 : numberAt(first, row, 0);
      const to = numberAt(second ?? first, row, 0);
      const step = numberAt(third, row, 1);
      const last = inclusive ? to : to - Math.sign(step);
      const count = Math.floor((last - from) / step) + 1;
      if (step === 0)
        outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => 'the step of a series is zero');
      else if (count * INT64_BYTES > LIMITS.valueBytesMax)
        outcome.fail(row, 'ROW_TOO_LARGE', () => tooLargeMessage('list'));
      else if (outcome.has(row)) for (let at = 0; at < count; at++) values.push(from + at * step);
      offsets[row + 1] = values.length;
      errors.expect(values.length * INT64_BYTES);
    }
    errors.spend(values.length * INT64_BYTES);
    const child = makeInt64(values.length, INT64);
    values.forEach((value, at) => writeSafeInt64(child.words, at, value));
    return {
      tag: 'list',
      type: type as ListType,
      length: rows,
      validity: outcome.validity,
      offsets,
      child,
    };
  };

const positions: Evaluate = (args, rows, errors, type) => {
  const [list, element] = args as readonly [ListColumn, Column];
  const outcome = new Outcome([list], rows, errors);
  const found: number[] = [];
  const offsets = new Int32Array(rows + 1);
  for (let row = 0; row < rows; row++) {
    const from = startOf(list, row);
    if (isPresent(list, row))
      for (let index = from; index < endOf(list, row); index++)
        if (equal(list.child, index, element, indexIn(element, row))) found.push(index - from + 1);
    if ((found.length - (offsets[row] as number)) * INT64_BYTES > LIMITS.valueBytesMax) {
      outcome.fail(row, 'ROW_TOO_LARGE', () => tooLargeMessage('list'));
      found.length = offsets[row] as number;
    }
    offsets[row + 1] = found.length;
    errors.expect(found.length * INT64_BYTES);
  }
  errors.spend(found.length * INT64_BYTES);
  const child = makeInt64(found.length, INT64);
  found.forEach((value, at) => writeSafeInt64(child.words, at, value));
  return {
    tag: 'list',
    type: type as ListType,
    length: rows,
    validity: outcome.validity,
    offsets,
    child,
  };
};

const dims: Evaluate = (args, rows, errors, type) => {
  const [list] = args as readonly [ListColumn];
  const outcome = new Outcome([list], rows, errors);
  const values: number[] = [];
  const offsets = new Int32Array(rows + 1);
  const depth = depthOf(list.type);
  for (let row = 0; row < rows; row++) {
    let column: Column = list;
    let at = indexIn(list, row);
    for (let level = 0; outcome.has(row) && level < depth && column.tag === 'list'; level++) {
      const size = (column.offsets[at + 1] as number) - (column.offsets[at] as number);
      values.push(size);
      if (size === 0) break;
      at = column.offsets[at] as number;
      column = column.child;
    }
    offsets[row + 1] = values.length;
  }
  const child = makeInt64(values.length, INT64);
  values.forEach((value, at) => writeSafeInt64(child.words, at, value));
  return {
    tag: 'list',
    type: type as ListType,
    length: rows,
    validity: outcome.validity,
    offsets,
    child,
  };
};

const L = 'same-list' as const;
const fn = (
  name: string,
  args: ScalarFunction['args'],
  result: ScalarFunction['result'],
  doc: string,
  example: FunctionExample | null,
  evaluate: Evaluate,
  more: { id?: string; canFail?: boolean; mayBeNull?: boolean } = {},
): ScalarFunction => listFunction({ name, args, result, doc, example, evaluate, ...more });

const INTS = always(listType(INT64));
const TEXTS = always(listType(TEXT));
const first: ScalarFunction['result'] = ([type]) => (type?.tag === 'list' ? type.element : null);

export const LIST_READING: readonly ScalarFunction[] = [
  fn(
    'array_has',
    [L, 'element'],
    always(BOOLEAN),
    'whether the list has an element',
    { args: [[1, 2], 2], gives: true },
    truth(has),
  ),
  fn(
    'array_has_all',
    [L, L],
    always(BOOLEAN),
    'whether the first list has every element of the second',
    { args: [[1, 2], [3]], gives: false },
    truth((row, args) => shared(row, args) === sizeOf(args[1] as ListColumn, row)),
  ),
  fn(
    'array_has_any',
    [L, L],
    always(BOOLEAN),
    'whether the lists have an element in common',
    { args: [[1, 2], [2]], gives: true },
    truth((row, args) => shared(row, args) > 0),
  ),
  fn(
    'empty',
    ['list'],
    always(BOOLEAN),
    'whether the list has no elements',
    { args: [[1]], gives: false },
    truth((row, [list]) => sizeOf(list as ListColumn, row) === 0),
  ),
  fn(
    'array_position',
    [L, 'element'],
    always(INT64),
    'where the element first occurs, from 1; NULL when nowhere',
    { args: [[7, 8], 8], gives: '2' },
    number(position),
    { mayBeNull: true, id: 'array-position:2' },
  ),
  fn(
    'array_position',
    [L, 'element', 'int64'],
    always(INT64),
    'where the element first occurs from a position on; NULL when nowhere',
    { args: [[7, 8, 7], 7, '2'], gives: '3' },
    number(position),
    { mayBeNull: true, id: 'array-position:3' },
  ),
  fn(
    'array_positions',
    [L, 'element'],
    INTS,
    'all positions of the element, from 1',
    { args: [[7, 8, 7], 7], gives: ['1', '3'] },
    positions,
    { canFail: true },
  ),
  fn(
    'array_length',
    ['list'],
    always(INT64),
    'how many elements the list has',
    { args: [[7, 8]], gives: '2' },
    number(lengthOf),
    { id: 'array-length:1', mayBeNull: true },
  ),
  fn(
    'array_length',
    ['list', 'int64'],
    always(INT64),
    'how many elements a dimension has',
    { args: [[7, 8], '1'], gives: '2' },
    number(lengthOf),
    { id: 'array-length:2', mayBeNull: true },
  ),
  fn(
    'cardinality',
    ['list'],
    always(INT64),
    'how many elements there are in the list and all lists in it',
    { args: [[7, 8]], gives: '2' },
    number((row, [list]) => cardinality(list as Column, indexIn(list as Column, row))),
  ),
  fn(
    'array_ndims',
    ['list'],
    always(INT64),
    'how deep lists are in the list',
    { args: [[7]], gives: '1' },
    number((_, [list]) => depthOf((list as Column).type)),
  ),
  fn(
    'array_dims',
    ['list'],
    INTS,
    'how many elements each dimension has',
    { args: [[7, 8]], gives: ['2'] },
    dims,
  ),
  fn(
    'array_max',
    ['list'],
    first,
    'the largest element; NULL without elements',
    { args: [[1, 3, 2]], gives: 3 },
    extreme(1),
    { mayBeNull: true },
  ),
  fn(
    'array_min',
    ['list'],
    first,
    'the smallest element; NULL without elements',
    { args: [[3, 1, 2]], gives: 1 },
    extreme(-1),
    { mayBeNull: true },
  ),
  fn(
    'array_to_string',
    ['list', 'text'],
    always(TEXT),
    'the elements as text with the second argument between them, NULLs left out',
    { args: [[1, null, 2], '-'], gives: '1-2' },
    toText,
    { id: 'array-to-string:2', canFail: true },
  ),
  fn(
    'array_to_string',
    ['list', 'text', 'text'],
    always(TEXT),
    'the same with the third argument for NULLs',
    { args: [[1, null, 2], '-', '*'], gives: '1-*-2' },
    toText,
    { id: 'array-to-string:3', canFail: true },
  ),
  fn(
    'string_to_array',
    ['text', 'text'],
    TEXTS,
    'the parts of a text between separators; every character when the separator is NULL',
    { args: ['a,b', ','], gives: ['a', 'b'] },
    fromText,
    { id: 'string-to-array:2', canFail: true },
  ),
  fn(
    'string_to_array',
    ['text', 'text', 'text'],
    TEXTS,
    'the same with parts equal to the third argument as NULL',
    { args: ['a,-', ',', '-'], gives: ['a', null] },
    fromText,
    { id: 'string-to-array:3', canFail: true },
  ),
  ...(['generate_series', 'range'] as const).flatMap((name) => {
    const inclusive = name === 'generate_series';
    const doc = `the whole numbers from one to another, the last one ${inclusive ? 'included' : 'excluded'}, in steps`;
    const gives = inclusive ? ['0', '1', '2'] : ['0', '1'];
    return [
      fn(name, ['int64'], INTS, doc, { args: ['2'], gives }, series(inclusive), {
        id: `${name}:1`,
        canFail: true,
      }),
      fn(name, ['int64', 'int64'], INTS, doc, { args: ['0', '2'], gives }, series(inclusive), {
        id: `${name}:2`,
        canFail: true,
      }),
      fn(
        name,
        ['int64', 'int64', 'int64'],
        INTS,
        doc,
        { args: ['3', '0', '-2'], gives: ['3', '1'] },
        series(inclusive),
        { id: `${name}:3`, canFail: true },
      ),
    ];
  }),
  fn(
    'map',
    ['list', 'list'],
    entriesType,
    'a map: the list of its entries, from a list of keys and one of values',
    {
      args: [
        [1, 2],
        [3, 4],
      ],
      gives: [
        [1, 3],
        [2, 4],
      ],
    },
    makeMap,
    { canFail: true },
  ),
  fn(
    'map_keys',
    ['list'],
    (types) => {
      const entry = entryOf(types);
      return entry === null ? null : listType((entry.fields[0] as { type: SqlType }).type);
    },
    'the keys of a map',
    null,
    side(0),
    { canFail: true },
  ),
  fn(
    'map_values',
    ['list'],
    (types) => {
      const entry = entryOf(types);
      return entry === null ? null : listType((entry.fields[1] as { type: SqlType }).type);
    },
    'the values of a map',
    null,
    side(1),
    { canFail: true },
  ),
  fn(
    'map_entries',
    ['list'],
    (types) => (entryOf(types) === null ? null : (types[0] as SqlType)),
    'the entries of a map: structs of key and value',
    null,
    ([map]) => map as Column,
  ),
  fn(
    'map_extract',
    ['list', 'any'],
    (types) => {
      const [key, value] = entryOf(types)?.fields ?? [];
      if (key === undefined || value === undefined) return null;
      return sameType(key.type, types[1] as SqlType) ? listType(value.type) : null;
    },
    'a list with the value of a key, empty when there is none',
    null,
    extract,
    { canFail: true },
  ),
];
