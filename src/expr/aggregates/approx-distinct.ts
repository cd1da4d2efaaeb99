/**
 * approx_distinct: HyperLogLog with 2^14 registers over the routing hash; about 0.8 % off, standard error.
 *
 * A register holds the largest number of leading zeros seen, so the estimate depends on the set of values only,
 * not on order or merges. Few registers are kept as pairs, many as an array. Not invertible: over an updating
 * input the planner takes the exact count instead. An empty group counts 0.
 * State: bytes; three for each register in use, or all registers.
 */
import { assert } from '../../base/assert.ts';
import type { Column, TextColumn } from '../../batch/column.ts';
import { bitAt } from '../../batch/column.ts';
import { hashRows } from '../../batch/row-hash.ts';
import { BYTEA, INT64 } from '../../batch/types.ts';
import type { Accumulator } from '../accumulator.ts';
import { TextSink } from '../text-sink.ts';
import { makeInt64 } from '../vector.ts';
import { writeSafeInt64 } from '../wide.ts';

const INDEX_BITS = 14;
const REGISTERS = 1 << INDEX_BITS;
const PAIRS_MAX = 2048;
const ALPHA = 0.7213 / (1 + 1.079 / REGISTERS);

/** Registers in use → their value, or all values. */
type Registers = Map<number, number> | Uint8Array;

export class ApproxDistinctAccumulator implements Accumulator {
  readonly stateTypes = [BYTEA];
  readonly invertible = false;
  readonly #groups: (Registers | null)[] = [];
  #hashes = new Uint32Array(0);
  #bytes = 0;

  resize(count: number): void {
    while (this.#groups.length > count) this.#bytes -= sizeOf(this.#groups.pop() ?? null);
    while (this.#groups.length < count) this.#groups.push(null);
  }

  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void {
    assert(retract === null, 'approx_distinct takes nothing back');
    const column = args[0] as Column;
    if (this.#hashes.length < rows) this.#hashes = new Uint32Array(rows);
    hashRows([column], rows, this.#hashes);
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (column.validity !== null && !bitAt(column.validity, row))) continue;
      const hash = this.#hashes[row] as number;
      const rank = Math.min(Math.clz32(hash << INDEX_BITS), 32 - INDEX_BITS) + 1;
      this.#raise(group, hash >>> (32 - INDEX_BITS), rank);
    }
  }

  #raise(group: number, index: number, rank: number): void {
    const registers = this.#groups[group] ?? null;
    if (registers instanceof Uint8Array) {
      if ((registers[index] as number) < rank) registers[index] = rank;
      return;
    }
    const before = sizeOf(registers);
    const pairs = registers ?? new Map<number, number>();
    if ((pairs.get(index) ?? 0) < rank) pairs.set(index, rank);
    if (pairs.size > PAIRS_MAX) {
      const dense = new Uint8Array(REGISTERS);
      for (const [at, value] of pairs) dense[at] = value;
      this.#groups[group] = dense;
    } else this.#groups[group] = pairs;
    this.#bytes += sizeOf(this.#groups[group] as Registers) - before;
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    const { bytes, offsets } = states[0] as TextColumn;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0) continue;
      const from = offsets[row] as number;
      const to = offsets[row + 1] as number;
      if (to - from === REGISTERS) {
        for (let index = 0; index < REGISTERS; index++)
          if (bytes[from + index] !== 0) this.#raise(group, index, bytes[from + index] as number);
      } else {
        for (let at = from; at < to; at += 3)
          this.#raise(
            group,
            ((bytes[at] as number) << 8) | (bytes[at + 1] as number),
            bytes[at + 2] as number,
          );
      }
    }
  }

  stateColumns(groups: Int32Array): Column[] {
    const sink = new TextSink(groups.length, 64 * groups.length);
    for (const group of groups) {
      const registers = this.#groups[group] ?? null;
      if (registers instanceof Uint8Array) sink.append(registers, 0, REGISTERS);
      else {
        // In order of registers: equal sets have equal states.
        for (const [index, rank] of [...(registers ?? [])].sort(([a], [b]) => a - b)) {
          sink.appendByte(index >> 8);
          sink.appendByte(index & 255);
          sink.appendByte(rank);
        }
      }
      sink.endRow();
    }
    return [{ ...sink.finish(null), type: BYTEA }];
  }

  results(groups: Int32Array): Column {
    const column = makeInt64(groups.length, INT64);
    for (let row = 0; row < groups.length; row++)
      writeSafeInt64(column.words, row, estimate(this.#groups[groups[row] as number] ?? null));
    return column;
  }

  bytes(): number {
    return this.#bytes + this.#groups.length * 8;
  }
}

const sizeOf = (registers: Registers | null): number =>
  registers === null ? 0 : registers instanceof Uint8Array ? REGISTERS : 40 * registers.size + 64;

function estimate(registers: Registers | null): number {
  if (registers === null) return 0;
  let used = 0;
  let sum = 0;
  for (const rank of registers.values()) {
    if (rank === 0) continue;
    used++;
    sum += 2 ** -rank;
  }
  const empty = REGISTERS - used;
  const raw = (ALPHA * REGISTERS * REGISTERS) / (sum + empty);
  if (raw <= 2.5 * REGISTERS && empty > 0)
    return Math.round(REGISTERS * Math.log(REGISTERS / empty));
  if (raw <= 2 ** 32 / 30) return Math.round(raw);
  return Math.round(-(2 ** 32) * Math.log(1 - raw / 2 ** 32));
}
