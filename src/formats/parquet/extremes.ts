/**
 * The smallest and largest of the values of a page in PLAIN encoding, by the order that Parquet gives their type.
 *
 * Values are found by number, or by where they begin for those of different lengths. NaN is neither the smallest nor the
 * largest; of zeros the smallest counts as -0 and the largest as 0, whichever is there.
 * Source: the comments of `ColumnOrder` in parquet.thrift.
 */
import { kernel } from '../../kernels/kernels.ts';
import type { ByteWriter } from '../byte-writer.ts';
import type { Leaf } from './parquet-schema.ts';

/** Longer ones are left out of the statistics: they would be most of a footer. */
const TEXT_MAX = 64;

export type Extremes = { smallest: Uint8Array; largest: Uint8Array };

/** Where the two values are; -1: there are none. */
const found = { smallest: -1, largest: -1 };

function note(smallest: number, largest: number): void {
  found.smallest = smallest;
  found.largest = largest;
}

/** @param flip  the sign bit where numbers have no sign, else 0 */
function amongInt32(words: Int32Array, count: number, flip: number): void {
  let smallest = 0;
  let largest = 0;
  for (let at = 1; at < count; at++) {
    const value = (words[at] as number) ^ flip;
    if (value < ((words[smallest] as number) ^ flip)) smallest = at;
    else if (value > ((words[largest] as number) ^ flip)) largest = at;
  }
  note(smallest, largest);
}

function amongInt64(words: Int32Array, count: number, flip: number): void {
  let smallest = 0;
  let largest = 0;
  let smallHigh = (words[1] as number) ^ flip;
  let smallLow = (words[0] as number) >>> 0;
  let largeHigh = smallHigh;
  let largeLow = smallLow;
  for (let at = 1; at < count; at++) {
    const high = (words[at * 2 + 1] as number) ^ flip;
    const low = (words[at * 2] as number) >>> 0;
    if (high < smallHigh || (high === smallHigh && low < smallLow)) {
      smallest = at;
      smallHigh = high;
      smallLow = low;
    } else if (high > largeHigh || (high === largeHigh && low > largeLow)) {
      largest = at;
      largeHigh = high;
      largeLow = low;
    }
  }
  note(smallest, largest);
}

function amongFloats(values: Float32Array | Float64Array, count: number): void {
  let smallest = -1;
  let largest = -1;
  for (let at = 0; at < count; at++) {
    const value = values[at] as number;
    if (Number.isNaN(value)) continue;
    if (smallest < 0 || value < (values[smallest] as number)) smallest = at;
    if (largest < 0 || value > (values[largest] as number)) largest = at;
  }
  note(smallest, largest);
}

/** Numbers of `width` bytes with the highest first. */
function amongFixed(bytes: Uint8Array, count: number, width: number): void {
  let smallest = 0;
  let largest = 0;
  for (let at = 1; at < count; at++) {
    if (compareFixed(bytes, at * width, smallest * width, width) < 0) smallest = at;
    else if (compareFixed(bytes, at * width, largest * width, width) > 0) largest = at;
  }
  note(smallest, largest);
}

function compareFixed(bytes: Uint8Array, at: number, other: number, width: number): number {
  const sign = ((bytes[at] as number) ^ 128) - ((bytes[other] as number) ^ 128);
  if (sign !== 0) return sign;
  for (let index = 1; index < width; index++) {
    const difference = (bytes[at + index] as number) - (bytes[other + index] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

export const textSize = (bytes: Uint8Array, at: number): number =>
  (bytes[at] as number) |
  ((bytes[at + 1] as number) << 8) |
  ((bytes[at + 2] as number) << 16) |
  ((bytes[at + 3] as number) << 24);

/** Texts behind their lengths; positions are those of the lengths. */
function amongTexts(bytes: Uint8Array, count: number): void {
  let smallest = 0;
  let largest = 0;
  let at = 4 + textSize(bytes, 0);
  for (let index = 1; index < count; index++) {
    if (compareTexts(bytes, at, smallest) < 0) smallest = at;
    else if (compareTexts(bytes, at, largest) > 0) largest = at;
    at += 4 + textSize(bytes, at);
  }
  note(smallest, largest);
}

type Exports = {
  /** Where the smallest of the texts begins; the largest is answered by the other. */
  textExtremes(texts: number, count: number): number;
  largestText(): number;
};

const KERNEL_TEXTS_MIN = 64;

function amongPageTexts(page: ByteWriter, count: number): void {
  const found = count < KERNEL_TEXTS_MIN ? null : kernel<Exports>('parquet');
  if (found === null) amongTexts(page.bytes, count);
  else {
    const { memory, exports } = found;
    found.owner = null;
    memory.reset();
    const texts = memory.reserve(page.length + 32);
    memory.bytesAt(texts, page.length).set(page.finish());
    const smallest = exports.textExtremes(texts, count);
    note(smallest - texts, exports.largestText() - texts);
  }
}

function compareTexts(bytes: Uint8Array, at: number, other: number): number {
  const size = textSize(bytes, at);
  const otherSize = textSize(bytes, other);
  const shared = Math.min(size, otherSize);
  for (let index = 4; index < shared + 4; index++) {
    const difference = (bytes[at + index] as number) - (bytes[other + index] as number);
    if (difference !== 0) return difference;
  }
  return size - otherSize;
}

function amongBooleans(bytes: Uint8Array, count: number): void {
  note(Math.max(0, bytes.subarray(0, count).indexOf(0)), 0);
  const largest = bytes.subarray(0, count).indexOf(1);
  if (largest > 0) found.largest = largest;
}

const isUnsigned = (leaf: Leaf): boolean =>
  leaf.type.tag === 'uint32' || leaf.type.tag === 'uint64';

/** Bytes of a value; 0: they differ. */
export function plainWidth({ physical, width }: Leaf): number {
  switch (physical) {
    case 'boolean':
      return 1;
    case 'int32':
    case 'float':
      return 4;
    case 'int64':
    case 'double':
      return 8;
    case 'fixed':
      return width;
    case 'bytes':
      return 0;
  }
}

/** The extremes of `count` values, in PLAIN encoding; null when they are none. */
export function extremesOf(leaf: Leaf, page: ByteWriter, count: number): Extremes | null {
  if (count === 0) return null;
  const { bytes } = page;
  const { buffer, length } = bytes;
  const flip = isUnsigned(leaf) ? 0x80000000 : 0;
  if (leaf.physical === 'int32') amongInt32(new Int32Array(buffer, 0, length >> 2), count, flip);
  else if (leaf.physical === 'int64')
    amongInt64(new Int32Array(buffer, 0, length >> 2), count, flip);
  else if (leaf.physical === 'float') amongFloats(new Float32Array(buffer, 0, length >> 2), count);
  else if (leaf.physical === 'double') amongFloats(new Float64Array(buffer, 0, length >> 3), count);
  else if (leaf.physical === 'fixed') amongFixed(bytes, count, leaf.width);
  else if (leaf.physical === 'bytes') amongPageTexts(page, count);
  else amongBooleans(bytes, count);
  if (found.smallest < 0) return null;
  const width = plainWidth(leaf);
  const at = (place: number): Uint8Array =>
    width > 0
      ? bytes.slice(place * width, (place + 1) * width)
      : bytes.slice(place, place + 4 + textSize(bytes, place));
  return { smallest: at(found.smallest), largest: at(found.largest) };
}

/** The bytes of the two values as statistics have them; null where they are too long to be there. */
export function statisticsOf(
  leaf: Leaf,
  { smallest, largest }: Extremes,
): { smallest: Uint8Array | null; largest: Uint8Array | null } {
  if (leaf.physical === 'bytes') {
    const cut = (value: Uint8Array): Uint8Array | null =>
      value.length > TEXT_MAX + 4 ? null : value.subarray(4);
    return { smallest: cut(smallest), largest: cut(largest) };
  }
  if (leaf.physical !== 'float' && leaf.physical !== 'double') return { smallest, largest };
  const sign = smallest.length - 1;
  const zero = (value: Uint8Array): boolean =>
    value.every((byte, index) => byte === 0 || (index === sign && byte === 128));
  const signed = (value: Uint8Array, byte: number): Uint8Array => {
    const copy = value.slice();
    copy[sign] = byte;
    return copy;
  };
  return {
    smallest: zero(smallest) ? signed(smallest, 128) : smallest,
    largest: zero(largest) ? signed(largest, 0) : largest,
  };
}
