/** `CREATE [ASYNC] [AGGREGATE] FUNCTION name(a INT) RETURNS TEXT LANGUAGE javascript AS $$ … $$`; clauses in any order. */
import type { Identifier } from './ast.ts';
import type { StringLiteral } from './ast-expression.ts';
import type {
  CreateFunction,
  FunctionParameter,
  FunctionResult,
  Statement,
  TableOption,
} from './ast-statement.ts';
import { forgiving, parenthesised, separated } from './parse-list.ts';
import { parseTableOption } from './parse-option.ts';
import { parseType } from './parse-type.ts';
import type { TokenStream } from './token-stream.ts';

type Clauses = {
  volatility: CreateFunction['volatility'];
  nullInput: CreateFunction['nullInput'];
  language: Identifier | null;
  options: TableOption[];
  body: StringLiteral | null;
};

const CLAUSES = ['LANGUAGE', 'AS', 'WITH', 'IMMUTABLE', 'VOLATILE', 'CALLED', 'STRICT'];

/** Behind CREATE. */
export const atCreateFunction = (stream: TokenStream): boolean =>
  stream.atWord('function') ||
  stream.atWords('aggregate', 'function') ||
  stream.atWords('async', 'function') ||
  stream.atWords('async', 'aggregate', 'function');

export function parseCreateFunction(
  stream: TokenStream,
  start: Statement['span']['start'],
): CreateFunction {
  const waits = stream.accept('async');
  const kind = stream.accept('aggregate') ? 'aggregate' : 'scalar';
  stream.expect('function');
  const name = stream.identifier('the name of the function', true);
  stream.expectSymbol('(');
  const parameters = stream.atSymbol(')') ? [] : separated(stream, () => parseParameter(stream));
  stream.expectSymbol(')');
  stream.expect('returns');
  const returns = parseResult(stream);
  const clauses: Clauses = {
    language: null,
    volatility: null,
    nullInput: null,
    options: [],
    body: null,
  };
  while (parseClause(stream, clauses));
  const { language, body } = clauses;
  if (language === null) return stream.fail('LANGUAGE', CLAUSES);
  if (body === null) return stream.fail('AS and the body of the function', CLAUSES);
  const span = stream.spanFrom(start);
  return {
    tag: 'create_function',
    kind,
    waits,
    name,
    parameters,
    returns,
    ...clauses,
    language,
    body,
    span,
  };
}

function parseResult(stream: TokenStream): FunctionResult {
  if (!stream.accept('table')) return { tag: 'returns_value', type: parseType(stream) };
  return { tag: 'returns_table', columns: parenthesised(stream, () => parseParameter(stream)) };
}

/** One clause, unless it is there already; false: none follows. */
function parseClause(stream: TokenStream, into: Clauses): boolean {
  if (into.language === null && stream.accept('language')) {
    into.language = stream.anyName('a language');
  } else if (into.body === null && stream.accept('as')) {
    into.body = parseBody(stream);
  } else if (into.options.length === 0 && stream.accept('with')) {
    forgiving(stream, 'an option', () => into.options.push(parseTableOption(stream)));
  } else if (into.volatility === null && stream.accept('immutable')) {
    into.volatility = 'immutable';
  } else if (into.volatility === null && stream.accept('stable')) {
    into.volatility = 'stable';
  } else if (into.volatility === null && stream.accept('volatile')) {
    into.volatility = 'volatile';
  } else if (into.nullInput === null && stream.accept('called')) {
    stream.expectAll('on', 'null', 'input');
    into.nullInput = 'called';
  } else if (into.nullInput === null && stream.accept('returns')) {
    stream.expectAll('null', 'on', 'null', 'input');
    into.nullInput = 'null';
  } else if (into.nullInput === null && stream.accept('strict')) {
    into.nullInput = 'null';
  } else {
    return false;
  }
  return true;
}

function parseBody(stream: TokenStream): StringLiteral {
  const token = stream.peek();
  if (token.kind !== 'string') stream.fail('the body of the function between $$ and $$');
  stream.next();
  return { tag: 'string', value: token.text, span: token.span };
}

function parseParameter(stream: TokenStream): FunctionParameter {
  const { start } = stream.peek().span;
  const name = stream.identifier('the name of a parameter', true);
  const type = parseType(stream);
  return { name, type, span: stream.spanFrom(start) };
}
