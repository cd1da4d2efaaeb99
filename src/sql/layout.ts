/**
 * Documents that say where lines may break → text of at most so many columns, where that can be done.
 *
 * A group is printed on one line when it fits, and otherwise breaks at each of its own lines. Comments are told apart from
 * other text: behind one that ends with its line nothing else is printed on that line, whatever the document says.
 * Invariant: every text and comment is printed once, in order; only blanks depend on the width.
 */

export type Doc =
  | { readonly tag: 'text'; readonly text: string }
  /** A blank, unless the line begins or ends here. */
  | { readonly tag: 'space' }
  /** No blank, although a comment stands before. */
  | { readonly tag: 'close' }
  /** A line feed where the group is broken; otherwise a blank, or nothing if `tight`. */
  | { readonly tag: 'line'; readonly tight: boolean }
  /** A line feed wherever it is; with `blank` an empty line. */
  | { readonly tag: 'hard'; readonly blank: boolean }
  /** `own`: it begins a line. `last`: it ends one. */
  | {
      readonly tag: 'comment';
      readonly text: string;
      readonly own: boolean;
      readonly last: boolean;
    }
  | {
      readonly tag: 'group';
      readonly parts: readonly Doc[];
      readonly broken: boolean;
      readonly width: number;
    }
  | { readonly tag: 'indent'; readonly parts: readonly Doc[]; readonly width: number };

export const SPACE: Doc = { tag: 'space' };
export const CLOSE: Doc = { tag: 'close' };
export const LINE: Doc = { tag: 'line', tight: false };
export const TIGHT_LINE: Doc = { tag: 'line', tight: true };
export const HARD: Doc = { tag: 'hard', blank: false };
export const BLANK: Doc = { tag: 'hard', blank: true };

export const text = (content: string): Doc => ({ tag: 'text', text: content });

/** @param broken  it breaks although it would fit */
export const group = (parts: readonly Doc[], broken = false): Doc => ({
  tag: 'group',
  parts,
  broken,
  width: broken ? Infinity : widthOf(parts),
});

export const indent = (parts: readonly Doc[]): Doc => ({
  tag: 'indent',
  parts,
  width: widthOf(parts),
});

/** Columns on one line; infinite when it can not be on one. */
export const widthOf = (parts: readonly Doc[]): number =>
  parts.reduce((sum, part) => sum + partWidth(part), 0);

function partWidth(doc: Doc): number {
  switch (doc.tag) {
    case 'text':
      return doc.text.includes('\n') ? Infinity : doc.text.length;
    case 'space':
      return 1;
    case 'close':
      return 0;
    case 'line':
      return doc.tight ? 0 : 1;
    case 'hard':
      return Infinity;
    case 'comment':
      return doc.own || doc.last || doc.text.includes('\n') ? Infinity : doc.text.length + 1;
    case 'group':
    case 'indent':
      return doc.width;
  }
}

const INDENT = 2;

export function render(parts: readonly Doc[], width: number): string {
  const printer = new Printer(width);
  printer.print(parts, 0, true);
  return printer.finish();
}

class Printer {
  readonly #width: number;
  readonly #pieces: string[] = [];
  #column = 0;
  /** Of the line under way, as the document said where it began. */
  #indent = 0;
  /** Nothing but blanks is on the line. */
  #lineEmpty = true;
  /** The line before is empty. */
  #blank = false;
  #space = false;
  /** The line ends here: the next text begins another. */
  #ended = false;

  constructor(width: number) {
    this.#width = width;
  }

  finish(): string {
    const content = this.#pieces.join('').trimEnd();
    return content === '' ? '' : `${content}\n`;
  }

  print(parts: readonly Doc[], depth: number, broken: boolean): void {
    parts.forEach((part, at) => this.#part(part, depth, broken, parts, at));
  }

  #part(doc: Doc, depth: number, broken: boolean, siblings: readonly Doc[], at: number): void {
    switch (doc.tag) {
      case 'text':
        return this.#text(doc.text, depth);
      case 'space':
        this.#space = true;
        return;
      case 'close':
        this.#space = false;
        return;
      case 'line':
        if (broken) this.#newLine(depth);
        else if (!doc.tight) this.#space = true;
        return;
      case 'hard':
        this.#newLine(depth);
        if (doc.blank) this.#blankLine();
        return;
      case 'comment':
        return this.#comment(doc, depth);
      case 'indent':
        return this.print(doc.parts, depth + 1, broken);
      case 'group': {
        const room = this.#width - this.#column - (this.#space ? 1 : 0) - tail(siblings, at + 1);
        return this.print(doc.parts, depth, doc.width > room);
      }
    }
  }

  #nothing(): boolean {
    return this.#pieces.length === 0;
  }

  #newLine(depth: number): void {
    this.#space = false;
    this.#ended = false;
    this.#indent = depth * INDENT;
    this.#column = this.#indent;
    if (this.#lineEmpty) return;
    this.#pieces.push('\n');
    this.#lineEmpty = true;
    this.#blank = false;
  }

  #blankLine(): void {
    if (this.#blank || this.#nothing()) return;
    this.#pieces.push('\n');
    this.#blank = true;
  }

  #text(content: string, depth: number): void {
    if (content === '') return;
    if (this.#ended) this.#newLine(depth);
    if (this.#lineEmpty) {
      this.#pieces.push(' '.repeat(this.#indent));
    } else if (this.#space) {
      this.#pieces.push(' ');
      this.#column++;
    }
    this.#lineEmpty = false;
    this.#space = false;
    this.#pieces.push(content);
    const feed = content.lastIndexOf('\n');
    this.#column = feed < 0 ? this.#column + content.length : content.length - feed - 1;
  }

  #comment({ text: content, own, last }: Doc & { tag: 'comment' }, depth: number): void {
    if (own && !this.#lineEmpty) this.#newLine(depth);
    // Behind a comment that ends its line this one begins the next, whatever it is.
    this.#space = true;
    this.#text(content, depth);
    this.#space = true;
    if (last) this.#ended = true;
  }
}

/** Columns of what follows without a place to break, such as a closing parenthesis. */
function tail(siblings: readonly Doc[], from: number): number {
  let sum = 0;
  for (let at = from; at < siblings.length; at++) {
    const part = siblings[at] as Doc;
    if (part.tag === 'text') sum += part.text.length;
    else if (part.tag === 'space') sum++;
    else if (part.tag === 'comment' && !part.own && !part.last) sum += part.text.length + 1;
    else break;
  }
  return sum;
}
