/** What the page needs to know of a CREATE FUNCTION without planning it: the server does that. */

import { splitAtCommas } from '../../lib/sql-types.ts';

/** The arguments as declared: a name and a type each. Empty when the text is no declaration yet. */
export function parametersOf(definition: string): { name: string; type: string }[] {
  const head = /\bFUNCTION\s+[\w".]+\s*\(/i.exec(definition);
  if (head === null) return [];
  const list = untilClosed(definition, head.index + head[0].length);
  return splitAtCommas(list).flatMap((part) => {
    const match = /^\s*("?[\w]+"?)\s+(.+?)\s*$/s.exec(part);
    return match === null ? [] : [{ name: match[1] ?? '', type: (match[2] ?? '').trim() }];
  });
}

/** The text up to the bracket that closes the one before `start`. */
function untilClosed(text: string, start: number): string {
  let depth = 1;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === '(' || char === '<') depth++;
    if (char === ')' || char === '>') depth--;
    if (depth === 0) return text.slice(start, at);
  }
  return text.slice(start);
}

/** A value of the type, as JSON, to begin with. */
export function sampleValue(type: string): string {
  const name = type.toUpperCase();
  if (name.endsWith('[]')) return '[]';
  if (/^(?:TEXT|VARCHAR|CHAR)/.test(name)) return '"text"';
  if (name.startsWith('BOOL')) return 'true';
  if (name.startsWith('TIMESTAMP')) return '"2026-01-01T00:00:00Z"';
  if (name.startsWith('DATE')) return '"2026-01-01"';
  if (/^(?:DOUBLE|REAL|FLOAT)/.test(name)) return '1.5';
  if (/^(?:DECIMAL|NUMERIC)/.test(name)) return '"1.50"';
  if (/^(?:JSON|STRUCT)/.test(name)) return '{}';
  return '1';
}

/** Arguments to try the function with, as the text of a JSON array. */
export const sampleCall = (definition: string): string =>
  `[${parametersOf(definition)
    .map(({ type }) => sampleValue(type))
    .join(', ')}]`;

export const FIRST_FUNCTION = `CREATE FUNCTION initials(name TEXT) RETURNS TEXT
LANGUAGE javascript AS $$
  return name.split(/\\s+/).map((word) => word[0]?.toUpperCase()).join('');
$$`;
