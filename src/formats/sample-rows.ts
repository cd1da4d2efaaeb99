/**
 * Pasted text → its rows: NDJSON, the elements of an array, objects over several lines, one behind the other.
 *
 * It is for samples that people paste, so nothing is refused as a whole: what is no object is a row of its own that the
 * decoder will refuse with a reason. Invariant: every row lies on one line of `text`, and no character but blanks, commas
 * and the brackets of an array around the rows is lost.
 */
import { skipValue } from './json-grammar.ts';

export type SampleRow = {
  /** From 1, of the pasted text, where the row begins. */
  line: number;
  /** On one line, ready for the decoder. */
  text: string;
  /** As it was pasted. */
  raw: string;
};

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

const LF = 10;
const CR = 13;
const OPEN_BRACE = 123;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;

const isBlank = (byte: number | undefined): boolean =>
  byte === 32 || byte === 9 || byte === CR || byte === LF;

/** Blanks, and what stands between and around the rows of an array. */
function isBetween(body: Uint8Array, at: number): boolean {
  const byte = body[at];
  if (byte === OPEN_BRACKET) return holdsRows(body, at + 1);
  return isBlank(byte) || byte === 44 || byte === CLOSE_BRACKET;
}

/** Whether an array that is open has rows: one of plain values is a row itself, and a wrong one. */
function holdsRows(body: Uint8Array, from: number): boolean {
  let at = from;
  while (isBlank(body[at])) at++;
  const byte = body[at];
  return (
    byte === undefined || byte === OPEN_BRACE || byte === OPEN_BRACKET || byte === CLOSE_BRACKET
  );
}

export function splitSample(pasted: string, rowsMax: number): SampleRow[] {
  const body = encoder.encode(pasted.replace(/^\uFEFF/, ''));
  // CR is space for the grammar, and an LF its sentinel.
  const text = new Uint8Array(body.length + 1);
  text.set(body);
  for (let at = text.indexOf(LF); at >= 0; at = text.indexOf(LF, at + 1)) text[at] = CR;
  text[body.length] = LF;
  const rows: SampleRow[] = [];
  let line = 1;
  let counted = 0;
  for (let at = 0; at < body.length && rows.length < rowsMax;) {
    if (isBetween(body, at)) {
      at++;
      continue;
    }
    for (; counted < at; counted++) if (body[counted] === LF) line++;
    const isNested = text[at] === OPEN_BRACE || text[at] === OPEN_BRACKET;
    const found = isNested ? skipValue(text, at, 0) : -1;
    const end = found >= 0 ? found : brokenEnd(body, at);
    rows.push({
      line,
      text: decoder.decode(text.subarray(at, end)).replaceAll('\r', ' ').trimEnd(),
      raw: decoder.decode(body.subarray(at, end)).trimEnd(),
    });
    at = end;
  }
  return rows;
}

/** Where a row ends that is no JSON: at the end of its line, or of the object that was begun. */
function brokenEnd(body: Uint8Array, start: number): number {
  let end = lineEnd(body, start);
  const opened = body[start] === OPEN_BRACE && !/\}\s*,?\s*$/.test(textOf(body, start, end));
  if (!opened) return withoutComma(body, start, end);
  while (end < body.length) {
    const next = lineEnd(body, end + 1);
    const content = textOf(body, end + 1, next).trim();
    if (content === '' || content.startsWith('{')) return end;
    end = next;
    if (content.startsWith('}')) break;
  }
  return withoutComma(body, start, end);
}

const textOf = (body: Uint8Array, from: number, to: number): string =>
  decoder.decode(body.subarray(from, to));

function lineEnd(body: Uint8Array, from: number): number {
  const found = body.indexOf(LF, from);
  return found < 0 ? body.length : found;
}

/** The comma behind an element of an array is none of the row. */
function withoutComma(body: Uint8Array, start: number, end: number): number {
  const content = textOf(body, start, end);
  return /\},?\s*$/.test(content)
    ? start + encoder.encode(content.replace(/,?\s*$/, '')).length
    : end;
}
