/**
 * How windows that do not depend on the rows divide time.
 *
 * Place in the walk: stage 6, under tumbling, hopping and cumulating windows. Time is cut into panes, the longest
 * stretches that lie in the same windows throughout; rows are aggregated by pane, and a window is made of whole panes.
 * All times but those of `paneOfInstant` and `instantOf` are positions: microseconds since 1970, of UTC or of a
 * zone's local clock that never goes back (`LocalClock`).
 *
 *     hop(2 s, 5 s):  panes of 1 s   |·|·|·|·|·|·|·|·|·|
 *                     windows        [·········)
 *                                        [·········)
 *
 * Invariants: window ends grow with window starts; a window `[start, end)` begins and ends where panes do.
 */
import { assert, must } from '../base/assert.ts';
import { timeZone } from '../base/time-zone.ts';
import { paneMicros, type AlignedWindow } from '../graph/window-panes.ts';
import { LocalClock } from './local-clock.ts';

export class WindowGrid {
  /** Length of a pane. */
  readonly pane: number;
  /** Whether every window is one pane. */
  readonly single: boolean;
  /** Whether the panes of a window stay in it until it is over. */
  readonly cumulates: boolean;
  readonly #window: AlignedWindow;
  /** From the end of a window to the next one's. */
  readonly #step: number;
  readonly #offset: number;
  readonly #clock: LocalClock | null;

  constructor(window: AlignedWindow) {
    const { widthMicros, offsetMicros, timezone } = window;
    assert(widthMicros > 0, 'a window has a width');
    this.#window = window;
    this.#offset = offsetMicros;
    this.#step = stepOf(window);
    this.pane = paneMicros(window);
    this.cumulates = window.tag === 'cumulate';
    this.single = this.pane === widthMicros && this.#step === widthMicros;
    const unit = window.tag === 'hop' ? this.#step : widthMicros;
    this.#clock =
      timezone === undefined
        ? null
        : new LocalClock(must(timeZone(timezone), `the time zone ${timezone}`), unit);
  }

  positionOf(instant: number): number {
    return this.#clock === null ? instant : this.#clock.positionOf(instant);
  }

  /** The first instant at `position` or after it. */
  instantOf(position: number): number {
    return this.#clock === null ? position : this.#clock.instantOf(position);
  }

  /** Where the pane that holds an instant starts. */
  paneOfInstant(instant: number): number {
    return floorTo(this.positionOf(instant), this.pane, this.#offset);
  }

  /** The end of the first window that ends after `position`. */
  endAfter(position: number): number {
    if (this.#window.tag !== 'hop') return floorTo(position, this.#step, this.#offset) + this.#step;
    const phase = this.#offset + this.#window.widthMicros;
    return floorTo(position, this.#step, phase) + this.#step;
  }

  /** How many windows end at `first` or after it and not after `last`; both are ends, unless there is none. */
  countOfEnds(first: number, last: number): number {
    return last < first ? 0 : Math.round((last - first) / this.#step) + 1;
  }

  /** Where the window with this end starts. */
  startOf(end: number): number {
    const { tag, widthMicros } = this.#window;
    return tag === 'cumulate' ? floorTo(end - 1, widthMicros, this.#offset) : end - widthMicros;
  }

  /** The end of the last window that holds the pane; not after its start when none does. */
  lastEndOf(paneStart: number): number {
    const { tag, widthMicros } = this.#window;
    const grid = tag === 'hop' ? this.#step : widthMicros;
    return floorTo(paneStart, grid, this.#offset) + widthMicros;
  }

  /** Calls `visit(start, end)` for each window that holds the pane, the first one first. */
  forEachWindowOf(paneStart: number, visit: (start: number, end: number) => void): void {
    const last = this.lastEndOf(paneStart);
    for (let end = this.endAfter(paneStart + this.pane - 1); end <= last; end += this.#step)
      visit(this.startOf(end), end);
  }
}

function stepOf(window: AlignedWindow): number {
  if (window.tag === 'tumble') return window.widthMicros;
  const step = window.tag === 'hop' ? window.slideMicros : window.stepMicros;
  assert(step > 0, 'windows move on');
  assert(
    window.tag === 'hop' || window.widthMicros % step === 0,
    'the width is made of whole steps',
  );
  return step;
}

/** The largest `offset + k · grid` that is not above `value`. */
function floorTo(value: number, grid: number, offset: number): number {
  if (!Number.isFinite(value)) return value;
  const since = value - offset;
  return value - (((since % grid) + grid) % grid);
}
