/** Expressions that are computed as others, which give the same and take less time. Plans name the ones that people wrote. */
import { INT64 } from '../batch/types.ts';
import { mapChildren } from './expr-tools.ts';
import type { Expr } from './expr.ts';
import { compileRegex } from './regex/regex.ts';

export function simplify(expr: Expr): Expr {
  const inner = mapChildren(expr, simplify);
  return groupOfMatch(inner) ?? inner;
}

/** `regexp_match(text, pattern)[n]`, a list of which all but one text is dropped, as `regexp_extract(text, pattern, n)`. */
function groupOfMatch(expr: Expr): Expr | null {
  if (expr.tag !== 'call' || expr.fn !== 'array-element') return null;
  const [match, place] = expr.args as readonly [Expr, Expr];
  if (match.tag !== 'call' || match.fn !== 'regexp-match:2' || place.tag !== 'literal') return null;
  const pattern = match.args[1];
  if (pattern?.tag !== 'literal' || typeof pattern.value !== 'string') return null;
  const regex = compileRegex(pattern.value);
  if ('problem' in regex) return null;
  const wanted = Number(place.value ?? 0);
  if (wanted < 1 || wanted > Math.max(1, regex.groupCount)) return null;
  const group: Expr = {
    tag: 'literal',
    type: INT64,
    value: String(regex.groupCount === 0 ? 0 : wanted),
  };
  return { tag: 'call', fn: 'regexp-extract:3', args: [...match.args, group], type: expr.type };
}
