/**
 * Keys recognised by their raw bytes.
 *
 * A token is what stands between two values: `,"price": ` with whatever space the producer writes.
 * Each token remembers which one followed it last, so that a stream with a steady key order is read
 * by comparing bytes alone. Only the first occurrence of a token is parsed as a key.
 */
import { COLON, COMMA, DOUBLE_QUOTE, LF, OPEN_BRACE, skipSpace } from './json-grammar.ts';
import type { Slot, SlotNames } from './json-slots.ts';
import { fail, readString, written } from './json-strings.ts';
import { matchesWords } from './json-words.ts';

/** Tokens learned at most; keys beyond are parsed each time. */
export const TOKENS_MAX = 128;
/** Longest token worth learning. */
export const TOKEN_BYTES_MAX = 256;

export type Token = {
  /** Its bytes in the pool: `[start, end)`. */
  start: number;
  end: number;
  /** Whether it starts with `{` rather than `,`. */
  first: boolean;
  /** The column of the key; null for a key no column has. */
  slot: Slot | null;
  name: string;
  /** The token that followed last. */
  next: Token | null;
  /** Accepted rows of the running call that had it, while no column has its key. */
  count: number;
};

const makeToken = (first: boolean, slot: Slot | null, name: string): Token => ({
  start: 0,
  end: 0,
  first,
  slot,
  name,
  next: null,
  count: 0,
});

export class KeyReader {
  /** What precedes the first key of a row. */
  readonly root: Token = makeToken(false, null, '');
  /** Bytes of all tokens, and the same as a view. */
  pool = new Uint8Array(1024);
  poolWords: DataView = new DataView(this.pool.buffer);
  readonly #names: SlotNames;
  /** Those learned, in order. */
  readonly tokens: Token[] = [];
  /** Position after the token that `find` returned last. */
  end = 0;
  #poolEnd = 0;
  #scratch = new Uint8Array(256);
  readonly #decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

  constructor(names: SlotNames) {
    this.#names = names;
  }

  /**
   * The token at `at`, which is not the one expected after `previous`; learned now if it is new. The
   * position after it, where the value or space before it starts, is left in `end`.
   *
   * @returns null when no key can be read there; `failure` says why
   */
  find(bytes: Uint8Array, at: number, previous: Token): Token | null {
    const first = previous === this.root;
    for (const token of this.tokens) {
      if (token.first === first && this.#matches(bytes, at, token)) {
        previous.next = token;
        this.end = at + token.end - token.start;
        return token;
      }
    }
    return this.#parse(bytes, at, previous, first);
  }

  #matches(bytes: Uint8Array, at: number, token: Token): boolean {
    return matchesWords(bytes, at, this.poolWords, token.start, token.end);
  }

  #parse(bytes: Uint8Array, at: number, previous: Token, first: boolean): Token | null {
    if (bytes[at] !== (first ? OPEN_BRACE : COMMA)) {
      fail(at, first ? 'a row must be a JSON object' : 'a comma or } is due');
      return null;
    }
    let position = skipSpace(bytes, at + 1);
    if (bytes[position] !== DOUBLE_QUOTE) {
      fail(position, 'a key in double quotes is due');
      return null;
    }
    let size = 1;
    while (bytes[position + size] !== LF) size++;
    if (this.#scratch.length < size) this.#scratch = new Uint8Array(size * 2);
    position = readString(bytes, position + 1, this.#scratch, 0);
    if (position < 0) return null;
    const name = this.#decoder.decode(this.#scratch.subarray(0, written.end));
    position = skipSpace(bytes, position);
    if (bytes[position] !== COLON) {
      fail(position, 'a colon is due after a key');
      return null;
    }
    position = skipSpace(bytes, position + 1);
    this.end = position;
    const token = makeToken(first, this.#names.find(name), name);
    if (this.tokens.length < TOKENS_MAX && position - at <= TOKEN_BYTES_MAX)
      this.#learn(bytes, at, position, token, previous);
    return token;
  }

  #learn(bytes: Uint8Array, from: number, to: number, token: Token, previous: Token): void {
    const end = this.#poolEnd + to - from;
    if (end > this.pool.length) {
      const pool = new Uint8Array(end * 2);
      pool.set(this.pool);
      this.pool = pool;
      this.poolWords = new DataView(pool.buffer);
    }
    this.pool.set(bytes.subarray(from, to), this.#poolEnd);
    token.start = this.#poolEnd;
    token.end = this.#poolEnd = end;
    this.tokens.push(token);
    previous.next = token;
  }
}
