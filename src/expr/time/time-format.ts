/**
 * Patterns for writing and reading moments, in three dialects: strftime (`%Y-%m-%d`), Postgres' to_char
 * (`YYYY-MM-DD`) and Java's (`yyyy-MM-dd`). All become the same list of parts.
 */
export type TimeField =
  | 'year'
  | 'year2'
  | 'isoyear'
  | 'month'
  | 'month-name'
  | 'month-short'
  | 'day'
  | 'doy'
  | 'week'
  | 'isodow'
  | 'dow'
  | 'day-name'
  | 'day-short'
  | 'quarter'
  | 'century'
  | 'hour'
  | 'hour12'
  | 'minute'
  | 'second'
  | 'milli'
  | 'micro'
  | 'nano'
  | 'seconds-of-day'
  | 'meridiem'
  | 'epoch'
  | 'zone';

export type TimePart =
  | { tag: 'text'; text: string }
  /** A number with at least `width` places, filled with `fill`. */
  | { tag: 'field'; field: TimeField; width: number; fill: string; letters: Letters };

type Letters = 'upper' | 'lower' | 'title';

/** How finely a pattern tells moments apart, in microseconds. */
export const FINENESS: Readonly<Record<TimeField, number>> = {
  year: 86_400_000_000,
  year2: 86_400_000_000,
  isoyear: 86_400_000_000,
  month: 86_400_000_000,
  'month-name': 86_400_000_000,
  'month-short': 86_400_000_000,
  day: 86_400_000_000,
  doy: 86_400_000_000,
  week: 86_400_000_000,
  isodow: 86_400_000_000,
  dow: 86_400_000_000,
  'day-name': 86_400_000_000,
  'day-short': 86_400_000_000,
  quarter: 86_400_000_000,
  century: 86_400_000_000,
  zone: 86_400_000_000,
  hour: 3_600_000_000,
  hour12: 3_600_000_000,
  meridiem: 3_600_000_000,
  minute: 60_000_000,
  second: 1_000_000,
  'seconds-of-day': 1_000_000,
  epoch: 1_000_000,
  milli: 1000,
  micro: 1,
  nano: 1,
};

const field = (name: TimeField, width = 1, fill = '0', letters: Letters = 'title'): TimePart => ({
  tag: 'field',
  field: name,
  width,
  fill,
  letters,
});
const literal = (text: string): TimePart => ({ tag: 'text', text });

const SLASHED = [field('month', 2), literal('/'), field('day', 2), literal('/'), field('year2', 2)];
const DASHED = [field('year', 4), literal('-'), field('month', 2), literal('-'), field('day', 2)];
const CLOCK = [
  field('hour', 2),
  literal(':'),
  field('minute', 2),
  literal(':'),
  field('second', 2),
];

const STRFTIME: Readonly<Record<string, readonly TimePart[]>> = {
  Y: [field('year', 4)],
  C: [field('century', 2)],
  y: [field('year2', 2)],
  G: [field('isoyear', 4)],
  m: [field('month', 2)],
  b: [field('month-short')],
  h: [field('month-short')],
  B: [field('month-name')],
  d: [field('day', 2)],
  e: [field('day', 2, ' ')],
  a: [field('day-short')],
  A: [field('day-name')],
  w: [field('dow')],
  u: [field('isodow')],
  V: [field('week', 2)],
  j: [field('doy', 3)],
  q: [field('quarter')],
  D: SLASHED,
  x: SLASHED,
  F: DASHED,
  H: [field('hour', 2)],
  k: [field('hour', 2, ' ')],
  I: [field('hour12', 2)],
  l: [field('hour12', 2, ' ')],
  P: [field('meridiem', 1, '', 'lower')],
  p: [field('meridiem', 1, '', 'upper')],
  M: [field('minute', 2)],
  S: [field('second', 2)],
  f: [field('micro', 6)],
  g: [field('milli', 3)],
  L: [field('milli', 3)],
  N: [field('nano', 9)],
  R: CLOCK.slice(0, 3),
  T: CLOCK,
  X: CLOCK,
  r: [field('hour12', 2), ...CLOCK.slice(1), literal(' '), field('meridiem', 1, '', 'upper')],
  c: [...DASHED, literal(' '), ...CLOCK],
  s: [field('epoch')],
  z: [literal('+0000')],
  Z: [field('zone')],
  n: [literal('\n')],
  t: [literal('\t')],
  '%': [literal('%')],
};

/** Longest first where one begins with another. */
const POSTGRES: readonly (readonly [string, TimePart])[] = [
  ['YYYY', field('year', 4)],
  ['IYYY', field('isoyear', 4)],
  ['YY', field('year2', 2)],
  ['Y', field('year')],
  ['CC', field('century', 2)],
  ['Q', field('quarter')],
  ['Month', field('month-name', 9, ' ')],
  ['MONTH', field('month-name', 9, ' ', 'upper')],
  ['month', field('month-name', 9, ' ', 'lower')],
  ['Mon', field('month-short')],
  ['MON', field('month-short', 1, '', 'upper')],
  ['mon', field('month-short', 1, '', 'lower')],
  ['MM', field('month', 2)],
  ['IW', field('week', 2)],
  ['DDD', field('doy', 3)],
  ['DD', field('day', 2)],
  ['Day', field('day-name', 9, ' ')],
  ['DAY', field('day-name', 9, ' ', 'upper')],
  ['day', field('day-name', 9, ' ', 'lower')],
  ['Dy', field('day-short')],
  ['DY', field('day-short', 1, '', 'upper')],
  ['dy', field('day-short', 1, '', 'lower')],
  ['ID', field('isodow')],
  ['D', field('dow')],
  ['HH24', field('hour', 2)],
  ['HH12', field('hour12', 2)],
  ['HH', field('hour12', 2)],
  ['MI', field('minute', 2)],
  ['SSSSS', field('seconds-of-day')],
  ['SSSS', field('seconds-of-day')],
  ['SS', field('second', 2)],
  ['MS', field('milli', 3)],
  ['US', field('micro', 6)],
  ['AM', field('meridiem', 1, '', 'upper')],
  ['PM', field('meridiem', 1, '', 'upper')],
  ['am', field('meridiem', 1, '', 'lower')],
  ['pm', field('meridiem', 1, '', 'lower')],
  ['TZ', field('zone')],
];

const JAVA: Readonly<Record<string, (count: number) => TimePart | null>> = {
  y: (count) => (count === 2 ? field('year2', 2) : field('year', count)),
  u: (count) => (count === 2 ? field('year2', 2) : field('year', count)),
  Y: (count) => field('isoyear', count),
  M: (count) =>
    count <= 2 ? field('month', count) : field(count === 3 ? 'month-short' : 'month-name'),
  L: (count) =>
    count <= 2 ? field('month', count) : field(count === 3 ? 'month-short' : 'month-name'),
  d: (count) => field('day', count),
  D: (count) => field('doy', count),
  E: (count) => field(count <= 3 ? 'day-short' : 'day-name'),
  e: () => field('isodow'),
  w: (count) => field('week', count),
  Q: (count) => field('quarter', count),
  q: (count) => field('quarter', count),
  a: () => field('meridiem', 1, '', 'upper'),
  H: (count) => field('hour', count),
  h: (count) => field('hour12', count),
  m: (count) => field('minute', count),
  s: (count) => field('second', count),
  S: (count) =>
    count <= 3 ? field('milli', 3) : count <= 6 ? field('micro', 6) : field('nano', 9),
  z: () => field('zone'),
};

export type Dialect = 'strftime' | 'postgres' | 'java';
export type TimePattern = { parts: readonly TimePart[] } | { problem: string };

function strftimeParts(pattern: string): TimePattern {
  const parts: TimePart[] = [];
  const pieces = pattern.matchAll(/%([-_0^#]?)(\.?[369]?)([a-zA-Z%])|(%)|([^%]+)/g);
  for (const [, flag, digits, code, lone, text] of pieces) {
    if (text !== undefined) parts.push(literal(text));
    else if (lone !== undefined) return { problem: `the time pattern '${pattern}' ends in %` };
    else if (code === 'f' && digits !== undefined && digits !== '') {
      const places = Number(digits.replace('.', '') || 9);
      if (digits.startsWith('.')) parts.push(literal('.'));
      parts.push(
        places === 3 ? field('milli', 3) : places === 6 ? field('micro', 6) : field('nano', 9),
      );
    } else {
      const known = STRFTIME[code as string];
      if (known === undefined)
        return {
          problem: `%${code} is no part of a time pattern; the year is %Y, the month %m, the day %d`,
        };
      parts.push(...known.map((part) => flagged(part, flag as string)));
    }
  }
  return { parts };
}

const flagged = (part: TimePart, flag: string): TimePart => {
  if (part.tag === 'text' || flag === '') return part;
  if (flag === '-') return { ...part, width: 1 };
  if (flag === '^') return { ...part, letters: 'upper' };
  return { ...part, fill: flag === '_' ? ' ' : '0' };
};

function postgresParts(pattern: string): TimePattern {
  const parts: TimePart[] = [];
  for (let at = 0; at < pattern.length;) {
    const rest = pattern.slice(at);
    if (rest.startsWith('"')) {
      const end = rest.indexOf('"', 1);
      if (end < 0)
        return { problem: `a quoted text in the time pattern '${pattern}' does not end` };
      parts.push(literal(rest.slice(1, end)));
      at += end + 1;
      continue;
    }
    const bare = rest.startsWith('FM') ? 2 : 0;
    const found = POSTGRES.find(([code]) => rest.startsWith(code, bare));
    const lower = POSTGRES.find(([code]) => rest.slice(bare).toUpperCase().startsWith(code));
    const match = found ?? lower;
    if (match === undefined) {
      parts.push(literal(rest.charAt(0)));
      at++;
      continue;
    }
    const [code, part] = match;
    parts.push(bare > 0 && part.tag === 'field' ? { ...part, width: 1 } : part);
    at += bare + code.length;
    if (rest.startsWith('th', bare + code.length))
      return { problem: 'the suffix th is not supported in time patterns' };
  }
  return { parts };
}

function javaParts(pattern: string): TimePattern {
  const parts: TimePart[] = [];
  for (const [piece] of pattern.matchAll(/'(?:[^']|'')*'|([a-zA-Z])\1*|[^a-zA-Z']+|'/g)) {
    if (piece.startsWith("'")) {
      if (piece === "'")
        return { problem: `a quoted text in the time pattern '${pattern}' does not end` };
      parts.push(literal(piece === "''" ? "'" : piece.slice(1, -1).replaceAll("''", "'")));
    } else if (/^[a-zA-Z]/.test(piece)) {
      const part = JAVA[piece.charAt(0)]?.(piece.length) ?? null;
      if (part === null)
        return {
          problem: `${piece} is no part of a time pattern; the year is yyyy, the month MM, the day dd`,
        };
      parts.push(part);
    } else parts.push(literal(piece));
  }
  return { parts };
}

const KEPT = new Map<string, TimePattern>();

/** A pattern with a per cent sign is one of strftime in every dialect. */
export function timePattern(pattern: string, dialect: Dialect): TimePattern {
  const key = `${dialect}/${pattern}`;
  let found = KEPT.get(key);
  if (found === undefined) {
    if (KEPT.size > 256) KEPT.clear();
    found =
      dialect === 'strftime' || pattern.includes('%')
        ? strftimeParts(pattern)
        : dialect === 'java'
          ? javaParts(pattern)
          : postgresParts(pattern);
    KEPT.set(key, found);
  }
  return found;
}
