/**
 * The parser's cursor over the tokens of a text, and the one place that reports what is wrong with them.
 *
 * Invariants: the cursor only moves forward; every failure leaves exactly one report (none, if the lexer
 * already reported the token); recursion is at most LIMITS.queryDepthMax levels and no tree is higher than
 * LIMITS.queryHeightMax, so neither this parser nor who walks its trees can overflow the stack.
 * A failure is thrown as `ParseFailure` and caught where the grammar has a place to go on.
 */
import { assert } from '../base/assert.ts';
import {
  EngineError,
  type ErrorCode,
  type ErrorExtras,
  type ErrorReport,
  type Position,
  type Span,
} from '../base/errors.ts';
import { LIMITS } from '../base/limits.ts';
import { nearest } from '../base/nearest.ts';
import type { Identifier } from './ast.ts';
import type { Expression } from './ast-expression.ts';
import type { Query } from './ast-query.ts';
import {
  CASE_WORDS,
  CLAUSE_WORDS,
  CONTINUATION_KEYWORDS,
  isReserved,
  RESERVED_FUNCTION_NAMES,
} from './keywords.ts';
import { excerpt, REPORTS_MAX, type Token } from './lexer.ts';

/** Ends the parse of one statement or list element; its report has been recorded. */
export class ParseFailure extends Error {
  override readonly name = 'ParseFailure';
  /** Angle brackets of a type that were open: a comma inside them does not end a list's element. */
  readonly angleDepth: number;

  constructor(angleDepth: number) {
    super('the text cannot be parsed further');
    this.angleDepth = angleDepth;
  }
}

/** The rules that refer to each other in a circle; handed in so that the rule files need not. */
export type Rules = {
  readonly expression: (stream: TokenStream, bindingPower: number) => Expression;
  readonly query: (stream: TokenStream) => Query;
  /** Goes on behind a query in parentheses, which becomes the first part of a larger one. */
  readonly queryAfter: (stream: TokenStream, first: Query) => Query;
};

export class TokenStream {
  readonly reports: ErrorReport[] = [];
  /** Height of the highest tree finished inside the rule being parsed; see `measured`. */
  height = 0;
  /** How many CASE expressions and angle brackets surround the cursor. */
  caseDepth = 0;
  angleDepth = 0;
  readonly #tokens: readonly Token[];
  readonly #rules: Rules;
  #at = 0;
  #depth = 0;
  #bareAlias: Token | null = null;

  constructor(tokens: readonly Token[], rules: Rules) {
    assert(tokens[tokens.length - 1]?.kind === 'end', 'tokens end with an end');
    this.#tokens = tokens;
    this.#rules = rules;
  }

  parseExpression(bindingPower = 0): Expression {
    return this.nested(() => this.#rules.expression(this, bindingPower));
  }

  parseQuery(): Query {
    return this.nested(() => this.#rules.query(this));
  }

  parseQueryAfter(first: Query): Query {
    return this.#rules.queryAfter(this, first);
  }

  // Looking.

  /** The token `ahead` of the cursor; past the end it is the end. */
  peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)] as Token;
  }

  get previous(): Token {
    return this.#tokens[Math.max(0, this.#at - 1)] as Token;
  }

  atWord(word: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.kind === 'word' && token.text === word;
  }

  atSymbol(symbol: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.kind === 'symbol' && token.text === symbol;
  }

  /** At the words in this order. */
  atWords(...words: readonly string[]): boolean {
    return words.every((word, ahead) => this.atWord(word, ahead));
  }

  atEnd(): boolean {
    return this.peek().kind === 'end';
  }

  // Taking.

  next(): Token {
    const token = this.peek();
    if (token.kind !== 'end') this.#at++;
    return token;
  }

  /** Takes the words if all of them are there, otherwise none. */
  accept(...words: readonly string[]): boolean {
    if (!this.atWords(...words)) return false;
    this.#at += words.length;
    return true;
  }

  acceptSymbol(symbol: string): boolean {
    if (!this.atSymbol(symbol)) return false;
    this.#at++;
    return true;
  }

  expect(word: string): Token {
    if (!this.atWord(word)) this.fail(word.toUpperCase(), [word.toUpperCase()]);
    return this.next();
  }

  expectSymbol(symbol: string): Token {
    if (!this.atSymbol(symbol)) this.fail(`"${symbol}"`, [], this.#openedHint(symbol));
    return this.next();
  }

  /** Where the bracket stands that is to be closed here. */
  #openedHint(closing: string): string | undefined {
    const opening = closing === ')' ? '(' : closing === ']' ? '[' : null;
    const { depth } = this.peek();
    for (let at = this.#at - 1; opening !== null && at >= 0; at--) {
      const token = this.#tokens[at] as Token;
      if (token.depth !== depth - 1 || token.text !== opening || token.kind !== 'symbol') continue;
      const { line, column } = token.span.start;
      return `the "${opening}" at ${line}:${column} is still open`;
    }
    return undefined;
  }

  /** A whole word list, one after the other. */
  expectAll(...words: readonly string[]): void {
    for (const word of words) this.expect(word);
  }

  /**
   * A name. An unquoted reserved word is reported and taken as the name that was meant, so that one
   * mistake makes one error; `certain` says that nothing but a name can stand here.
   */
  identifier(what: string, certain = false): Identifier {
    const token = this.peek();
    const isName = token.kind === 'quoted' || (token.kind === 'word' && !isReserved(token.text));
    if (!isName) {
      if (token.kind !== 'word' || !(certain || this.readsAsName())) this.fail(what);
      this.reportReserved(token);
    }
    return this.anyName(what);
  }

  /** A name where every word is allowed, as after a dot or AS. */
  anyName(what: string): Identifier {
    const token = this.peek();
    if (token.kind !== 'quoted' && token.kind !== 'word') this.fail(what);
    this.#at++;
    return {
      name: token.text,
      quoted: token.kind === 'quoted',
      text: token.source,
      span: token.span,
    };
  }

  /** Remembers that the name just taken was an alias without AS: perhaps it is a mistyped keyword. */
  noteBareAlias(): void {
    this.#bareAlias = this.previous;
  }

  /** Whether the reserved word at the cursor was meant as a name, judged by what follows it. */
  readsAsName(): boolean {
    const { text } = this.peek();
    const following = this.peek(1);
    if (this.caseDepth > 0 && CASE_WORDS.has(text)) return false;
    if (RESERVED_FUNCTION_NAMES.has(text) && following.text === 'join') return false;
    if (following.kind === 'symbol') return !['(', '*', '[', '-', '+'].includes(following.text);
    if (following.kind === 'end') return !CLAUSE_WORDS.has(text);
    return following.kind === 'word' && isReserved(following.text) && !CLAUSE_WORDS.has(text);
  }

  // Spans.

  spanFrom(start: Position): Span {
    return { start, end: this.previous.span.end };
  }

  // Bounds.

  /** Runs a rule one level deeper. */
  nested<T>(rule: () => T): T {
    if (this.#depth >= LIMITS.queryDepthMax) {
      this.reject(
        'QUERY_TOO_LARGE',
        `the text is nested deeper than ${LIMITS.queryDepthMax} levels`,
        {
          hint: 'split the query with WITH or CREATE VIEW',
          span: this.peek().span,
        },
      );
    }
    this.#depth++;
    const result = rule();
    this.#depth--;
    return result;
  }

  /**
   * Runs a rule that grows its tree to the left. The rule calls the function it gets for each node it puts
   * on top of what it has; operands measured meanwhile count as that node's children.
   */
  measured<T>(rule: (grow: () => void) => T): T {
    const outside = this.height;
    this.height = 0;
    const result = rule(() => {
      this.height++;
      if (this.height > LIMITS.queryHeightMax) {
        this.reject(
          'QUERY_TOO_LARGE',
          `an expression has more than ${LIMITS.queryHeightMax} operators on one another`,
          {
            hint: 'use IN (…) for a long OR of equalities, or split the expression',
            span: this.previous.span,
          },
        );
      }
    });
    this.height = Math.max(outside, this.height);
    return result;
  }

  // Reporting.

  report(code: ErrorCode, message: string, extras: ErrorExtras): void {
    if (this.reports.length < REPORTS_MAX)
      this.reports.push(new EngineError(code, message, extras).report);
  }

  reject(code: ErrorCode, message: string, extras: ErrorExtras): never {
    this.report(code, message, extras);
    throw new ParseFailure(this.angleDepth);
  }

  reportReserved(token: Token): void {
    this.report('RESERVED_WORD', `"${token.source}" is a reserved word`, {
      hint: 'write it in double quotes to use it as a name',
      suggestion: `"${token.text}"`,
      span: token.span,
    });
  }

  /** Reports that `expected` is missing at the cursor; `keywords` are the words that could stand here. */
  fail(expected: string, keywords: readonly string[] = [], hint?: string): never {
    const token = this.peek();
    if (token.kind === 'invalid') throw new ParseFailure(this.angleDepth);
    this.#failAtAlias();
    const near = token.kind === 'word' ? nearest(token.source, keywords) : null;
    this.reject('SYNTAX', `expected ${expected}, found ${describe(token)}`, {
      span: token.span,
      ...(hint === undefined ? {} : { hint }),
      ...(near === null ? {} : { suggestion: near }),
    });
  }

  /** When the word before the cursor was taken for an alias but is nearly a keyword, the trouble is there. */
  #failAtAlias(): void {
    const alias = this.#bareAlias;
    if (alias === null || alias !== this.previous || alias.kind !== 'word' || alias.text.length < 3)
      return;
    const keyword = nearest(alias.source, CONTINUATION_KEYWORDS);
    if (keyword === null) return;
    this.reject('SYNTAX', `expected ${keyword}, found "${excerpt(alias.source)}"`, {
      span: alias.span,
      suggestion: keyword,
      hint: 'a name that is meant as an alias is clearer with AS',
    });
  }

  // Recovering.

  /**
   * Runs a rule; after a failure the bounds are as they were and the cursor stays where it failed.
   * Anything but a parse failure is a bug and goes on.
   */
  attempt<T>(rule: () => T): { value: T } | { failure: ParseFailure } {
    const before = {
      depth: this.#depth,
      height: this.height,
      caseDepth: this.caseDepth,
      angleDepth: this.angleDepth,
    };
    try {
      return { value: rule() };
    } catch (thrown) {
      if (!(thrown instanceof ParseFailure)) throw thrown;
      this.#depth = before.depth;
      this.height = before.height;
      this.caseDepth = before.caseDepth;
      this.angleDepth = before.angleDepth;
      return { failure: thrown };
    }
  }

  /**
   * Moves to the next of the symbols that stands at this depth and outside the angle brackets still open.
   * Stops before a semicolon, a shallower token and the parenthesis that closes this depth.
   */
  skipTo(symbols: readonly string[], depth: number, angleDepth = 0): void {
    let angles = angleDepth;
    for (; !this.atEnd() && !this.atSymbol(';'); this.#at++) {
      const token = this.peek();
      if (token.depth < depth) return;
      if (token.depth > depth || token.kind !== 'symbol') continue;
      if (token.text === '<') angles++;
      if (token.text === '>' && angles > 0) angles--;
      if (symbols.includes(token.text) && (angles === 0 || token.text === ')')) return;
    }
  }
}

/** A token as a message names it. */
export function describe(token: Token): string {
  if (token.kind === 'end') return 'the end of the text';
  if (token.kind === 'string') return `the string '${excerpt(token.text)}'`;
  return `"${excerpt(token.source)}"`;
}
