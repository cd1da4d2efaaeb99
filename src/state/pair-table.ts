/**
 * The table of a single key of one or two words: INT, BIGINT, TIMESTAMP.
 *
 * While keys lie close together, as ids that are counted up do, a number is found at the key's distance from the lowest
 * one. Once they do not, they are hashed: a slot is the key's low word beside its number + 1 (0 is free), so that a lookup
 * touches one cache line. High words are kept apart, and not at all while every one of them is 0: most ids are below 2^32.
 */
import { assert } from '../base/assert.ts';
import { mix32 } from '../base/hash.ts';
import { bitAt, type Column, type Int32Column, type Int64Column } from '../batch/column.ts';
import { runStart } from '../batch/index-run.ts';
import type { SqlType } from '../batch/types.ts';
import { grown, wider } from './growth.ts';
import { isCrowded, nullBits, SLOTS_MIN, type KeyTable } from './key-table.ts';

const HIGH_FACTOR = 0x85ebca6b;
/** 2^32 over the golden ratio: neighbouring ids, as most are, land far apart and hardly ever on each other. */
const GOLDEN = 0x9e3779b1;
/** An insertion that has to look at more slots than this gives multiplication up and mixes the bits first. */
const PROBES_MAX = 64;

/** Keys that lie within so many of each other are close, however few they are. */
const SPAN_MIN = 256;
/** Room for the distances of the first keys: few enough that V8 keeps them beside its objects. */
const SPAN_FIRST = 16;
/** Keys are close while they span no more than this many times their number. */
const SPAN_PER_KEY = 4;
/** Hashed keys are looked at again, whether they are close, when there are so many. */
const NEAR_MIN = 1024;

const NO_SLOTS = new Int32Array(0);

export class PairTable implements KeyTable {
  readonly #type: SqlType;
  readonly #layout: 'int32' | 'int64' | 'timestamp';
  /** None while keys are not hashed. */
  #slots = NO_SLOTS;
  /** So many keys have been announced: what slots are made for once keys are hashed. */
  #announced = 0;
  #lows = new Int32Array(0);
  /** Number + 1 (0: no such key) at the distance of the low word from `#base`; null: keys are hashed. */
  #near: Int32Array | null = new Int32Array(0);
  #base = 0;
  /** The high word of every key that is not hashed. */
  #nearHigh = 0;
  /** By number; null: all are 0. */
  #highs: Int32Array | null = null;
  /** The number of NULL, which is in no slot. */
  #nullAt = -1;
  /** 32 less the number of bits that name a slot. */
  #shift = Math.clz32(SLOTS_MIN) + 1;
  /** The keys had a pattern that multiplication alone does not scatter. */
  #isMixed = false;
  count = 0;

  constructor(type: SqlType, layout: 'int32' | 'int64' | 'timestamp') {
    this.#type = type;
    this.#layout = layout;
  }

  lookupOrInsert(columns: readonly Column[], from: number, to: number, out: Int32Array): void {
    const column = columns[0] as Column;
    assert(column.tag === this.#layout, `a key of layout ${this.#layout}, not ${column.tag}`);
    if (column.tag === 'int32') this.#findNarrow(column as Int32Column, from, to, out);
    else this.#findWide(column as Int64Column, from, to, out);
  }

  lookupAllOf(other: KeyTable, out: Int32Array): boolean {
    if (!(other instanceof PairTable) || other.#layout !== this.#layout) return false;
    const lows = other.#lows;
    const highs = other.#highs;
    for (let number = 0; number < other.count; number++) {
      out[number] =
        number === other.#nullAt
          ? this.#numberOfNull()
          : this.#find(lows[number] as number, highs === null ? 0 : (highs[number] as number));
    }
    return true;
  }

  clear(): void {
    const near = this.#near;
    if (near === null) this.#slots.fill(0);
    else if (this.count > near.length >> 2) near.fill(0);
    else
      for (let number = 0; number < this.count; number++)
        near[((this.#lows[number] as number) - this.#base) >>> 0] = 0;
    this.#nullAt = -1;
    this.#announced = 0;
    this.count = 0;
  }

  #findNarrow(column: Int32Column, from: number, to: number, out: Int32Array): void {
    const { values, validity } = column;
    for (let row = from; row < to; row++) {
      if (validity !== null && !bitAt(validity, row)) out[row - from] = this.#numberOfNull();
      else out[row - from] = this.#find(values[row] as number, 0);
    }
  }

  #findWide(column: Int64Column, from: number, to: number, out: Int32Array): void {
    const { words, validity } = column;
    if (validity !== null) {
      for (let row = from; row < to; row++) {
        if (!bitAt(validity, row)) out[row - from] = this.#numberOfNull();
        else out[row - from] = this.#find(words[2 * row] as number, words[2 * row + 1] as number);
      }
      return;
    }
    const first = this.#findNear(words, from, to, out);
    let slots = this.#slots;
    let mask = slots.length - 2;
    let shift = this.#shift;
    let isMixed = this.#isMixed;
    let highs = this.#highs;
    for (let row = first; row < to; row++) {
      const low = words[2 * row] as number;
      const high = words[2 * row + 1] as number;
      const hash = low ^ Math.imul(high, HIGH_FACTOR);
      let slot = (Math.imul(isMixed ? mix32(hash) : hash, GOLDEN) >>> shift) << 1;
      let number = (slots[slot + 1] as number) - 1;
      while (
        number >= 0 &&
        (slots[slot] !== low || (highs === null ? 0 : (highs[number] as number)) !== high)
      ) {
        slot = (slot + 2) & mask;
        number = (slots[slot + 1] as number) - 1;
      }
      if (number < 0) {
        number = this.#insert(low, high, slot);
        if (this.#near !== null) {
          out[row - from] = number;
          this.#findWide(column, row + 1, to, out.subarray(row + 1 - from));
          return;
        }
        slots = this.#slots;
        mask = slots.length - 2;
        shift = this.#shift;
        isMixed = this.#isMixed;
        highs = this.#highs;
      }
      out[row - from] = number;
    }
  }

  /** Finds keys while they are not hashed; the row after the last one it did. */
  #findNear(words: Int32Array, from: number, to: number, out: Int32Array): number {
    let row = from;
    while (row < to && this.#near !== null) {
      row = this.#findKnown(this.#near, words, row, to, out, row - from);
      if (row === to) break;
      out[row - from] = this.#insertNear(words[2 * row] as number, words[2 * row + 1] as number);
      row++;
    }
    return row;
  }

  /** As `#findNear`, up to a key that is not there. */
  #findKnown(
    near: Int32Array,
    words: Int32Array,
    from: number,
    to: number,
    out: Int32Array,
    place: number,
  ): number {
    const base = this.#base;
    const high = this.#nearHigh;
    const span = near.length;
    for (let row = from, at = place; row < to; row++, at++) {
      const distance = ((words[2 * row] as number) - base) >>> 0;
      if (distance >= span || words[2 * row + 1] !== high) return row;
      const number = near[distance] as number;
      if (number === 0) return row;
      out[at] = number - 1;
    }
    return to;
  }

  /** Numbers a key that is not there, and hashes them all if it is not close to the others. */
  #insertNear(low: number, high: number): number {
    const known = this.count - (this.#nullAt < 0 ? 0 : 1);
    if (known === 0) {
      this.#base = low & -SPAN_FIRST;
      this.#nearHigh = high;
      // What a cleared table has is as good.
      if (this.#near?.length === 0) this.#near = new Int32Array(SPAN_FIRST);
    }
    if (high !== this.#nearHigh || !this.#reach(low, known)) {
      this.#hashAll();
      return this.#find(low, high);
    }
    const number = this.#add(low, high);
    (this.#near as Int32Array)[(low - this.#base) >>> 0] = number + 1;
    return number;
  }

  /** Makes room for the key among those that are close; false when it is not. */
  #reach(low: number, known: number): boolean {
    const before = (this.#near as Int32Array).length;
    const first = Math.min(this.#base >>> 0, low >>> 0);
    const end = Math.max((this.#base >>> 0) + before, (low >>> 0) + 1);
    const span = end - first;
    if (span === before) return true;
    if (span > Math.max(SPAN_MIN, SPAN_PER_KEY * known)) return false;
    // The room to spare lies where the range grows.
    const spare = span >> 1;
    const base = first === this.#base >>> 0 ? first : Math.max(0, first - spare);
    const near = new Int32Array(end - base + (base === first ? spare : 0));
    for (let number = 0; number < this.count; number++)
      if (number !== this.#nullAt) near[((this.#lows[number] as number) >>> 0) - base] = number + 1;
    this.#near = near;
    this.#base = base | 0;
    return true;
  }

  /** Whether hashed keys have turned out to lie close together, and are not hashed any more. */
  #becomesNear(): boolean {
    if (this.count < NEAR_MIN) return false;
    const high = this.#highs === null ? 0 : (this.#highs[this.count - 1] as number);
    let first = Infinity;
    let last = 0;
    for (let number = 0; number < this.count; number++) {
      if (number === this.#nullAt) continue;
      if (this.#highs !== null && this.#highs[number] !== high) return false;
      const low = (this.#lows[number] as number) >>> 0;
      if (low < first) first = low;
      if (low > last) last = low;
    }
    if (last - first >= SPAN_PER_KEY * this.count) return false;
    this.#slots = NO_SLOTS;
    this.#nearHigh = high;
    this.#base = first | 0;
    this.#near = new Int32Array(0);
    return this.#reach(last, this.count);
  }

  #hashAll(): void {
    this.#near = null;
    let slots = SLOTS_MIN;
    while (isCrowded(Math.max(this.count, this.#announced), slots)) slots *= 2;
    this.#rehash(slots);
  }

  /** Where the search for a key begins. */
  #slotOf(low: number, high: number): number {
    const hash = low ^ Math.imul(high, HIGH_FACTOR);
    return (Math.imul(this.#isMixed ? mix32(hash) : hash, GOLDEN) >>> this.#shift) << 1;
  }

  #find(low: number, high: number): number {
    const near = this.#near;
    if (near !== null) {
      const at = (low - this.#base) >>> 0;
      const number = high === this.#nearHigh && at < near.length ? (near[at] as number) - 1 : -1;
      return number >= 0 ? number : this.#insertNear(low, high);
    }
    const slots = this.#slots;
    const mask = slots.length - 2;
    const highs = this.#highs;
    let slot = this.#slotOf(low, high);
    for (;;) {
      const number = (slots[slot + 1] as number) - 1;
      if (number < 0) return this.#insert(low, high, slot);
      if (slots[slot] === low && (highs === null ? 0 : (highs[number] as number)) === high)
        return number;
      slot = (slot + 2) & mask;
    }
  }

  #add(low: number, high: number): number {
    const number = this.#claim();
    this.#lows[number] = low;
    if (high !== 0) this.#highs ??= new Int32Array(this.#lows.length);
    if (this.#highs !== null) this.#highs[number] = high;
    return number;
  }

  #insert(low: number, high: number, slot: number): number {
    const number = this.#add(low, high);
    this.#slots[slot] = low;
    this.#slots[slot + 1] = number + 1;
    const slots = this.#slots.length >> 1;
    if (isCrowded(this.count, slots)) {
      if (!this.#becomesNear()) this.#rehash(slots * 2);
    } else if (!this.#isMixed) {
      const probes = ((slot - this.#slotOf(low, high)) >> 1) & (slots - 1);
      if (probes > PROBES_MAX) {
        this.#isMixed = true;
        this.#rehash(slots);
      }
    }
    return number;
  }

  #numberOfNull(): number {
    if (this.#nullAt < 0) {
      this.#nullAt = this.#claim();
      this.#lows[this.#nullAt] = 0;
      if (this.#highs !== null) this.#highs[this.#nullAt] = 0;
    }
    return this.#nullAt;
  }

  #claim(): number {
    const number = this.count++;
    if (number === this.#lows.length) {
      const room = grown(number, number + 1);
      this.#lows = wider(Int32Array, this.#lows, room);
      if (this.#highs !== null) this.#highs = wider(Int32Array, this.#highs, room);
    }
    return number;
  }

  reserve(count: number): void {
    if (count > this.#lows.length) {
      this.#lows = wider(Int32Array, this.#lows, count);
      if (this.#highs !== null) this.#highs = wider(Int32Array, this.#highs, count);
    }
    this.#announced = Math.max(count, this.count);
    if (this.#near !== null) return;
    let slots = this.#slots.length >> 1;
    while (isCrowded(this.#announced, slots)) slots *= 2;
    if (slots * 2 > this.#slots.length) this.#rehash(slots);
  }

  #rehash(count: number): void {
    const slots = new Int32Array(2 * count);
    this.#shift = Math.clz32(count) + 1;
    const mask = slots.length - 2;
    const lows = this.#lows;
    const highs = this.#highs;
    for (let number = 0; number < this.count; number++) {
      if (number === this.#nullAt) continue;
      const low = lows[number] as number;
      let slot = this.#slotOf(low, highs === null ? 0 : (highs[number] as number));
      while (slots[slot + 1] !== 0) slot = (slot + 2) & mask;
      slots[slot] = low;
      slots[slot + 1] = number + 1;
    }
    this.#slots = slots;
  }

  keyColumns(numbers: Int32Array): Column[] {
    const type = this.#type;
    const length = numbers.length;
    const validity = nullBits(numbers, this.#nullAt);
    const lows = this.#lows;
    const run = runStart(numbers);
    if (this.#layout === 'int32') {
      const values = run < 0 ? new Int32Array(length) : lows.slice(run, run + length);
      if (run < 0)
        for (let at = 0; at < length; at++) values[at] = lows[numbers[at] as number] as number;
      return [{ tag: 'int32', type, length, validity, values }];
    }
    const words = new Int32Array(2 * length);
    for (let at = 0; at < length; at++) {
      const number = numbers[at] as number;
      words[2 * at] = lows[number] as number;
      if (this.#highs !== null) words[2 * at + 1] = this.#highs[number] as number;
    }
    return [{ tag: this.#layout, type, length, validity, words }];
  }

  bytes(): number {
    const keys = this.#lows.byteLength * (this.#highs === null ? 1 : 2);
    return this.#slots.byteLength + (this.#near?.byteLength ?? 0) + keys;
  }
}
