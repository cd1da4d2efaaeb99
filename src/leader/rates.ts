/**
 * How fast the counters of subtasks grow: between the last heartbeat and one that came long enough before it.
 *
 * Hosts report out of turn right before a checkpoint; over so short a time a rate would say nothing. Failure: none;
 * counters that went back count as nothing.
 */
import type { OperatorMetrics, OperatorRates } from '../protocol/messages.ts';
import type { MetricSample } from './state.ts';

/** What two heartbeats must lie apart, to tell a rate. */
const APART_MS = 1_500;

/** The samples with one more, without those that no rate needs any more. */
export function withSample(
  samples: readonly MetricSample[],
  sample: MetricSample,
): readonly MetricSample[] {
  const base = samples.findLastIndex(({ atMs }) => sample.atMs - atMs >= APART_MS);
  return [...samples.slice(Math.max(0, base)), sample];
}

/** Per second, of each operator; none before two heartbeats lay far enough apart. */
export function ratesOf(samples: readonly MetricSample[]): OperatorRates[] {
  const [base] = samples;
  const last = samples.at(-1);
  if (base === undefined || last === undefined || last.atMs - base.atMs < APART_MS) return [];
  const seconds = (last.atMs - base.atMs) / 1000;
  const before = new Map(base.metrics.map((each) => [each.operator, each]));
  return last.metrics.flatMap((now) => {
    const then = before.get(now.operator);
    if (then === undefined) return [];
    const rate = (count: (metrics: OperatorMetrics) => number): number =>
      Math.max(0, count(now) - count(then)) / seconds;
    return {
      operator: now.operator,
      subtask: now.subtask,
      rowsIn: rate((each) => each.rowsIn),
      rowsOut: rate((each) => each.rowsOut),
      bytesIn: rate((each) => each.bytesIn),
    };
  });
}
