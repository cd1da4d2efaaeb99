/**
 * Values of columns appended to a page in PLAIN encoding: little-endian numbers, text behind its length, booleans as bytes
 * (they become bits when the page is closed), decimals of many digits with the highest byte first.
 *
 * One loop for each kind; with `rows` null the values stand together and whole buffers are copied.
 */
import { unreachable } from '../../base/assert.ts';
import { bitAt } from '../../batch/column.ts';
import type { BooleanColumn, TextColumn } from '../../batch/column.ts';
import { kernel } from '../../kernels/kernels.ts';
import type { ByteWriter } from '../byte-writer.ts';
import type { Leaf } from './parquet-schema.ts';
import type { Shredded } from './shred.ts';

export function putPlain(writer: ByteWriter, leaf: Leaf, values: Shredded): void {
  const { column, rows, present, part } = values;
  if (present === 0) return;
  switch (column.tag) {
    case 'boolean':
      putBooleans(writer, column, rows, present);
      break;
    case 'int32':
      putWords(writer, column.values, 1, 0, 1, rows, present);
      break;
    case 'int64':
    case 'timestamp':
      // INT UNSIGNED has 64 bits in a column and 32 in a file.
      putWords(writer, column.words, 2, 0, leaf.physical === 'int32' ? 1 : 2, rows, present);
      break;
    case 'float64':
      putFloats(writer, column.values, leaf.physical === 'float', rows, present);
      break;
    case 'decimal':
      if (leaf.physical === 'fixed') putFixed(writer, column.words, leaf.width, rows, present);
      else putWords(writer, column.words, 4, 0, leaf.physical === 'int32' ? 1 : 2, rows, present);
      break;
    case 'interval': {
      const from = part === 'months' ? 0 : part === 'days' ? 1 : 2;
      putWords(writer, column.words, 4, from, from === 2 ? 2 : 1, rows, present);
      break;
    }
    case 'text':
      if (rows === null) putWholeTexts(writer, column, present);
      else putChosenTexts(writer, column, rows, present);
      break;
    case 'list':
    case 'struct':
      break;
    default:
      unreachable(column);
  }
}

/** The bytes written so far as words; their length is a multiple of four. */
const wordsOf = (writer: ByteWriter): Int32Array =>
  new Int32Array(writer.bytes.buffer, 0, writer.bytes.length >> 2);

/** Words `[from, from + width)` of each value, of `stride` words each. */
function putWords(
  writer: ByteWriter,
  words: Int32Array,
  stride: number,
  from: number,
  width: number,
  rows: Int32Array | null,
  present: number,
): void {
  writer.reserve(present * width * 4);
  const target = wordsOf(writer);
  let to = writer.length >> 2;
  writer.length += present * width * 4;
  if (rows === null && stride === width) {
    target.set(words.subarray(0, present * width), to);
    return;
  }
  for (let index = 0; index < present; index++) {
    const at = (rows === null ? index : (rows[index] as number)) * stride + from;
    target[to++] = words[at] as number;
    if (width === 2) target[to++] = words[at + 1] as number;
  }
}

function putFloats(
  writer: ByteWriter,
  values: Float64Array,
  single: boolean,
  rows: Int32Array | null,
  present: number,
): void {
  writer.reserve(present * (single ? 4 : 8));
  const { buffer, length } = writer.bytes;
  const target = single
    ? new Float32Array(buffer, 0, length >> 2)
    : new Float64Array(buffer, 0, length >> 3);
  const to = writer.length / (single ? 4 : 8);
  for (let index = 0; index < present; index++)
    target[to + index] = values[rows === null ? index : (rows[index] as number)] as number;
  writer.length += present * (single ? 4 : 8);
}

function putBooleans(
  writer: ByteWriter,
  { bits }: BooleanColumn,
  rows: Int32Array | null,
  present: number,
): void {
  writer.reserve(present);
  for (let index = 0; index < present; index++)
    writer.bytes[writer.length++] = Number(
      bitAt(bits, rows === null ? index : (rows[index] as number)),
    );
}

/** The lowest `width` bytes of four words, the highest first. */
function putFixed(
  writer: ByteWriter,
  words: Int32Array,
  width: number,
  rows: Int32Array | null,
  present: number,
): void {
  writer.reserve(present * width);
  const { bytes } = writer;
  let to = writer.length;
  for (let index = 0; index < present; index++) {
    const at = (rows === null ? index : (rows[index] as number)) * 4;
    for (let byte = width - 1; byte >= 0; byte--)
      bytes[to++] = ((words[at + (byte >> 2)] as number) >>> ((byte & 3) << 3)) & 255;
  }
  writer.length = to;
}

type Exports = {
  /** Where the texts end that begin at `target`. */
  putTexts(offsets: number, source: number, rows: number, target: number): number;
};

const KERNEL_ROWS_MIN = 64;

function putWholeTexts(writer: ByteWriter, column: TextColumn, present: number): void {
  const found = present < KERNEL_ROWS_MIN ? null : kernel<Exports>('parquet');
  if (found === null) putTexts(writer, column, present);
  else {
    const { memory, exports } = found;
    const { offsets, bytes } = column;
    const start = offsets[0] as number;
    const size = (offsets[present] as number) - start;
    found.owner = null;
    memory.reset();
    const places = memory.reserve((present + 1) * 4);
    const source = memory.reserve(size + 32);
    const target = memory.reserve(size + present * 4 + 32);
    memory.wordsAt(places, present + 1).set(offsets.subarray(0, present + 1));
    memory.bytesAt(source, size).set(bytes.subarray(start, start + size));
    const length = exports.putTexts(places, source, present, target) - target;
    writer.reserve(length);
    writer.bytes.set(memory.bytesAt(target, length), writer.length);
    writer.length += length;
  }
}

/** From here on a call that copies is quicker than a loop. */
const COPY_MIN = 96;

function putTexts(writer: ByteWriter, column: TextColumn, present: number): void {
  const { offsets, bytes: source } = column;
  let from = offsets[0] as number;
  writer.reserve((offsets[present] as number) - from + present * 4);
  const { bytes } = writer;
  let to = writer.length;
  for (let row = 1; row <= present; row++) {
    const end = offsets[row] as number;
    const size = end - from;
    bytes[to] = size & 255;
    bytes[to + 1] = (size >>> 8) & 255;
    bytes[to + 2] = (size >>> 16) & 255;
    bytes[to + 3] = size >>> 24;
    to += 4;
    if (size < COPY_MIN) while (from < end) bytes[to++] = source[from++] as number;
    else {
      bytes.set(source.subarray(from, end), to);
      to += size;
      from = end;
    }
  }
  writer.length = to;
}

function putChosenTexts(
  writer: ByteWriter,
  column: TextColumn,
  rows: Int32Array,
  present: number,
): void {
  const { offsets, bytes: source } = column;
  let total = present * 4;
  for (let index = 0; index < present; index++) {
    const row = rows[index] as number;
    total += (offsets[row + 1] as number) - (offsets[row] as number);
  }
  writer.reserve(total);
  const { bytes } = writer;
  let to = writer.length;
  for (let index = 0; index < present; index++) {
    const row = rows[index] as number;
    const end = offsets[row + 1] as number;
    let from = offsets[row] as number;
    const size = end - from;
    bytes[to] = size & 255;
    bytes[to + 1] = (size >>> 8) & 255;
    bytes[to + 2] = (size >>> 16) & 255;
    bytes[to + 3] = size >>> 24;
    to += 4;
    if (size < COPY_MIN) while (from < end) bytes[to++] = source[from++] as number;
    else {
      bytes.set(source.subarray(from, end), to);
      to += size;
    }
  }
  writer.length = to;
}
