/**
 * What few groups of a sum of DOUBLE need: counts of NaN and of the infinities, and an exact sum of any size.
 * A group has a slot here from the first time on.
 */
import type { Dyadic } from './dyadic.ts';
import { ZERO } from './dyadic.ts';
import { ExactFloats } from './exact-floats.ts';
import { grownFloat64, grownInt32 } from './group-arrays.ts';

/** Of NaN, Infinity and -Infinity. */
export type StrangeCounts = readonly [number, number, number];

const COUNTS = 3;
const SLOTS_MIN = 4;

export class RareSums {
  /** Group → its slot + 1. */
  #slots: Int32Array = new Int32Array(0);
  #counts: Float64Array = new Float64Array(COUNTS * SLOTS_MIN);
  readonly #sums = new ExactFloats();
  #size = 0;

  has(group: number): boolean {
    return group < this.#slots.length && this.#slots[group] !== 0;
  }

  #slotOf(group: number): number {
    this.#slots = grownInt32(this.#slots, group + 1);
    const known = this.#slots[group] as number;
    if (known !== 0) return known - 1;
    const slot = this.#size++;
    this.#slots[group] = this.#size;
    this.#counts = grownFloat64(this.#counts, this.#size * COUNTS);
    this.#sums.resize(this.#size);
    return slot;
  }

  addFinite(group: number, value: number): void {
    this.#sums.add(this.#slotOf(group), value);
  }

  /** Counts a value that is not finite. */
  count(group: number, value: number, direction: 1 | -1): void {
    const at = this.#slotOf(group) * COUNTS + (value !== value ? 0 : value > 0 ? 1 : 2);
    this.#counts[at] = (this.#counts[at] as number) + direction;
  }

  merge(group: number, counts: StrangeCounts, sum: Dyadic, direction: 1 | -1): void {
    const slot = this.#slotOf(group);
    for (let part = 0; part < COUNTS; part++) {
      const at = slot * COUNTS + part;
      this.#counts[at] = (this.#counts[at] as number) + direction * (counts[part] as number);
    }
    this.#sums.addExact(slot, sum);
  }

  exactOf(group: number): Dyadic {
    return this.has(group) ? this.#sums.total((this.#slots[group] as number) - 1) : ZERO;
  }

  countsOf(group: number): StrangeCounts {
    const at = this.#slotOf(group) * COUNTS;
    const counts = this.#counts;
    return [counts[at] as number, counts[at + 1] as number, counts[at + 2] as number];
  }

  /** What a group's values that are not finite add up to; 0: it has none. */
  strangeOf(group: number): number {
    if (!this.has(group)) return 0;
    const [nan, positive, negative] = this.countsOf(group);
    if (nan > 0 || (positive > 0 && negative > 0)) return NaN;
    return positive > 0 ? Infinity : negative > 0 ? -Infinity : 0;
  }

  /** Forgets the groups from `count` on. */
  keepBelow(count: number): void {
    for (let group = count; group < this.#slots.length; group++) {
      const slot = (this.#slots[group] as number) - 1;
      if (slot < 0) continue;
      this.#slots[group] = 0;
    }
  }

  bytes(): number {
    return this.#slots.byteLength + this.#counts.byteLength + this.#sums.bytes();
  }
}
