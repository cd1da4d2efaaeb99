/**
 * Exact sums of doubles and of products of two doubles, one a slot, whatever the order.
 *
 * A sum is kept as a few doubles of growing size whose bits do not overlap, so that each addition is a
 * handful of float operations; nothing is lost by it. Sums that need more doubles than a slot has, and values
 * whose products would over- or underflow, go on as a whole number times a power of two (`Dyadic`).
 * Values must be finite.
 */
import type { Dyadic } from './dyadic.ts';
import { ZERO, add, dyadicOf, multiply, negate } from './dyadic.ts';
import { grownBytes, grownFloat64 } from './group-arrays.ts';

/** Doubles a slot holds. */
const PARTS = 6;
const LARGE = 2 ** 1000;
const LARGE_FACTOR = 2 ** 500;
const SMALL_PRODUCT = 2 ** -960;
/** Splits a double in two halves of 26 bits. */
const SPLITTER = 134217729;

export class ExactFloats {
  #parts: Float64Array = new Float64Array(0);
  #lengths: Uint8Array = new Uint8Array(0);
  readonly #spilled = new Map<number, Dyadic>();
  #size = 0;

  resize(slots: number): void {
    this.#parts = grownFloat64(this.#parts, slots * PARTS);
    this.#lengths = grownBytes(this.#lengths, slots);
    if (slots < this.#size) {
      this.#lengths.fill(0, slots, this.#size);
      for (const slot of this.#spilled.keys()) if (slot >= slots) this.#spilled.delete(slot);
    }
    this.#size = slots;
  }

  add(slot: number, value: number): void {
    if (value > LARGE || value < -LARGE) {
      this.addExact(slot, dyadicOf(value));
      return;
    }
    const parts = this.#parts;
    const base = slot * PARTS;
    const count = this.#lengths[slot] as number;
    let x = value;
    let kept = 0;
    for (let part = 0; part < count; part++) {
      const y = parts[base + part] as number;
      const sum = x + y;
      const lost = Math.abs(x) >= Math.abs(y) ? y - (sum - x) : x - (sum - y);
      if (lost !== 0) parts[base + kept++] = lost;
      x = sum;
    }
    if (kept < PARTS && x <= LARGE && x >= -LARGE) {
      if (x !== 0) parts[base + kept++] = x;
      this.#lengths[slot] = kept;
      return;
    }
    this.#lengths[slot] = kept;
    this.#spill(slot);
    this.addExact(slot, dyadicOf(x));
  }

  /** Adds x · y, or takes it away. */
  addProduct(slot: number, x: number, y: number, direction: 1 | -1): void {
    if (x === 0 || y === 0) return;
    const product = x * y;
    if (
      Math.abs(x) > LARGE_FACTOR ||
      Math.abs(y) > LARGE_FACTOR ||
      Math.abs(product) < SMALL_PRODUCT
    ) {
      const exact = multiply(dyadicOf(x), dyadicOf(y));
      this.addExact(slot, direction === 1 ? exact : negate(exact));
      return;
    }
    const scaledX = SPLITTER * x;
    const highX = scaledX - (scaledX - x);
    const lowX = x - highX;
    const scaledY = SPLITTER * y;
    const highY = scaledY - (scaledY - y);
    const lowY = y - highY;
    const rest = lowX * lowY - (product - highX * highY - lowX * highY - highX * lowY);
    this.add(slot, direction * product);
    if (rest !== 0) this.add(slot, direction * rest);
  }

  addExact(slot: number, value: Dyadic): void {
    if (value.m === 0n) return;
    const sum = add(this.#spilled.get(slot) ?? ZERO, value);
    if (sum.m === 0n) this.#spilled.delete(slot);
    else this.#spilled.set(slot, sum);
  }

  #spill(slot: number): void {
    const base = slot * PARTS;
    for (let part = 0; part < (this.#lengths[slot] as number); part++)
      this.addExact(slot, dyadicOf(this.#parts[base + part] as number));
    this.#lengths[slot] = 0;
  }

  total(slot: number): Dyadic {
    let sum = this.#spilled.get(slot) ?? ZERO;
    const base = slot * PARTS;
    for (let part = 0; part < (this.#lengths[slot] as number); part++)
      sum = add(sum, dyadicOf(this.#parts[base + part] as number));
    return sum;
  }

  bytes(): number {
    return this.#parts.byteLength + this.#lengths.length + this.#spilled.size * 128;
  }
}
