/** Queries: WITH, set operators, and what orders and limits their result. */
import type { Span } from '../base/errors.ts';
import type { Expression } from './ast-expression.ts';
import type { CommonTable, Query, SetExpression, SetOperation, Values } from './ast-query.ts';
import { parenthesised, separated } from './parse-list.ts';
import { parseOrderBy } from './parse-order.ts';
import { parseSelect } from './parse-select.ts';
import type { TokenStream } from './token-stream.ts';

const UNION_PRECEDENCE = 1;
const INTERSECT_PRECEDENCE = 2;

export function queryRule(stream: TokenStream): Query {
  const { start } = stream.peek().span;
  const commonTables = parseWith(stream);
  const body = parseSetExpression(stream, null, 0);
  const query = parseQueryTail(stream, commonTables, body, start);
  // (q) alone is q.
  return query.body.tag === 'nested' && isBare(query) ? query.body.query : query;
}

/** Goes on behind a query in parentheses, which becomes the first part of a larger one. */
export function queryAfterRule(stream: TokenStream, first: Query): Query {
  const left = asSetExpression(first, first.span);
  return parseQueryTail(stream, [], parseSetExpression(stream, left, 0), first.span.start);
}

function isBare(query: Query): boolean {
  return (
    query.with.length === 0 &&
    query.orderBy.length === 0 &&
    query.limit === null &&
    query.offset === null
  );
}

function asSetExpression(query: Query, span: Span): SetExpression {
  return isBare(query) ? query.body : { tag: 'nested', query, span };
}

function parseQueryTail(
  stream: TokenStream,
  commonTables: readonly CommonTable[],
  body: SetExpression,
  start: Span['start'],
): Query {
  const orderBy = parseOrderBy(stream);
  let limit: Expression | null = null;
  let offset: Expression | null = null;
  for (;;) {
    if (limit === null && stream.accept('limit')) {
      limit = stream.parseExpression();
    } else if (offset === null && stream.accept('offset')) {
      offset = stream.parseExpression();
      if (!stream.accept('rows')) stream.accept('row');
    } else {
      break;
    }
  }
  return {
    tag: 'query',
    with: commonTables,
    body,
    orderBy,
    limit,
    offset,
    span: stream.spanFrom(start),
  };
}

function parseWith(stream: TokenStream): readonly CommonTable[] {
  if (!stream.accept('with')) return [];
  if (stream.atWord('recursive') && stream.peek(1).kind !== 'symbol' && !stream.atWord('as', 1)) {
    stream.reject('UNSUPPORTED', 'recursive queries are not supported', {
      hint: 'a stream has no end to recurse to; write the levels out as joins',
      span: stream.peek().span,
    });
  }
  return separated(stream, () => {
    const { start } = stream.peek().span;
    const name = stream.identifier('the name of a common table');
    const columns = stream.atSymbol('(')
      ? parenthesised(stream, () => stream.identifier('a column', true))
      : [];
    stream.expect('as');
    if (!stream.acceptSymbol('('))
      stream.fail('"(" and a query', [], 'write WITH name AS (SELECT …)');
    const query = stream.parseQuery();
    stream.expectSymbol(')');
    return { name, columns, query, span: stream.spanFrom(start) };
  });
}

/** Set operators that bind at least as tightly as `precedence`, behind `first` if it is given. */
function parseSetExpression(
  stream: TokenStream,
  first: SetExpression | null,
  precedence: number,
): SetExpression {
  return stream.measured((grow) => {
    let left = first ?? parseSetOperand(stream);
    grow();
    for (;;) {
      const operator = setOperatorAt(stream);
      if (operator === null) return left;
      const binding = operator === 'intersect' ? INTERSECT_PRECEDENCE : UNION_PRECEDENCE;
      if (binding < precedence) return left;
      stream.next();
      const all = stream.accept('all');
      if (!all) stream.accept('distinct');
      const right = parseSetExpression(stream, null, binding + 1);
      left = {
        tag: 'set_operation',
        operator,
        all,
        left,
        right,
        span: stream.spanFrom(left.span.start),
      };
      grow();
    }
  });
}

function setOperatorAt(stream: TokenStream): SetOperation['operator'] | null {
  for (const operator of ['union', 'except', 'intersect'] as const)
    if (stream.atWord(operator)) return operator;
  return null;
}

function parseSetOperand(stream: TokenStream): SetExpression {
  if (stream.atWord('select')) return parseSelect(stream);
  if (stream.atWord('values')) return parseValues(stream);
  const { start } = stream.peek().span;
  if (!stream.acceptSymbol('(')) stream.fail('a query', ['SELECT', 'VALUES', 'WITH']);
  const query = stream.parseQuery();
  stream.expectSymbol(')');
  return asSetExpression(query, stream.spanFrom(start));
}

function parseValues(stream: TokenStream): Values {
  const { start } = stream.next().span;
  const rows = separated(stream, () => parenthesised(stream, () => stream.parseExpression()));
  return { tag: 'values', rows, span: stream.spanFrom(start) };
}
