/** The formatter's cursor: takes tokens and gives them as documents, with their comments and the blanks between them. */
import type { Comment, FormatToken } from './format-tokens.ts';
import { BLANK, CLOSE, type Doc, HARD, SPACE, text } from './layout.ts';

/** Words that are called like functions. */
const CALLED = new Set(['CAST', 'TRY_CAST', 'ROW', 'STRUCT', 'TABLE', 'DESCRIPTOR', 'EXISTS']);

export class FormatReader {
  readonly #tokens: readonly FormatToken[];
  #at = 0;

  constructor(tokens: readonly FormatToken[]) {
    this.#tokens = tokens;
  }

  peek(ahead = 0): FormatToken {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)] as FormatToken;
  }

  get previous(): FormatToken | undefined {
    return this.#tokens[this.#at - 1];
  }

  is(word: string, ahead = 0): boolean {
    return this.peek(ahead).word === word;
  }

  isAny(words: ReadonlySet<string>, ahead = 0): boolean {
    const { word } = this.peek(ahead);
    return word !== '' && words.has(word);
  }

  atEnd(): boolean {
    return this.peek().role === 'end';
  }

  /** The next token, a blank ahead of it where one belongs. */
  take(into: Doc[]): void {
    const token = this.peek();
    if (spaced(this.previous, token)) into.push(SPACE);
    this.takeBare(into);
  }

  /** The next token without a blank ahead. */
  takeBare(into: Doc[]): void {
    const token = this.peek();
    const isClosing = token.role === 'symbol' && CLOSE_SIGNS.has(token.text);
    if (isClosing && token.before.length === 0) into.push(CLOSE);
    into.push(...token.before.map(commentDoc), text(token.text), ...token.after.map(commentDoc));
    this.#at++;
  }

  /** The comments before the next token, which is then taken without them. */
  takeComments(into: Doc[]): void {
    const token = this.peek();
    into.push(...token.before.splice(0).map(commentDoc));
  }

  /** The same before a statement, where empty lines stay. */
  takeCommentsOfStatement(into: Doc[]): void {
    const token = this.peek();
    const own = token.before.splice(0);
    for (const comment of own) {
      if (comment.own) into.push(comment.blank ? BLANK : HARD);
      into.push(commentDoc(comment));
    }
    if (own.at(-1)?.last === true) into.push(token.blank ? BLANK : HARD);
  }
}

const commentDoc = ({ text: content, own, last }: Comment): Doc => ({
  tag: 'comment',
  text: content,
  own,
  last,
});

const OPENING = new Set(['(', '[', '{']);
const CLOSE_SIGNS = new Set([')', ']', '}', ',', ';', '.', '::']);

/** Whether a blank belongs between two tokens of one line. */
function spaced(previous: FormatToken | undefined, next: FormatToken): boolean {
  if (previous === undefined) return false;
  if (previous.role === 'unary') return next.role === 'unary' || isOtherSign(next);
  if (next.role === 'quantifier' || next.role === 'angle') return false;
  if (previous.role === 'angle' && previous.text === '<') return false;
  if (previous.role === 'quantifier' && previous.text === '{') return false;
  if (next.role === 'symbol' && CLOSE_SIGNS.has(next.text)) return false;
  if (previous.role === 'symbol') {
    if (OPENING.has(previous.text) || previous.text === '.' || previous.text === '::') return false;
    if (previous.text === ':' || next.text === ':') return false;
  }
  if (next.role === 'symbol' && next.text === ':') return false;
  if (next.role === 'symbol' && next.text === '(') return !isCalled(previous);
  if (next.role === 'symbol' && next.text === '[') return !isIndexed(previous);
  return true;
}

const isOtherSign = ({ role, text: content }: FormatToken): boolean =>
  role === 'symbol' && content !== '(' && content !== '[';

const isCalled = ({ role, word }: FormatToken): boolean =>
  role === 'call' || role === 'type' || CALLED.has(word);

const isIndexed = ({ role, word, text: content }: FormatToken): boolean =>
  role === 'name' ||
  role === 'call' ||
  role === 'type' ||
  role === 'angle' ||
  word === 'ARRAY' ||
  content === ')' ||
  content === ']';
