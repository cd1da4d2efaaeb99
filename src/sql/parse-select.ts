/** SELECT and its clauses. */
import type { Identifier } from './ast.ts';
import type { Expression } from './ast-expression.ts';
import type { NamedWindow, Select, SelectItem, TableReference } from './ast-query.ts';
import { isBareAlias, isReserved } from './keywords.ts';
import { parseWindow } from './parse-call.ts';
import { parseGroupBy } from './parse-group-by.ts';
import { parenthesised, separated } from './parse-list.ts';
import { parseTableReference } from './parse-table.ts';
import { atWindowClause } from './query-words.ts';
import type { TokenStream } from './token-stream.ts';

export function parseSelect(stream: TokenStream): Select {
  const { start } = stream.expect('select').span;
  const distinct = stream.accept('distinct');
  let distinctOn: readonly Expression[] = [];
  if (distinct && stream.atWord('on') && stream.atSymbol('(', 1)) {
    stream.next();
    distinctOn = parenthesised(stream, () => stream.parseExpression());
  }
  if (!distinct) stream.accept('all');
  const items = separated(stream, () => parseSelectItem(stream));
  const from: readonly TableReference[] = stream.accept('from')
    ? separated(stream, () => parseTableReference(stream))
    : [];
  const where = stream.accept('where') ? stream.parseExpression() : null;
  const groupBy = parseGroupBy(stream);
  const having = stream.accept('having') ? stream.parseExpression() : null;
  const windows = atWindowClause(stream) ? parseWindows(stream) : [];
  const qualify = stream.accept('qualify') ? stream.parseExpression() : null;
  return {
    tag: 'select',
    distinct: distinct && distinctOn.length === 0,
    distinctOn,
    items,
    from,
    where,
    groupBy,
    having,
    windows,
    qualify,
    span: stream.spanFrom(start),
  };
}

function parseWindows(stream: TokenStream): readonly NamedWindow[] {
  stream.expect('window');
  return separated(stream, () => {
    const { start } = stream.peek().span;
    const name = stream.identifier('the name of a window');
    stream.expect('as');
    return { name, window: parseWindow(stream), span: stream.spanFrom(start) };
  });
}

function parseSelectItem(stream: TokenStream): SelectItem {
  const { start } = stream.peek().span;
  if (stream.acceptSymbol('*')) return wildcard(stream, null, start);
  const first = stream.peek();
  const isName = first.kind === 'word' || first.kind === 'quoted';
  if (isName && stream.atSymbol('.', 1) && stream.atSymbol('*', 2)) {
    const qualifier = stream.identifier('a table', true);
    stream.next();
    stream.next();
    return wildcard(stream, qualifier, start);
  }
  const expression = stream.parseExpression();
  const alias = parseItemAlias(stream);
  return { tag: 'expression', expression, alias, span: stream.spanFrom(start) };
}

function wildcard(
  stream: TokenStream,
  qualifier: Identifier | null,
  start: SelectItem['span']['start'],
): SelectItem {
  const hasList = (stream.atWord('except') || stream.atWord('exclude')) && stream.atSymbol('(', 1);
  // EXCEPT ( may also be the set operator with a query behind it.
  const isExcluding =
    hasList &&
    !['select', 'with', 'values'].some((word) => stream.atWord(word, 2)) &&
    !stream.atSymbol('(', 2);
  let exclude: readonly Identifier[] = [];
  if (isExcluding) {
    stream.next();
    exclude = parenthesised(stream, () => stream.identifier('a column', true));
  }
  return { tag: 'wildcard', qualifier, exclude, span: stream.spanFrom(start) };
}

function parseItemAlias(stream: TokenStream): Identifier | null {
  if (stream.accept('as')) {
    const behind = stream.peek(1);
    const isClause =
      behind.kind === 'quoted' ||
      behind.text === '(' ||
      (behind.kind === 'word' && !isReserved(behind.text));
    if (stream.atWord('from') && isClause) stream.fail('the name of a column');
    return stream.anyName('the name of a column');
  }
  if (atWindowClause(stream)) return null;
  const token = stream.peek();
  if (token.kind === 'quoted') return stream.anyName('the name of a column');
  if (token.kind !== 'word' || !isBareAlias(token.text)) return null;
  const alias = stream.anyName('the name of a column');
  stream.noteBareAlias();
  return alias;
}
