/** Bytes of NDJSON chunks: joining them and finding whole rows in them. */
import { assert } from '../../base/assert.ts';

export const LINE_FEED = 10;

/** A blob, whichever kind of bytes the storage gives. */
export function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  assert(value instanceof ArrayBuffer, 'a blob');
  return new Uint8Array(value);
}

/** One buffer with all of them; the only one itself. */
export function joined(bodies: readonly Uint8Array[]): Uint8Array {
  if (bodies.length === 1) return bodies[0] as Uint8Array;
  const bytes = new Uint8Array(bodies.reduce((sum, body) => sum + body.length, 0));
  let at = 0;
  for (const body of bodies) {
    bytes.set(body, at);
    at += body.length;
  }
  return bytes;
}

/** Where line `lines` after position `from` begins. */
export function lineStart(data: Uint8Array, from: number, lines: number): number {
  let at = from;
  for (let line = 0; line < lines; line++) at = data.indexOf(LINE_FEED, at) + 1;
  return at;
}

/** The end of the whole rows that fit into `room` bytes, at least one when `atLeastOne`, and their number. */
export function wholeRows(
  data: Uint8Array,
  start: number,
  room: number,
  atLeastOne: boolean,
): { end: number; rows: number } {
  let end = start;
  let rows = 0;
  while (end < data.length) {
    const next = data.indexOf(LINE_FEED, end) + 1;
    if (next - start > room && !(atLeastOne && rows === 0)) break;
    end = next;
    rows++;
  }
  return { end, rows };
}
