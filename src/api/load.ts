/** Finding what a path names, or answering 404 with what there is. */
import { EngineError } from '../base/errors.ts';
import { nearest } from '../base/nearest.ts';
import { getPipeline } from '../catalog/pipelines.ts';
import type { PipelineAndJob } from '../catalog/schema.ts';
import type { PhysicalGraph, SourceSpec } from '../graph/graph.ts';
import type { ApiServices } from './services.ts';

export const noPipeline = (id: string): EngineError =>
  new EngineError('NOT_FOUND', `there is no pipeline ${id}`, {
    hint: 'GET /api/v1/pipelines lists those there are.',
  });

/** Throws NOT_FOUND. */
export async function loadPipeline(services: ApiServices, id: string): Promise<PipelineAndJob> {
  const found = await getPipeline(services.database, id);
  if (found === null) throw noPipeline(id);
  return found;
}

/** Throws NOT_FOUND, also when the job is another pipeline's. */
export async function loadJob(
  services: ApiServices,
  id: string,
  jobId: string,
): Promise<PipelineAndJob> {
  const found = await loadPipeline(services, id);
  if (found.job.id !== jobId) {
    throw new EngineError('NOT_FOUND', `pipeline ${id} has no job ${jobId}`, {
      suggestion: found.job.id,
    });
  }
  return found;
}

/** The `http` table of a pipeline, by its name in any case. Throws NOT_FOUND with the tables there are. */
export function httpTable(graph: PhysicalGraph, table: string): SourceSpec {
  const tables = graph.operators.flatMap(({ spec }) =>
    spec.tag === 'source' && spec.connector.connector === 'http' ? [spec] : [],
  );
  const found =
    tables.find((spec) => spec.table === table) ??
    tables.find((spec) => spec.table.toLowerCase() === table.toLowerCase());
  if (found !== undefined) return found;
  const names = [...new Set(tables.map((spec) => spec.table))];
  const suggestion = nearest(table, names) ?? (names.length === 1 ? names[0] : undefined);
  throw new EngineError('NOT_FOUND', `the pipeline has no http table "${table}"`, {
    hint:
      names.length === 0
        ? "None of its tables takes rows by HTTP: declare one with connector = 'http'."
        : `Its http tables: ${names.join(', ')}.`,
    ...(suggestion === undefined ? {} : { suggestion }),
  });
}

export const partitionsOf = (spec: SourceSpec): number =>
  Math.max(1, Number(spec.connector.options['partitions'] ?? 1));
