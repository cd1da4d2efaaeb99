/** From a query that was sent to a stored pipeline that the controller has looked at. */
import type { z } from '@hono/zod-openapi';
import { EngineError } from '../../base/errors.ts';
import { makeId } from '../../base/ids.ts';
import { noteConsumer } from '../../catalog/connections.ts';
import { type Connectors, createPipeline, type NewPipeline } from '../../catalog/pipelines.ts';
import type { PhysicalGraph } from '../../graph/graph.ts';
import type { PlanSqlOptions } from '../../graph/plan-sql.ts';
import { refusal } from '../http/problem.ts';
import { loadPipeline } from '../load.ts';
import type { ApiServices } from '../services.ts';
import { pipelineView } from '../views.ts';
import type { UdfsSchema } from './pipeline-shapes.ts';
import { planQuery } from './planning.ts';

type Udfs = z.infer<typeof UdfsSchema>;

/** A graph to store, the ids of the stored tables that its query names, and what to tell of its paths. */
export type Planned = {
  graph: PhysicalGraph;
  tables: readonly string[];
  warnings: readonly string[];
};

/** Throws what is wrong with the query. */
export async function plannedGraph(
  services: ApiServices,
  query: string,
  udfs: Udfs,
  options: PlanSqlOptions,
): Promise<Planned> {
  const { graph, errors, warnings, stored } = await planQuery(services, query, udfs, options);
  const [first] = errors;
  if (first !== undefined) throw refusal(first, errors);
  if (graph === null)
    throw new EngineError('INTERNAL', 'the query has neither a plan nor an error');
  const shared = warnings
    .filter(({ code }) => code === 'SHARED_PATH')
    .map(({ code, message, detail = '' }) => `${code}: ${message}. ${detail}`);
  return { graph, tables: stored, warnings: shared };
}

/** `exists`: the id is taken, and nothing was stored. */
export async function storePipeline(
  services: ApiServices,
  { graph, tables }: Pick<Planned, 'graph' | 'tables'>,
  udfs: Udfs,
  pipeline: Omit<NewPipeline, 'jobId' | 'graph' | 'planHash' | 'udfs' | 'connectors' | 'nowMs'>,
): Promise<'created' | 'exists'> {
  await noteConsumer(services.database, tables, pipeline.id);
  return await createPipeline(services.database, {
    ...pipeline,
    jobId: makeId('job', services.randomBytes(10)),
    graph: JSON.stringify(graph),
    planHash: graph.planHash,
    udfs: (udfs ?? []).map(({ definition }) => ({ definition })),
    connectors: connectorsOf(graph),
    nowMs: services.nowMs(),
  });
}

function connectorsOf({ operators }: PhysicalGraph): Connectors {
  const named = (tag: 'source' | 'sink'): string[] => [
    ...new Set(
      operators.flatMap(({ spec }) => (spec.tag === tag ? [spec.connector.connector] : [])),
    ),
  ];
  return { sources: named('source'), sinks: named('sink') };
}

/** The pipeline after the controller has looked at it; what it could not do now it does within a minute. */
export async function reconciled(services: ApiServices, id: string) {
  try {
    await services.reconcile(id);
  } catch {
    services.reconcileLater(id);
  }
  return pipelineView(await loadPipeline(services, id));
}

/** The answer with what its request should be told, when that is anything. */
export const warned = <View extends object>(view: View, warnings: readonly string[]) =>
  warnings.length === 0 ? view : { ...view, warnings: [...warnings] };
