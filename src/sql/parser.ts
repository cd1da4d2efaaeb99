/**
 * SQL text to syntax tree, with everything that is wrong with the text at once.
 *
 * Invariants: never throws on any text and takes time linear in its length; every error has a span; a
 * statement is in the program if and only if nothing is wrong with it. A failed statement is given up to its
 * semicolon, except that the columns and options of CREATE TABLE are checked one by one.
 */
import { EngineError, type ErrorReport } from '../base/errors.ts';
import { LIMITS } from '../base/limits.ts';
import type { Program, Statement } from './ast-statement.ts';
import { CONTINUATION_KEYWORDS, STATEMENT_KEYWORDS } from './keywords.ts';
import { REPORTS_MAX, tokenize } from './lexer.ts';
import { expressionRule } from './parse-expression.ts';
import { queryAfterRule, queryRule } from './parse-query.ts';
import { parseStatement } from './parse-statement.ts';
import { TokenStream } from './token-stream.ts';

export type ParseResult = {
  readonly program: Program;
  /** Statements with mistakes in single columns or options, without those: for an editor, never to be planned. */
  readonly damaged: readonly Statement[];
  /** In text order, at most 100; codes SYNTAX, UNTERMINATED, RESERVED_WORD, UNSUPPORTED, QUERY_TOO_LARGE. */
  readonly errors: ErrorReport[];
};

/** Parses a whole program. Only a program without errors means what its author wrote. */
export function parseProgram(text: string): ParseResult {
  // A code unit is at least one byte, so that hostile text is not even encoded.
  if (
    text.length > LIMITS.queryBytesMax ||
    new TextEncoder().encode(text).length > LIMITS.queryBytesMax
  ) {
    return { program: { statements: [] }, damaged: [], errors: [tooLarge()] };
  }
  const { tokens, errors } = tokenize(text);
  const rules = { expression: expressionRule, query: queryRule, queryAfter: queryAfterRule };
  const stream = new TokenStream(tokens, rules);
  const statements: Statement[] = [];
  const damaged: Statement[] = [];
  while (!stream.atEnd() && stream.reports.length < REPORTS_MAX) {
    if (stream.acceptSymbol(';')) continue;
    const reportsBefore = stream.reports.length;
    const outcome = stream.attempt(() => {
      const statement = parseStatement(stream);
      endStatement(stream);
      return statement;
    });
    if ('failure' in outcome) stream.skipTo([], 0);
    else if (stream.reports.length === reportsBefore) statements.push(outcome.value);
    else damaged.push(outcome.value);
  }
  const all = [...errors, ...stream.reports].sort(byPlace).slice(0, REPORTS_MAX);
  return { program: { statements }, damaged, errors: all };
}

function endStatement(stream: TokenStream): void {
  if (stream.atSymbol(';') || stream.atEnd()) return;
  const token = stream.peek();
  const isNextStatement =
    token.kind === 'word' && STATEMENT_KEYWORDS.includes(token.text.toUpperCase());
  if (isNextStatement && stream.previous.span.end.line < token.span.start.line) {
    // The next statement is all there: go on with it instead of skipping it.
    stream.report('SYNTAX', `expected ";" before ${token.text.toUpperCase()}`, {
      hint: 'statements are separated by semicolons',
      suggestion: ';',
      span: token.span,
    });
    return;
  }
  const hint =
    token.text === ')' ? 'there is no "(" for it' : 'statements are separated by semicolons';
  stream.fail('the end of the statement', CONTINUATION_KEYWORDS, hint);
}

function byPlace(left: ErrorReport, right: ErrorReport): number {
  const from = left.span?.start ?? { line: 0, column: 0 };
  const to = right.span?.start ?? { line: 0, column: 0 };
  return from.line - to.line || from.column - to.column;
}

function tooLarge(): ErrorReport {
  const start = { line: 1, column: 1 };
  return new EngineError(
    'QUERY_TOO_LARGE',
    `the text is longer than ${LIMITS.queryBytesMax} bytes`,
    {
      hint: 'split the program into several pipelines',
      span: { start, end: start },
    },
  ).report;
}
