/**
 * A request body of rows, which is NDJSON, one JSON array or one JSON object over several lines, as
 * NDJSON in one buffer.
 *
 * An array or object is taken apart by its grammar, so a fault in it condemns the whole body; its
 * elements are not judged here: what is no object the decoder rejects as a row of its own. Lines of
 * NDJSON are not looked into at all.
 */
import {
  CLOSE_BRACKET,
  COMMA,
  LF,
  OPEN_BRACE,
  OPEN_BRACKET,
  skipSpace,
  skipValue,
} from './json-grammar.ts';
import { fail, failure } from './json-strings.ts';

export type BodyRows =
  | {
      tag: 'rows';
      /** NDJSON: each row ends with LF, except perhaps the last. The body itself when it was NDJSON already. */
      bytes: Uint8Array;
      /** Start and end of each row in `bytes`, in turn, without line ends; blank lines are no rows. */
      ranges: Int32Array;
      rows: number;
    }
  | {
      tag: 'malformed';
      message: string;
      /** Position in the body, and the same as 1-based line and column (in bytes). */
      offset: number;
      line: number;
      column: number;
    };

const SPACE = 32;
const CR = 13;

/** Splits a body into rows. */
export function toNdjson(body: Uint8Array): BodyRows {
  const first = firstOfText(body);
  const lead = body[first];
  if (lead === OPEN_BRACKET) return fromArray(body, first);
  if (lead === OPEN_BRACE) {
    const single = fromObject(body, first);
    if (single !== null) return single;
  }
  return fromLines(body, body.length);
}

function firstOfText(body: Uint8Array): number {
  let at = 0;
  while (body[at] === SPACE || body[at] === 9 || body[at] === CR || body[at] === LF) at++;
  return at;
}

/**
 * A copy with CR for LF, which JSON treats alike wherever either may stand, and an LF behind it as
 * the scanner's sentinel.
 */
function onOneLine(body: Uint8Array): Uint8Array {
  const text = new Uint8Array(body.length + 1);
  text.set(body);
  for (let at = text.indexOf(LF); at >= 0; at = text.indexOf(LF, at + 1)) text[at] = CR;
  text[body.length] = LF;
  return text;
}

/** The rows of the array that starts at `start`, each made a line in place: commas between them become LF. */
function fromArray(body: Uint8Array, start: number): BodyRows {
  const text = onOneLine(body);
  text.fill(SPACE, 0, start + 1);
  const ranges: number[] = [];
  let position = skipSpace(text, start + 1);
  if (text[position] === CLOSE_BRACKET) text[position] = SPACE;
  else {
    for (;;) {
      const end = skipValue(text, position, 1);
      if (end < 0) return malformed(body);
      ranges.push(position, end);
      position = skipSpace(text, end);
      const next = text[position];
      if (next !== COMMA && next !== CLOSE_BRACKET) {
        fail(position, 'a comma or ] is due');
        return malformed(body);
      }
      text[position] = LF;
      position++;
      if (next === CLOSE_BRACKET) break;
      position = skipSpace(text, position);
    }
  }
  if (ranges.length === 0) position++;
  const rest = skipSpace(text, position);
  if (rest < body.length) {
    fail(rest, 'something follows the array');
    return malformed(body);
  }
  return {
    tag: 'rows',
    bytes: text.subarray(0, body.length),
    ranges: Int32Array.from(ranges),
    rows: ranges.length / 2,
  };
}

/** The one object over several lines that the body is, or null when it is something else. */
function fromObject(body: Uint8Array, start: number): BodyRows | null {
  const lineEnd = body.indexOf(LF, start);
  if (lineEnd < 0) return null;
  // Most bodies are NDJSON: an object that ends on its first line is not one over several.
  const line = new Uint8Array(lineEnd - start + 1);
  line.set(body.subarray(start, lineEnd + 1));
  if (skipValue(line, 0, 0) >= 0) return null;
  const text = onOneLine(body);
  const end = skipValue(text, start, 0);
  if (end < 0 || skipSpace(text, end) < body.length) return null;
  return {
    tag: 'rows',
    bytes: text.subarray(0, body.length),
    ranges: Int32Array.of(start, end),
    rows: 1,
  };
}

function fromLines(body: Uint8Array, size: number): BodyRows {
  const ranges: number[] = [];
  let start = 0;
  while (start < size) {
    const found = body.indexOf(LF, start);
    const lineEnd = found < 0 ? size : found;
    let end = lineEnd;
    while (end > start && isBlank(body[end - 1])) end--;
    let from = start;
    while (from < end && isBlank(body[from])) from++;
    if (from < end) ranges.push(from, end);
    start = lineEnd + 1;
  }
  return { tag: 'rows', bytes: body, ranges: Int32Array.from(ranges), rows: ranges.length / 2 };
}

const isBlank = (byte: number | undefined): boolean => byte === SPACE || byte === 9 || byte === CR;

function malformed(body: Uint8Array): BodyRows {
  const offset = Math.min(failure.at, body.length);
  let line = 1;
  let lineStart = 0;
  for (let at = body.indexOf(LF); at >= 0 && at < offset; at = body.indexOf(LF, at + 1)) {
    line++;
    lineStart = at + 1;
  }
  return {
    tag: 'malformed',
    message: failure.message,
    offset,
    line,
    column: offset - lineStart + 1,
  };
}
