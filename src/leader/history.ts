/**
 * What a generation's operators did over the last hours, as points for charts.
 *
 * Place in the walk: beside stages 4 to 9; heartbeats feed it, nothing depends on it. Two rings of points: one second for
 * five minutes, ten seconds for six hours. What grew between two heartbeats of a host is spread evenly over the time
 * between them, so that a heartbeat every two seconds draws a line and not a comb, and hosts that report at different
 * times add up.
 *
 * Invariants: INV-53 the rows of all points are the rows that the hosts counted since they were first heard, also over a
 * reset of the leader, whose first heartbeats are compared with the counters that were saved. A slab holds 60 points of
 * every operator and column and is made when the first of them comes.
 * Memory: 8 columns × 4 bytes × 60 = 1,920 bytes for each operator and slab; at most 6 + 37 slabs, so 83 kB for each
 * operator, 5.3 MB for the 64 that are kept. Storage: `save` is part of the row that the leader writes at a checkpoint
 * anyway (about 8 kB for each operator); a full slab of ten minutes is a row of its own, written once.
 * Not guaranteed: what was heard after the last `save` before a reset is spread evenly over the hole.
 * Failure: none; counters that went back count as nothing.
 */
import type { PhysicalGraph } from '../graph/graph.ts';
import type { HistoryPoints, OperatorMetrics } from '../protocol/messages.ts';
import type { LeaderState } from './state.ts';

/** Columns of a point, in this order: five that grow, then three that stand. */
export const HISTORY_COLUMNS = [
  'rowsIn',
  'rowsOut',
  'bytesIn',
  'late',
  'errors',
  'stateBytes',
  'backpressure',
  'lag',
] as const;

const COUNTERS = 5;
const STATE_BYTES = 5;
const BACKPRESSURE = 6;
const LAG = 7;
const WIDTH = HISTORY_COLUMNS.length;

const FINE_STEP_MS = 1_000;
const FINE_SLABS = 6;
const COARSE_STEP_MS = 10_000;
const COARSE_SLABS = 37;
const SLAB_POINTS = 60;
/** Beyond these, sources and sinks first, operators have no history. */
export const HISTORY_OPERATORS_MAX = 64;
const COMMITS_MAX = 400;
/** A host that is silent for longer holds the newest points back no more. */
const PATIENCE_MS = 10_000;
/** How long after its end a slab may still get points of slower hosts. */
const SLAB_GRACE_MS = 15_000;

type Commit = { atMs: number; epoch: number };

type Heard = { atMs: number; counters: Float64Array };

export type SavedSlab = { index: number; values: Float32Array };

/** What survives a reset of the leader's object, beside the slabs that are rows of their own. */
export type SavedHistory = {
  version: 1;
  operators: readonly string[];
  heard: readonly (readonly [host: number, heard: Heard])[];
  fine: readonly SavedSlab[];
  coarse: readonly SavedSlab[];
  commits: readonly Commit[];
};

/** One ring: slabs by number, the oldest dropped. */
class Ring {
  readonly stepMs: number;
  readonly #slabsMax: number;
  readonly #series: number;
  readonly #slabs = new Map<number, Float32Array>();

  constructor(stepMs: number, slabsMax: number, series: number) {
    this.stepMs = stepMs;
    this.#slabsMax = slabsMax;
    this.#series = series;
  }

  get keptMs(): number {
    return (this.#slabsMax - 1) * SLAB_POINTS * this.stepMs;
  }

  /** Null: nothing was heard then. */
  slabOf(point: number): Float32Array | null {
    return this.#slabs.get(Math.floor(point / SLAB_POINTS)) ?? null;
  }

  makeSlabOf(point: number): Float32Array {
    const index = Math.floor(point / SLAB_POINTS);
    const known = this.#slabs.get(index);
    if (known !== undefined) return known;
    const slab = new Float32Array(this.#series * SLAB_POINTS).fill(NaN);
    this.#slabs.set(index, slab);
    for (const old of this.#slabs.keys())
      if (old <= index - this.#slabsMax) this.#slabs.delete(old);
    return slab;
  }

  load({ index, values }: SavedSlab): void {
    if (values.length === this.#series * SLAB_POINTS) this.#slabs.set(index, values.slice());
  }

  /** Copies of the slabs from `index` on, the oldest first. */
  from(index: number): SavedSlab[] {
    return [...this.#slabs]
      .filter(([each]) => each >= index)
      .toSorted(([left], [right]) => left - right)
      .map(([each, values]) => ({ index: each, values: values.slice() }));
  }

  slabIndex(atMs: number): number {
    return Math.floor(atMs / (this.stepMs * SLAB_POINTS));
  }

  endOfSlab(index: number): number {
    return (index + 1) * SLAB_POINTS * this.stepMs;
  }
}

const offsetOf = (point: number): number => ((point % SLAB_POINTS) + SLAB_POINTS) % SLAB_POINTS;

export class LeaderHistory {
  readonly #operators: readonly string[];
  readonly #indexOf: ReadonlyMap<string, number>;
  readonly #fine: Ring;
  readonly #coarse: Ring;
  readonly #heard = new Map<number, Heard>();
  #commits: Commit[] = [];
  #savedTo = -Infinity;

  constructor(operators: readonly string[]) {
    this.#operators = operators;
    this.#indexOf = new Map(operators.map((id, index) => [id, index]));
    this.#fine = new Ring(FINE_STEP_MS, FINE_SLABS, operators.length * WIDTH);
    this.#coarse = new Ring(COARSE_STEP_MS, COARSE_SLABS, operators.length * WIDTH);
  }

  /** Takes in what the leader has heard since the last time; asking again changes nothing. */
  take(state: LeaderState): void {
    for (const [host, { metrics, metricsMs }] of state.hosts.entries())
      if (metricsMs !== null) this.observe(host, metrics, metricsMs);
    const last = this.#commits.at(-1)?.epoch ?? -1;
    for (const { epoch, committedMs } of state.recent)
      if (epoch > last && committedMs !== null) this.#commits.push({ atMs: committedMs, epoch });
    if (this.#commits.length > COMMITS_MAX) this.#commits = this.#commits.slice(-COMMITS_MAX);
  }

  /** A heartbeat of `host` that came at `atMs`. */
  observe(host: number, metrics: readonly OperatorMetrics[], atMs: number): void {
    const before = this.#heard.get(host);
    if (before !== undefined && atMs <= before.atMs) return;
    const counters = new Float64Array(this.#operators.length * COUNTERS);
    for (const each of metrics) {
      const index = this.#indexOf.get(each.operator);
      if (index === undefined) continue;
      const { rowsIn, rowsOut, bytesIn, late, errors } = each;
      counters.set([rowsIn, rowsOut, bytesIn, late, errors], index * COUNTERS);
    }
    this.#heard.set(host, { atMs, counters });
    if (before === undefined) return;
    for (const ring of [this.#fine, this.#coarse])
      this.#spread(ring, before, { atMs, counters }, metrics);
  }

  #spread(ring: Ring, before: Heard, now: Heard, metrics: readonly OperatorMetrics[]): void {
    const { stepMs } = ring;
    const spanMs = now.atMs - before.atMs;
    const fromMs = Math.max(before.atMs, now.atMs - ring.keptMs);
    for (let point = Math.floor(fromMs / stepMs); point * stepMs < now.atMs; point++) {
      const beginMs = Math.max(fromMs, point * stepMs);
      const overlapMs = Math.min(now.atMs, (point + 1) * stepMs) - beginMs;
      const slab = ring.makeSlabOf(point);
      const offset = offsetOf(point);
      for (const each of metrics) {
        const index = this.#indexOf.get(each.operator);
        if (index === undefined) continue;
        const at = index * WIDTH * SLAB_POINTS + offset;
        for (let column = 0; column < COUNTERS; column++) {
          const counter = index * COUNTERS + column;
          const grown = (now.counters[counter] as number) - (before.counters[counter] as number);
          add(slab, at + column * SLAB_POINTS, Math.max(0, grown) * (overlapMs / spanMs));
        }
        add(slab, at + STATE_BYTES * SLAB_POINTS, each.stateBytes * (overlapMs / stepMs));
        raise(slab, at + BACKPRESSURE * SLAB_POINTS, each.backpressure);
        if (typeof each.watermark === 'number')
          raise(slab, at + LAG * SLAB_POINTS, now.atMs * 1000 - each.watermark);
      }
    }
  }

  /** Points up to here have heard of every host that is not silent; -Infinity before the first. */
  get completeToMs(): number {
    const times = [...this.#heard.values()].map(({ atMs }) => atMs);
    if (times.length === 0) return -Infinity;
    return Math.max(Math.min(...times), Math.max(...times) - PATIENCE_MS);
  }

  /**
   * The whole steps of `[fromMs, toMs)` that are complete: rates per second, and values. A step of a second that is not known
   * is filled from the ten seconds it lies in.
   *
   * @param stepMs  a second, or a multiple of ten
   */
  read(
    fromMs: number,
    toMs: number,
    stepMs: number,
  ): Pick<HistoryPoints, 'firstMs' | 'stepMs' | 'points' | 'operators' | 'values'> {
    const first = Math.floor(fromMs / stepMs);
    const end = Math.max(first, Math.floor(Math.min(toMs, this.completeToMs) / stepMs));
    const points = Number.isFinite(end) ? end - first : 0;
    const values = new Float32Array(this.#operators.length * WIDTH * points).fill(NaN);
    for (let at = 0; at < points; at++)
      for (let series = 0; series < this.#operators.length * WIDTH; series++)
        values[series * points + at] = this.#value(series, first + at, stepMs);
    return { firstMs: first * stepMs, stepMs, points, operators: [...this.#operators], values };
  }

  #value(series: number, point: number, stepMs: number): number {
    const column = series % WIDTH;
    if (stepMs < COARSE_STEP_MS) {
      const own = valueAt(this.#fine, series, point);
      if (!Number.isNaN(own)) return column < COUNTERS ? own / (stepMs / 1000) : own;
    }
    const from = Math.floor((point * stepMs) / COARSE_STEP_MS);
    const to = Math.max(from + 1, Math.floor(((point + 1) * stepMs) / COARSE_STEP_MS));
    let total = NaN;
    for (let each = from; each < to; each++) {
      const value = valueAt(this.#coarse, series, each);
      if (Number.isNaN(value)) continue;
      if (Number.isNaN(total)) total = value;
      else total = column < COUNTERS ? total + value : Math.max(total, value);
    }
    return column < COUNTERS ? total / (((to - from) * COARSE_STEP_MS) / 1000) : total;
  }

  commits(fromMs: number): Commit[] {
    return this.#commits.filter(({ atMs }) => atMs >= fromMs);
  }

  /** To be stored with the leader's state; bounded. */
  save(): SavedHistory {
    const newestMs = Math.max(0, ...[...this.#heard.values()].map(({ atMs }) => atMs));
    return {
      version: 1,
      operators: this.#operators,
      heard: [...this.#heard],
      fine: this.#fine.from(this.#fine.slabIndex(newestMs) - 1),
      coarse: this.#coarse.from(this.#coarse.slabIndex(newestMs) - 1),
      commits: this.#commits,
    };
  }

  /** Slabs that are full since the last time: each is to be stored under its number, and kept as long as it says. */
  takeFull(nowMs: number): { slabs: SavedSlab[]; keptFrom: number } {
    const current = this.#coarse.slabIndex(nowMs);
    const keptFrom = current - COARSE_SLABS + 1;
    const due = this.#coarse.slabIndex(nowMs - SLAB_GRACE_MS);
    if (due <= this.#savedTo) return { slabs: [], keptFrom };
    const slabs = this.#coarse
      .from(Math.max(this.#savedTo, keptFrom))
      .filter(({ index }) => index < due);
    this.#savedTo = due;
    return { slabs, keptFrom };
  }

  /** What `save` and `takeFull` gave before a reset. History of another graph is left behind. */
  restore(saved: SavedHistory, slabs: readonly SavedSlab[]): void {
    if (saved.operators.join('\n') !== this.#operators.join('\n')) return;
    for (const slab of slabs) this.#coarse.load(slab);
    for (const slab of saved.coarse) this.#coarse.load(slab);
    for (const slab of saved.fine) this.#fine.load(slab);
    for (const [host, heard] of saved.heard) this.#heard.set(host, heard);
    this.#commits = [...saved.commits];
    this.#savedTo = Math.max(-Infinity, ...slabs.map(({ index }) => index + 1));
  }
}

/** The operators of a graph that have a history: sources and sinks first, for the pipeline's own rates are theirs. */
export function historyOperators({ operators }: PhysicalGraph): string[] {
  const isEnd = (tag: string): boolean => tag === 'source' || tag === 'sink';
  const ends = operators.filter(({ spec }) => isEnd(spec.tag));
  const inner = operators.filter(({ spec }) => !isEnd(spec.tag));
  return [...ends, ...inner].slice(0, HISTORY_OPERATORS_MAX).map(({ id }) => id);
}

function add(slab: Float32Array, at: number, value: number): void {
  const before = slab[at] as number;
  slab[at] = Number.isNaN(before) ? value : before + value;
}

function raise(slab: Float32Array, at: number, value: number): void {
  const before = slab[at] as number;
  if (Number.isNaN(before) || value > before) slab[at] = value;
}

function valueAt(ring: Ring, series: number, point: number): number {
  return ring.slabOf(point)?.[series * SLAB_POINTS + offsetOf(point)] ?? NaN;
}
