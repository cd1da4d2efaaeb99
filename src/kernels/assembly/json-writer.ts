/**
 * Entry file of the kernel `json-writer`: columns to rows of NDJSON.
 *
 * Columns of the types below are written here; those of any other type the caller has rendered before, and they are copied.
 * The caller sees to room for the longest form of every value, and for a vector behind it.
 */
import { copyText, writeText } from './write-text.ts';
import { writeDecimal, writeInt64, writeUnsigned } from './write-number.ts';
import { writeTimestamp } from './write-timestamp.ts';

/** Where memory is free from: below lie the constants of this file. */
export function heapBase(): usize {
  return __heap_base;
}

// A column, as src/formats/json-writer.ts describes it.
const KIND: usize = 0;
/** `{"name":` or `,"name":`. */
const KEY: usize = 4;
const KEY_LENGTH: usize = 8;
const DATA: usize = 12;
/** One bit a row, or 0: no NULL. */
const VALIDITY: usize = 16;
/** Of text and rendered values: where the offset 0 would lie. */
const BYTES: usize = 20;
const SCALE: usize = 24;
/** 1: decimals stand in quotes. */
const QUOTED: usize = 28;
const COLUMN_SIZE: u32 = 32;

// @ts-ignore: decorator
@inline
function bitAt(bits: usize, row: u32): bool {
  return ((load<u8>(bits + (row >> 3)) >> (row & 7)) & 1) != 0;
}

function writeBoolean(to: usize, value: bool): usize {
  if (value) {
    store<u32>(to, 0x65757274);
    return to + 4;
  }
  store<u64>(to, 0x65736c6166);
  return to + 5;
}

/** Writes value `row` of the column; the end, or 0 for a year of more than four digits. */
// @ts-ignore: decorator
@inline
function writeValue(column: usize, row: u32, to: usize): usize {
  const data = load<usize>(column, DATA);
  switch (load<u32>(column, KIND)) {
    case 0: {
      const at = data + (row << 2);
      const start = load<u32>(at);
      return copyText(load<usize>(column, BYTES) + start, load<u32>(at, 4) - start, to);
    }
    case 1: {
      const value = load<i32>(data + (row << 2));
      if (value >= 0) return writeUnsigned(to, value);
      store<u8>(to, 45);
      return writeUnsigned(to + 1, 0 - <u32>value);
    }
    case 2:
      return writeInt64(to, load<i64>(data + (row << 3)));
    case 3:
      return writeTimestamp(to, load<i64>(data + (row << 3)));
    case 4: {
      let end = to;
      const quoted = load<u32>(column, QUOTED);
      if (quoted != 0) store<u8>(end++, 34);
      end = writeDecimal(end, data + (row << 4), load<u32>(column, SCALE));
      if (quoted != 0) store<u8>(end++, 34);
      return end;
    }
    case 5: {
      const at = data + (row << 2);
      const start = load<u32>(at);
      return writeText(load<usize>(column, BYTES) + start, load<u32>(at, 4) - start, to);
    }
    default:
      return writeBoolean(to, bitAt(data, row));
  }
}

/** Writes `rows` rows to `target`, each with its LF; the end, or 0 when a value cannot be written here. */
export function write(columns: usize, count: u32, rows: u32, target: usize): usize {
  let to = target;
  const end = columns + count * COLUMN_SIZE;
  for (let row: u32 = 0; row < rows; row++) {
    for (let column = columns; column < end; column += COLUMN_SIZE) {
      to = copyText(load<usize>(column, KEY), load<u32>(column, KEY_LENGTH), to);
      const validity = load<usize>(column, VALIDITY);
      if (validity != 0 && !bitAt(validity, row)) {
        store<u32>(to, 0x6c6c756e);
        to += 4;
        continue;
      }
      to = writeValue(column, row, to);
      if (to == 0) return 0;
    }
    store<u16>(to, 0x0a7d);
    to += 2;
  }
  return to;
}
