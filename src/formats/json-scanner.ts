/**
 * The kernel `json` at the service of one decoder: rows of NDJSON to columns, at several times the speed of the twin.
 *
 * The kernel reads common rows and stops at any other, which the decoder then reads itself. While a call lasts, the
 * decoder's slots are views of the kernel's memory, so both write rows of the same columns; `finish` copies these out.
 * Keys are learned by the decoder alone and told to the kernel here.
 *
 * Invariants: before a row is read there is room for all its bytes in each text column, whatever it holds; no view is used
 * after room was made, until it was made anew.
 */
import { assert } from '../base/assert.ts';
import { kernel } from '../kernels/kernels.ts';
import type { Kernel } from '../kernels/kernels.ts';
import type { ByteHash } from '../kernels/hash-blocks.ts';
import type { TimestampFormat } from './format.ts';
import { TOKEN_BYTES_MAX, TOKENS_MAX } from './json-keys.ts';
import type { KeyReader } from './json-keys.ts';
import {
  DECIMAL_KIND,
  FLOAT64_KIND,
  STRUCT_KIND,
  TEXT_KIND,
  TIMESTAMP_KIND,
  WORD_COUNTS,
} from './json-slots.ts';
import type { Slot, SlotPacker } from './json-slots.ts';

type Exports = {
  open(
    fields: number,
    fieldCount: number,
    tokens: number,
    tokenCount: number,
    ranges: number,
  ): void;
  forgetShape(): void;
  scan(from: number, end: number, row: number, rowMax: number, shift: number): number;
  statusOfScan(): number;
  positionOfScan(): number;
  openHash(from: number, lanes: number): void;
  carryHash(end: number, to: number): void;
  closeHash(end: number, lanes: number): number;
  packBytes(source: number, target: number, count: number): number;
  packWords(source: number, target: number, count: number): void;
};

/** What a scan ended with, as `assembly/json.ts` numbers it. */
export const DONE = 0;
export const FULL = 1;
export const SLOW = 2;

/** Input that is copied in at once: it stays in the cache until it is read. */
export const WINDOW_BYTES = 128 * 1024;
/** Vectors are read and written past the end of what they are about. */
const VECTOR_SLACK = 64;

// Words of a field and of a token: `assembly/json-layout.ts`.
const FIELD_WORDS = 16;
const KIND = 0;
const MISSING = 1;
const DATA = 2;
const PRESENT = 3;
const HEAP = 4;
const SCALE = 6;
const LIMIT = 8;
const TOKEN_WORDS = 12;
const TOKEN_LENGTH = 4;
const TOKEN_MASK = 5;
const TOKEN_FIELD = 6;
const TOKEN_COUNT = 8;
const TOKEN_POINTER = 9;

const MICROS: Readonly<Record<string, number>> = {
  unix_seconds: 1_000_000,
  unix_millis: 1000,
  unix_micros: 1,
  unix_nanos: 1,
};

/** Where the buffers of a slot lie. */
type Place = { data: number; present: number; heap: number; heapBytes: number };

export class JsonScanner implements SlotPacker {
  readonly #slots: readonly Slot[];
  readonly #keys: KeyReader;
  readonly #timestampFormat: TimestampFormat | null;
  /** Whether the decoder has to see each row with a key that no column has. */
  readonly #showsUnknown: boolean;
  readonly #kernel: Kernel<Exports>;
  readonly #places: Place[] = [];
  /** The slots of text columns. */
  readonly #texts: readonly number[];
  #capacity = 0;
  #generation = -1;
  #fields = 0;
  #tokens = 0;
  #pool = 0;
  #tokenCount = 0;
  #ranges = 0;
  #input = 0;
  #bits = 0;
  /** Eight words for a hash. */
  #lanes = 0;
  /** Position in the input that the kernel's input starts at, and the end of what lies there. */
  #inputFrom = 0;
  #inputEnd = 0;
  /** Position in the input that the hash was opened at. */
  #hashedFrom = 0;
  /** Start and end of each row, in turn: a view. */
  ranges: Int32Array = new Int32Array(0);

  private constructor(
    found: Kernel<Exports>,
    slots: readonly Slot[],
    keys: KeyReader,
    timestampFormat: TimestampFormat | null,
    showsUnknown: boolean,
  ) {
    this.#kernel = found;
    this.#slots = slots;
    this.#texts = slots.flatMap((slot, index) => (slot.kind === TEXT_KIND ? [index] : []));
    this.#keys = keys;
    this.#timestampFormat = timestampFormat;
    this.#showsUnknown = showsUnknown;
  }

  /** Null when there is no kernel, or columns it does not know. */
  static make(
    slots: readonly Slot[],
    keys: KeyReader,
    timestampFormat: TimestampFormat | null,
    showsUnknown: boolean,
  ): JsonScanner | null {
    const found = kernel<Exports>('json');
    const knows = slots.every((slot) => kernelKind(slot) < STRUCT_KIND);
    if (found === null || !knows) return null;
    return new JsonScanner(found, slots, keys, timestampFormat, showsUnknown);
  }

  /** Whether the kernel is still the one in use. */
  get isCurrent(): boolean {
    return kernel<Exports>('json') === this.#kernel;
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** Prepares memory for up to `capacity` rows. */
  start(capacity: number, rowBytes: number): void {
    const { memory } = this.#kernel;
    if (this.#kernel.owner !== this || this.#capacity < capacity) {
      memory.reset();
      this.#layOut(capacity, rowBytes);
      this.#kernel.owner = this;
    }
    for (const [index, slot] of this.#slots.entries()) {
      const place = this.#placeOf(index);
      memory.bytes.fill(1, place.present, place.present + this.#capacity);
      if (slot.kind === TEXT_KIND) memory.words[place.data >> 2] = 0;
      if (slot.unread) this.#emptyTexts(place, 0);
    }
    this.#attach();
    this.#kernel.exports.forgetShape();
    this.learn();
  }

  /** The kernel writes no offsets of texts that nobody reads; where the decoder begins to write one, it finds 0. */
  #emptyTexts({ data }: Place, from: number): void {
    this.#kernel.memory.words.fill(0, (data >> 2) + from, (data >> 2) + this.#capacity + 1);
  }

  #placeOf(index: number): Place {
    const place = this.#places[index];
    assert(place !== undefined, 'each slot has a place');
    return place;
  }

  #layOut(capacity: number, rowBytes: number): void {
    const { memory } = this.#kernel;
    this.#capacity = capacity;
    this.#lanes = memory.reserve(8 * 4);
    this.#fields = memory.reserve(this.#slots.length * FIELD_WORDS * 4);
    this.#tokens = memory.reserve((TOKENS_MAX + 1) * TOKEN_WORDS * 4);
    this.#pool = memory.reserve(TOKENS_MAX * TOKEN_BYTES_MAX + VECTOR_SLACK);
    this.#input = memory.reserve(WINDOW_BYTES + 2 * VECTOR_SLACK) + VECTOR_SLACK;
    this.#placeColumns(capacity, (slot) =>
      Math.ceil(capacity * slot.textBytes * 1.2 + WINDOW_BYTES + rowBytes + VECTOR_SLACK),
    );
    this.#writeFields();
    memory.words.fill(0, this.#tokens >> 2, (this.#tokens >> 2) + TOKEN_WORDS);
    this.#tokenCount = 1;
    // What stands before a row counts as its line end.
    memory.bytes.fill(10, this.#input - VECTOR_SLACK, this.#input);
  }

  #placeColumns(capacity: number, heapBytesOf: (slot: Slot) => number): void {
    const { memory } = this.#kernel;
    this.#bits = memory.reserve((capacity >> 3) + VECTOR_SLACK);
    this.#ranges = memory.reserve(capacity * 8);
    this.#places.length = 0;
    for (const slot of this.#slots) {
      const isText = slot.kind === TEXT_KIND;
      const heapBytes = isText ? heapBytesOf(slot) : 0;
      this.#places.push({
        data: memory.reserve(isText ? (capacity + 1) * 4 : capacity * valueBytes(slot)),
        present: memory.reserve(capacity + VECTOR_SLACK),
        heap: memory.reserve(heapBytes),
        heapBytes,
      });
    }
  }

  #writeFields(): void {
    const { words } = this.#kernel.memory;
    for (const [index, slot] of this.#slots.entries()) {
      const at = (this.#fields >> 2) + index * FIELD_WORDS;
      words.fill(0, at, at + FIELD_WORDS);
      words[at + KIND] = kernelKind(slot);
      words[at + MISSING] = slot.nullable && !slot.hasDefault ? 1 : 0;
      if (slot.unread) words[at + SCALE] = 1;
      if (slot.kind === DECIMAL_KIND) {
        words[at + SCALE] = slot.scale;
        if (slot.precision <= 18) putLong(words, at + LIMIT, 10n ** BigInt(slot.precision));
      }
      if (kernelKind(slot) === TIMESTAMP_KIND && this.#timestampFormat !== null) {
        words[at + SCALE] = this.#timestampFormat === 'unix_nanos' ? 1 : 0;
        words[at + LIMIT] = MICROS[this.#timestampFormat] ?? 0;
      }
      this.#writePlace(index);
    }
  }

  #writePlace(index: number): void {
    const { words } = this.#kernel.memory;
    const at = (this.#fields >> 2) + index * FIELD_WORDS;
    const place = this.#placeOf(index);
    words[at + DATA] = place.data;
    words[at + PRESENT] = this.#slots[index]?.nullable === true ? place.present : 0;
    words[at + HEAP] = place.heap;
  }

  /** Makes the slots views of the kernel's memory. */
  #attach(): void {
    const { memory } = this.#kernel;
    const capacity = this.#capacity;
    this.#generation = memory.generation;
    this.ranges = memory.wordsAt(this.#ranges, capacity * 2);
    for (const [index, slot] of this.#slots.entries()) {
      const place = this.#placeOf(index);
      slot.packer = this;
      slot.isAttached = true;
      slot.nulls = true;
      slot.capacity = capacity;
      slot.present = memory.bytesAt(place.present, capacity);
      if (slot.kind === TEXT_KIND) {
        slot.offsets = memory.wordsAt(place.data, capacity + 1);
        slot.heap = memory.bytesAt(place.heap, place.heapBytes);
      } else if (slot.kind === FLOAT64_KIND) slot.floats = memory.floatsAt(place.data, capacity);
      else slot.words = memory.wordsAt(place.data, (capacity * valueBytes(slot)) >> 2);
    }
  }

  /** Tells the kernel the keys that the decoder has learned meanwhile. */
  learn(): void {
    const { memory, exports } = this.#kernel;
    const { words } = memory;
    const { tokens, pool } = this.#keys;
    for (; this.#tokenCount <= tokens.length; this.#tokenCount++) {
      const token = tokens[this.#tokenCount - 1];
      assert(token !== undefined, 'a token that was learned');
      const pointer = this.#tokens + this.#tokenCount * TOKEN_WORDS * 4;
      const text = pool.subarray(token.start, token.end);
      const at = pointer >> 2;
      words.fill(0, at, at + TOKEN_WORDS);
      memory.bytes.set(text.subarray(0, 16), pointer);
      memory.bytes.set(text, this.#pool + token.start);
      words[at + TOKEN_LENGTH] = text.length;
      words[at + TOKEN_MASK] = text.length >= 16 ? 0xffff : (1 << text.length) - 1;
      words[at + TOKEN_POINTER] = this.#pool + token.start;
      words[at + TOKEN_FIELD] =
        token.slot === null
          ? Number(this.#showsUnknown)
          : this.#fields + this.#slots.indexOf(token.slot) * FIELD_WORDS * 4;
    }
    exports.open(this.#fields, this.#slots.length, this.#tokens, this.#tokenCount, this.#ranges);
  }

  /** Copies `size` bytes of input at `from` in, for the next scans of rows from `row` on. */
  load(bytes: Uint8Array, from: number, size: number, row: number): void {
    this.makeRoom(row, size);
    const { memory } = this.#kernel;
    memory.bytes.set(bytes.subarray(from, from + size), this.#input);
    this.#inputFrom = from;
    this.#inputEnd = this.#input + size;
    // Ends every loop over what lies behind the last line.
    memory.bytes[this.#inputEnd] = 10;
  }

  /** Reads rows from `position` of the input on; the number of rows then. */
  scan(position: number, row: number, rowsMax: number): number {
    const from = this.#input + position - this.#inputFrom;
    const rowMax = Math.min(rowsMax, this.#capacity);
    const shift = this.#input - this.#inputFrom;
    return this.#kernel.exports.scan(from, this.#inputEnd, row, rowMax, shift);
  }

  /** From now on scans hash what they pass, beginning with the input loaded last. */
  openHash({ lanes, rest }: ByteHash): void {
    const { memory, exports } = this.#kernel;
    // Before the input lie the bytes that wait for their block to be full.
    memory.bytes.set(rest, this.#input - rest.length);
    memory.words.set(lanes, this.#lanes >> 2);
    this.#hashedFrom = this.#inputFrom;
    exports.openHash(this.#input - rest.length, this.#lanes);
  }

  /** Before the next input is loaded, which goes on at `position`. */
  carryHash(position: number): void {
    this.#kernel.exports.carryHash(this.#input + position - this.#inputFrom, this.#input);
  }

  /** The hash has taken in what lies before `position`. */
  closeHash(hash: ByteHash, position: number): void {
    const { memory, exports } = this.#kernel;
    const end = this.#input + position - this.#inputFrom;
    const restAt = exports.closeHash(end, this.#lanes);
    const at = this.#lanes >> 2;
    hash.lanes.set(memory.words.subarray(at, at + hash.lanes.length));
    hash.moveOn(position - this.#hashedFrom, memory.bytes.subarray(restAt, end));
  }

  get status(): number {
    return this.#kernel.exports.statusOfScan();
  }

  /** Where in the input the next row starts. */
  get position(): number {
    return this.#kernel.exports.positionOfScan() - this.#input + this.#inputFrom;
  }

  /** Room for one more row than there is, and for `size` bytes in each text column. */
  makeRoom(row: number, size: number): void {
    if (row >= this.#capacity) this.#growRows(row);
    let moved = false;
    for (const index of this.#texts) {
      const slot = this.#slots[index] as Slot;
      const place = this.#placeOf(index);
      const used = slot.offsets[row] as number;
      const wanted = used + Math.max(size, slot.defaultBytes) + VECTOR_SLACK;
      if (wanted <= place.heapBytes) continue;
      const heapBytes = Math.max(place.heapBytes * 2, wanted);
      this.#moveHeap(index, heapBytes, used);
      moved = true;
    }
    if (moved) this.#attach();
  }

  #moveHeap(index: number, heapBytes: number, used: number): void {
    const { memory } = this.#kernel;
    const place = this.#placeOf(index);
    const heap = memory.reserve(heapBytes);
    if (memory.generation !== this.#generation) this.#attach();
    memory.bytes.copyWithin(heap, place.heap, place.heap + used);
    place.heap = heap;
    place.heapBytes = heapBytes;
    this.#writePlace(index);
  }

  /** Twice the rows; the old places stay unused until memory is laid out again. */
  #growRows(rows: number): void {
    const { memory } = this.#kernel;
    const earlier = this.#places.splice(0);
    const earlierRanges = this.#ranges;
    const capacity = this.#capacity * 2;
    this.#capacity = capacity;
    this.#placeColumns(capacity, () => 0);
    for (const [index, slot] of this.#slots.entries()) {
      const from = earlier[index] as Place;
      const to = this.#placeOf(index);
      const isText = slot.kind === TEXT_KIND;
      const dataBytes = isText ? (rows + 1) * 4 : rows * valueBytes(slot);
      memory.bytes.copyWithin(to.data, from.data, from.data + dataBytes);
      memory.bytes.copyWithin(to.present, from.present, from.present + rows);
      memory.bytes.fill(1, to.present + rows, to.present + capacity);
      if (isText) {
        to.heap = from.heap;
        to.heapBytes = from.heapBytes;
      }
      if (slot.unread) this.#emptyTexts(to, rows + 1);
      this.#writePlace(index);
    }
    memory.bytes.copyWithin(this.#ranges, earlierRanges, earlierRanges + rows * 8);
    this.#attach();
    this.#kernel.exports.forgetShape();
    this.learn();
  }

  /** Calls `take` with each key that no column has and the number of accepted rows that had it. */
  takeUnknown(take: (name: string, count: number) => void): void {
    const { words } = this.#kernel.memory;
    const { tokens } = this.#keys;
    for (let index = 0; index < this.#tokenCount - 1; index++) {
      const at = (this.#tokens >> 2) + (index + 1) * TOKEN_WORDS + TOKEN_COUNT;
      const count = words[at] as number;
      if (count > 0) take((tokens[index] as { name: string }).name, count);
      words[at] = 0;
    }
  }

  packPresent(slot: Slot, rows: number): Uint8Array | null {
    const { memory, exports } = this.#kernel;
    const { present } = this.#placeOf(this.#slots.indexOf(slot));
    if (!slot.nullable || exports.packBytes(present, this.#bits, rows) !== 0) return null;
    return memory.bytes.slice(this.#bits, this.#bits + ((rows + 7) >> 3));
  }

  packBooleans(slot: Slot, rows: number): Uint8Array {
    const { memory, exports } = this.#kernel;
    exports.packWords(this.#placeOf(this.#slots.indexOf(slot)).data, this.#bits, rows);
    return memory.bytes.slice(this.#bits, this.#bits + ((rows + 7) >> 3));
  }

  /** Lets go of the kernel's memory. */
  finish(): void {
    for (const slot of this.#slots) slot.packer = null;
  }
}

/** How the kernel reads the slot: a moment in micros is a timestamp to it. */
const kernelKind = ({ kind, type }: Slot): number =>
  type.tag === 'timestamptz' && type.precision === undefined ? TIMESTAMP_KIND : kind;

function valueBytes(slot: Slot): number {
  if (slot.kind === FLOAT64_KIND) return 8;
  return WORD_COUNTS[slot.layout] * 4;
}

function putLong(words: Int32Array, at: number, value: bigint): void {
  words[at] = Number(BigInt.asIntN(32, value));
  words[at + 1] = Number(BigInt.asIntN(32, value >> 32n));
}
