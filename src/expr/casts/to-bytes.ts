/**
 * Casts of text to BYTEA: `\x0aff` is hex; anything else is its own UTF-8 bytes, in which a backslash
 * stands for itself doubled and for a byte with three octal digits, as Postgres reads it.
 */
import { assert } from '../../base/assert.ts';
import { bytesOfHex } from '../../batch/bytes-text.ts';
import type { Column, TextColumn } from '../../batch/column.ts';
import { BYTEA } from '../../batch/types.ts';
import type { Casting } from '../cast.ts';
import { TextSink, textAt } from '../text-sink.ts';
import { quoted } from './trimmed.ts';

const BACKSLASH = 92;

export function toBytes(column: Column, { outcome, fail }: Casting): TextColumn {
  assert(column.tag === 'text', 'only text becomes bytes');
  const sink = new TextSink(column.length, column.bytes.length);
  for (let row = 0; row < column.length; row++) {
    if (outcome.has(row)) {
      const from = column.offsets[row] as number;
      const to = column.offsets[row + 1] as number;
      if (!appendBytes(sink, column, row, from, to))
        fail(row, 'INVALID_CAST', () => `${quoted(column, row)} is no BYTEA; write it as \\x0aff`);
    }
    sink.endRow();
  }
  return { ...sink.finish(outcome.validity), type: BYTEA };
}

function appendBytes(
  sink: TextSink,
  column: TextColumn,
  row: number,
  from: number,
  to: number,
): boolean {
  const { bytes } = column;
  if (bytes[from] === BACKSLASH && bytes[from + 1] === 120) {
    const read = bytesOfHex(textAt(column, row));
    if (read !== null) sink.append(read, 0, read.length);
    return read !== null;
  }
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    if (byte !== BACKSLASH) {
      sink.appendByte(byte);
    } else if (at + 1 < to && bytes[at + 1] === BACKSLASH) {
      sink.appendByte(BACKSLASH);
      at++;
    } else {
      const value = at + 3 < to ? octal(bytes, at + 1) : -1;
      if (value < 0) return false;
      sink.appendByte(value);
      at += 3;
    }
  }
  return true;
}

/** Three octal digits below 256, or −1. */
function octal(bytes: Uint8Array, at: number): number {
  let value = 0;
  for (let index = at; index < at + 3; index++) {
    const digit = (bytes[index] as number) - 48;
    if (digit < 0 || digit > 7) return -1;
    value = value * 8 + digit;
  }
  return value > 255 ? -1 : value;
}
