/** Regular expressions that give lists of texts. */
import type { Column, ListColumn } from '../../batch/column.ts';
import { TEXT, listType } from '../../batch/types.ts';
import type { Evaluate, FunctionExample, ScalarFunction } from '../function-types.ts';
import { always } from '../function-types.ts';
import type { Regex } from '../regex/regex.ts';
import { Outcome } from '../vector.ts';
import { ListTextSink } from './list-text-sink.ts';
import { Patterns, eachMatch, optionalNumber } from './regex-rows.ts';
import { checkPattern } from './regex.ts';
import type { Slice } from './text-rows.ts';
import { sliceAt } from './text-rows.ts';

/** Writes the list of a row; false: it is NULL. */
type EachText = (
  regex: Regex,
  text: Slice,
  sink: ListTextSink,
  row: number,
  args: readonly Column[],
) => boolean;

const lists =
  (flagsAt: number, each: EachText): Evaluate =>
  (args, rows, errors, type): ListColumn => {
    const outcome = new Outcome(args, rows, errors);
    const patterns = new Patterns(args[1] as Column, args[flagsAt]);
    const sink = new ListTextSink(rows, errors);
    for (let row = 0; row < rows; row++) {
      const regex = outcome.has(row) ? patterns.at(row, outcome) : null;
      sink.endRow(regex !== null && each(regex, sliceAt(args[0] as Column, row), sink, row, args));
    }
    return sink.finish(type);
  };

/** The groups of the first match, or the match when there are none. */
const match: EachText = (regex, { bytes, from, to }, sink) => {
  const groups = regex.exec(bytes, from, to, from);
  if (groups === null) return false;
  for (let group = regex.groupCount === 0 ? 0 : 1; group <= regex.groupCount; group++) {
    const start = groups[2 * group] as number;
    sink.push(bytes, Math.max(0, start), Math.max(0, groups[2 * group + 1] as number), start >= 0);
  }
  return true;
};

const extractAll: EachText = (regex, { bytes, from, to }, sink, row, args) => {
  const group = optionalNumber(args[2], row, 0);
  if (group < 0 || group > regex.groupCount) return false;
  eachMatch(regex, bytes, from, to, from, (groups) => {
    const start = groups[2 * group] as number;
    sink.push(bytes, Math.max(0, start), Math.max(0, groups[2 * group + 1] as number), start >= 0);
    return true;
  });
  return true;
};

/** Empty matches at the ends of the text, and right behind a match, part nothing. */
const split: EachText = (regex, { bytes, from, to }, sink) => {
  let at = from;
  eachMatch(regex, bytes, from, to, from, ([start, end]) => {
    if (start === end && (start === from || start === to || start === at)) return true;
    sink.push(bytes, at, start as number);
    at = end as number;
    return true;
  });
  sink.push(bytes, at, to);
  return true;
};

const fn = (
  name: string,
  args: ScalarFunction['args'],
  doc: string,
  example: FunctionExample,
  flagsAt: number,
  each: EachText,
): ScalarFunction => ({
  id: `${name.replaceAll('_', '-')}:${args.length}`,
  name,
  args,
  result: always(listType(TEXT)),
  nullRule: 'strict',
  canFail: true,
  mayBeNull: true,
  check: checkPattern(flagsAt),
  doc,
  examples: [example],
  evaluate: lists(flagsAt, each),
});

export const REGEX_LISTS: readonly ScalarFunction[] = [
  fn(
    'regexp_match',
    ['text', 'text'],
    'the groups of the first match as an array, or the match when there are no groups',
    { args: ['a1b2', '([a-z])([0-9])'], gives: ['a', '1'] },
    -1,
    match,
  ),
  fn(
    'regexp_match',
    ['text', 'text', 'text'],
    'the same with flags',
    { args: ['A1', '[a-z]', 'i'], gives: ['A'] },
    2,
    match,
  ),
  fn(
    'regexp_extract_all',
    ['text', 'text'],
    'all matches',
    { args: ['a1b2', '[0-9]'], gives: ['1', '2'] },
    -1,
    extractAll,
  ),
  fn(
    'regexp_extract_all',
    ['text', 'text', 'int64'],
    'a group of all matches',
    { args: ['a1b2', '([a-z])[0-9]', '1'], gives: ['a', 'b'] },
    -1,
    extractAll,
  ),
  fn(
    'regexp_split_to_array',
    ['text', 'text'],
    'the parts of a text between matches',
    { args: ['a, b,c', ', *'], gives: ['a', 'b', 'c'] },
    -1,
    split,
  ),
  fn(
    'regexp_split_to_array',
    ['text', 'text', 'text'],
    'the same with flags',
    { args: ['aXbxc', 'x', 'i'], gives: ['a', 'b', 'c'] },
    2,
    split,
  ),
];
