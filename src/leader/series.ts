/**
 * The last five minutes of every subtask's counters, as its host reported them: one point a heartbeat.
 *
 * Place in the walk: beside stages 4 to 9; nothing depends on it. Memory: 150 points × 10 values × 8 bytes = 12,000 bytes for
 * each subtask of an operator, for 256 of them at most: 3 MB. Not kept over a reset of the leader. Failure: none.
 */
import type { OperatorMetrics, SubtaskPoints } from '../protocol/messages.ts';
import type { LeaderState } from './state.ts';

const POINTS_MAX = 150;
const KEPT_MS = 300_000;
/** Reports out of turn are no points of their own. */
const APART_MS = 1_500;
/** Subtasks of operators beyond these have no series. */
const SERIES_MAX = 256;

const VALUES: readonly ((metrics: OperatorMetrics) => number)[] = [
  (metrics) => metrics.rowsIn,
  (metrics) => metrics.rowsOut,
  (metrics) => metrics.bytesIn,
  (metrics) => metrics.bytesOut,
  (metrics) => metrics.errors,
  (metrics) => metrics.late,
  (metrics) => metrics.filtered,
  (metrics) => metrics.stateBytes,
  (metrics) => metrics.stateRows,
  (metrics) => metrics.backpressure,
];

/** What the values of a point are, in their order. */
export const SERIES_VALUES = [
  'messages_recv',
  'messages_sent',
  'bytes_recv',
  'bytes_sent',
  'errors',
  'late',
  'filtered',
  'state_bytes',
  'state_rows',
  'backpressure',
] as const;

/** Points from `count - POINTS_MAX` on; point i lies at i modulo POINTS_MAX. */
type Series = { times: Float64Array; values: Float64Array; count: number };

export class LeaderSeries {
  readonly #series = new Map<string, Series>();

  /** Takes in what the leader has heard; asking again changes nothing. */
  take({ hosts }: LeaderState): void {
    for (const { metrics, metricsMs } of hosts)
      if (metricsMs !== null) for (const each of metrics) this.#add(each, metricsMs);
  }

  #add(metrics: OperatorMetrics, atMs: number): void {
    const key = `${metrics.operator}/${metrics.subtask}`;
    let series = this.#series.get(key);
    if (series === undefined) {
      if (this.#series.size >= SERIES_MAX) return;
      const values = new Float64Array(POINTS_MAX * VALUES.length);
      series = { times: new Float64Array(POINTS_MAX), values, count: 0 };
      this.#series.set(key, series);
    }
    const last = series.count === 0 ? -Infinity : series.times[(series.count - 1) % POINTS_MAX];
    if (atMs - (last as number) < APART_MS) return;
    const at = series.count++ % POINTS_MAX;
    series.times[at] = atMs;
    for (const [index, value] of VALUES.entries())
      series.values[at * VALUES.length + index] = value(metrics);
  }

  /** Oldest points first. */
  read(nowMs: number): SubtaskPoints[] {
    return [...this.#series].map(([key, { times, values, count }]) => {
      const points: number[] = [];
      for (let each = Math.max(0, count - POINTS_MAX); each < count; each++)
        if (nowMs - (times[each % POINTS_MAX] as number) <= KEPT_MS) points.push(each % POINTS_MAX);
      const slash = key.lastIndexOf('/');
      return {
        operator: key.slice(0, slash),
        subtask: Number(key.slice(slash + 1)),
        times: Float64Array.from(points, (at) => times[at] as number),
        values: Float64Array.from({ length: points.length * VALUES.length }, (_, index) => {
          const at = points[Math.floor(index / VALUES.length)] as number;
          return values[at * VALUES.length + (index % VALUES.length)] as number;
        }),
      };
    });
  }
}
