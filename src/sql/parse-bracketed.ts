/**
 * What stands in parentheses: a query, or expressions. `(((SELECT 1)) + 1)` and
 * `(((SELECT 1)) UNION SELECT 2)` differ only after their first part, so that part is parsed as an
 * expression and made the start of a query when a set operator follows; nothing is ever parsed twice.
 */
import type { Expression } from './ast-expression.ts';
import type { Query } from './ast-query.ts';
import { separated } from './parse-list.ts';
import { atQueryStart, atQueryTail } from './query-words.ts';
import type { TokenStream } from './token-stream.ts';

export type Bracketed = Query | { readonly tag: 'list'; readonly items: readonly Expression[] };

/** From the opening parenthesis to the closing one. */
export function parseBracketed(stream: TokenStream): Bracketed {
  stream.expectSymbol('(');
  const content = stream.nested(() => parseContent(stream));
  stream.expectSymbol(')');
  return content;
}

function parseContent(stream: TokenStream): Bracketed {
  if (atQueryStart(stream)) return stream.parseQuery();
  const items = separated(stream, () => stream.parseExpression());
  const [only] = items;
  if (items.length === 1 && only?.tag === 'subquery' && atQueryTail(stream)) {
    return stream.parseQueryAfter(only.query);
  }
  return { tag: 'list', items };
}
