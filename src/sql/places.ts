/** Between places of a text, which count lines and code points, and offsets, which count code units. */
import type { Position, Span } from '../base/errors.ts';

/** A replacement of a stretch of a text; an empty stretch inserts. */
export type TextEdit = { span: Span; text: string };

const HIGH_SURROGATES = /[\uD800-\uDBFF]/;

/** Finds offsets in one text; a place behind the end of its line is the end of that line. */
export class Places {
  readonly #text: string;
  readonly #starts: number[] = [0];

  constructor(text: string) {
    this.#text = text;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1))
      this.#starts.push(at + 1);
  }

  offsetOf({ line, column }: Position): number {
    const from = this.#starts[Math.max(0, line - 1)] ?? this.#text.length;
    const next = this.#starts[line];
    const end = next === undefined ? this.#text.length : next - 1;
    const content = this.#text.slice(from, end);
    if (!HIGH_SURROGATES.test(content)) return Math.min(end, from + column - 1);
    let at = from;
    for (let left = column - 1; left > 0 && at < end; left--)
      at += (this.#text.codePointAt(at) as number) > 0xffff ? 2 : 1;
    return at;
  }

  textOf({ start, end }: Span): string {
    return this.#text.slice(this.offsetOf(start), this.offsetOf(end));
  }
}

/** The text with all edits done; none may lie over another. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const places = new Places(text);
  const ordered = edits
    .map(({ span, text: replacement }) => ({
      from: places.offsetOf(span.start),
      to: places.offsetOf(span.end),
      replacement,
    }))
    .sort((left, right) => left.from - right.from || left.to - right.to);
  let result = '';
  let at = 0;
  for (const { from, to, replacement } of ordered) {
    result += text.slice(at, from) + replacement;
    at = to;
  }
  return result + text.slice(at);
}
