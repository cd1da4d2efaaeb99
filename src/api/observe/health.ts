/** A pipeline's health: status facts made into one sentence with a reason code. Pure: it looks at nothing but the status. */
import type { PhysicalGraph } from '../../graph/graph.ts';
import type { Health } from './health-shapes.ts';
import type { PipelineStatus } from './status-shapes.ts';

export function healthOf(status: PipelineStatus, _graph: PhysicalGraph): Health {
  return {
    level: 'ok',
    code: 'OK',
    sentence: 'Rows come out.',
    fix: null,
    source: null,
    watermark: null,
    window: null,
    since: null,
    at: status.at,
    others: [],
  };
}
