/**
 * GROUP BY with its ROLLUP, CUBE and GROUPING SETS.
 *
 * The words are names like any other where no parenthesis follows.
 */
import type { GroupingElement, GroupingSets, GroupItem } from './ast-query.ts';
import { parenthesised, separated } from './parse-list.ts';
import type { TokenStream } from './token-stream.ts';

export function parseGroupBy(stream: TokenStream): readonly GroupItem[] {
  if (!stream.accept('group')) return [];
  stream.expect('by');
  return separated(
    stream,
    () => parseSets(stream) ?? parseEmptySet(stream) ?? stream.parseExpression(),
  );
}

/** `()`: all rows are one group. */
function parseEmptySet(stream: TokenStream): GroupingSets | null {
  if (!stream.atSymbol('(') || !stream.atSymbol(')', 1)) return null;
  const element = parseSet(stream);
  return { tag: 'grouping_sets', kind: 'sets', elements: [element], span: element.span };
}

function parseSets(stream: TokenStream): GroupingSets | null {
  const { start } = stream.peek().span;
  const isSets = stream.atWords('grouping', 'sets') && stream.atSymbol('(', 2);
  const kind = isSets
    ? 'sets'
    : (['rollup', 'cube'] as const).find((word) => stream.atWord(word) && stream.atSymbol('(', 1));
  if (kind === undefined) return null;
  stream.next();
  if (isSets) stream.next();
  const elements = parenthesised(
    stream,
    () => (isSets ? parseSets(stream) : null) ?? parseSet(stream),
  );
  return { tag: 'grouping_sets', kind, elements, span: stream.spanFrom(start) };
}

/** One expression, or several in parentheses, or none. */
function parseSet(stream: TokenStream): GroupingElement {
  const { start } = stream.peek().span;
  if (stream.atSymbol('(') && stream.atSymbol(')', 1)) {
    stream.next();
    stream.next();
    return { tag: 'grouping_set', expressions: [], span: stream.spanFrom(start) };
  }
  const expression = stream.parseExpression();
  // Several expressions in parentheses read as a row.
  const expressions =
    expression.tag === 'row' ? expression.fields.map(({ value }) => value) : [expression];
  return { tag: 'grouping_set', expressions, span: stream.spanFrom(start) };
}
