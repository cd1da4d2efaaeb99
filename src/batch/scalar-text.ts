/**
 * One value of any scalar type as the text that SQL shows: what CAST to TEXT gives, what JSON holds in
 * quotes, what a person reads. Postgres' spelling, but for moments, which are ISO 8601 with a `T`.
 */
import { unreachable } from '../base/assert.ts';
import { hexText } from './bytes-text.ts';
import { bitAt } from './column.ts';
import type { Column } from './column.ts';
import { writeDecimal } from './decimal-text.ts';
import { floatText } from './float-text.ts';
import { writeInt32, writeInt64, writeUint64 } from './int-text.ts';
import { intervalAt, intervalText } from './interval.ts';
import { writeDate, writeTime, writeTimestamp, writeTimestampNs } from './timestamp-text.ts';

/** The longest text of any value but text, bytes and JSON: an interval of many parts. */
export const SCALAR_TEXT_BYTES_MAX = 128;

function writeAscii(bytes: Uint8Array, at: number, text: string): number {
  for (let index = 0; index < text.length; index++) bytes[at + index] = text.charCodeAt(index);
  return at + text.length;
}

/** Writes value `row`, which must be present and no text, list or struct; the end position. */
export function writeScalar(bytes: Uint8Array, at: number, column: Column, row: number): number {
  switch (column.tag) {
    case 'boolean':
      return writeAscii(bytes, at, bitAt(column.bits, row) ? 'true' : 'false');
    case 'int32': {
      const value = column.values[row] as number;
      return column.type.tag === 'date'
        ? writeDate(bytes, at, value)
        : writeInt32(bytes, at, value);
    }
    case 'int64': {
      const low = column.words[2 * row] as number;
      const high = column.words[2 * row + 1] as number;
      if (column.type.tag === 'uint64') return writeUint64(bytes, at, low, high);
      if (column.type.tag === 'time') return writeTime(bytes, at, low, high);
      if (column.type.tag === 'timestamp_ns') return writeTimestampNs(bytes, at, low, high);
      return writeInt64(bytes, at, low, high);
    }
    case 'timestamp': {
      const low = column.words[2 * row] as number;
      const end = writeTimestamp(bytes, at, low, column.words[2 * row + 1] as number);
      if (column.type.tag === 'timestamp') return end;
      bytes[end] = 90;
      return end + 1;
    }
    case 'float64': {
      const single = column.type.tag === 'float32';
      return writeAscii(bytes, at, floatText(column.values[row] as number, single));
    }
    case 'decimal':
      return writeDecimal(bytes, at, column.words, 4 * row, column.type.scale);
    case 'interval':
      return writeAscii(bytes, at, intervalText(intervalAt(column.words, 4 * row)));
    case 'text':
    case 'list':
    case 'struct':
      throw new TypeError(`a ${column.tag} is no scalar of bounded length`);
    default:
      return unreachable(column);
  }
}

const scratch = new Uint8Array(SCALAR_TEXT_BYTES_MAX);
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

/** The text of value `row`, which must be present and no list or struct. */
export function scalarText(column: Column, row: number): string {
  if (column.tag === 'text') {
    const from = column.offsets[row] as number;
    const to = column.offsets[row + 1] as number;
    return column.type.tag === 'bytea'
      ? hexText(column.bytes, from, to)
      : decoder.decode(column.bytes.subarray(from, to));
  }
  return decoder.decode(scratch.subarray(0, writeScalar(scratch, 0, column, row)));
}
