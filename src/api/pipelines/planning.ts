/** Planning with everything a query may call: its own functions, those sent with it, and those stored for all. */
import type { z } from '@hono/zod-openapi';
import type { ErrorReport } from '../../base/errors.ts';
import { listFunctions } from '../../catalog/functions.ts';
import { DECLARATIONS } from '../../connectors/declarations.ts';
import type { UserFunction } from '../../expr/user-function.ts';
import type { PhysicalGraph } from '../../graph/graph.ts';
import { type PlanSqlOptions, type SqlPlan, planSql } from '../../graph/plan-sql.ts';
import type { UdfsSchema } from './pipeline-shapes.ts';
import type { ApiServices } from '../services.ts';

/** @param udfs  sent with the query: they stand before those that are stored */
export async function planQuery(
  services: ApiServices,
  query: string,
  udfs: z.infer<typeof UdfsSchema>,
  options: PlanSqlOptions,
): Promise<SqlPlan> {
  const sent = (udfs ?? []).map(({ definition }) => definition);
  const text = [...sent, query].join('\n').toLowerCase();
  const stored = /\(/.test(text) ? await listFunctions(services.database) : [];
  const named = stored
    .filter(({ name }) => text.includes(name))
    .map(({ definition }) => definition);
  const plan = planSql(query, DECLARATIONS, { ...options, functions: [...named, ...sent] });
  if (plan.graph === null) return plan;
  const errors = await checkFunctions(services, calledBy(plan.graph));
  return errors.length === 0 ? plan : { ...plan, graph: null, logical: '', physical: '', errors };
}

/** What is wrong with code that does not load. */
export async function checkFunctions(
  services: ApiServices,
  functions: readonly UserFunction[],
): Promise<ErrorReport[]> {
  const reports = await Promise.all(functions.map((fn) => services.checkFunction(fn)));
  return reports.filter((report) => report !== null);
}

/** Each function that a graph calls, once. */
function calledBy(graph: PhysicalGraph): UserFunction[] {
  const functions = new Map<string, UserFunction>();
  for (const { spec } of graph.operators)
    if (spec.tag === 'user-function') for (const { fn } of spec.calls) functions.set(fn.name, fn);
  return [...functions.values()];
}
