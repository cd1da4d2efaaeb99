/**
 * What rows are, whatever their order and whoever wrote them: their number and the sum of their hashes. Changes
 * (`{"before", "after", "op"}`) count: what is taken back is subtracted, so that a changing answer is its last state.
 *
 * Values are compared as whole numbers, else as numbers of 12 digits, as milliseconds where they look like times, else as text.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

export type Digest = { rows: number; hash: string };

const NUMBER = /^-?\d+(\.\d+)?$/;
const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?Z?$/;

const numberText = (value: number): string =>
  String(Number.isSafeInteger(value) ? value : Number(value.toPrecision(12)));

function canonical(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return numberText(value);
  const text = String(value);
  if (NUMBER.test(text)) return numberText(Number(text));
  const time = TIME.exec(text);
  if (time === null) return text;
  return String(Date.parse(`${time[1]}T${time[2]}Z`) + Math.round(Number(time[3] ?? 0) * 1000));
}

/** FNV-1a from a seed, mixed at the end so that sums of it keep rows apart. */
function hash(text: string, seed: number): number {
  let state = seed;
  for (let at = 0; at < text.length; at++)
    state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}

export class RowDigest {
  #rows = 0;
  #low = 0;
  #high = 0;

  add(row: Readonly<Record<string, unknown>>, times = 1): void {
    const text = Object.values(row).map(canonical).join('|');
    this.#rows += times;
    this.#low = (this.#low + times * hash(text, 0x811c9dc5)) % 0x1_0000_0000;
    this.#high = (this.#high + times * hash(text, 0x2f0b4c47)) % 0x1_0000_0000;
  }

  get value(): Digest {
    const half = (of: number): string =>
      ((of + 0x1_0000_0000) % 0x1_0000_0000).toString(16).padStart(8, '0');
    return { rows: this.#rows, hash: half(this.#high) + half(this.#low) };
  }
}

type Change = { before: Record<string, unknown> | null; after: Record<string, unknown> | null };

/** Of NDJSON files: rows, or changes. */
export async function digestOf(paths: readonly string[]): Promise<Digest> {
  const digest = new RowDigest();
  for (const path of paths) {
    for await (const line of createInterface({ input: createReadStream(path) })) {
      const row = JSON.parse(line) as Record<string, unknown>;
      if (!('op' in row && 'before' in row && 'after' in row)) digest.add(row);
      else {
        const { before, after } = row as Change;
        if (before !== null) digest.add(before, -1);
        if (after !== null) digest.add(after);
      }
    }
  }
  return digest.value;
}
