/**
 * NOT, IS NULL, and the functions about NULL: coalesce, nullif, greatest, least, and IN lists.
 *
 * coalesce stops at the first argument that is not NULL (compile.ts evaluates it row by row need, so
 * later arguments fail nothing); greatest and least ignore NULLs, as in Postgres.
 */
import type { BooleanColumn, Column, TextColumn } from '../../batch/column.ts';
import { bitAt, bitmapBytes } from '../../batch/column.ts';
import { unreachable } from '../../base/assert.ts';
import { hexText } from '../../batch/bytes-text.ts';
import { measure, span } from '../../batch/interval.ts';
import { ALL_TAGS, BOOLEAN, isNested } from '../../batch/types.ts';
import type { Evaluate, ScalarFunction } from '../function-types.ts';
import { always, ofFirst } from '../function-types.ts';
import { Assembly } from '../select.ts';
import { TextChoices } from '../text-choices.ts';
import { textAt } from '../text-sink.ts';
import { combineValidity, isPresent, makeBoolean, strideOf } from '../vector.ts';
import { decimalAsNumber, int64AsNumber, isSafe, readDecimal, readInt64 } from '../wide.ts';
import { equalColumn, lessColumn } from './comparison.ts';

const not: Evaluate = (args, rows) => {
  const [input] = args as readonly [BooleanColumn];
  const result = makeBoolean(rows, combineValidity(args, rows));
  if (strideOf(input) === 0)
    return { ...result, bits: result.bits.fill(bitAt(input.bits, 0) ? 0 : 255) };
  for (let byte = 0; byte < bitmapBytes(rows); byte++)
    result.bits[byte] = ~(input.bits[byte] as number);
  return result;
};

const nullTest =
  (negate: boolean): Evaluate =>
  (args, rows) => {
    const [input] = args as readonly [Column];
    const result = makeBoolean(rows, null);
    const { bits } = result;
    if (input.validity === null) return { ...result, bits: bits.fill(negate ? 255 : 0) };
    for (let row = 0; row < rows; row++) {
      if (isPresent(input, row) === negate)
        bits[row >> 3] = (bits[row >> 3] as number) | (1 << (row & 7));
    }
    return result;
  };

const truthTest =
  (wanted: boolean, negate: boolean): Evaluate =>
  (args, rows) => {
    const [input] = args as readonly [BooleanColumn];
    const result = makeBoolean(rows, null);
    const stride = strideOf(input);
    for (let row = 0; row < rows; row++) {
      const holds = isPresent(input, row) && bitAt(input.bits, row * stride) === wanted;
      if (holds !== negate)
        result.bits[row >> 3] = (result.bits[row >> 3] as number) | (1 << (row & 7));
    }
    return result;
  };

const coalesce: Evaluate = (args, rows, errors, type) => {
  const assembly = new Assembly(rows);
  const pieces = args.map((column) => assembly.add(column));
  for (let row = 0; row < rows; row++) {
    const index = args.findIndex((column) => isPresent(column, row));
    if (index >= 0)
      assembly.place(row, pieces[index] as number, row * strideOf(args[index] as Column));
  }
  return assembly.finish(type, errors);
};

const nullif: Evaluate = (args, rows, errors, type) => {
  const [left, right] = args as readonly [Column, Column];
  const same = equalColumn(left, right, rows);
  const assembly = new Assembly(rows);
  const piece = assembly.add(left);
  for (let row = 0; row < rows; row++) {
    if (!(bitAt(same.bits, row) && isPresent(same, row)))
      assembly.place(row, piece, row * strideOf(left));
  }
  return assembly.finish(type, errors);
};

const extreme =
  (largest: boolean): Evaluate =>
  (args, rows, errors, type) =>
    args.reduce((best, column) => {
      const better = largest ? lessColumn(best, column, rows) : lessColumn(column, best, rows);
      const assembly = new Assembly(rows);
      const kept = assembly.add(best);
      const next = assembly.add(column);
      for (let row = 0; row < rows; row++) {
        const takesNext =
          isPresent(column, row) && (!isPresent(best, row) || bitAt(better.bits, row));
        if (takesNext) assembly.place(row, next, row * strideOf(column));
        else assembly.place(row, kept, row * strideOf(best));
      }
      return assembly.finish(type, errors);
    });

type Key = number | string | boolean | bigint;

/** A key that is equal exactly for equal values of one type. */
function keyAt(column: Column, index: number): Key {
  switch (column.tag) {
    case 'boolean':
      return bitAt(column.bits, index);
    case 'int32':
    case 'float64':
      return column.values[index] as number;
    case 'int64':
    case 'timestamp': {
      const value = int64AsNumber(column.words, index);
      return isSafe(value) ? value : readInt64(column.words, index);
    }
    case 'decimal': {
      const value = decimalAsNumber(column.words, index);
      return isSafe(value) ? value : readDecimal(column.words, index);
    }
    case 'interval':
      measure(column.words, 4 * index);
      return `${span.days} ${span.micros}`;
    case 'text':
      return column.type.tag === 'bytea'
        ? hexText(
            column.bytes,
            column.offsets[index] as number,
            column.offsets[index + 1] as number,
          )
        : textAt(column, index);
    case 'list':
    case 'struct':
      throw new TypeError('values of many parts have no key');
    default:
      return unreachable(column);
  }
}

/** Membership in constants by a set; Set equality has NaN equal to NaN and -0 equal to 0, as SQL wants. */
function inConstants(input: Column, list: readonly Column[], rows: number): BooleanColumn {
  const present = list.filter((column) => isPresent(column, 0));
  const keys = new Set<Key>(present.map((column) => keyAt(column, 0)));
  const hasNull = present.length < list.length;
  const result = makeBoolean(rows, null);
  const validity = new Uint8Array(bitmapBytes(rows));
  const stride = strideOf(input);
  for (let row = 0; row < rows; row++) {
    if (!isPresent(input, row)) continue;
    const bit = 1 << (row & 7);
    const found = keys.has(keyAt(input, row * stride));
    if (found) result.bits[row >> 3] = (result.bits[row >> 3] as number) | bit;
    if (found || !hasNull) validity[row >> 3] = (validity[row >> 3] as number) | bit;
  }
  return { ...result, validity };
}

/** Choices of a list by its first constant, which is the same column for every batch. */
const KNOWN_CHOICES = new WeakMap<Column, { list: readonly Column[]; choices: TextChoices }>();

function choicesOf(list: readonly Column[]): TextChoices {
  const first = list[0] as Column;
  const known = KNOWN_CHOICES.get(first);
  if (known?.list.length === list.length && known.list.every((column, at) => column === list[at]))
    return known.choices;
  const texts = (list as readonly TextColumn[])
    .filter((column) => isPresent(column, 0))
    .map(({ bytes, offsets }) => bytes.slice(offsets[0], offsets[1]));
  const choices = new TextChoices(texts);
  KNOWN_CHOICES.set(first, { list: [...list], choices });
  return choices;
}

/** Membership of texts in constants, without a string per row. */
function inTexts(input: TextColumn, list: readonly Column[], rows: number): BooleanColumn {
  const choices = choicesOf(list);
  const hasNull = list.some((column) => !isPresent(column, 0));
  const { bytes, offsets, validity } = input;
  const result = makeBoolean(rows, null);
  const { bits } = result;
  for (let row = 0; row < rows; row++) {
    if (validity !== null && !bitAt(validity, row)) continue;
    if (choices.find(bytes, offsets[row] as number, offsets[row + 1] as number) >= 0)
      bits[row >> 3] = (bits[row >> 3] as number) | (1 << (row & 7));
  }
  // With NULL in the list whatever is not found is unknown; rows that are NULL have no bit.
  return { ...result, validity: hasNull ? bits.slice() : validity };
}

/** True where one test is; NULL where none is and one is NULL. */
const inList: Evaluate = (args, rows) => {
  const [input, ...list] = args as readonly [Column, ...Column[]];
  if (list.every((column) => strideOf(column) === 0)) {
    if (input.tag === 'text' && strideOf(input) === 1) return inTexts(input, list, rows);
    if (list.length > 4 && !isNested(input.type)) return inConstants(input, list, rows);
  }
  const bits = new Uint8Array(bitmapBytes(rows));
  const present = new Uint8Array(bitmapBytes(rows)).fill(255);
  for (const column of list) {
    const test = equalColumn(input, column, rows);
    for (let byte = 0; byte < bits.length; byte++) {
      const known = test.validity === null ? 255 : (test.validity[byte] as number);
      bits[byte] = (bits[byte] as number) | ((test.bits[byte] as number) & known);
      present[byte] = (present[byte] as number) & known;
    }
  }
  for (let byte = 0; byte < bits.length; byte++)
    present[byte] = (present[byte] as number) | (bits[byte] as number);
  return { ...makeBoolean(0, present), length: rows, bits };
};

const common = { nullRule: 'custom', canFail: false, result: always(BOOLEAN) } as const;
const ofAny = { nullRule: 'custom', canFail: false, result: ofFirst } as const;

export const CONDITIONALS: readonly ScalarFunction[] = [
  {
    ...common,
    id: 'not',
    name: 'not',
    infix: 'NOT',
    args: ['boolean'],
    nullRule: 'strict',
    doc: 'the opposite; NULL stays NULL',
    examples: [{ args: [true], gives: false }],
    evaluate: not,
  },
  {
    ...common,
    id: 'is-null',
    name: 'is null',
    infix: 'IS NULL',
    args: ['any'],
    anyOf: ALL_TAGS,
    doc: 'whether the value is NULL; never NULL',
    examples: [{ args: [1], gives: false }],
    evaluate: nullTest(false),
  },
  {
    ...common,
    id: 'is-not-null',
    name: 'is not null',
    infix: 'IS NOT NULL',
    args: ['any'],
    anyOf: ALL_TAGS,
    doc: 'whether the value is not NULL; never NULL',
    examples: [{ args: [1], gives: true }],
    evaluate: nullTest(true),
  },
  {
    ...common,
    id: 'is-true',
    name: 'is true',
    infix: 'IS TRUE',
    args: ['boolean'],
    doc: 'whether the value is true; never NULL',
    examples: [{ args: [true], gives: true }],
    evaluate: truthTest(true, false),
  },
  {
    ...common,
    id: 'is-not-true',
    name: 'is not true',
    infix: 'IS NOT TRUE',
    args: ['boolean'],
    doc: 'whether the value is false or NULL',
    examples: [{ args: [true], gives: false }],
    evaluate: truthTest(true, true),
  },
  {
    ...common,
    id: 'is-false',
    name: 'is false',
    infix: 'IS FALSE',
    args: ['boolean'],
    doc: 'whether the value is false; never NULL',
    examples: [{ args: [true], gives: false }],
    evaluate: truthTest(false, false),
  },
  {
    ...common,
    id: 'is-not-false',
    name: 'is not false',
    infix: 'IS NOT FALSE',
    args: ['boolean'],
    doc: 'whether the value is true or NULL',
    examples: [{ args: [true], gives: true }],
    evaluate: truthTest(false, true),
  },
  {
    ...ofAny,
    id: 'coalesce',
    name: 'coalesce',
    args: ['any'],
    rest: 'any',
    anyOf: ALL_TAGS,
    doc: 'the first argument that is not NULL',
    examples: [{ args: [7, 1], gives: 7 }],
    evaluate: coalesce,
  },
  {
    ...ofAny,
    id: 'nullif',
    name: 'nullif',
    anyOf: ALL_TAGS,
    args: ['any', 'any'],
    doc: 'NULL when both are equal, else the first',
    examples: [{ args: [7, 7], gives: null }],
    evaluate: nullif,
  },
  {
    ...ofAny,
    id: 'greatest',
    name: 'greatest',
    anyOf: ALL_TAGS,
    args: ['any'],
    rest: 'any',
    doc: 'the largest argument, NULLs ignored',
    examples: [{ args: [1, 3, 2], gives: 3 }],
    evaluate: extreme(true),
  },
  {
    ...ofAny,
    id: 'least',
    name: 'least',
    anyOf: ALL_TAGS,
    args: ['any'],
    rest: 'any',
    doc: 'the smallest argument, NULLs ignored',
    examples: [{ args: [2, 1, 3], gives: 1 }],
    evaluate: extreme(false),
  },
  {
    ...common,
    id: 'in',
    name: 'in',
    anyOf: ALL_TAGS,
    args: ['any', 'any'],
    rest: 'any',
    doc: 'whether the first equals one of the others; NULL when none does but one is NULL',
    examples: [{ args: [2, 1, 2], gives: true }],
    evaluate: inList,
  },
];
