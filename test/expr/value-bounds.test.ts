/** What functions make is bounded, whatever their arguments are: a value that is too large is an error of its row. */
import { expect, test } from 'vitest';
import { LIMITS } from '../../src/base/limits.ts';
import { valueBytes } from '../../src/batch/batch-bytes.ts';
import { type Column, isValid } from '../../src/batch/column.ts';
import {
  BOOLEAN,
  BYTEA,
  FLOAT64,
  INT32,
  INT64,
  type SqlType,
  TEXT,
  decimalType,
  layoutOf,
  listType,
} from '../../src/batch/types.ts';
import { type Value, columnFromValues } from '../../src/batch/values.ts';
import type { ArgumentPattern, ScalarFunction } from '../../src/expr/function-types.ts';
import { SCALAR_FUNCTIONS } from '../../src/expr/registry.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';
import { apply, call as callOf, column } from './support.ts';

/** A column of two rows: a value that a query would hardly give on purpose, and one that is as usual. */
type Given = { type: SqlType; column: Column };

const MAP: SqlType = {
  tag: 'list',
  element: {
    tag: 'struct',
    fields: [
      { name: 'key', type: TEXT, nullable: false },
      { name: 'value', type: TEXT, nullable: true },
    ],
  },
};
const COUNTS = [2n ** 63n - 1n, -(2n ** 63n), 1_000_000_000n, 500_000n];

/** Texts of a few thousand characters, which products of lengths and counts make large. */
const SHORT = ['a'.repeat(2500), '😀",\\'.repeat(600), '%s\\0'.repeat(600)];
/** Near the bound, which sums of lengths and quoting reach. */
const LONG = ['a'.repeat(2_500_000), '"\\,\u0001'.repeat(500_000)];

const listOf = (count: number, value: Value): Value => Array.from({ length: count }, () => value);

type Pool = { texts: readonly string[]; elements: number; known: Map<ArgumentPattern, Given[]> };
type Values = { type: SqlType; hostile: Value; tame: Value };

/** What an argument may be; made once for each pattern. */
function choices(pattern: ArgumentPattern, pool: Pool): Given[] {
  const known =
    pool.known.get(pattern) ??
    valuesFor(pattern, pool).map(({ type, hostile, tame }) => ({
      type,
      column: columnFromValues(type, [hostile, tame]),
    }));
  pool.known.set(pattern, known);
  return known;
}

function valuesFor(pattern: ArgumentPattern, { texts, elements }: Pool): Values[] {
  const text = texts.map((hostile): Values => ({ type: TEXT, hostile, tame: 'a' }));
  const lists: Values[] = [
    { type: listType(INT64), hostile: listOf(elements, 7n), tame: [7n] },
    { type: listType(TEXT), hostile: listOf(50, texts[0]?.slice(0, 60_000) ?? ''), tame: ['a'] },
    {
      type: listType(listType(INT64)),
      hostile: listOf(20, listOf(elements / 10, 7n)),
      tame: [[7n]],
    },
    { type: MAP, hostile: [{ key: 'k', value: texts[0] ?? '' }], tame: [{ key: 'k', value: 'v' }] },
  ];
  switch (pattern) {
    case 'text':
    case 'as-text':
      return text;
    case 'any':
    case 'each':
      return [...text, ...lists, { type: INT64, hostile: 2n ** 63n - 1n, tame: 1n }];
    case 'element':
      return [...text, { type: INT64, hostile: 7n, tame: 7n }, ...lists];
    case 'list':
    case 'same-list':
      return lists;
    case 'int64':
      return COUNTS.map((hostile) => ({ type: INT64, hostile, tame: 1n }));
    case 'int32':
      return [{ type: INT32, hostile: 2_147_483_647, tame: 1 }];
    case 'float64':
      return [{ type: FLOAT64, hostile: 1e308, tame: 1 }];
    case 'boolean':
      return [{ type: BOOLEAN, hostile: true, tame: false }];
    case 'decimal':
      return [{ type: decimalType(38, 0), hostile: 10n ** 38n - 1n, tame: 1n }];
    case 'bytea':
      return [{ type: BYTEA, hostile: `\\x${'5c'.repeat(texts[0]?.length ?? 0)}`, tame: '\\x00' }];
    case 'json':
      return texts.map((hostile) => ({ type: { tag: pattern }, hostile, tame: '1' }));
    default:
      return [{ type: { tag: pattern } as SqlType, hostile: 2n ** 50n, tame: 1n }];
  }
}

/** Types of the arguments must agree where the patterns say so. */
function agree(fn: ScalarFunction, given: readonly Given[]): boolean {
  const patterns = given.map((_, at) => fn.args[at] ?? fn.rest);
  const same = (wanted: ArgumentPattern, of: (type: SqlType) => SqlType | null): string[] =>
    given.flatMap(({ type }, at) => (patterns[at] === wanted ? [JSON.stringify(of(type))] : []));
  const elements = [
    ...same('element', (type) => type),
    ...same('same-list', (type) => (type.tag === 'list' ? type.element : null)),
  ];
  return new Set(elements).size <= 1 && new Set(same('any', (type) => type)).size <= 1;
}

/** Every argument at its worst in turn, and all together. */
function* calls(fn: ScalarFunction, pool: Pool) {
  const rest = fn.rest === undefined ? [] : [fn.rest, fn.rest, fn.rest];
  const pools = [...fn.args, ...rest].map((pattern) => choices(pattern, pool));
  const most = Math.max(1, ...pools.map(({ length }) => length));
  for (let shift = 0; shift < 2; shift++)
    for (let turn = 0; turn < most; turn++) {
      const given = pools.map((each, at) => each[(turn + at * shift) % each.length] as Given);
      if (agree(fn, given)) yield given;
    }
}

const bytesAt = (column: Column, row: number): number =>
  isValid(column, row) ? valueBytes(column, row) : 0;

/** Layouts of values that may have any size. */
const GROWS: ReadonlySet<string> = new Set(['text', 'list', 'struct']);

/** The codes of the rows that were refused. */
function call(fn: ScalarFunction, given: readonly Given[]): string[] {
  const args = given.map((each) => each.column);
  const type = fn.result(given.map((each) => each.type));
  if (type === null || !GROWS.has(layoutOf(type))) return [];
  const errors = new RowErrors(2);
  const result = fn.evaluate(args, 2, errors, type);
  const bytes = bytesAt(result, 0);
  const taken = args.reduce((sum, arg) => sum + bytesAt(arg, 0), 0);
  const label = `${fn.id} ${JSON.stringify(given.map((each) => each.type.tag))} ${bytes} of ${taken}`;
  if (!fn.canFail) expect([label, errors.list]).toEqual([label, []]);
  // Who cannot fail may make letters longer, but nothing of nothing.
  expect([
    label,
    bytes <= Math.max(LIMITS.valueBytesMax + 4, fn.canFail ? 0 : 8 * taken + 1024),
  ]).toEqual([label, true]);
  expect([label, errors.hasFailed(0) && isValid(result, 0)]).toEqual([label, false]);
  expect([
    label,
    errors.list.some(({ row, code }) => row === 1 && code === 'ROW_TOO_LARGE'),
  ]).toEqual([label, false]);
  return errors.list.map(({ code }) => code);
}

/** Ids of the functions that refused a row for its size. */
function refusing(
  functions: readonly ScalarFunction[],
  texts: readonly string[],
  elements: number,
): string[] {
  const pool: Pool = { texts, elements, known: new Map() };
  return functions
    .filter((fn) =>
      [...calls(fn, pool)]
        .map((given) => call(fn, given))
        .some((codes) => codes.includes('ROW_TOO_LARGE')),
    )
    .map(({ id }) => id);
}

test(
  'counts and texts of some thousand characters make no value beyond the bound',
  { timeout: 60_000 },
  () => {
    expect(refusing(SCALAR_FUNCTIONS, SHORT, 2000).sort()).toMatchInlineSnapshot(`
      [
        "array-repeat",
        "array-resize:2",
        "array-resize:3",
        "array-to-string:2",
        "array-to-string:3",
        "generate_series:1",
        "generate_series:2",
        "generate_series:3",
        "lpad",
        "lpad:fill",
        "range:1",
        "range:2",
        "range:3",
        "repeat",
        "rpad",
        "rpad:fill",
      ]
    `);
  },
);

/** Those whose result is as long as their arguments together, or some times as long; their work is that long too. */
const SUMS =
  /^(join:|concat|overlay|quote-|format$|encode:|to-json|json-build|make-array|array-(append|prepend|concat|replace|to-string)|string-to-array|flatten|replace$|repeat)/;

test('values near the bound make none beyond it', { timeout: 30_000 }, () => {
  const functions = SCALAR_FUNCTIONS.filter(({ id }) => SUMS.test(id));
  expect(refusing(functions, LONG, 2000).sort()).toMatchInlineSnapshot(`
    [
      "array-append:2",
      "array-concat",
      "array-prepend:2",
      "array-to-string:2",
      "array-to-string:3",
      "concat",
      "concat-ws",
      "join:any",
      "join:text",
      "json-build-array",
      "make-array",
      "overlay",
      "overlay:count",
      "repeat",
      "to-json",
    ]
  `);
});

const A = 'a'.repeat(2_000_000);

/** Arguments that the search above does not find, because they have to go with each other. */
test.each<[name: string, types: SqlType[], args: Value[]]>([
  ['replace', [TEXT, TEXT, TEXT], ['a'.repeat(2500), 'a', 'b'.repeat(2500)]],
  ['regexp_replace', [TEXT, TEXT, TEXT, TEXT], ['a'.repeat(2500), 'a+', '$0'.repeat(2500), 'g']],
  ['regexp_replace', [TEXT, TEXT, TEXT, TEXT], ['a'.repeat(2500), 'a', 'b'.repeat(2500), 'g']],
  ['translate', [TEXT, TEXT, TEXT], [A, 'a', '😀']],
  ['quote_literal', [TEXT], ["'".repeat(2_000_000)]],
  ['quote_ident', [TEXT], ['"'.repeat(2_000_000)]],
  ['encode', [TEXT, TEXT], [A, 'hex']],
  ['format', [TEXT, TEXT], ['%1$s%1$s', A]],
  ['format', [TEXT, TEXT], ['%1$s'.repeat(300), A]],
  ['json_build_array', Array<SqlType>(300).fill(TEXT), Array<Value>(300).fill(A)],
  ['json_build_object', [TEXT, TEXT, TEXT, TEXT], ['k', A, 'l', A]],
  ['string_to_array', [TEXT, TEXT], [A, null]],
  ['regexp_split_to_array', [TEXT, TEXT], [','.repeat(800_000), ',']],
  ['array_union', [listType(TEXT), listType(TEXT)], [[A], [`b${A}`]]],
  ['flatten', [listType(listType(TEXT))], [[[A], [A]]]],
  ['map', [listType(TEXT), listType(TEXT)], [[A], [A]]],
  ['array_positions', [listType(BOOLEAN), BOOLEAN], [listOf(400_000, true), true]],
  ['strftime', [{ tag: 'timestamp' }, TEXT], [0n, '%F'.repeat(400_000)]],
])('%s makes a row fail that is too large, and that row alone', (name, types, args) => {
  const { values, errors } = apply(name, types, [args, args.map(() => null), args]);
  expect([values[0], values[2]]).toEqual([null, null]);
  expect(errors.filter(({ row }) => row !== 1)).toEqual([
    { row: 0, code: 'ROW_TOO_LARGE' },
    { row: 2, code: 'ROW_TOO_LARGE' },
  ]);
});

test('a key of another type than those of a map is refused by the planner, not met by a row', () => {
  expect(() => callOf('map_extract', column(0, MAP), column(1, INT64))).toThrow('TYPE_ERROR');
});
