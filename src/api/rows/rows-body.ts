/**
 * From the body of a rows request to the rows that are stored: pure, and the same for every retry.
 *
 * A row's text is kept as it was sent, so no digit of it is touched; only line feeds between the tokens of an array's
 * elements become spaces, because a stored row is one line. Invariants: accepted + rejected = rows in the body; what is
 * accepted here is accepted by the source that reads it later, since both are the same decoder.
 */
import { EngineError } from '../../base/errors.ts';
import { LIMITS } from '../../base/limits.ts';
import type { DecodeError } from '../../formats/json-decoder.ts';
import type { RowDecoder } from '../../formats/row-decoder.ts';
import {
  CLOSE_BRACKET,
  COMMA,
  DOUBLE_QUOTE,
  LF,
  OPEN_BRACKET,
  skipSpace,
  skipValue,
  SPACE,
} from '../../formats/json-grammar.ts';
import { failure } from '../../formats/json-strings.ts';

/** A refused row; `raw` is the beginning of its text. */
export type RefusedRow = Pick<DecodeError, 'code' | 'column' | 'expected' | 'message'> & {
  index: number;
  raw: string;
  /** Where its bytes lie in the body's rows. */
  start: number;
  end: number;
};

export type UnknownField = { index: number; column: string };

export type TakenRows = {
  /** The accepted rows, each ended by a line feed. */
  ndjson: Uint8Array;
  accepted: number;
  rejected: RefusedRow[];
  /** Fields of accepted rows that the table does not have; at most `errorRowsKept`. */
  unknown: UnknownField[];
};

/** A body with more refused rows than this is refused as a whole. */
export const REJECTED_ROWS_MAX = 10_000;

/** Input handed to the decoder at once: bounds what one call can find wrong. */
const SLICE_BYTES = 256 * 1024;
const RAW_BYTES_MAX = 4096;
const BACKSLASH = 92;

/** The body as NDJSON; an array's elements become lines. Throws PARSE_ERROR when an array is none. */
export function ndjsonOf(body: Uint8Array): Uint8Array {
  const hasMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  const text = hasMark ? body.subarray(3) : body;
  let start = 0;
  while (start < text.length && isSpace(text[start] as number)) start++;
  return text[start] === OPEN_BRACKET ? linesOfArray(text, start) : text;
}

const isSpace = (byte: number): boolean =>
  byte === SPACE || (byte >= 9 && byte <= 13 && byte !== 11 && byte !== 12);

/** The array that starts at `start`, its own brackets and commas replaced by line feeds. */
function linesOfArray(text: Uint8Array, start: number): Uint8Array {
  const bytes = new Uint8Array(text.length - start + 1);
  bytes.set(text.subarray(start));
  bytes[bytes.length - 1] = LF;
  joinLines(bytes);
  bytes[0] = SPACE;
  let at = skipSpace(bytes, 1);
  if (bytes[at] === CLOSE_BRACKET) return onlySpaceBehind(bytes, at);
  for (;;) {
    const end = skipValue(bytes, at, 0);
    if (end < 0) throw brokenArray(failure.message, failure.at + start);
    const next = skipSpace(bytes, end);
    if (bytes[next] === CLOSE_BRACKET) return onlySpaceBehind(bytes, next);
    if (bytes[next] !== COMMA) throw brokenArray('a comma or ] is due', next + start);
    bytes[next] = LF;
    at = skipSpace(bytes, next + 1);
  }
}

function onlySpaceBehind(bytes: Uint8Array, close: number): Uint8Array {
  bytes[close] = LF;
  const rest = skipSpace(bytes, close + 1);
  if (rest !== bytes.length - 1) throw brokenArray('something follows the array', rest);
  return bytes.subarray(0, close + 1);
}

/** Line feeds outside of strings become spaces; the last byte, the sentinel, stays. */
function joinLines(bytes: Uint8Array): void {
  let quoted = false;
  for (let at = 0; at < bytes.length - 1; at++) {
    const byte = bytes[at];
    if (byte === DOUBLE_QUOTE) quoted = !quoted;
    else if (quoted && byte === BACKSLASH) at++;
    else if (!quoted && byte === LF) bytes[at] = SPACE;
  }
}

const brokenArray = (message: string, at: number): EngineError =>
  new EngineError('PARSE_ERROR', `the array of rows is broken at byte ${at + 1}: ${message}`, {
    detail: 'Nothing was stored.',
    hint: 'Send one row a line (NDJSON), and a broken row costs only itself.',
  });

/** Decodes every row. Throws INVALID_REQUEST when more than REJECTED_ROWS_MAX are refused. */
export function takeRows(decoder: RowDecoder, ndjson: Uint8Array): TakenRows {
  const kept = new Uint8Array(ndjson.length + 1);
  let size = 0;
  let accepted = 0;
  let seen = 0;
  const rejected: RefusedRow[] = [];
  const unknown: UnknownField[] = [];
  for (let position = 0, sliceBytes = SLICE_BYTES; position < ndjson.length;) {
    const to = Math.min(position + sliceBytes, ndjson.length);
    const result = decoder.decode(ndjson, position, to, LIMITS.batchRowsMax, to === ndjson.length);
    const { lineRanges } = result;
    for (let at = 0; at < lineRanges.length; at += 2) {
      const line = ndjson.subarray(lineRanges[at], lineRanges[at + 1]);
      kept.set(line, size);
      kept[size + line.length] = LF;
      size += line.length + 1;
    }
    accepted += lineRanges.length / 2;
    for (const error of result.errors) rejected.push(refused(error, seen, ndjson));
    if (rejected.length > REJECTED_ROWS_MAX) throw tooManyRefused(rejected);
    for (const { rowIndex, column } of result.unknownFields) {
      if (unknown.length < LIMITS.errorRowsKept) unknown.push({ index: seen + rowIndex, column });
    }
    seen += result.rowsSeen;
    // A row longer than the slice needs a longer one.
    sliceBytes = result.consumed === position ? sliceBytes * 4 : SLICE_BYTES;
    position = result.consumed;
  }
  return { ndjson: kept.subarray(0, size), accepted, rejected, unknown };
}

function refused(
  { rowIndex, start, end, code, column, expected, message }: DecodeError,
  seen: number,
  ndjson: Uint8Array,
): RefusedRow {
  const raw = new TextDecoder().decode(
    ndjson.subarray(start, Math.min(end, start + RAW_BYTES_MAX)),
  );
  return { index: seen + rowIndex, code, column, expected, message, raw, start, end };
}

const tooManyRefused = (rejected: readonly RefusedRow[]): EngineError =>
  new EngineError(
    'INVALID_REQUEST',
    `more than ${REJECTED_ROWS_MAX} rows of the request are not rows of the table`,
    {
      detail: `The first: row ${rejected[0]?.index}: ${rejected[0]?.message}. Nothing was stored.`,
    },
  );
