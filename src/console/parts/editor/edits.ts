/** Places that the API tells, in lines and columns of code points, as offsets of a JavaScript text; and its edits applied. Pure. */
import type { TextEdit } from '../../../api/authoring/diagnostic-shapes.ts';

export type Place = { line: number; column: number };
export type Span = TextEdit['span'];

/** Both from 0, in UTF-16 units; `to` is behind. */
export type Range = { from: number; to: number };

/** A place behind the end of its line or of the text is the end of it. */
export function offsetOf(text: string, { line, column }: Place): number {
  let start = 0;
  for (let passed = 1; passed < line; passed++) {
    const end = text.indexOf('\n', start);
    if (end === -1) return text.length;
    start = end + 1;
  }
  let offset = start;
  for (let passed = 1; passed < column; passed++) {
    const point = text.codePointAt(offset);
    if (point === undefined || text[offset] === '\n') break;
    offset += point > 0xffff ? 2 : 1;
  }
  return offset;
}

export const rangeOf = (text: string, span: Span): Range => ({
  from: offsetOf(text, span.start),
  to: Math.max(offsetOf(text, span.start), offsetOf(text, span.end)),
});

export type Change = Range & { insert: string };

/** In the order of the text. */
export const changesOf = (text: string, edits: readonly TextEdit[]): Change[] =>
  edits
    .map(({ span, text: insert }) => ({ ...rangeOf(text, span), insert }))
    .sort((a, b) => a.from - b.from);

export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let result = '';
  let at = 0;
  for (const { from, to, insert } of changesOf(text, edits)) {
    result += text.slice(at, from) + insert;
    at = to;
  }
  return result + text.slice(at);
}

/** The part that differs, as one change: what an editor has to replace so that the cursor stays elsewhere. */
export function difference(before: string, after: string): Change {
  const most = Math.min(before.length, after.length);
  let same = 0;
  while (same < most && before[same] === after[same]) same++;
  let tail = 0;
  while (tail < most - same && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return {
    from: same,
    to: before.length - tail,
    insert: after.slice(same, after.length - tail),
  };
}
