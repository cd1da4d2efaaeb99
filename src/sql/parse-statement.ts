/** One statement, told by its first word. */
import type { Explain, Insert, QueryStatement, SetStatement, Statement } from './ast-statement.ts';
import { STATEMENT_KEYWORDS, UNSUPPORTED_STATEMENTS } from './keywords.ts';
import { parseCreate } from './parse-create.ts';
import { parenthesised } from './parse-list.ts';
import { parseOptionKey, parseOptionValue } from './parse-option.ts';
import { atQueryStart } from './query-words.ts';
import type { TokenStream } from './token-stream.ts';

export function parseStatement(stream: TokenStream): Statement {
  const token = stream.peek();
  if (atQueryStart(stream) || stream.atSymbol('(')) return parseQueryStatement(stream);
  if (stream.atWord('create')) return parseCreate(stream);
  if (stream.atWord('insert')) return parseInsert(stream);
  if (stream.atWord('set')) return parseSet(stream);
  if (stream.atWord('explain')) return parseExplain(stream);
  if (token.kind === 'word' && UNSUPPORTED_STATEMENTS.has(token.text)) {
    stream.reject('UNSUPPORTED', `${token.text.toUpperCase()} statements are not supported`, {
      hint: 'a program is made of CREATE TABLE, CREATE VIEW, CREATE FUNCTION, INSERT INTO, SELECT, SET and EXPLAIN',
      span: token.span,
    });
  }
  return stream.fail(
    'a statement',
    STATEMENT_KEYWORDS,
    'a statement starts with SELECT, INSERT, CREATE, WITH, SET or EXPLAIN',
  );
}

function parseQueryStatement(stream: TokenStream): QueryStatement {
  const { start } = stream.peek().span;
  const query = stream.parseQuery();
  return { tag: 'query_statement', query, span: stream.spanFrom(start) };
}

function parseInsert(stream: TokenStream): Insert {
  const { start } = stream.next().span;
  stream.expect('into');
  const table = stream.identifier('the name of a table', !atQueryStart(stream));
  const isQuery =
    ['select', 'with', 'values'].some((word) => stream.atWord(word, 1)) || stream.atSymbol('(', 1);
  const hasColumns = stream.atSymbol('(') && !isQuery;
  const columns = hasColumns
    ? parenthesised(stream, () => stream.identifier('a column', true))
    : [];
  const query = stream.parseQuery();
  return { tag: 'insert', table, columns, query, span: stream.spanFrom(start) };
}

function parseSet(stream: TokenStream): SetStatement {
  const { start } = stream.next().span;
  const { key, keySpan } = parseOptionKey(stream);
  if (!stream.acceptSymbol('=') && !stream.accept('to')) stream.fail('"=" and a value');
  const value = parseOptionValue(stream);
  return { tag: 'set', key, keySpan, value, span: stream.spanFrom(start) };
}

function parseExplain(stream: TokenStream): Explain {
  const { start } = stream.next().span;
  let mode: Explain['mode'] = null;
  if (stream.accept('logical')) mode = 'logical';
  else if (stream.accept('physical')) mode = 'physical';
  if (!stream.atWord('insert') && !stream.atSymbol('(') && !atQueryStart(stream)) {
    const keywords =
      mode === null
        ? ['LOGICAL', 'PHYSICAL', 'SELECT', 'INSERT', 'WITH']
        : ['SELECT', 'INSERT', 'WITH'];
    stream.fail('a query or INSERT to explain', keywords);
  }
  const statement = stream.atWord('insert') ? parseInsert(stream) : parseQueryStatement(stream);
  return { tag: 'explain', mode, statement, span: stream.spanFrom(start) };
}
