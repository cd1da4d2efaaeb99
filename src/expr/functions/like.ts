/**
 * LIKE and ILIKE on UTF-8 bytes: % is any run, _ is one code point, backslash (or the ESCAPE
 * character) makes the next character literal. The whole text must match.
 *
 * The matcher goes back to the last % only, so its time is at most text × pattern and usually linear;
 * no regular expression is involved. ILIKE compares the lower-case forms.
 */
import type { Column, TextColumn } from '../../batch/column.ts';
import { BOOLEAN } from '../../batch/types.ts';
import { ByteSearch } from '../byte-search.ts';
import type { LiteralValue } from '../expr.ts';
import type { Evaluate, ScalarFunction } from '../function-types.ts';
import { always } from '../function-types.ts';
import type { RowErrors } from '../row-errors.ts';
import { encodeText, sequenceBytes, textAt } from '../text-sink.ts';
import { Outcome, makeBoolean, strideOf } from '../vector.ts';
import { lowerColumn } from './text-case.ts';

const ANY_RUN = -1;
const ANY_ONE = -2;

/** Pattern as bytes to match and the two wildcards; null when it ends in a lone escape character. */
export function compileLike(pattern: string, escape: string): Int16Array | null {
  const tokens: number[] = [];
  const points = [...pattern];
  for (let index = 0; index < points.length; index++) {
    let point = points[index] as string;
    if (point === escape) {
      index++;
      if (index === points.length) return null;
      point = points[index] as string;
    } else if (point === '%') {
      if (tokens.at(-1) !== ANY_RUN) tokens.push(ANY_RUN);
      continue;
    } else if (point === '_') {
      tokens.push(ANY_ONE);
      continue;
    }
    tokens.push(...encodeText(point));
  }
  return Int16Array.from(tokens);
}

type Like = {
  tokens: Int16Array;
  /** Of a pattern `%…%` without another %: what the text must contain. */
  contained: Contained | null;
};

/** Bytes to look for, and what must follow them: bytes, and single code points. */
type Contained = { search: ByteSearch; size: number; rest: Int16Array };

function likeOf(pattern: string, escape: string): Like | null {
  const tokens = compileLike(pattern, escape);
  return tokens === null ? null : { tokens, contained: containedIn(tokens) };
}

/** What patterns meant, by the column of a constant one, which is the same for every batch. */
const KNOWN = new WeakMap<TextColumn, { escape: TextColumn | null; like: Like | null }>();

function constantLike(pattern: TextColumn, escape: TextColumn | null): Like | null {
  const known = KNOWN.get(pattern);
  if (known !== undefined && known.escape === escape) return known.like;
  const like = likeOf(textAt(pattern, 0), escape === null ? '\\' : textAt(escape, 0));
  KNOWN.set(pattern, { escape, like });
  return like;
}

function containedIn(tokens: Int16Array): Contained | null {
  const inner = tokens.subarray(1, -1);
  if (tokens.length < 3 || tokens[0] !== ANY_RUN || tokens.at(-1) !== ANY_RUN) return null;
  if (inner.includes(ANY_RUN)) return null;
  const wildcard = inner.indexOf(ANY_ONE);
  const size = wildcard < 0 ? inner.length : wildcard;
  if (size === 0) return null;
  const search = new ByteSearch(Uint8Array.from(inner.subarray(0, size)));
  return { search, size, rest: inner.subarray(size) };
}

/** Whether bytes [from, to) contain what the pattern is about. */
function contains(
  { search, size, rest }: Contained,
  bytes: Uint8Array,
  from: number,
  to: number,
): boolean {
  let found = search.find(bytes, from, to);
  while (found >= 0) {
    if (rest.length === 0 || follows(rest, bytes, found + size, to)) return true;
    found = search.find(bytes, found + 1, to);
  }
  return false;
}

function follows(rest: Int16Array, bytes: Uint8Array, from: number, to: number): boolean {
  let at = from;
  for (let index = 0; index < rest.length; index++) {
    if (at >= to) return false;
    const wanted = rest[index] as number;
    if (wanted === ANY_ONE) at += sequenceBytes(bytes[at] as number);
    else if (bytes[at++] !== wanted) return false;
  }
  return true;
}

/** Whether bytes [from, to) match entirely. */
export function matchesLike(
  tokens: Int16Array,
  bytes: Uint8Array,
  from: number,
  to: number,
): boolean {
  let at = from;
  let token = 0;
  let retryToken = -1;
  let retryAt = 0;
  while (at < to) {
    const wanted = token < tokens.length ? (tokens[token] as number) : -3;
    if (wanted === ANY_RUN) {
      retryToken = ++token;
      retryAt = at;
      if (retryToken === tokens.length) return true;
    } else if (wanted === ANY_ONE) {
      at += sequenceBytes(bytes[at] as number);
      token++;
    } else if (wanted === bytes[at]) {
      at++;
      token++;
    } else if (retryToken >= 0) {
      retryAt += sequenceBytes(bytes[retryAt] as number);
      at = retryAt;
      token = retryToken;
    } else {
      return false;
    }
  }
  if (token < tokens.length && tokens[token] === ANY_RUN) token++;
  return token === tokens.length;
}

function like(
  input: TextColumn,
  pattern: TextColumn,
  escape: TextColumn | null,
  args: readonly Column[],
  rows: number,
  errors: RowErrors,
  negate: boolean,
): Column {
  const outcome = new Outcome(args, rows, errors);
  const result = makeBoolean(rows, null);
  const { bytes, offsets } = input;
  const stride = strideOf(input);
  const patternStride = strideOf(pattern);
  const escapeStride = escape === null ? 0 : strideOf(escape);
  const isConstant = patternStride + escapeStride === 0;
  let compiled = isConstant ? constantLike(pattern, escape) : null;
  for (let row = 0; row < rows; row++) {
    if (!outcome.has(row)) continue;
    if (!isConstant) {
      const escapeText = escape === null ? '\\' : textAt(escape, row * escapeStride);
      compiled = likeOf(textAt(pattern, row * patternStride), escapeText);
    }
    if (compiled === null) {
      outcome.fail(row, 'PARSE_ERROR', () => 'a LIKE pattern ends with its escape character');
      continue;
    }
    const from = offsets[row * stride] as number;
    const to = offsets[row * stride + 1] as number;
    const { tokens, contained } = compiled;
    const matches =
      contained === null
        ? matchesLike(tokens, bytes, from, to)
        : contains(contained, bytes, from, to);
    if (matches !== negate) {
      result.bits[row >> 3] = (result.bits[row >> 3] as number) | (1 << (row & 7));
    }
  }
  result.validity = outcome.validity;
  return result;
}

/** Only a pattern can make a row fail, and one that is written in the query is looked at once. */
const canFailWith =
  (ignoreCase: boolean) =>
  (values: readonly (LiteralValue | undefined)[]): boolean => {
    const pattern = values[1];
    const escape = values.length > 2 ? values[2] : '\\';
    if (typeof pattern !== 'string' || typeof escape !== 'string') return true;
    const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
    return compileLike(fold(pattern), fold(escape)) === null;
  };

const evaluator = (ignoreCase: boolean, negate: boolean): readonly [boolean, Evaluate] => [
  ignoreCase,
  (args, rows, errors) => {
    const [input, pattern, escape] = args as readonly TextColumn[] as readonly [
      TextColumn,
      TextColumn,
      TextColumn?,
    ];
    const fold = (column: TextColumn): TextColumn => (ignoreCase ? lowerColumn(column) : column);
    return like(
      fold(input),
      fold(pattern),
      escape === undefined ? null : fold(escape),
      args,
      rows,
      errors,
      negate,
    );
  },
];

function overloads(
  name: string,
  id: string,
  doc: string,
  gives: boolean,
  [folds, evaluate]: readonly [boolean, Evaluate],
): ScalarFunction[] {
  const base = {
    name,
    infix: name.toUpperCase(),
    result: always(BOOLEAN),
    nullRule: 'strict',
    canFail: true,
    canFailWith: canFailWith(folds),
    skipsNulls: true,
    evaluate,
  } as const;
  return [
    { ...base, id, args: ['text', 'text'], doc, examples: [{ args: ['Straße', 'S%a_e'], gives }] },
    {
      ...base,
      id: `${id}:escape`,
      args: ['text', 'text', 'text'],
      doc: `${doc}; the third argument is the ESCAPE character`,
      examples: [{ args: ['5%', '5!%', '!'], gives }],
    },
  ];
}

export const LIKES: readonly ScalarFunction[] = [
  ...overloads(
    'like',
    'like',
    'whether the text matches the pattern',
    true,
    evaluator(false, false),
  ),
  ...overloads(
    'not like',
    'not-like',
    'whether the text does not match the pattern',
    false,
    evaluator(false, true),
  ),
  ...overloads(
    'ilike',
    'ilike',
    'whether the text matches the pattern, ignoring case',
    true,
    evaluator(true, false),
  ),
  ...overloads(
    'not ilike',
    'not-ilike',
    'whether the text does not match the pattern, ignoring case',
    false,
    evaluator(true, true),
  ),
];
