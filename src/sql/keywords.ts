/**
 * Which words the grammar keeps for itself.
 *
 * The reserved set is as small as the grammar allows: words our users have as columns (`timestamp`, `date`,
 * `time`, `window`, `key`, `value`, `type`, `offset`, `topic`, …) stay free, and after a dot or after AS
 * every word is free.
 */
import type { IntervalUnit } from './ast-expression.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Not usable as a name without quotes. */
export const RESERVED_WORDS = words(
  'all and array as between case create cross distinct else end except false for from full group ' +
    'having ilike in inner insert intersect into is join lateral left like limit natural not null on or order ' +
    'qualify right select similar table then true union using when where with',
);

/** Reserved, but the name of a function when a parenthesis follows. */
export const RESERVED_FUNCTION_NAMES = words('left right');

/** Free as names, but after a table or an expression they start the next clause rather than an alias. */
const CLAUSE_STARTERS = words(
  'anti asc asof by desc fetch match_recognize offset partitioned semi tablesample',
);

export const isReserved = (word: string): boolean => RESERVED_WORDS.has(word);

/** Whether a bare word after an expression or table may be its alias. */
export const isBareAlias = (word: string): boolean =>
  !RESERVED_WORDS.has(word) && !CLAUSE_STARTERS.has(word);

/** Reserved words that, where a name is due, more likely mean that the name is missing. */
export const CLAUSE_WORDS = words(
  'select from where having limit union except intersect join on using with into inner cross natural as and or not',
);

/** Words of CASE, which inside one mean that something is missing. */
export const CASE_WORDS = words('when then else end');

/** What may follow a complete table or expression; a mistyped one is first taken for an alias. */
export const CONTINUATION_KEYWORDS: readonly string[] = [
  'FROM',
  'WHERE',
  'GROUP',
  'HAVING',
  'QUALIFY',
  'ORDER',
  'LIMIT',
  'OFFSET',
  'UNION',
  'EXCEPT',
  'INTERSECT',
  'JOIN',
  'INNER',
  'LEFT',
  'RIGHT',
  'FULL',
  'CROSS',
  'NATURAL',
  'WITH',
  'PARTITIONED',
  'MATCH_RECOGNIZE',
  'AS',
  'AND',
  'BETWEEN',
  'LIKE',
  'ILIKE',
  'NOT',
];

export const STATEMENT_KEYWORDS: readonly string[] = [
  'SELECT',
  'INSERT',
  'CREATE',
  'WITH',
  'VALUES',
  'SET',
  'EXPLAIN',
];

/** Statements that other engines have; they get a better answer than "expected …". */
export const UNSUPPORTED_STATEMENTS = words(
  'alter analyze begin call comment commit copy deallocate declare delete describe drop execute grant merge ' +
    'prepare revoke rollback show truncate update use vacuum',
);

export const INTERVAL_UNITS: readonly IntervalUnit[] = [
  'year',
  'quarter',
  'month',
  'week',
  'day',
  'hour',
  'minute',
  'second',
  'millisecond',
  'microsecond',
  'nanosecond',
];

/** The unit that a lower-case word names, singular or plural. */
export function intervalUnit(word: string): IntervalUnit | null {
  return INTERVAL_UNITS.find((unit) => word === unit || word === `${unit}s`) ?? null;
}

/** Functions that SQL lets one call without parentheses. */
export const BARE_FUNCTIONS = words(
  'current_date current_time current_timestamp localtime localtimestamp',
);

/** Type names that make a literal of the string behind them. */
export const LITERAL_TYPES = words('date time timestamp timestamptz datetime');

/** Words that the grammar knows where they stand, and that are free as names. */
const POSITIONAL_WORDS = words(
  'after aggregate always anti any asc asof async at by called cast current default define desc ' +
    'descriptor enforced escape exclude exists explain extract fetch filter first following function ' +
    'generated groups grouping if ignore immutable input interval key language last logical ' +
    'match match_recognize measures metadata next no nulls of offset one only ordinality over overlay ' +
    'partition partitioned past pattern per physical placing position preceding precision primary range ' +
    'recursive respect returns row rows semi set sets skip stable stored struct substring ' +
    'system_time temp temporary time timestamp to trim try_cast unbounded unknown unsigned ' +
    'values varying view virtual volatile watermark window within without zone rollup cube date map',
);

/** Every keyword in upper case, sorted: for completion and highlighting. */
export const KEYWORDS: readonly string[] = [
  ...new Set([...RESERVED_WORDS, ...CLAUSE_STARTERS, ...POSITIONAL_WORDS, ...INTERVAL_UNITS]),
]
  .map((word) => word.toUpperCase())
  .sort();
