/** Entries of the list of pipelines. */
import type { Summary } from '../../catalog/summaries.ts';
import { actionOf, microsOf } from '../views.ts';
import type { PipelineLive, PipelineSummary } from './summary-shapes.ts';

/** `live`: null without a leader that was asked and answers. */
export function summaryView(summary: Summary, live: PipelineLive | null): PipelineSummary {
  const { desiredState: _desired, connectors, createdMs, committedEpoch, ...rest } = summary;
  return {
    ...rest,
    ...actionOf(summary, summary.state),
    created_at: microsOf(createdMs),
    committed_epoch: committedEpoch,
    sources: connectors.sources,
    sinks: connectors.sinks,
    live,
  };
}
