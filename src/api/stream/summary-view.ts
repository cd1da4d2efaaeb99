/** Entries of the list of pipelines. */
import type { Summary } from '../../catalog/summaries.ts';
import { isSinkId, isSourceId } from '../../graph/graph.ts';
import type { LeaderStatus } from '../../protocol/messages.ts';
import { lowest } from '../observe/status.ts';
import { actionOf, microsOf } from '../views.ts';
import type { PipelineLive, PipelineSummary } from './summary-shapes.ts';

/** `live`: null without a leader that was asked and answers. */
export function summaryView(summary: Summary, live: PipelineLive | null): PipelineSummary {
  const { desiredState: _desired, connectors, createdMs, committedEpoch, ...rest } = summary;
  return {
    ...rest,
    ...actionOf(summary, summary.state),
    created_at: microsOf(createdMs),
    // The catalogue hears of epochs when the controller looks, which is once a minute.
    epoch: Math.max(summary.epoch, live?.epoch ?? 0),
    committed_epoch: Math.max(committedEpoch, live?.committed_epoch ?? 0),
    sources: connectors.sources,
    sinks: connectors.sinks,
    live,
  };
}

/** @param before  the last points of rows_in_per_second, oldest first */
export function liveOf(
  status: LeaderStatus,
  before: readonly number[],
  nowMs: number,
): PipelineLive {
  let rowsIn = 0;
  let rowsOut = 0;
  for (const { operator, rowsIn: rate } of status.rates ?? []) {
    if (isSourceId(operator)) rowsIn += rate;
    if (isSinkId(operator)) rowsOut += rate;
  }
  let errors = 0;
  let late = 0;
  let backpressure = 0;
  for (const metrics of status.metrics) {
    errors += metrics.errors;
    late += metrics.late;
    backpressure = Math.max(backpressure, metrics.backpressure);
  }
  const watermark = lowest(status.metrics.map((metrics) => metrics.watermark));
  return {
    rows_in_per_second: rowsIn,
    rows_out_per_second: rowsOut,
    lag_micros: typeof watermark === 'number' ? microsOf(nowMs) - watermark : null,
    rates: [...before, rowsIn],
    epoch: status.epoch,
    committed_epoch: status.committedEpoch,
    backpressure,
    errors,
    late,
  };
}
