/**
 * What an updating result is now: its changes, `{before, after, op}`, put together. Pure.
 *
 * No key is needed: a change names the whole row that it takes back. A row keeps its place while it changes, so that a
 * reader sees which number moves. A row taken back that never came (the reader came later) changes nothing.
 */
import { type Exact, ExactNumber, type ExactRow, jsonText } from './exact-rows.ts';

export type StateRow = {
  /** Of its place; stays when the row changes. */
  id: number;
  values: ExactRow;
  /** How often it has changed since it came. */
  changes: number;
  /** The columns that its last change changed. */
  fresh: ReadonlySet<string>;
};

const NONE: ReadonlySet<string> = new Set();

export type Op = 'c' | 'u' | 'd' | 'r';

export type Change = { op: Op; before: ExactRow | null; after: ExactRow | null };

/** null: the row is no change. */
export function changeOf(row: ExactRow): Change | null {
  const { op } = row;
  if (op !== 'c' && op !== 'u' && op !== 'd' && op !== 'r') return null;
  return { op, before: rowOrNull(row['before']), after: rowOrNull(row['after']) };
}

function rowOrNull(value: Exact | undefined): ExactRow | null {
  if (value === null || value === undefined || typeof value !== 'object') return null;
  return Array.isArray(value) || value instanceof ExactNumber ? null : value;
}

export class CurrentState {
  /** By place, in the order in which they came. */
  readonly #rows = new Map<number, StateRow>();
  /** Places by the text of their row: equal rows may be there several times. */
  readonly #places = new Map<string, number[]>();
  #nextId = 0;

  get rows(): StateRow[] {
    return [...this.#rows.values()];
  }

  apply({ before, after }: Change): void {
    const place = before === null ? undefined : this.#take(before);
    if (after !== null) this.#put(after, place);
    else if (place !== undefined) this.#rows.delete(place);
  }

  clear(): void {
    this.#rows.clear();
    this.#places.clear();
  }

  #take(row: ExactRow): number | undefined {
    const key = jsonText(row);
    const places = this.#places.get(key);
    const place = places?.pop();
    if (places?.length === 0) this.#places.delete(key);
    return place;
  }

  #put(values: ExactRow, place: number | undefined): void {
    const id = place ?? this.#nextId++;
    const old = place === undefined ? undefined : this.#rows.get(place);
    const changes = old === undefined ? 0 : old.changes + 1;
    const fresh = old === undefined ? NONE : differing(old.values, values);
    this.#rows.set(id, { id, values, changes, fresh });
    const key = jsonText(values);
    const places = this.#places.get(key);
    if (places === undefined) this.#places.set(key, [id]);
    else places.push(id);
  }
}

function differing(before: ExactRow, after: ExactRow): ReadonlySet<string> {
  const names = Object.keys(after);
  return new Set(
    names.filter((name) => jsonText(before[name] ?? null) !== jsonText(after[name] ?? null)),
  );
}
