/**
 * Regular expressions: matching, counting, picking and replacing. Positions are characters from 1. In a
 * replacement \1 … \9, $1 … $9 and ${1} stand for groups, \0, \& and $0 for the match. Replacing and counting take
 * matches from left to right that do not overlap.
 */
import type { Column, TextColumn } from '../../batch/column.ts';
import { setBit } from '../../batch/column.ts';
import { BOOLEAN, INT64, TEXT } from '../../batch/types.ts';
import type {
  ArgumentPattern,
  Evaluate,
  FunctionExample,
  ScalarFunction,
} from '../function-types.ts';
import { always } from '../function-types.ts';
import type { Regex } from '../regex/regex.ts';
import { compileRegex, similarToRegex } from '../regex/regex.ts';
import { TextSink, codePointCount, encodeText, textAt } from '../text-sink.ts';
import { Outcome, makeBoolean, makeInt64, strideOf } from '../vector.ts';
import { writeSafeInt64 } from '../wide.ts';
import { Patterns, byteOfPosition, eachMatch, optionalNumber } from './regex-rows.ts';
import type { Slice } from './text-rows.ts';
import { sliceAt } from './text-rows.ts';

const test =
  (flags: string, negate: boolean): Evaluate =>
  (args, rows, errors) => {
    const [input, pattern, given] = args as readonly [Column, Column, Column?];
    const outcome = new Outcome(args, rows, errors);
    const patterns = new Patterns(pattern, given, flags);
    const result = makeBoolean(rows, null);
    for (let row = 0; row < rows; row++) {
      if (!outcome.has(row)) continue;
      const regex = patterns.at(row, outcome);
      const { bytes, from, to } = sliceAt(input, row);
      if (regex !== null && regex.test(bytes, from, to) !== negate) setBit(result.bits, row);
    }
    return { ...result, validity: outcome.validity };
  };

const similarTo =
  (negate: boolean): Evaluate =>
  (args, rows, errors) => {
    const [input, pattern, escape] = args as readonly [Column, TextColumn, TextColumn?];
    const outcome = new Outcome(args, rows, errors);
    const result = makeBoolean(rows, null);
    for (let row = 0; row < rows; row++) {
      if (!outcome.has(row)) continue;
      const sign = escape === undefined ? '\\' : textAt(escape, row * strideOf(escape));
      const source = similarToRegex(textAt(pattern, row * strideOf(pattern)), sign);
      const regex = source === null ? null : compileRegex(source, 's');
      const { bytes, from, to } = sliceAt(input, row);
      if (regex === null || 'problem' in regex)
        outcome.fail(
          row,
          'PARSE_ERROR',
          () => regex?.problem ?? 'a SIMILAR TO pattern ends with its escape character',
        );
      else if (regex.test(bytes, from, to) !== negate) setBit(result.bits, row);
    }
    return { ...result, validity: outcome.validity };
  };

/** One whole number a row, from its matches. */
const numbers =
  (
    each: (regex: Regex, text: Slice, row: number, args: readonly Column[]) => number,
    flagsAt: number,
  ): Evaluate =>
  (args, rows, errors) => {
    const outcome = new Outcome(args, rows, errors);
    const patterns = new Patterns(args[1] as Column, args[flagsAt]);
    const result = makeInt64(rows, INT64);
    for (let row = 0; row < rows; row++) {
      if (!outcome.has(row)) continue;
      const regex = patterns.at(row, outcome);
      if (regex !== null)
        writeSafeInt64(result.words, row, each(regex, sliceAt(args[0] as Column, row), row, args));
    }
    return { ...result, validity: outcome.validity };
  };

const count = numbers((regex, { bytes, from, to }, row, args) => {
  let found = 0;
  const start = byteOfPosition(bytes, from, to, optionalNumber(args[2], row, 1));
  eachMatch(regex, bytes, from, to, start, () => ++found > 0);
  return found;
}, 3);

/** The n-th match from a position on: its groups, or null. */
function nthMatch(
  regex: Regex,
  { bytes, from, to }: Slice,
  start: number,
  n: number,
): Int32Array | null {
  let left = n;
  let found: Int32Array | null = null;
  eachMatch(regex, bytes, from, to, byteOfPosition(bytes, from, to, start), (groups) => {
    if (--left === 0) found = groups;
    return left > 0;
  });
  return found;
}

const instr = numbers((regex, text, row, args) => {
  const groups = nthMatch(
    regex,
    text,
    optionalNumber(args[2], row, 1),
    optionalNumber(args[3], row, 1),
  );
  const group = optionalNumber(args[6], row, 0);
  const atEnd = optionalNumber(args[4], row, 0) === 1 ? 1 : 0;
  const place = groups?.[2 * group + atEnd] ?? -1;
  return place < 0 ? 0 : codePointCount(text.bytes, text.from, place) + 1;
}, 5);

/** Which arguments of a call say what to pick. */
type PickPlaces = { group: number; start?: number; nth?: number; flags?: number };

/** What to pick, where it is a group of the first match for every row. */
function constantGroup(
  args: readonly Column[],
  { group, start = -1, nth = -1 }: PickPlaces,
  patterns: Patterns,
): { regex: Regex; group: number } | null {
  const [text, , ...others] = args as readonly [Column, Column, ...Column[]];
  const { constant } = patterns;
  if (constant === null || text.length === 1) return null;
  if (others.some((column) => strideOf(column) === 1 || column.validity !== null)) return null;
  if (optionalNumber(args[start], 0, 1) !== 1 || optionalNumber(args[nth], 0, 1) !== 1) return null;
  const wanted = optionalNumber(args[group], 0, 0);
  return wanted >= 0 && wanted <= constant.groupCount ? { regex: constant, group: wanted } : null;
}

function pickConstant(
  { bytes, offsets }: TextColumn,
  rows: number,
  { regex, group }: { regex: Regex; group: number },
  sink: TextSink,
  outcome: Outcome,
): Column {
  for (let row = 0; row < rows; row++) {
    if (outcome.has(row)) {
      const start = offsets[row] as number;
      const groups = regex.exec(bytes, start, offsets[row + 1] as number, start);
      const from = groups === null ? -1 : (groups[2 * group] as number);
      if (from < 0) outcome.makeNull(row);
      else sink.append(bytes, from, (groups as Int32Array)[2 * group + 1] as number);
    }
    sink.endRow();
  }
  return sink.finish(outcome.validity);
}

/** The text of a group of a match, or NULL. */
const pick =
  (places: PickPlaces): Evaluate =>
  (args, rows, errors) => {
    const outcome = new Outcome(args, rows, errors);
    const patterns = new Patterns(args[1] as Column, args[places.flags ?? -1]);
    const sink = new TextSink(rows, 16 * rows);
    const constant = constantGroup(args, places, patterns);
    if (constant !== null)
      return pickConstant(args[0] as TextColumn, rows, constant, sink, outcome);
    for (let row = 0; row < rows; row++) {
      const regex = outcome.has(row) ? patterns.at(row, outcome) : null;
      if (regex !== null) {
        const text = sliceAt(args[0] as Column, row);
        const start = optionalNumber(args[places.start ?? -1], row, 1);
        const nth = optionalNumber(args[places.nth ?? -1], row, 1);
        const groups =
          start === 1 && nth === 1
            ? regex.exec(text.bytes, text.from, text.to, text.from)
            : nthMatch(regex, text, start, nth);
        const group = optionalNumber(args[places.group], row, 0);
        const from = group < 0 || group > regex.groupCount ? -1 : (groups?.[2 * group] ?? -1);
        if (from < 0) outcome.makeNull(row);
        else sink.append(text.bytes, from, (groups as Int32Array)[2 * group + 1] as number);
      }
      sink.endRow();
    }
    return sink.finish(outcome.validity);
  };

/** Pieces of a replacement: bytes, or the number of a group. */
type Replacement = readonly (Uint8Array | number)[];

export function parseReplacement(text: string): Replacement {
  const pieces: (Uint8Array | number)[] = [];
  let literal = '';
  const flush = (): void => {
    if (literal !== '') pieces.push(encodeText(literal));
    literal = '';
  };
  const parts = text.matchAll(/\\([\d&\\])|\$(?:\{(\d+)\}|(\d)|\$)|([^])/gu);
  for (const [, escaped, braced, digit, plain] of parts) {
    const digits = braced ?? digit;
    if (plain !== undefined) literal += plain;
    else if (escaped === '\\') literal += '\\';
    else if (escaped === undefined && digits === undefined) literal += '$';
    else {
      flush();
      pieces.push(escaped === '&' ? 0 : Number(escaped ?? digits));
    }
  }
  flush();
  return pieces;
}

const replace: Evaluate = (args, rows, errors) => {
  const [input, pattern, replacement, flags] = args as readonly [
    TextColumn,
    Column,
    TextColumn,
    Column?,
  ];
  const outcome = new Outcome(args, rows, errors);
  const patterns = new Patterns(pattern, flags);
  const sink = new TextSink(rows, input.bytes.length, errors);
  let pieces: Replacement | null = null;
  for (let row = 0; row < rows; row++) {
    const regex = outcome.has(row) ? patterns.at(row, outcome) : null;
    if (regex !== null) {
      if (pieces === null || strideOf(replacement) === 1)
        pieces = parseReplacement(textAt(replacement, row * strideOf(replacement)));
      const all = patterns.flags(row).includes('g');
      replaceIn(sliceAt(input, row), regex, pieces, all, sink);
    }
    sink.endRow();
  }
  return sink.finish(outcome.validity);
};

function replaceIn(
  { bytes, from, to }: Slice,
  regex: Regex,
  pieces: Replacement,
  all: boolean,
  sink: TextSink,
): void {
  let copied = from;
  eachMatch(regex, bytes, from, to, from, (groups) => {
    sink.append(bytes, copied, groups[0] as number);
    for (const piece of pieces) {
      if (sink.isFull) break;
      if (typeof piece !== 'number') sink.append(piece, 0, piece.length);
      else if (piece <= regex.groupCount && (groups[2 * piece] as number) >= 0)
        sink.append(bytes, groups[2 * piece] as number, groups[2 * piece + 1] as number);
    }
    copied = groups[1] as number;
    return all && !sink.isFull;
  });
  sink.append(bytes, copied, to);
}

/** Only a pattern can make a row fail, and one that is written in the query is looked at once. */
const failsWith =
  (flagsAt: number): NonNullable<ScalarFunction['canFailWith']> =>
  (values) => {
    const [pattern, flags] = [values[1], flagsAt < 0 ? '' : values[flagsAt]];
    // Arguments that are left out are not there to fail.
    if (typeof pattern !== 'string' || (flagsAt < values.length && typeof flags !== 'string'))
      return true;
    return 'problem' in compileRegex(pattern, typeof flags === 'string' ? flags : '');
  };

/** Why a constant pattern is none. */
export const checkPattern =
  (flagsAt: number): NonNullable<ScalarFunction['check']> =>
  (values) => {
    const [pattern, flags] = [values[1], values[flagsAt]];
    if (typeof pattern !== 'string') return null;
    const regex = compileRegex(pattern, typeof flags === 'string' ? flags : '');
    return 'problem' in regex ? regex.problem : null;
  };

const record = (
  id: string,
  name: string,
  args: readonly ArgumentPattern[],
  type: typeof TEXT,
  doc: string,
  example: FunctionExample,
  evaluate: Evaluate,
  flagsAt = -1,
): ScalarFunction => ({
  id,
  name,
  args,
  result: always(type),
  nullRule: 'strict',
  canFail: true,
  skipsNulls: true,
  doc,
  examples: [example],
  check: checkPattern(flagsAt),
  // What replaces a match may be too long.
  ...(name === 'regexp_replace' ? {} : { canFailWith: failsWith(flagsAt) }),
  evaluate,
});

const sign = (
  name: string,
  id: string,
  doc: string,
  flags: string,
  negate: boolean,
): ScalarFunction => ({
  ...record(
    id,
    name,
    ['text', 'text'],
    BOOLEAN,
    doc,
    { args: ['abc', '^b'], gives: negate },
    test(flags, negate),
  ),
  infix: name,
});

const similar = (name: string, id: string, negate: boolean): ScalarFunction[] => {
  const doc = `whether the text ${negate ? 'does not match' : 'matches'} the SQL regular expression`;
  const example = { args: ['abc', '%(b|d)_'], gives: !negate };
  const {
    check: _,
    canFailWith: __,
    ...base
  } = record(id, name, ['text', 'text'], BOOLEAN, doc, example, similarTo(negate));
  return [
    { ...base, infix: name.toUpperCase() },
    {
      ...base,
      id: `${id}:escape`,
      args: ['text', 'text', 'text'],
      infix: name.toUpperCase(),
      examples: [{ args: ['a%', 'a!%', '!'], gives: !negate }],
    },
  ];
};

/** A function with optional arguments: one record for each count. */
const growing = (
  name: string,
  type: typeof TEXT,
  doc: string,
  patterns: readonly ArgumentPattern[],
  examples: readonly FunctionExample[],
  evaluate: Evaluate,
  flagsAt: number,
): ScalarFunction[] =>
  examples.map((example) => {
    const { length } = example.args;
    const id = `${name.replaceAll('_', '-')}:${length}`;
    const made = record(id, name, patterns.slice(0, length), type, doc, example, evaluate, flagsAt);
    // Where nothing matches there is no text.
    return name === 'regexp_substr' || name === 'regexp_extract'
      ? { ...made, mayBeNull: true }
      : made;
  });

export const REGEX: readonly ScalarFunction[] = [
  sign('~', 'regex', 'whether the regular expression occurs in the text', '', false),
  sign(
    '~*',
    'regex-i',
    'whether the regular expression occurs in the text, ignoring case',
    'i',
    false,
  ),
  sign('!~', 'not-regex', 'whether the regular expression does not occur in the text', '', true),
  sign('!~*', 'not-regex-i', 'whether it does not occur in the text, ignoring case', 'i', true),
  ...similar('similar to', 'similar-to', false),
  ...similar('not similar to', 'not-similar-to', true),
  ...growing(
    'regexp_like',
    BOOLEAN,
    'whether the regular expression occurs in the text',
    ['text', 'text', 'text'],
    [
      { args: ['abc', 'b.'], gives: true },
      { args: ['aBc', 'b', 'i'], gives: true },
    ],
    test('', false),
    2,
  ),
  ...growing(
    'regexp_count',
    INT64,
    'how often the regular expression occurs, from a position on',
    ['text', 'text', 'int64', 'text'],
    [
      { args: ['banana', 'an'], gives: '2' },
      { args: ['banana', 'an', '3'], gives: '1' },
      { args: ['bANana', 'an', '1', 'i'], gives: '2' },
    ],
    count,
    3,
  ),
  ...growing(
    'regexp_instr',
    INT64,
    'where the n-th match from a position on begins, or with 1 as the fifth argument where it has ended; 0 when nowhere',
    ['text', 'text', 'int64', 'int64', 'int64', 'text', 'int64'],
    [
      { args: ['banana', 'an'], gives: '2' },
      { args: ['banana', 'an', '3'], gives: '4' },
      { args: ['banana', 'an', '1', '2'], gives: '4' },
      { args: ['banana', 'an', '1', '1', '1'], gives: '4' },
      { args: ['bANana', 'AN', '1', '2', '0', 'i'], gives: '4' },
      { args: ['banana', 'b(a)(n)', '1', '1', '0', '', '2'], gives: '3' },
    ],
    instr,
    5,
  ),
  ...growing(
    'regexp_substr',
    TEXT,
    'the n-th match from a position on, or one of its groups; NULL when there is none',
    ['text', 'text', 'int64', 'int64', 'text', 'int64'],
    [
      { args: ['a1b22', '[0-9]+'], gives: '1' },
      { args: ['a1b22', '[0-9]+', '3'], gives: '22' },
      { args: ['a1b22', '[0-9]+', '1', '2'], gives: '22' },
      { args: ['a1B22', 'b([0-9])', '1', '1', 'i'], gives: 'B2' },
      { args: ['a1B22', 'b([0-9])', '1', '1', 'i', '1'], gives: '2' },
    ],
    pick({ start: 2, nth: 3, flags: 4, group: 5 }),
    4,
  ),
  ...growing(
    'regexp_extract',
    TEXT,
    'the first match, or one of its groups; NULL when there is none',
    ['text', 'text', 'int64'],
    [
      { args: ['a1b22', '[a-z]([0-9]+)'], gives: 'a1' },
      { args: ['a1b22', 'b([0-9]+)', '1'], gives: '22' },
    ],
    pick({ group: 2 }),
    -1,
  ),
  ...growing(
    'regexp_replace',
    TEXT,
    'the text with the first match replaced, or with flag g every match',
    ['text', 'text', 'text', 'text'],
    [
      { args: ['banana', 'a(n)', '<\\1>'], gives: 'b<n>ana' },
      { args: ['banana', 'a(n)', '${1}', 'g'], gives: 'bnna' },
    ],
    replace,
    3,
  ),
];
