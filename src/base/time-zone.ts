/**
 * What clocks of a named time zone showed: its offsets from UTC and the instants at which they changed.
 *
 * Place in the walk: stage 2, which names are zones; stage 6, windows that are cut by local time. The rules come from
 * the runtime (`Intl`), which is asked about once a week of time, never for each row; answers are kept for as long as the
 * isolate lives. Times are microseconds since 1970, UTC.
 *
 * Invariants: `starts` grows strictly; segment i lasts from `starts[i]` to `starts[i + 1]`, the first one from the
 * beginning of time; known segments never change when more of time is asked for, though their numbers do.
 * Not guaranteed: changes that are undone within a week are missed (no zone has known one since 1970).
 */
import { must } from './assert.ts';

const SECOND = 1_000_000;
const WEEK = 7 * 86_400 * SECOND;
/** Event times are exact up to here (the years 1684 to 2255); beyond it a zone keeps its last offset. */
const FARTHEST = Number.MAX_SAFE_INTEGER;

const zones = new Map<string, TimeZone>();

/** The zone of that name, such as `Europe/Paris`; null: the runtime knows none. */
export function timeZone(name: string): TimeZone | null {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const format = formatFor(name);
  if (format === null) return null;
  const zone = new TimeZone(format);
  zones.set(name, zone);
  return zone;
}

function formatFor(name: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  } catch {
    return null;
  }
}

export class TimeZone {
  readonly #format: Intl.DateTimeFormat;
  /** Time that has been looked at: `[from, to]`. */
  #from = 0;
  #to = 0;
  #starts: number[] = [-Infinity];
  #offsets: number[];

  constructor(format: Intl.DateTimeFormat) {
    this.#format = format;
    this.#offsets = [this.#ask(0)];
  }

  get starts(): readonly number[] {
    return this.#starts;
  }

  /** Microseconds to add to UTC, of each segment. */
  get offsets(): readonly number[] {
    return this.#offsets;
  }

  /** The segment that 1970 began in. */
  get anchor(): number {
    return segmentAt(this.#starts, 0);
  }

  /**
   * Looks at time from `from` to `to`.
   * @returns whether anything was learned
   */
  cover(from: number, to: number): boolean {
    const before = this.#starts.length;
    while (this.#to < Math.min(to, FARTHEST)) {
      this.#append(this.#to, this.#to + WEEK);
      this.#to += WEEK;
    }
    while (this.#from > Math.max(from, -FARTHEST)) {
      this.#prepend(this.#from - WEEK, this.#from);
      this.#from -= WEEK;
    }
    return this.#starts.length > before;
  }

  #append(from: number, to: number): void {
    for (const [at, offset] of this.#changes(from, to)) {
      this.#starts.push(at);
      this.#offsets.push(offset);
    }
  }

  #prepend(from: number, to: number): void {
    const changes = this.#changes(from, to);
    if (changes.length === 0) return;
    const offsets = [this.#ask(from), ...changes.map(([, offset]) => offset)];
    this.#starts.splice(0, 1, -Infinity, ...changes.map(([at]) => at));
    // The segment that was the first is the one after the last change.
    this.#offsets.splice(0, 1, ...offsets);
  }

  /** The changes after `from` and up to `to`, each with the offset from then on. */
  #changes(from: number, to: number): [at: number, offset: number][] {
    const changes: [number, number][] = [];
    const last = this.#ask(to);
    let at = from;
    let offset = this.#ask(from);
    while (offset !== last) {
      let low = at;
      let high = to;
      // Clocks change at whole seconds.
      while (high - low > SECOND) {
        const middle = Math.floor((low + high) / 2 / SECOND) * SECOND;
        if (this.#ask(middle) === offset) low = middle;
        else high = middle;
      }
      at = high;
      offset = this.#ask(at);
      changes.push([at, offset]);
    }
    return changes;
  }

  #ask(micros: number): number {
    const text = this.#format.format(micros / 1000);
    const match = /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(text);
    const [, sign, hours = '0', minutes = '0', seconds = '0'] = must(
      match,
      `the offset in ${text}`,
    );
    const total = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
    return (sign === '-' ? -total : total) * SECOND;
  }
}

/** The last segment that does not start after `micros`. */
export function segmentAt(starts: readonly number[], micros: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= micros) low = middle;
    else high = middle - 1;
  }
  return low;
}
