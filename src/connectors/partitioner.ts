/**
 * Deals the rows of a sink to folders: by the time of each row, by columns, or by both.
 *
 * Rows of a batch are told apart by numbers and by their values as columns hold them; text is made once for each folder that
 * a batch goes to, not for each row.
 * Invariants: the folder of a row depends on the row alone; rows of a folder stay in their order. A NULL, an empty text
 * and a row without event time lie in `__HIVE_DEFAULT_PARTITION__`, as readers of such folders expect.
 * Failure: a folder whose name is too long for a key is ROW_TOO_LARGE for its rows.
 */
import { must } from '../base/assert.ts';
import { bitAt, type Column, wordsToNumber } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { equalRows } from '../batch/row-equal.ts';
import { hashRows } from '../batch/row-hash.ts';
import { scalarText } from '../batch/scalar-text.ts';
import { takeBatch } from '../batch/take.ts';
import type { Schema } from '../batch/types.ts';
import { partitionFields, TIME_PATTERN } from '../plan/bind-partitions.ts';
import { parseTimePattern, timePath, type TimePattern } from '../plan/time-pattern.ts';
import type { SinkContext } from './connector.ts';

export const NO_VALUE = '__HIVE_DEFAULT_PARTITION__';

/** Rows for one folder, whose name ends with a slash. */
export type Dealt = { folder: string; batch: RecordBatch };

type Field = { name: string; column: number };

/** Rows of one kind have equal values and times. Several kinds may share a folder, such as NULL and the empty text. */
type Kinds = {
  /** Of each kind: its first row, and the place of its folder. */
  firsts: number[];
  places: number[];
  byHash: Map<number, number[]>;
};

export class Partitioner {
  readonly #fields: readonly Field[];
  readonly #time: TimePattern | null;
  #hashes = new Uint32Array(0);
  #steps = new Float64Array(0);

  constructor(schema: Schema, fields: readonly string[], time: TimePattern | null) {
    this.#fields = fields.map((name) => ({
      name,
      column: schema.findIndex((field) => field.name === name),
    }));
    this.#time = time;
  }

  /** The rows by their folders, in the order in which these come first. */
  deal(batch: RecordBatch): Dealt[] {
    const { rows } = batch;
    const keys = this.#fields.map(({ column }) => must(batch.columns[column], 'column'));
    this.#number(batch, keys);
    const kinds: Kinds = { firsts: [], places: [], byHash: new Map() };
    const places = new Int32Array(rows);
    const folders = new Map<string, number>();
    const counts: number[] = [];
    for (let row = 0, last = -1; row < rows; row++) {
      if (last < 0 || !this.#same(keys, row, kinds.firsts[last] as number)) {
        last = this.#kindOf(keys, row, kinds);
        if (last === kinds.places.length) {
          const folder = this.#folder(batch, keys, row);
          const place = folders.get(folder) ?? folders.size;
          folders.set(folder, place);
          kinds.places.push(place);
        }
      }
      const place = kinds.places[last] as number;
      places[row] = place;
      counts[place] = (counts[place] ?? 0) + 1;
    }
    if (folders.size === 1) return [...folders.keys()].map((folder) => ({ folder, batch }));
    const chosen = counts.map((count) => new Int32Array(count));
    counts.fill(0);
    for (let row = 0; row < rows; row++) {
      const place = places[row] as number;
      const at = counts[place] as number;
      (chosen[place] as Int32Array)[at] = row;
      counts[place] = at + 1;
    }
    return [...folders].map(([folder, place]) => {
      const indices = chosen[place] as Int32Array;
      return { folder, batch: takeBatch(batch, indices, indices.length) };
    });
  }

  /** Writes each row's hash over the columns, and its time in steps of the pattern; NaN: it has none. */
  #number(batch: RecordBatch, keys: readonly Column[]): void {
    const { rows, eventTime } = batch;
    if (this.#hashes.length < rows) {
      this.#hashes = new Uint32Array(rows);
      this.#steps = new Float64Array(rows);
    }
    hashRows(keys, rows, this.#hashes);
    this.#steps.fill(eventTime === null && this.#time !== null ? Number.NaN : 0, 0, rows);
    if (this.#time === null || eventTime === null) return;
    const { words } = eventTime;
    const { stepMicros } = this.#time;
    for (let row = 0; row < rows; row++)
      this.#steps[row] = Math.floor(
        wordsToNumber(words[row * 2] as number, words[row * 2 + 1] as number) / stepMicros,
      );
  }

  #same(keys: readonly Column[], row: number, other: number): boolean {
    const hashes = this.#hashes;
    const steps = this.#steps;
    return (
      Object.is(steps[row], steps[other]) &&
      hashes[row] === hashes[other] &&
      equalRows(keys, row, keys, other)
    );
  }

  /** A kind that is new is one more of `firsts`. */
  #kindOf(keys: readonly Column[], row: number, { firsts, byHash }: Kinds): number {
    const step = this.#steps[row] as number;
    const hash = (this.#hashes[row] as number) + (Number.isNaN(step) ? 0 : step * 31);
    const known = byHash.get(hash);
    const found = known?.find((kind) => this.#same(keys, row, firsts[kind] as number));
    if (found !== undefined) return found;
    const kind = firsts.length;
    firsts.push(row);
    if (known === undefined) byHash.set(hash, [kind]);
    else known.push(kind);
    return kind;
  }

  #folder(batch: RecordBatch, keys: readonly Column[], row: number): string {
    const step = this.#steps[row] as number;
    const time =
      this.#time === null ? [] : [Number.isNaN(step) ? NO_VALUE : timePath(this.#time, step)];
    const values = this.#fields.map(
      ({ name }, index) => `${encoded(name)}=${valueText(keys[index] as Column, row)}`,
    );
    return [...time, ...values].map((part) => `${part}/`).join('');
  }
}

/** With no sign that means something in a path or to who reads its names. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*~]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );

function valueText(column: Column, row: number): string {
  if (column.validity !== null && !bitAt(column.validity, row)) return NO_VALUE;
  const text = scalarText(column, row);
  return text === '' ? NO_VALUE : encoded(text);
}

/** Null: the sink has no folders. */
export function makePartitioner({ options, schema }: SinkContext): Partitioner | null {
  const fields = partitionFields(options);
  const pattern = options[TIME_PATTERN];
  if (fields.length === 0 && typeof pattern !== 'string') return null;
  const time = typeof pattern === 'string' ? must(parseTimePattern(pattern), 'time pattern') : null;
  return new Partitioner(schema, fields, time);
}
