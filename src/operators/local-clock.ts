/**
 * A clock that never goes back, made of a zone's local time: windows that are cut by it are stretches of time.
 *
 * Place in the walk: stage 6, under windows with a time zone. Local time itself jumps back in autumn. A position is
 * local time, in microseconds, with the changes of the clock smoothed by the unit that windows are cut by:
 *
 *  - a change by whole units (hours, for windows of an hour) is left out: the repeated hour is an hour of its own;
 *  - a change back by anything else makes the position wait for local time to come by again: the day has 25 hours;
 *  - a change forward makes it jump: the day has 23 hours, and where midnight is left out the day begins at the jump.
 *
 * Invariants: positions grow with instants; `instantOf(p)` is the first instant whose position is p or more; a multiple
 * of the unit is local time's multiple of the unit.
 */
import { segmentAt, type TimeZone } from '../base/time-zone.ts';

/** Positions are less than this away from the instants they stand for. */
const MARGIN = 4 * 86_400_000_000;

export class LocalClock {
  readonly #zone: TimeZone;
  readonly #unit: number;
  #starts: readonly number[] = [];
  /** What is added to an instant of segment i. */
  #shifts: number[] = [];
  /** The last position before segment i. */
  #before: number[] = [];

  constructor(zone: TimeZone, unitMicros: number) {
    this.#zone = zone;
    this.#unit = unitMicros;
    this.#build();
  }

  #build(): void {
    const { starts, offsets, anchor } = this.#zone;
    const shifts = [...offsets];
    const step = (at: number): number => {
      const change = (offsets[at] as number) - (offsets[at - 1] as number);
      return change % this.#unit === 0 ? 0 : change;
    };
    for (let at = anchor + 1; at < shifts.length; at++)
      shifts[at] = (shifts[at - 1] as number) + step(at);
    for (let at = anchor; at > 0; at--) shifts[at - 1] = (shifts[at] as number) - step(at);
    const before = [-Infinity];
    for (let at = 1; at < shifts.length; at++)
      before.push(
        Math.max(before[at - 1] as number, (starts[at] as number) - 1 + (shifts[at - 1] as number)),
      );
    this.#starts = [...starts];
    this.#shifts = shifts;
    this.#before = before;
  }

  #cover(micros: number): void {
    if (
      this.#zone.cover(micros - MARGIN, micros + MARGIN) ||
      this.#starts.length < this.#zone.starts.length
    )
      this.#build();
  }

  positionOf(micros: number): number {
    if (!Number.isFinite(micros)) return micros;
    this.#cover(micros);
    const at = segmentAt(this.#starts, micros);
    return Math.max(micros + (this.#shifts[at] as number), this.#before[at] as number);
  }

  instantOf(position: number): number {
    if (!Number.isFinite(position)) return position;
    this.#cover(position);
    // The first segment at whose end the position has been reached: `before` grows.
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#before[middle + 1] as number) >= position) high = middle;
      else low = middle + 1;
    }
    return Math.max(this.#starts[low] as number, position - (this.#shifts[low] as number));
  }
}
