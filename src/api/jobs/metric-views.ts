/** Counters of subtasks in the shape of Arroyo's metric groups: a point for each heartbeat of the last five minutes. */
import type { z } from '@hono/zod-openapi';
import { LIMITS } from '../../base/limits.ts';
import type { PhysicalGraph } from '../../graph/graph.ts';
import type { OperatorMetrics, SubtaskPoints } from '../../protocol/messages.ts';
import { METRIC_NAMES, type OperatorMetricGroupSchema } from './job-shapes.ts';
import { microsOf } from '../views.ts';

type MetricName = (typeof METRIC_NAMES)[number];
type Point = { time: number; value: number };

/** Values of a point, in the order of the leader's series. */
const SERIES: readonly MetricName[] = [
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
];

const BACKPRESSURE = SERIES.indexOf('backpressure');

export function metricGroups(
  graph: PhysicalGraph,
  metrics: readonly OperatorMetrics[],
  series: readonly SubtaskPoints[],
  nowMs: number,
): z.infer<typeof OperatorMetricGroupSchema>[] {
  return graph.operators.map(({ id }, index) => {
    const ofOperator = metrics
      .filter((candidate) => candidate.operator === id)
      .sort((left, right) => left.subtask - right.subtask);
    const points = ofOperator.map(
      (now) =>
        series.find((each) => each.operator === id && each.subtask === now.subtask) ??
        onePoint(now, nowMs),
    );
    return {
      node_id: index + 1,
      operator_id: id,
      metric_groups: METRIC_NAMES.map((name) => ({
        name,
        subtasks: points.map((each) => ({ index: each.subtask, metrics: pointsOf(name, each) })),
      })),
      watermarks: ofOperator.map(({ subtask, watermark }) => ({ index: subtask, watermark })),
    };
  });
}

function pointsOf(name: MetricName, { times, values }: SubtaskPoints): Point[] {
  const column = SERIES.indexOf(name);
  return Array.from(times, (time, point) => {
    const value = (at: number): number => values[point * SERIES.length + at] as number;
    return {
      time: microsOf(time),
      value: column < 0 ? queue(name, value(BACKPRESSURE)) : value(column),
    };
  });
}

function queue(name: MetricName, used: number): number {
  const size = LIMITS.channelBytesMax;
  return name === 'tx_queue_size' ? size : Math.round(size * (1 - used));
}

/** Of a subtask that has no series: a leader that has just been reset, or with very many subtasks. */
function onePoint(metrics: OperatorMetrics, nowMs: number): SubtaskPoints {
  const { operator, subtask, rowsIn, rowsOut, bytesIn, bytesOut } = metrics;
  const { errors, late, filtered, stateBytes, stateRows, backpressure } = metrics;
  const values = [
    rowsIn,
    rowsOut,
    bytesIn,
    bytesOut,
    errors,
    late,
    filtered,
    stateBytes,
    stateRows,
  ];
  return {
    operator,
    subtask,
    times: Float64Array.of(nowMs),
    values: Float64Array.of(...values, backpressure),
  };
}
