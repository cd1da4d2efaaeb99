/**
 * SQL text to tokens.
 *
 * Invariants: tokens are in text order, their spans do not overlap, and the last one is `end`; the work is
 * linear in the length of the text. A stretch that is no token becomes one `invalid` token and (up to a bound)
 * one error, so the parser never has to report it again.
 */
import { EngineError, type ErrorReport, type Position, type Span } from '../base/errors.ts';
import { unescapeString } from './escapes.ts';

export type TokenKind =
  | 'word'
  | 'quoted'
  | 'string'
  | 'number'
  | 'bytes'
  | 'symbol'
  | 'invalid'
  | 'end';

export type Token = {
  readonly kind: TokenKind;
  /** A word in lower case, the content of a string or quoted name, otherwise the text itself. */
  readonly text: string;
  /** A word as typed; otherwise the same as `text`. */
  readonly source: string;
  /** Parentheses and brackets open around this token; a closing one counts as inside. */
  readonly depth: number;
  readonly span: Span;
};

/** More errors than this in one text help nobody; the lexer and the parser each stop there. */
export const REPORTS_MAX = 100;

export type LexerResult = {
  readonly tokens: readonly Token[];
  readonly errors: readonly ErrorReport[];
};

const SPACE = /[\s\uFEFF]+/uy;
const WORD = /[\p{L}_][\p{L}\p{M}\p{N}_$]*/uy;
const NUMBER = /(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?/uy;
const NUMBER_TAIL = /[\p{L}\p{N}_$.]+/uy;
const DOLLAR_QUOTE = /\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/uy;
const PARAMETER = /\$[\p{L}\p{N}_]+/uy;

/** Longest first. `>>` is missing on purpose: `ARRAY<ARRAY<INT>>` ends in two closing signs. */
const SYMBOLS = (
  '->> #>> !~* -> #> @> <@ => :: <= >= <> != == || ~* !~ << ' +
  '( ) [ ] { } , ; . : + - * / % ^ < > = ~ ? & | #'
).split(' ');

/** Signs that word processors put where a quote was typed. */
const CURLY_QUOTES = new Map([
  ['\u2018', "'"],
  ['\u2019', "'"],
  ['\u201C', '"'],
  ['\u201D', '"'],
]);

export function tokenize(text: string): LexerResult {
  return new Lexer(text).run();
}

class Lexer {
  readonly #text: string;
  readonly #tokens: Token[] = [];
  readonly #errors: ErrorReport[] = [];
  #at = 0;
  #depth = 0;
  // The place up to which lines and columns have been counted; it only moves forward.
  #countedTo = 0;
  #line = 1;
  #column = 1;

  constructor(text: string) {
    this.#text = text;
  }

  run(): LexerResult {
    while (this.#skipBlank()) this.#token();
    this.#push('end', '', '', this.#position());
    return { tokens: this.#tokens, errors: this.#errors };
  }

  /** Moves past space and comments; false at the end of the text. */
  #skipBlank(): boolean {
    for (;;) {
      if (this.#match(SPACE) !== null) continue;
      if (this.#text.startsWith('--', this.#at)) {
        const end = this.#text.indexOf('\n', this.#at);
        this.#at = end < 0 ? this.#text.length : end;
      } else if (this.#text.startsWith('/*', this.#at)) {
        this.#blockComment();
      } else {
        return this.#at < this.#text.length;
      }
    }
  }

  #blockComment(): void {
    const start = this.#position();
    const marks = /\/\*|\*\//g;
    marks.lastIndex = this.#at;
    let open = 0;
    for (let mark = marks.exec(this.#text); mark !== null; mark = marks.exec(this.#text)) {
      open += mark[0] === '/*' ? 1 : -1;
      if (open === 0) {
        this.#at = marks.lastIndex;
        return;
      }
    }
    this.#at += 2;
    this.#unterminated(start, 'comment', '*/');
  }

  #token(): void {
    const start = this.#position();
    const char = this.#text[this.#at] as string;
    if (char === "'") return this.#string(start, false);
    if (char === '"' || char === '`') return this.#quoted(start, char);
    if (char === '$') return this.#dollar(start);
    const number = this.#match(NUMBER);
    if (number !== null) return this.#number(start, number);
    const word = this.#match(WORD);
    if (word !== null) return this.#word(start, word);
    const symbol = SYMBOLS.find((candidate) => this.#text.startsWith(candidate, this.#at));
    if (symbol === undefined) return this.#strange(start);
    this.#at += symbol.length;
    this.#symbol(symbol, start);
  }

  #symbol(symbol: string, start: Position): void {
    // A semicolon ends every list: what is left open before it is one statement's trouble only.
    if (symbol === ';') this.#depth = 0;
    this.#push('symbol', symbol, symbol, start);
    if (symbol === '(' || symbol === '[') this.#depth++;
    if ((symbol === ')' || symbol === ']') && this.#depth > 0) this.#depth--;
  }

  #word(start: Position, word: string): void {
    const next = this.#text[this.#at];
    if (next === "'" && /^[eE]$/.test(word)) return this.#string(start, true);
    if (next === "'" && /^[xX]$/.test(word)) return this.#bytes(start);
    this.#push('word', word.toLowerCase(), word, start);
  }

  #number(start: Position, number: string): void {
    const tail = this.#match(NUMBER_TAIL);
    if (tail === null) return this.#push('number', number, number, start);
    const typed = number + tail;
    const plain = typed.replaceAll('_', '');
    const suggestion = /^\d+(\.\d+)?$/.test(plain) ? plain : undefined;
    this.#invalid(
      start,
      `"${excerpt(typed)}" is not a number`,
      'a name that starts with a digit needs double quotes',
      suggestion,
    );
  }

  /** A string in single quotes; `''` is one quote, and with `escapes` a backslash escapes. */
  #string(start: Position, escapes: boolean): void {
    const contentAt = this.#at + 1;
    let at = contentAt;
    for (;;) {
      const char = this.#text[at];
      if (char === undefined) return this.#unterminated(start, 'string', "'");
      if (char === '\\' && escapes) at += 2;
      else if (char !== "'") at++;
      else if (this.#text[at + 1] === "'") at += 2;
      else break;
    }
    const content = this.#text.slice(contentAt, at);
    this.#at = at + 1;
    if (!escapes) return this.#push('string', content.replaceAll("''", "'"), '', start);
    const value = unescapeString(content);
    if (value !== null) return this.#push('string', value, '', start);
    this.#invalid(
      start,
      'this string has an escape that stands for no character',
      'write \\uXXXX with four hexadecimal digits, or \\\\ for a backslash',
    );
  }

  #bytes(start: Position): void {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end < 0) return this.#unterminated(start, 'string', "'");
    const hex = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    if (/^(?:[0-9a-fA-F]{2})*$/.test(hex)) this.#push('bytes', hex.toLowerCase(), '', start);
    else this.#invalid(start, "X'…' needs pairs of hexadecimal digits", 'two digits make one byte');
  }

  #quoted(start: Position, quote: string): void {
    let at = this.#at + 1;
    for (;;) {
      const char = this.#text[at];
      if (char === undefined) return this.#unterminated(start, 'quoted name', quote);
      if (char !== quote) at++;
      else if (this.#text[at + 1] === quote) at += 2;
      else break;
    }
    const name = this.#text.slice(this.#at + 1, at).replaceAll(quote + quote, quote);
    this.#at = at + 1;
    if (name === '')
      this.#invalid(start, 'a quoted name is empty', 'put a name between the quotes');
    else this.#push('quoted', name, name, start);
  }

  #dollar(start: Position): void {
    const quote = this.#match(DOLLAR_QUOTE);
    if (quote !== null) {
      const end = this.#text.indexOf(quote, this.#at);
      if (end < 0) return this.#unterminated(start, 'string', quote);
      const content = this.#text.slice(this.#at, end);
      this.#at = end + quote.length;
      return this.#push('string', content, '', start);
    }
    const parameter = this.#match(PARAMETER);
    if (parameter === null) return this.#strange(start);
    const hint = "write the value itself, or '{{ NAME }}' inside a string option for a secret";
    this.#invalid(start, `"${excerpt(parameter)}" is a parameter, and a pipeline has none`, hint);
  }

  #strange(start: Position): void {
    const char = String.fromCodePoint(this.#text.codePointAt(this.#at) as number);
    this.#at += char.length;
    const straight = CURLY_QUOTES.get(char);
    const hint =
      straight === undefined
        ? 'remove it, or put it into a string or a quoted name'
        : 'use straight quotes';
    this.#invalid(start, `unexpected character "${char}"`, hint, straight);
  }

  #invalid(start: Position, message: string, hint: string, suggestion?: string): void {
    this.#push('invalid', '', '', start);
    if (this.#errors.length >= REPORTS_MAX) return;
    const span = { start, end: this.#position() };
    const extras = suggestion === undefined ? { hint, span } : { hint, span, suggestion };
    this.#errors.push(new EngineError('SYNTAX', message, extras).report);
  }

  /** Gives up on the rest of the text; the error points at what was opened. */
  #unterminated(start: Position, what: string, closing: string): void {
    const opening = { start, end: { line: start.line, column: start.column + 1 } };
    const hint = `close it with ${closing}`;
    this.#errors.push(
      new EngineError('UNTERMINATED', `this ${what} does not end`, { hint, span: opening }).report,
    );
    this.#at = this.#text.length;
    this.#push('invalid', '', '', start);
  }

  #push(kind: TokenKind, text: string, source: string, start: Position): void {
    const span = { start, end: this.#position() };
    this.#tokens.push({
      kind,
      text,
      source: source === '' ? text : source,
      depth: this.#depth,
      span,
    });
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return null;
    this.#at = pattern.lastIndex;
    return found[0];
  }

  /** Line and column of `#at`, counted onward from the last place asked for. */
  #position(): Position {
    while (this.#countedTo < this.#at) {
      const point = this.#text.codePointAt(this.#countedTo) as number;
      this.#countedTo += point > 0xffff ? 2 : 1;
      if (point === 10) {
        this.#line++;
        this.#column = 1;
      } else {
        this.#column++;
      }
    }
    return { line: this.#line, column: this.#column };
  }
}

/** The beginning of a text of any length, fit for a message. */
export function excerpt(text: string): string {
  const points = Array.from(text.slice(0, 64));
  return points.length > 30 || text.length > 64 ? `${points.slice(0, 30).join('')}…` : text;
}
