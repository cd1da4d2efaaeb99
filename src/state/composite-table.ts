/**
 * The table of several keys, or of one without a table of its own: a key becomes a fixed number of 32-bit words.
 *
 * BOOLEAN, INT, BIGINT, TIMESTAMP, DOUBLE and DECIMAL are their own words, a struct those of its fields; text and everything
 * else is numbered by a table of its column alone, and the number is the word. The last words say which keys, and which
 * fields of them, are NULL: their words are 0.
 * A DOUBLE is kept with -0 as 0 and every NaN as one, so that equal keys are equal words.
 */
import { assert } from '../base/assert.ts';
import { mix32 } from '../base/hash.ts';
import { bitAt, bitmapBytes, setBit, type Column } from '../batch/column.ts';
import { gatherWords, runStart } from '../batch/index-run.ts';
import {
  layoutOf,
  type DecimalType,
  type Layout,
  type SqlType,
  type StructType,
} from '../batch/types.ts';
import { grown, wider } from './growth.ts';
import { isCrowded, SLOTS_MIN, type KeyTable } from './key-table.ts';
import { StoredTable } from './stored-table.ts';
import { TextTable } from './text-table.ts';

const FACTOR = 0x9e3779b1;
/** Slots, two words each, that are more than what lies near the processor. */
const FAR_SLOTS = 1 << 16;
/** Rows whose slots and keys are read ahead. */
const ROWS_AHEAD = 1024;

type Part = {
  type: SqlType;
  /** Place of the first word within a key, and number of words. */
  at: number;
  width: number;
  /** Which of the last bits says that it is NULL. */
  bit: number;
  /** Numbers the values of types that are not their own words. */
  table: KeyTable | null;
  /** Of a struct, its fields. */
  fields: readonly Part[];
};

/** Words of the layouts that are their own words. */
const WIDTHS: Readonly<Partial<Record<Layout, number>>> = {
  boolean: 1,
  int32: 1,
  int64: 2,
  timestamp: 2,
  float64: 2,
  decimal: 4,
};

export class CompositeTable implements KeyTable {
  readonly #parts: readonly Part[];
  /** Words of a key, and of its values without the words of NULLs. */
  readonly #width: number;
  readonly #valueWidth: number;
  /** Hash and number + 1 (0 is free) of each slot. */
  #slots = new Int32Array(2 * SLOTS_MIN);
  #keys = new Int32Array(0);
  #words = new Int32Array(0);
  #hashes = new Int32Array(0);
  #ids = new Int32Array(0);
  #fetched = 0;
  /** A key with NULL has been looked up. */
  #hasNulls = false;
  count = 0;

  constructor(types: readonly SqlType[]) {
    const place = { at: 0, bits: 0 };
    this.#parts = types.map((type) => layOut(type, place));
    this.#valueWidth = place.at;
    this.#width = place.at + ((place.bits + 31) >> 5);
  }

  lookupOrInsert(columns: readonly Column[], from: number, to: number, out: Int32Array): void {
    const width = this.#width;
    const rows = to - from;
    if (this.#words.length < rows * width) this.#words = new Int32Array(rows * width);
    const words = this.#words;
    for (let word = this.#valueWidth; word < width; word++)
      for (let row = 0; row < rows; row++) words[row * width + word] = 0;
    this.#parts.forEach((part, index) => this.#encode(part, columns[index] as Column, from, to));
    if (this.#hashes.length < rows) this.#hashes = new Int32Array(rows);
    hashRowsOf(words, rows, width, this.#hashes);
    const step = this.#slots.length < FAR_SLOTS ? rows : ROWS_AHEAD;
    for (let first = 0; first < rows; first += step) {
      const end = Math.min(first + step, rows);
      if (step < rows) this.#fetch(first, end, out);
      if (width === 4) this.#find4(words, first, end, out);
      else this.#find(words, first, end, out);
    }
  }

  /**
   * Reads the first slot of each row and the key that it names, all of them before any is compared: which way a comparison goes
   * is a guess that a processor makes before memory answers, and each wrong one ends what it had begun for the rows behind.
   */
  #fetch(from: number, to: number, out: Int32Array): void {
    const hashes = this.#hashes;
    const slots = this.#slots;
    const mask = slots.length - 2;
    const keys = this.#keys;
    const width = this.#width;
    for (let row = from; row < to; row++)
      out[row] = slots[(((hashes[row] as number) << 1) & mask) + 1] as number;
    let read = 0;
    for (let row = from; row < to; row++)
      read ^= keys[Math.max((out[row] as number) - 1, 0) * width] as number;
    this.#fetched = read;
  }

  /** What was read ahead; so that it is. */
  get fetched(): number {
    return this.#fetched;
  }

  /** Hashes were computed before: the less stands between two lookups, the more of them wait for memory together. */
  #find(words: Int32Array, from: number, to: number, out: Int32Array): void {
    const width = this.#width;
    const hashes = this.#hashes;
    let slots = this.#slots;
    let mask = slots.length - 2;
    let keys = this.#keys;
    for (let row = from; row < to; row++) {
      const base = row * width;
      const hash = hashes[row] as number;
      let slot = (hash << 1) & mask;
      let number = (slots[slot + 1] as number) - 1;
      while (
        number >= 0 &&
        (slots[slot] !== hash || !sameWords(keys, number * width, words, base, width))
      ) {
        slot = (slot + 2) & mask;
        number = (slots[slot + 1] as number) - 1;
      }
      if (number < 0) {
        number = this.#insert(base, hash, slot);
        slots = this.#slots;
        mask = slots.length - 2;
        keys = this.#keys;
      }
      out[row] = number;
    }
  }

  /** The same for keys of four words, as most are: INT or text with BIGINT or TIMESTAMP. */
  #find4(words: Int32Array, from: number, to: number, out: Int32Array): void {
    const hashes = this.#hashes;
    let slots = this.#slots;
    let mask = slots.length - 2;
    let keys = this.#keys;
    for (let row = from, base = 4 * from; row < to; row++, base += 4) {
      const hash = hashes[row] as number;
      let slot = (hash << 1) & mask;
      let number = (slots[slot + 1] as number) - 1;
      while (
        number >= 0 &&
        (slots[slot] !== hash ||
          keys[number * 4] !== words[base] ||
          keys[number * 4 + 1] !== words[base + 1] ||
          keys[number * 4 + 2] !== words[base + 2] ||
          keys[number * 4 + 3] !== words[base + 3])
      ) {
        slot = (slot + 2) & mask;
        number = (slots[slot + 1] as number) - 1;
      }
      if (number < 0) {
        number = this.#insert(base, hash, slot);
        slots = this.#slots;
        mask = slots.length - 2;
        keys = this.#keys;
      }
      out[row] = number;
    }
  }

  #insert(base: number, hash: number, slot: number): number {
    const width = this.#width;
    const number = this.count++;
    if ((number + 1) * width > this.#keys.length)
      this.#keys = wider(Int32Array, this.#keys, grown(number, number + 1) * width);
    for (let word = 0; word < width; word++)
      this.#keys[number * width + word] = this.#words[base + word] as number;
    this.#slots[slot] = hash;
    this.#slots[slot + 1] = number + 1;
    if (isCrowded(this.count, this.#slots.length >> 1)) this.#rehash(this.#slots.length);
    return number;
  }

  reserve(count: number): void {
    if (count * this.#width > this.#keys.length)
      this.#keys = wider(Int32Array, this.#keys, count * this.#width);
    let slots = this.#slots.length >> 1;
    while (isCrowded(count, slots)) slots *= 2;
    if (slots * 2 > this.#slots.length) this.#rehash(slots);
  }

  #rehash(count: number): void {
    const old = this.#slots;
    const slots = new Int32Array(count * 2);
    const mask = slots.length - 2;
    for (let from = 0; from < old.length; from += 2) {
      if (old[from + 1] === 0) continue;
      let slot = ((old[from] as number) << 1) & mask;
      while (slots[slot + 1] !== 0) slot = (slot + 2) & mask;
      slots[slot] = old[from] as number;
      slots[slot + 1] = old[from + 1] as number;
    }
    this.#slots = slots;
  }

  /** Writes the words of one key column, or of a field of one. */
  #encode(part: Part, column: Column, from: number, to: number): void {
    const words = this.#words;
    const width = this.#width;
    const { at, table, fields } = part;
    if (table !== null) {
      if (this.#ids.length < to - from) this.#ids = new Int32Array(to - from);
      table.lookupOrInsert([column], from, to, this.#ids);
      for (let row = 0; row < to - from; row++) words[row * width + at] = this.#ids[row] as number;
    } else if (column.tag === 'struct')
      fields.forEach((field, index) =>
        this.#encode(field, column.children[index] as Column, from, to),
      );
    else encodeFixed(column, from, to, words, at, width);
    const { validity } = column;
    if (validity === null) return;
    for (let row = from; row < to; row++) {
      if (bitAt(validity, row)) continue;
      const base = (row - from) * width;
      this.#hasNulls = true;
      for (let word = at; word < at + part.width; word++) words[base + word] = 0;
      for (const field of fields) this.#mark(base, field, false);
      this.#mark(base, part, true);
    }
  }

  /** Says whether a value is NULL; where it is not said to be, none of its fields is. */
  #mark(base: number, { bit, fields }: Part, isNull: boolean): void {
    const word = base + this.#valueWidth + (bit >> 5);
    const one = 1 << (bit & 31);
    const before = this.#words[word] as number;
    this.#words[word] = isNull ? before | one : before & ~one;
    if (!isNull) for (const field of fields) this.#mark(base, field, false);
  }

  keyColumns(numbers: Int32Array): Column[] {
    const width = this.#width;
    const run = runStart(numbers);
    const words =
      run >= 0
        ? this.#keys.subarray(run * width, (run + numbers.length) * width)
        : gatherWords(this.#keys, numbers, width);
    return this.#parts.map((part) => this.#decode(part, words, numbers.length));
  }

  #decode(part: Part, words: Int32Array, length: number): Column {
    const width = this.#width;
    const { type, at, bit, table, fields } = part;
    const mask = this.#valueWidth + (bit >> 5);
    const validity = this.#hasNulls ? presence(words, length, width, mask, bit & 31) : null;
    if (table !== null) {
      const ids = new Int32Array(length);
      for (let row = 0; row < length; row++) ids[row] = words[row * width + at] as number;
      return { ...(table.keyColumns(ids)[0] as Column), validity };
    }
    if (layoutOf(type) !== 'struct')
      return { ...decodeFixed(type, words, length, at, width), validity };
    const children = fields.map((field) => this.#decode(field, words, length));
    return { tag: 'struct', type: type as StructType, length, validity, children };
  }

  bytes(): number {
    const tables = this.#parts.reduce((sum, part) => sum + tableBytes(part), 0);
    return tables + this.#slots.byteLength + this.#keys.byteLength;
  }
}

const tableBytes = ({ table, fields }: Part): number =>
  fields.reduce((sum, field) => sum + tableBytes(field), table?.bytes() ?? 0);

/** Gives a value of the type the next words and bits. */
function layOut(type: SqlType, place: { at: number; bits: number }): Part {
  const layout = layoutOf(type);
  const [at, bit] = [place.at, place.bits++];
  if (layout === 'struct') {
    const fields = (type as StructType).fields.map((field) => layOut(field.type, place));
    return { type, at, width: place.at - at, bit, table: null, fields };
  }
  const own = WIDTHS[layout];
  const width = own ?? 1;
  place.at += width;
  const table =
    own !== undefined ? null : layout === 'text' ? new TextTable(type) : new StoredTable(type);
  return { type, at, width, bit, table, fields: [] };
}

function hashRowsOf(words: Int32Array, rows: number, width: number, out: Int32Array): void {
  for (let row = 0, word = 0; row < rows; row++) {
    let hash = 0;
    for (const end = word + width; word < end; word++) {
      hash = Math.imul(hash ^ (words[word] as number), FACTOR);
      hash ^= hash >>> 15;
    }
    out[row] = mix32(hash) | 0;
  }
}

function sameWords(
  left: Int32Array,
  at: number,
  right: Int32Array,
  other: number,
  width: number,
): boolean {
  for (let word = 0; word < width; word++)
    if (left[at + word] !== right[other + word]) return false;
  return true;
}

const cell = new Float64Array(1);
const cellWords = new Int32Array(cell.buffer);

function encodeFixed(
  column: Column,
  from: number,
  to: number,
  words: Int32Array,
  at: number,
  width: number,
): void {
  let base = at;
  switch (column.tag) {
    case 'int32':
      for (let row = from; row < to; row++, base += width)
        words[base] = column.values[row] as number;
      return;
    case 'int64':
    case 'timestamp': {
      const source = column.words;
      for (let row = from; row < to; row++, base += width) {
        words[base] = source[2 * row] as number;
        words[base + 1] = source[2 * row + 1] as number;
      }
      return;
    }
    case 'boolean':
      for (let row = from; row < to; row++, base += width)
        words[base] = bitAt(column.bits, row) ? 1 : 0;
      return;
    case 'float64':
      for (let row = from; row < to; row++, base += width) {
        const value = column.values[row] as number;
        // Adding 0 turns -0 into 0; the constant gives NaN one bit pattern.
        cell[0] = value === value ? value + 0 : Number.NaN;
        words[base] = cellWords[0] as number;
        words[base + 1] = cellWords[1] as number;
      }
      return;
    case 'decimal':
      for (let row = from; row < to; row++, base += width)
        for (let word = 0; word < 4; word++)
          words[base + word] = column.words[4 * row + word] as number;
      return;
    default:
      assert(false, `a key of fixed width, not ${column.tag}`);
  }
}

function decodeFixed(
  type: SqlType,
  words: Int32Array,
  length: number,
  at: number,
  width: number,
): Column {
  const own = WIDTHS[layoutOf(type)] as number;
  const values = new Int32Array(length * own);
  if (own === 2) {
    for (let row = 0, from = at; row < length; row++, from += width) {
      values[row * 2] = words[from] as number;
      values[row * 2 + 1] = words[from + 1] as number;
    }
  } else {
    for (let row = 0; row < length; row++)
      for (let word = 0; word < own; word++)
        values[row * own + word] = words[row * width + at + word] as number;
  }
  const common = { type, length, validity: null };
  const layout = layoutOf(type);
  switch (layout) {
    case 'int32':
      return { tag: 'int32', ...common, values };
    case 'int64':
    case 'timestamp':
      return { tag: layout, ...common, words: values };
    case 'float64':
      return { tag: 'float64', ...common, values: new Float64Array(values.buffer) };
    case 'decimal':
      return { tag: 'decimal', ...common, type: type as DecimalType, words: values };
    default: {
      const bits = new Uint8Array(bitmapBytes(length));
      for (let row = 0; row < length; row++) if (values[row] === 1) setBit(bits, row);
      return { tag: 'boolean', ...common, bits };
    }
  }
}

/** Validity of one key, from the bit `bit` of the words that say what is NULL; null: nothing is. */
function presence(
  words: Int32Array,
  length: number,
  width: number,
  at: number,
  bit: number,
): Uint8Array | null {
  let validity: Uint8Array | null = null;
  for (let row = 0; row < length; row++) {
    if (((words[row * width + at] as number) & (1 << bit)) === 0) continue;
    validity ??= new Uint8Array(bitmapBytes(length)).fill(255);
    const byte = row >> 3;
    validity[byte] = (validity[byte] as number) & ~(1 << (row & 7));
  }
  return validity;
}
