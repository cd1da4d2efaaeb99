/**
 * Lists out of lists: adding, removing, replacing, sorting, set operations. Elements are equal as in GROUP BY: NULL equals
 * NULL. A NULL list gives NULL, but counts as empty where elements are added to it.
 */
import type { Column, Int64Column, ListColumn, TextColumn } from '../../batch/column.ts';
import { compareValues } from '../../batch/row-equal.ts';
import type { ArgumentPattern, Evaluate, ScalarFunction } from '../function-types.ts';
import { ofFirst } from '../function-types.ts';
import { textAt } from '../text-sink.ts';
import { Outcome, isPresent, strideOf } from '../vector.ts';
import { int64AsNumber } from '../wide.ts';
import type { EachList } from './list-rows.ts';
import {
  ListMaker,
  asList,
  eachList,
  endOf,
  equal,
  isFirst,
  isNullAt,
  listFunction,
  occurs,
  sizeOf,
  startOf,
} from './list-rows.ts';

const numberAt = (column: Column | undefined, row: number, otherwise: number): number =>
  column === undefined
    ? otherwise
    : int64AsNumber((column as Int64Column).words, row * strideOf(column));

const indexIn = (column: Column, row: number): number => row * strideOf(column);

const append: EachList = (maker, row, [list, element]) => {
  const lists = list as ListColumn;
  if (isPresent(lists, row)) maker.pushAll(0, startOf(lists, row), endOf(lists, row));
  maker.push(1, indexIn(element as Column, row));
};

const prepend: EachList = (maker, row, [element, list]) => {
  const lists = list as ListColumn;
  maker.push(0, indexIn(element as Column, row));
  if (isPresent(lists, row)) maker.pushAll(1, startOf(lists, row), endOf(lists, row));
};

const concat: EachList = (maker, row, args) =>
  args.forEach((column, piece) => {
    const list = column as ListColumn;
    if (isPresent(list, row)) maker.pushAll(piece, startOf(list, row), endOf(list, row));
  });

const distinct: EachList = (maker, row, [list]) => {
  const { child } = list as ListColumn;
  const from = startOf(list as ListColumn, row);
  for (let index = from; index < endOf(list as ListColumn, row); index++)
    if (isFirst(child, from, index)) maker.push(0, index);
};

/** Elements of the first list, each once, by whether they occur in the second. */
const bySecond =
  (wanted: boolean): EachList =>
  (maker, row, args) => {
    const [left, right] = args as readonly [ListColumn, ListColumn];
    const from = startOf(left, row);
    for (let index = from; index < endOf(left, row); index++) {
      if (!isFirst(left.child, from, index)) continue;
      if (occurs(right.child, startOf(right, row), endOf(right, row), left.child, index) === wanted)
        maker.push(0, index);
    }
  };

const union: EachList = (maker, row, args) => {
  const [left, right] = args as readonly [ListColumn, ListColumn];
  distinct(maker, row, [left]);
  const from = startOf(right, row);
  for (let index = from; index < endOf(right, row); index++) {
    if (!isFirst(right.child, from, index)) continue;
    if (!occurs(left.child, startOf(left, row), endOf(left, row), right.child, index))
      maker.push(1, index);
  }
};

const pop =
  (atEnd: boolean): EachList =>
  (maker, row, [list]) => {
    const [from, to] = [startOf(list as ListColumn, row), endOf(list as ListColumn, row)];
    maker.pushAll(0, atEnd ? from : from + 1, atEnd ? to - 1 : to);
  };

const reverse: EachList = (maker, row, [list]) => {
  for (
    let index = endOf(list as ListColumn, row) - 1;
    index >= startOf(list as ListColumn, row);
    index--
  )
    maker.push(0, index);
};

/** Removes equal elements, at most so many; without a third argument `most`. */
const remove =
  (most: number): EachList =>
  (maker, row, [list, element, limit]) => {
    const lists = list as ListColumn;
    let left = numberAt(limit, row, most);
    for (let index = startOf(lists, row); index < endOf(lists, row); index++) {
      if (left > 0 && equal(lists.child, index, element as Column, indexIn(element as Column, row)))
        left--;
      else maker.push(0, index);
    }
  };

const replace =
  (most: number): EachList =>
  (maker, row, [list, old, fresh, limit]) => {
    const lists = list as ListColumn;
    let left = numberAt(limit, row, most);
    for (let index = startOf(lists, row); index < endOf(lists, row); index++) {
      if (left > 0 && equal(lists.child, index, old as Column, indexIn(old as Column, row))) {
        left--;
        maker.push(2, indexIn(fresh as Column, row));
      } else maker.push(0, index);
    }
  };

/** Cut, or filled up with the third argument or NULL. */
const resize: EachList = (maker, row, [list, size, fill]) => {
  const lists = list as ListColumn;
  const wanted = Math.max(0, numberAt(size, row, 0));
  const from = startOf(lists, row);
  maker.pushAll(0, from, Math.min(endOf(lists, row), from + wanted));
  while (maker.count < wanted && !maker.isFull)
    if (fill === undefined) maker.push(0, -1);
    else maker.push(1, indexIn(fill, row));
};

const repeat: Evaluate = (args, rows, errors, type) => {
  const [element, times] = args as readonly [Column, Column];
  const outcome = new Outcome([times], rows, errors);
  const maker = new ListMaker(rows, [element], errors);
  for (let row = 0; row < rows; row++) {
    const count = outcome.has(row) ? numberAt(times, row, 0) : 0;
    // What is repeated may be a list of repetitions itself: bytes are what counts.
    for (let copy = 0; copy < count && !maker.isFull; copy++) maker.push(0, indexIn(element, row));
    maker.endRow(outcome.has(row));
  }
  return maker.finish(type);
};

const word = (column: Column | undefined, row: number, otherwise: string): string =>
  column === undefined
    ? otherwise
    : textAt(column as TextColumn, row * strideOf(column))
        .trim()
        .toUpperCase();

/** NULLs come first unless told otherwise, as in DataFusion. */
const sort: EachList = (maker, row, [list, direction, nulls]) => {
  const lists = list as ListColumn;
  const descending = word(direction, row, 'ASC') === 'DESC';
  const nullsFirst = word(nulls, row, 'NULLS FIRST') === 'NULLS FIRST';
  const { child } = lists;
  const order = Int32Array.from(
    { length: sizeOf(lists, row) },
    (_, at) => startOf(lists, row) + at,
  );
  order.sort((left, right) => {
    const [leftNull, rightNull] = [isNullAt(child, left), isNullAt(child, right)];
    if (leftNull || rightNull)
      return leftNull === rightNull ? left - right : leftNull === nullsFirst ? -1 : 1;
    const compared = compareValues(child, left, child, right);
    return (descending ? -compared : compared) || left - right;
  });
  for (const index of order) maker.push(0, index);
};

const flatten: Evaluate = (args, rows, errors, type) => {
  const [outer] = args as readonly [ListColumn];
  const inner = outer.child as ListColumn;
  const maker = new ListMaker(rows, [inner.child], errors);
  for (let row = 0; row < rows; row++) {
    const present = isPresent(outer, row);
    if (present)
      for (let index = startOf(outer, row); index < endOf(outer, row); index++)
        if (!isNullAt(inner, index))
          maker.pushAll(0, inner.offsets[index] as number, inner.offsets[index + 1] as number);
    maker.endRow(present);
  }
  return maker.finish(type);
};

const L = 'same-list' as const;
const E = 'element' as const;

type Row = readonly [
  name: string,
  args: readonly ArgumentPattern[],
  required: readonly number[],
  doc: string,
  example: ScalarFunction['examples'][0],
  each: EachList,
];

const ROWS: readonly Row[] = [
  [
    'array_append',
    [L, E],
    [],
    'the list with an element behind it',
    { args: [[1], 2], gives: [1, 2] },
    append,
  ],
  [
    'array_prepend',
    [E, L],
    [],
    'the list with an element before it',
    { args: [1, [2]], gives: [1, 2] },
    prepend,
  ],
  [
    'array_distinct',
    [L],
    [0],
    'each value once, where it came first',
    { args: [[2, 1, 2]], gives: [2, 1] },
    distinct,
  ],
  [
    'array_except',
    [L, L],
    [0, 1],
    'the values of the first list that the second has not, each once',
    { args: [[1, 2, 2, 3], [3]], gives: [1, 2] },
    bySecond(false),
  ],
  [
    'array_intersect',
    [L, L],
    [0, 1],
    'the values that both lists have, each once',
    {
      args: [
        [1, 2, 2],
        [2, 3],
      ],
      gives: [2],
    },
    bySecond(true),
  ],
  [
    'array_union',
    [L, L],
    [0, 1],
    'the values that one of the lists has, each once',
    {
      args: [
        [1, 2],
        [2, 3],
      ],
      gives: [1, 2, 3],
    },
    union,
  ],
  [
    'array_pop_back',
    [L],
    [0],
    'the list without its last element',
    { args: [[1, 2]], gives: [1] },
    pop(true),
  ],
  [
    'array_pop_front',
    [L],
    [0],
    'the list without its first element',
    { args: [[1, 2]], gives: [2] },
    pop(false),
  ],
  [
    'array_reverse',
    [L],
    [0],
    'the elements in reverse order',
    { args: [[1, 2]], gives: [2, 1] },
    reverse,
  ],
  [
    'array_remove',
    [L, E],
    [0],
    'the list without the first element equal to the second argument',
    { args: [[1, 2, 1], 1], gives: [2, 1] },
    remove(1),
  ],
  [
    'array_remove_n',
    [L, E, 'int64'],
    [0, 2],
    'the list without the first n elements equal to the second argument',
    { args: [[1, 2, 1], 1, '2'], gives: [2] },
    remove(1),
  ],
  [
    'array_remove_all',
    [L, E],
    [0],
    'the list without any element equal to the second argument',
    { args: [[1, 2, 1], 1], gives: [2] },
    remove(Infinity),
  ],
  [
    'array_replace',
    [L, E, E],
    [0],
    'the list with the first element equal to the second argument replaced by the third',
    { args: [[1, 1], 1, 9], gives: [9, 1] },
    replace(1),
  ],
  [
    'array_replace_n',
    [L, E, E, 'int64'],
    [0, 3],
    'the list with the first n such elements replaced',
    { args: [[1, 1, 1], 1, 9, '2'], gives: [9, 9, 1] },
    replace(1),
  ],
  [
    'array_replace_all',
    [L, E, E],
    [0],
    'the list with every such element replaced',
    { args: [[1, 1], 1, 9], gives: [9, 9] },
    replace(Infinity),
  ],
  [
    'array_resize',
    [L, 'int64'],
    [0, 1],
    'the list cut, or filled up with NULLs, to n elements',
    { args: [[1, 2], '1'], gives: [1] },
    resize,
  ],
  [
    'array_resize',
    [L, 'int64', E],
    [0, 1],
    'the list cut, or filled up with the third argument, to n elements',
    { args: [[1], '3', 7], gives: [1, 7, 7] },
    resize,
  ],
  [
    'array_sort',
    [L],
    [0],
    'the elements sorted, NULLs first',
    { args: [[2, 1]], gives: [1, 2] },
    sort,
  ],
  [
    'array_sort',
    [L, 'text'],
    [0, 1],
    "the elements sorted, 'ASC' or 'DESC', NULLs first",
    { args: [[1, 2], 'DESC'], gives: [2, 1] },
    sort,
  ],
  [
    'array_sort',
    [L, 'text', 'text'],
    [0, 1, 2],
    "the elements sorted, with 'NULLS FIRST' or 'NULLS LAST'",
    { args: [[1, null], 'ASC', 'NULLS LAST'], gives: [1, null] },
    sort,
  ],
];

export const LIST_BUILDING: readonly ScalarFunction[] = [
  ...ROWS.map(([name, args, required, doc, example, each]) =>
    listFunction({
      id: `${name.replaceAll('_', '-')}:${args.length}`,
      name,
      args,
      result: asList,
      doc,
      example,
      evaluate: eachList(args, required, each),
      canFail: true,
    }),
  ),
  listFunction({
    name: 'array_concat',
    args: [L],
    rest: L,
    result: ofFirst,
    doc: 'the elements of all lists, one list after the other',
    example: { args: [[1], [2, 3]], gives: [1, 2, 3] },
    evaluate: eachList([L], [], concat),
    canFail: true,
  }),
  listFunction({
    name: 'array_repeat',
    args: [E, 'int64'],
    result: asList,
    doc: 'a list with a value n times',
    example: { args: [7, '2'], gives: [7, 7] },
    evaluate: repeat,
    canFail: true,
  }),
  listFunction({
    name: 'flatten',
    args: ['list'],
    result: ([type]) => (type?.tag === 'list' && type.element.tag === 'list' ? type.element : null),
    doc: 'the elements of the lists in a list as one list',
    example: null,
    evaluate: flatten,
    canFail: true,
  }),
];
