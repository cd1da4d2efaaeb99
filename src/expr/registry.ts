/**
 * All scalar functions and operators, and how a name with argument types finds its overload.
 *
 * Operators are functions named by their sign in lower case: '+', '=', 'like', 'is null', '||', 'not',
 * 'in'. Adding a function is adding a record to a file in `functions/`.
 */
import { assert, must } from '../base/assert.ts';
import type { ErrorCode } from '../base/errors.ts';
import type { SqlType } from '../batch/types.ts';
import { SCALAR_TAGS, listType, typeName } from '../batch/types.ts';
import { AGGREGATES, AGGREGATE_ALIASES } from './aggregates/declared.ts';
import { commonTypeOf, matchPattern } from './coercion.ts';
import type { ArgumentPattern, ScalarFunction } from './function-types.ts';
import { ARITHMETIC } from './functions/arithmetic.ts';
import { DECIMAL_ARITHMETIC } from './functions/arithmetic-decimal.ts';
import { TYPED_ARITHMETIC } from './functions/arithmetic-typed.ts';
import { BYTES } from './functions/bytes.ts';
import { CALENDAR } from './functions/calendar.ts';
import { COMPARISONS } from './functions/comparison.ts';
import { CONDITIONALS } from './functions/conditional.ts';
import { LISTS } from './functions/lists.ts';
import { JSON_FUNCTIONS } from './functions/json.ts';
import { JSON_MAKING } from './functions/json-making.ts';
import { DATES } from './functions/dates.ts';
import { LIKES } from './functions/like.ts';
import { LIST_BUILDING } from './functions/list-building.ts';
import { LIST_READING } from './functions/list-reading.ts';
import { MATH_FLOAT } from './functions/math-float.ts';
import { MATH_WHOLE } from './functions/math-whole.ts';
import { MATH } from './functions/math.ts';
import { REGEX_LISTS } from './functions/regex-lists.ts';
import { REGEX } from './functions/regex.ts';
import { TEXT_BUILDING } from './functions/text-building.ts';
import { TEXT_CASE } from './functions/text-case.ts';
import { TEXT_SEARCH } from './functions/text-search.ts';
import { DATE_ARITHMETIC } from './functions/date-arithmetic.ts';
import { INTERVAL_ARITHMETIC } from './functions/interval-arithmetic.ts';
import { INTERVAL_SCALING } from './functions/interval-scale.ts';
import { TEXT_MORE } from './functions/text-more.ts';
import { TEXT_FUNCTIONS } from './functions/text.ts';
import { TIME_TEXT } from './functions/time-text.ts';
import { TIME } from './functions/time.ts';
import { ZONES } from './functions/zones.ts';
import { nearestNames } from './spelling.ts';
import { isUserCall, userStandIn } from './user-function.ts';

/** All of them by what they are about, in the order in which documents list them. */
export const FUNCTION_FAMILIES: readonly {
  readonly family: string;
  readonly functions: readonly ScalarFunction[];
}[] = [
  {
    family: 'arithmetic',
    functions: [
      ...ARITHMETIC,
      ...DECIMAL_ARITHMETIC,
      ...INTERVAL_ARITHMETIC,
      ...INTERVAL_SCALING,
      ...DATE_ARITHMETIC,
      ...TYPED_ARITHMETIC,
    ],
  },
  { family: 'comparison', functions: COMPARISONS },
  { family: 'conditional', functions: CONDITIONALS },
  { family: 'pattern', functions: LIKES },
  { family: 'array', functions: LISTS },
  { family: 'pattern', functions: [...REGEX, ...REGEX_LISTS] },
  { family: 'math', functions: [...MATH, ...MATH_FLOAT, ...MATH_WHOLE] },
  {
    family: 'text',
    functions: [...TEXT_CASE, ...TEXT_FUNCTIONS, ...TEXT_BUILDING, ...TEXT_SEARCH, ...TEXT_MORE],
  },
  { family: 'bytes and hashes', functions: BYTES },
  { family: 'JSON', functions: [...JSON_FUNCTIONS, ...JSON_MAKING] },
  { family: 'array', functions: [...LIST_BUILDING, ...LIST_READING] },
  {
    family: 'date and time',
    functions: [...TIME, ...CALENDAR, ...ZONES, ...TIME_TEXT, ...DATES],
  },
];

export const SCALAR_FUNCTIONS: readonly ScalarFunction[] = FUNCTION_FAMILIES.flatMap(
  ({ functions }) => functions,
);

/** Functions on lists are called list_… as well. */
const LIST_ALIASES: Readonly<Record<string, string>> = Object.fromEntries(
  SCALAR_FUNCTIONS.filter(({ name }) => name.startsWith('array_')).map(({ name }) => [
    name.replace('array_', 'list_'),
    name,
  ]),
);

/** Other names of the same function. */
export const FUNCTION_ALIASES: Readonly<Record<string, string>> = {
  ...LIST_ALIASES,
  array_contains: 'array_has',
  list_contains: 'array_has',
  array_indexof: 'array_position',
  list_indexof: 'array_position',
  array_cat: 'array_concat',
  list_cat: 'array_concat',
  array_push_back: 'array_append',
  list_push_back: 'array_append',
  array_push_front: 'array_prepend',
  list_push_front: 'array_prepend',
  arrays_overlap: 'array_has_any',
  array_empty: 'empty',
  list_empty: 'empty',
  list_extract: 'array_element',
  array_extract: 'array_element',
  element_at: 'array_element',
  make_list: 'make_array',
  list_value: 'make_array',
  array_join: 'array_to_string',
  list_join: 'array_to_string',
  list_to_string: 'array_to_string',
  string_to_list: 'string_to_array',
  string_split: 'string_to_array',
  str_split: 'string_to_array',
  split: 'string_to_array',
  regexp_split: 'regexp_split_to_array',
  string_split_regex: 'regexp_split_to_array',
  '!=': '<>',
  datetrunc: 'date_trunc',
  datepart: 'date_part',
  extract: 'date_part',
  mod: '%',
  truncate: 'trunc',
  signum: 'sign',
  ucase: 'upper',
  lcase: 'lower',
  instr: 'strpos',
  position: 'strpos',
  len: 'length',
  substring_index: 'substr_index',
  editdist: 'levenshtein',
  hex: 'to_hex',
  bin: 'to_bin',
  unicode: 'ascii',
  ord: 'ascii',
  char: 'chr',
  prefix: 'starts_with',
  suffix: 'ends_with',
  regexp_matches: 'regexp_like',
  date_add: '+',
  date_sub: '-',
  datediff: 'date_diff',
  dayofmonth: 'day',
  doy: 'dayofyear',
  dow: 'dayofweek',
  weekofyear: 'week',
  json_valid: 'is_valid_json',
  json_extract_path: 'json_get',
  json_extract_path_text: 'json_as_text',
  json_type: 'json_typeof',
  json_keys: 'json_object_keys',
  json_object: 'json_build_object',
  json_array: 'json_build_array',
  to_jsonb: 'to_json',
  ifnull: 'coalesce',
  nvl: 'coalesce',
};

/** A mistyped aggregate looks like an unknown function. */
const AGGREGATE_NAMES = [...AGGREGATES.map(({ name }) => name), ...Object.keys(AGGREGATE_ALIASES)];

const BY_ID = new Map<string, ScalarFunction>();
const BY_NAME = new Map<string, ScalarFunction[]>();
for (const fn of SCALAR_FUNCTIONS) {
  assert(!BY_ID.has(fn.id), `function id ${fn.id} is unique`);
  BY_ID.set(fn.id, fn);
  const overloads = BY_NAME.get(fn.name);
  if (overloads === undefined) BY_NAME.set(fn.name, [fn]);
  else overloads.push(fn);
}

export const functionById = (id: string): ScalarFunction =>
  isUserCall(id) ? userStandIn(id) : must(BY_ID.get(id), `function ${id}`);

/** Names that can be called as `name(…)`, for help and suggestions. */
export const functionNames = (): string[] =>
  [...BY_NAME.keys(), ...Object.keys(FUNCTION_ALIASES)]
    .filter((name) => /^[a-z_0-9]+$/.test(name))
    .sort();

export const isFunctionName = (name: string): boolean => BY_NAME.has(canonicalName(name));

const canonicalName = (name: string): string => {
  const lower = name.toLowerCase();
  return FUNCTION_ALIASES[lower] ?? lower;
};

export type ResolvedFunction = {
  /** For `Expr.fn`. */
  fn: string;
  /** The types the arguments must be cast to; equal to the given ones where nothing changes. */
  coerced: readonly SqlType[];
  type: SqlType;
};

export type ResolveError = {
  error: Extract<ErrorCode, 'UNKNOWN_FUNCTION' | 'TYPE_ERROR' | 'UNSUPPORTED'>;
  message: string;
  hint?: string;
  /** The nearest right names, nearest first. */
  candidates: readonly string[];
};

/**
 * The overload a call means.
 *
 * @param untyped  per argument: whether it is a text or NULL literal, which takes the type that the
 *                 overload wants (`ts > '2024-01-01'`); missing = none is
 */
export function resolveFunction(
  name: string,
  types: readonly SqlType[],
  untyped: readonly boolean[] = [],
): ResolvedFunction | ResolveError {
  const canonical = canonicalName(name);
  const overloads = BY_NAME.get(canonical);
  if (overloads === undefined) {
    const candidates = nearestNames(name, [...functionNames(), ...AGGREGATE_NAMES]);
    const hint = candidates[0] === undefined ? {} : { hint: `Did you mean ${candidates[0]}?` };
    return {
      error: 'UNKNOWN_FUNCTION',
      message: `there is no function ${name}`,
      candidates,
      ...hint,
    };
  }
  let best: ResolvedFunction | null = null;
  let bestCost = Infinity;
  for (const fn of overloads) {
    const match = matchOverload(fn, types, untyped);
    if (match === null || match.cost >= bestCost) continue;
    const type = fn.result(match.coerced);
    if (type === null) continue;
    bestCost = match.cost;
    best = { fn: fn.id, coerced: match.coerced, type };
  }
  return best ?? typeError(name, overloads, types);
}

type OverloadMatch = { coerced: SqlType[]; cost: number };

function patternsFor(fn: ScalarFunction, count: number): readonly ArgumentPattern[] | null {
  if (count === fn.args.length) return fn.args;
  if (count < fn.args.length || fn.rest === undefined) return null;
  return [
    ...fn.args,
    ...Array.from({ length: count - fn.args.length }, () => fn.rest as ArgumentPattern),
  ];
}

function matchOverload(
  fn: ScalarFunction,
  types: readonly SqlType[],
  untyped: readonly boolean[],
): OverloadMatch | null {
  const patterns = patternsFor(fn, types.length);
  if (patterns === null) return null;
  const anyIndices = patterns.flatMap((pattern, index) => (pattern === 'any' ? [index] : []));
  const common = commonTypeOf(
    anyIndices.map((index) => types[index] as SqlType),
    anyIndices.map((index) => untyped[index] === true),
  );
  if (anyIndices.length > 0) {
    const allowed = fn.anyOf ?? SCALAR_TAGS;
    if (common === null || !allowed.includes(common.tag)) return null;
  }
  const element = elementType(patterns, types, untyped);
  let cost = 0;
  const coerced: SqlType[] = [];
  for (let index = 0; index < patterns.length; index++) {
    const pattern = patterns[index] as ArgumentPattern;
    const type = types[index] as SqlType;
    if (pattern === 'element' || pattern === 'same-list') {
      if (element === null) return null;
      coerced.push(pattern === 'element' ? element : listType(element));
      continue;
    }
    if (pattern === 'each') {
      coerced.push(type);
      continue;
    }
    if (pattern === 'any') {
      const target = common as SqlType;
      coerced.push(target);
      continue;
    }
    const match = matchPattern(pattern, type, untyped[index] === true);
    if (match === null) return null;
    cost += match.cost;
    coerced.push(match.type);
  }
  return { coerced, cost };
}

/** The type of the elements of all 'same-list' arguments and of all 'element' arguments; null: there is none. */
function elementType(
  patterns: readonly ArgumentPattern[],
  types: readonly SqlType[],
  untyped: readonly boolean[],
): SqlType | null {
  const elements: SqlType[] = [];
  const literals: boolean[] = [];
  for (const [index, pattern] of patterns.entries()) {
    const type = types[index] as SqlType;
    if (pattern === 'same-list') {
      if (type.tag !== 'list') return null;
      elements.push(type.element);
      literals.push(false);
    } else if (pattern === 'element') {
      elements.push(type);
      literals.push(untyped[index] === true);
    }
  }
  return commonTypeOf(elements, literals);
}

const patternName = (pattern: ArgumentPattern): string => {
  if (pattern === 'any' || pattern === 'each') return 'any type';
  if (pattern === 'as-text') return 'TEXT';
  if (pattern === 'decimal') return 'DECIMAL';
  if (pattern === 'list' || pattern === 'same-list') return 'ARRAY';
  if (pattern === 'element') return 'element';
  return pattern === 'struct' ? 'STRUCT' : typeName({ tag: pattern } as SqlType);
};

/** How an overload is called: `left(TEXT, BIGINT)`. */
export function signatureOf(fn: ScalarFunction): string {
  const args = fn.args.map(patternName);
  if (fn.infix !== undefined && fn.rest === undefined) {
    return args.length === 2
      ? `${args[0]} ${fn.infix} ${args[1]}`
      : `${fn.infix} ${args.join(', ')}`;
  }
  return `${fn.name}(${[...args, ...(fn.rest === undefined ? [] : ['…'])].join(', ')})`;
}

function typeError(
  name: string,
  overloads: readonly ScalarFunction[],
  types: readonly SqlType[],
): ResolveError {
  const given = types.map(typeName).join(', ');
  const isOperator = overloads[0]?.infix !== undefined;
  const message =
    isOperator && types.length === 2
      ? `${typeName(types[0] as SqlType)} ${name} ${typeName(types[1] as SqlType)} is not defined`
      : `${name}(${given}) is not defined`;
  const castHelps =
    types.some((type) => type.tag === 'text') && types.some((type) => type.tag !== 'text');
  const forms = overloads.slice(0, 6).map(signatureOf).join('; ');
  return {
    error: 'TYPE_ERROR',
    message,
    hint: `Defined are: ${forms}.${castHelps ? ' A CAST may help.' : ''}`,
    candidates: [],
  };
}
