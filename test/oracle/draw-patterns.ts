/** Random conditions and texts by patterns: escapes, empty ones, ones longer than texts, ones beyond ASCII. */
import type { Prng } from '../../src/base/prng.ts';
import { onlyOurs, sql, type Sql } from './dialects.ts';

type Text = (depth: number) => Sql;

const LIKES = ['a%', '%b', '_', '%', 'A_', '%ä%', '', '%%', '__', '%_%', '% %', '%,%', 'äö_', '😀'];

/** A part that stands anywhere: looked for as bytes. */
const INSIDE = [
  '%a%',
  '%ab%',
  '%aba%',
  '%aab%',
  '%äö%',
  '%ö_%',
  '%a_b%',
  '%_a%',
  '%😀%',
  '%b_%',
  '%abababababababababab%',
  '%a%b%',
];

/** With ! as the character that makes the next one plain. */
const ESCAPED = ['%!%%', '!%', 'x!_y', '%!_%', '%!!%', '!a%', '%!ä%', '_!__'];

const REGEXES = [
  '',
  'a',
  '^a',
  'b$',
  '^$',
  '.',
  '^.$',
  '^..$',
  'a.b',
  'ab',
  'aba',
  '[ab]+',
  '[^a]',
  '(a|b)c',
  '^(a|ab)$',
  '(ab)+',
  'a*',
  'b?',
  'ä',
  'ö.',
  '[äö]',
  '[^ä]$',
  '\\d+',
  '\\w+',
  '\\s',
  '\\.',
  'x_y',
  'a{2}',
  'a{2,}b',
  'abababababababababab',
  '(a)(b)',
  'a|b|',
  '^a|b$',
  '😀',
];

/** LIKE, ILIKE and regular expressions. */
export function matching(prng: Prng, text: Text): readonly Text[] {
  const like = prng.pick(['LIKE', 'ILIKE', 'NOT LIKE', 'NOT ILIKE']);
  const regex = prng.pick(REGEXES);
  return [
    (depth) => sql`(${text(depth)} ${like} '${prng.pick(LIKES)}')`,
    (depth) => sql`(${text(depth)} ${like} '${prng.pick(INSIDE)}')`,
    (depth) =>
      prng.chance(0.5)
        ? sql`(${text(depth)} ${like} '${prng.pick(ESCAPED)}' ESCAPE '!')`
        : onlyOurs(sql`(${text(depth)} ${like} '${prng.pick(ESCAPED).replaceAll('!', '\\')}')`),
    (depth) => sql`(${text(depth)} ${like} ${text(Math.min(depth, 0))})`,
    (depth) => onlyOurs(sql`regexp_like(${text(depth)}, '${regex}')`),
    (depth) => onlyOurs(sql`(coalesce(regexp_substr(${text(depth)}, '${regex}'), '?') = 'a')`),
  ];
}

/** Texts by regular expressions. */
export function matched(prng: Prng, text: Text): readonly Text[] {
  const regex = prng.pick(REGEXES);
  return [
    (depth) => onlyOurs(sql`regexp_replace(${text(depth)}, '${regex}', 'ü')`),
    (depth) => onlyOurs(sql`regexp_replace(${text(depth)}, '${regex}', '-', 'g')`),
    (depth) => onlyOurs(sql`regexp_substr(${text(depth)}, '${regex}')`),
  ];
}
