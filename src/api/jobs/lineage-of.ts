/** The lineage of a pipeline's job, or the error that says why it can not be read. */
import { EngineError } from '../../base/errors.ts';
import type { PipelineAndJob } from '../../catalog/schema.ts';
import type { LineageView } from '../../lineage/read.ts';
import type { ApiServices } from '../services.ts';

/** Null when there is none yet. Throws STORE_FAILED or LINEAGE_BROKEN. */
export async function lineageOf(
  services: ApiServices,
  { job }: PipelineAndJob,
): Promise<LineageView | null> {
  const outcome = await services.lineage(job.pipelineId, job.id);
  switch (outcome.tag) {
    case 'read':
      return outcome.view;
    case 'none':
      return null;
    case 'broken':
    case 'unavailable':
      throw new EngineError(outcome.report.code, outcome.report.message, outcome.report);
  }
}
