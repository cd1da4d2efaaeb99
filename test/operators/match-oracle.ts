/**
 * MATCH_RECOGNIZE the obvious way: all rows of a partition at once, patterns tried from left to right with backtracking,
 * conditions in plain JavaScript. Shares nothing with the operator but the meaning of the syntax tree.
 */
import type { Pattern } from '../../src/sql/ast-match.ts';

export type MatchRow = { id: number; k: string; v: number | null; ts: number };

/** What a condition sees: the labels are of the rows from `start` to the row in hand. */
export type Seen = { rows: readonly MatchRow[]; start: number; labels: readonly string[] };

export type Condition = (seen: Seen) => boolean | null;

export type Skip = { to: 'past_last' | 'next_row' } | { to: 'first' | 'last'; variable: string };

export type OracleMatch = { start: number; labels: readonly string[] };

export class TooLong extends Error {}

export function oracle(
  rows: readonly MatchRow[],
  pattern: Pattern,
  conditions: ReadonlyMap<string, Condition>,
  skip: Skip,
  within: number,
): OracleMatch[] {
  const matches: OracleMatch[] = [];
  for (let start = 0; start < rows.length;) {
    const labels = firstMatch(rows, start, pattern, conditions, within);
    if (labels === null) {
      start++;
      continue;
    }
    matches.push({ start, labels });
    start = Math.max(start + 1, resume(start, labels, skip));
  }
  return matches;
}

function resume(start: number, labels: readonly string[], skip: Skip): number {
  if (skip.to === 'past_last') return start + labels.length;
  if (!('variable' in skip)) return start + 1;
  const at =
    skip.to === 'first' ? labels.indexOf(skip.variable) : labels.lastIndexOf(skip.variable);
  return at < 0 ? 0 : start + at;
}

type Labels = readonly string[];
type Next = (labels: Labels) => Labels | null;

function firstMatch(
  rows: readonly MatchRow[],
  start: number,
  pattern: Pattern,
  conditions: ReadonlyMap<string, Condition>,
  within: number,
): Labels | null {
  let steps = 0;
  const row = (name: string, labels: Labels, next: Next): Labels | null => {
    if (++steps > 20_000) throw new TooLong();
    const here = rows[start + labels.length];
    if (here === undefined || here.ts - (rows[start]?.ts ?? 0) > within) return null;
    const longer = [...labels, name];
    const condition = conditions.get(name);
    if (condition !== undefined && condition({ rows, start, labels: longer }) !== true) return null;
    return next(longer);
  };
  const attempt = (part: Pattern, labels: Labels, next: Next): Labels | null => {
    switch (part.tag) {
      case 'variable':
        return row(part.name.name, labels, next);
      case 'alternation':
        for (const each of part.parts) {
          const found = attempt(each, labels, next);
          if (found !== null) return found;
        }
        return null;
      case 'sequence': {
        const from = (index: number, so: Labels): Labels | null => {
          const each = part.parts[index];
          return each === undefined ? next(so) : attempt(each, so, (more) => from(index + 1, more));
        };
        return from(0, labels);
      }
      case 'repeat': {
        const { least, most, reluctant } = part;
        const again = (count: number, so: Labels): Labels | null => {
          const once = (): Labels | null =>
            attempt(part.pattern, so, (more) =>
              // Without an upper bound a repetition that takes no row is none.
              most === null && count >= least && more.length === so.length
                ? null
                : again(count + 1, more),
            );
          if (count < least) return once();
          if (most !== null && count >= most) return next(so);
          return reluctant ? (next(so) ?? once()) : (once() ?? next(so));
        };
        return again(0, labels);
      }
    }
  };
  return attempt(pattern, [], (labels) => labels);
}
