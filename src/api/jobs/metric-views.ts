/** Counters of a leader's status in the shape of Arroyo's metric groups, one point each. */
import type { z } from '@hono/zod-openapi';
import type { PhysicalGraph } from '../../graph/graph.ts';
import type { OperatorMetrics } from '../../protocol/messages.ts';
import { type METRIC_NAMES, type OperatorMetricGroupSchema } from './job-shapes.ts';
import { microsOf } from '../views.ts';

type MetricName = (typeof METRIC_NAMES)[number];

const VALUES: Record<MetricName, (metrics: OperatorMetrics) => number> = {
  messages_recv: (metrics) => metrics.rowsIn,
  messages_sent: (metrics) => metrics.rowsOut,
  bytes_recv: (metrics) => metrics.bytesIn,
  bytes_sent: (metrics) => metrics.bytesOut,
  backpressure: (metrics) => metrics.backpressure,
  errors: (metrics) => metrics.errors,
  late: (metrics) => metrics.late,
  filtered: (metrics) => metrics.filtered,
  state_bytes: (metrics) => metrics.stateBytes,
  state_rows: (metrics) => metrics.stateRows,
};

export function metricGroups(
  graph: PhysicalGraph,
  metrics: readonly OperatorMetrics[],
  nowMs: number,
): z.infer<typeof OperatorMetricGroupSchema>[] {
  return graph.operators.map(({ id }, index) => {
    const ofOperator = metrics
      .filter((candidate) => candidate.operator === id)
      .sort((left, right) => left.subtask - right.subtask);
    const names = Object.entries(VALUES) as [MetricName, (metrics: OperatorMetrics) => number][];
    return {
      node_id: index + 1,
      operator_id: id,
      metric_groups: names.map(([name, value]) => ({
        name,
        subtasks: ofOperator.map((subtask) => ({
          index: subtask.subtask,
          metrics: [{ time: microsOf(nowMs), value: value(subtask) }],
        })),
      })),
      watermarks: ofOperator.map(({ subtask, watermark }) => ({ index: subtask, watermark })),
    };
  });
}
