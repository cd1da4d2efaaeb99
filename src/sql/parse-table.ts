/** What stands in FROM: tables, queries, calls and joins of them. */
import type { Expression } from './ast-expression.ts';
import type {
  DerivedTable,
  Join,
  JoinConstraint,
  JoinKind,
  TableAlias,
  TableReference,
} from './ast-query.ts';
import { isBareAlias } from './keywords.ts';
import { parseOrdinaryCall } from './parse-call.ts';
import { parenthesised } from './parse-list.ts';
import { parseMatches } from './parse-match.ts';
import { atQueryStart, atQueryTail, atWindowClause } from './query-words.ts';
import { atWindowedTable, parseWindowedTable } from './parse-windowed.ts';
import type { TokenStream } from './token-stream.ts';

/** One element of FROM, with the joins behind it. */
export function parseTableReference(stream: TokenStream): TableReference {
  return stream.measured((grow) => {
    let left = parseMatched(stream);
    grow();
    for (;;) {
      const join = parseJoin(stream, left);
      if (join === null) return left;
      left = join;
      grow();
    }
  });
}

function parseJoin(stream: TokenStream, left: TableReference): Join | null {
  const natural = stream.accept('natural');
  const asOf = !natural && atAsOfJoin(stream);
  if (asOf) stream.next();
  const kind = parseJoinKind(stream);
  if (kind === null)
    return natural ? stream.fail('a join', ['JOIN', 'LEFT', 'RIGHT', 'FULL', 'INNER']) : null;
  const keyword = stream.previous.span;
  if (natural && kind === 'cross') {
    stream.reject('SYNTAX', 'a join is either NATURAL or CROSS', {
      hint: 'leave one of the two out',
      span: keyword,
    });
  }
  const right = parseMatched(stream);
  let constraint: JoinConstraint | null = null;
  if (natural) constraint = { tag: 'natural', span: keyword };
  else if (kind !== 'cross') constraint = parseJoinConstraint(stream);
  return {
    tag: 'join',
    kind,
    asOf,
    left,
    right,
    constraint,
    span: stream.spanFrom(left.span.start),
  };
}

const atAsOfJoin = (stream: TokenStream): boolean =>
  stream.atWord('asof') && ['join', 'left', 'inner'].some((word) => stream.atWord(word, 1));

/** Takes the words of a join up to JOIN. */
function parseJoinKind(stream: TokenStream): JoinKind | null {
  if (stream.accept('join')) return 'inner';
  let kind: JoinKind | null = null;
  for (const first of ['inner', 'left', 'right', 'full', 'cross', 'semi', 'anti'] as const) {
    if (stream.accept(first)) kind = first;
    if (kind !== null) break;
  }
  if (kind === null) return null;
  if (kind === 'left' && stream.accept('semi')) kind = 'semi';
  else if (kind === 'left' && stream.accept('anti')) kind = 'anti';
  else if (kind === 'left' || kind === 'right' || kind === 'full') stream.accept('outer');
  stream.expect('join');
  return kind;
}

function parseJoinConstraint(stream: TokenStream): JoinConstraint {
  const { start } = stream.peek().span;
  if (stream.accept('on')) {
    const condition = stream.parseExpression();
    return { tag: 'on', condition, span: stream.spanFrom(start) };
  }
  if (stream.accept('using')) {
    const columns = parenthesised(stream, () => stream.identifier('a column', true));
    return { tag: 'using', columns, span: stream.spanFrom(start) };
  }
  return stream.fail('ON or USING', ['ON', 'USING'], 'a join without a condition is CROSS JOIN');
}

const parseMatched = (stream: TokenStream): TableReference =>
  parseMatches(stream, parseTableOperand(stream), parseTableAlias);

function parseTableOperand(stream: TokenStream): TableReference {
  const { start } = stream.peek().span;
  const lateral = stream.accept('lateral');
  if (stream.atSymbol('(')) return parseBracketedTable(stream, lateral);
  if (!lateral && atWindowedTable(stream)) return parseWindowedTable(stream, parseTableAlias);
  const callStart = stream.peek();
  if (stream.atSymbol('(', 1) && (callStart.kind === 'word' || callStart.kind === 'quoted')) {
    const name = stream.identifier('a table', true);
    const call = parseOrdinaryCall(stream, name);
    const withOrdinality = stream.accept('with', 'ordinality');
    const alias = parseTableAlias(stream);
    return {
      tag: 'table_function',
      lateral,
      call,
      withOrdinality,
      alias,
      span: stream.spanFrom(start),
    };
  }
  if (lateral) stream.fail('"(" and a query, or a function');
  const name = stream.identifier('a table');
  if (stream.atSymbol('.')) {
    stream.reject('UNSUPPORTED', 'tables have no schema or catalogue before their name', {
      hint: 'write the name alone',
      span: stream.spanFrom(start),
    });
  }
  const asOf = parseSystemTime(stream);
  const alias = parseTableAlias(stream);
  return { tag: 'table', name, asOf, alias, span: stream.spanFrom(start) };
}

/** `FOR SYSTEM_TIME AS OF …`. */
function parseSystemTime(stream: TokenStream): Expression | null {
  if (!stream.atWord('for') || !stream.atWord('system_time', 1)) return null;
  stream.next();
  stream.next();
  stream.expect('as');
  if (!stream.accept('of')) stream.fail('OF', ['OF']);
  return stream.parseExpression();
}

/** `(query)`, or a join in parentheses; see parse-bracketed.ts for why the two are told apart late. */
function parseBracketedTable(stream: TokenStream, lateral: boolean): TableReference {
  const { start } = stream.peek().span;
  stream.expectSymbol('(');
  let table = stream.nested((): TableReference => {
    if (atQueryStart(stream)) return derived(stream, lateral, start);
    const inner = parseTableReference(stream);
    const isQuery = inner.tag === 'derived' && inner.alias === null && atQueryTail(stream);
    return isQuery ? { ...inner, query: stream.parseQueryAfter(inner.query) } : inner;
  });
  stream.expectSymbol(')');
  if (table.tag === 'derived' && table.alias === null) {
    const alias = parseTableAlias(stream);
    table = { ...table, lateral: lateral || table.lateral, alias, span: stream.spanFrom(start) };
  }
  return table;
}

function derived(
  stream: TokenStream,
  lateral: boolean,
  start: DerivedTable['span']['start'],
): DerivedTable {
  const query = stream.parseQuery();
  return { tag: 'derived', lateral, query, alias: null, span: stream.spanFrom(start) };
}

function parseTableAlias(stream: TokenStream): TableAlias | null {
  const { start } = stream.peek().span;
  const token = stream.peek();
  if (atWindowClause(stream)) return null;
  const hasAs = stream.accept('as');
  if (!hasAs && token.kind !== 'quoted' && (token.kind !== 'word' || !isBareAlias(token.text)))
    return null;
  const name = stream.identifier('the name of a table', true);
  if (!hasAs) stream.noteBareAlias();
  const columns = stream.atSymbol('(')
    ? parenthesised(stream, () => stream.identifier('a column', true))
    : [];
  return { name, columns, span: stream.spanFrom(start) };
}
