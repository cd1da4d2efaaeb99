/** Planning with everything a query may name: its own functions, those sent with it, and functions and tables stored for all. */
import type { z } from '@hono/zod-openapi';
import type { ErrorReport } from '../../base/errors.ts';
import { allTables } from '../../catalog/connections.ts';
import { listFunctions } from '../../catalog/functions.ts';
import { DECLARATIONS } from '../../connectors/declarations.ts';
import type { UserFunction } from '../../expr/user-function.ts';
import type { PhysicalGraph } from '../../graph/graph.ts';
import { type PlanSqlOptions, type SqlPlan, planSql } from '../../graph/plan-sql.ts';
import { declaredOf, tableSql } from '../connections/table-sql.ts';
import type { UdfsSchema } from './pipeline-shapes.ts';
import type { ApiServices } from '../services.ts';

/** `stored`: ids of the stored tables that the query names. */
export type QueryPlan = SqlPlan & { stored: string[] };

/** @param udfs  sent with the query: they stand before those that are stored */
export async function planQuery(
  services: ApiServices,
  query: string,
  udfs: z.infer<typeof UdfsSchema>,
  options: PlanSqlOptions,
): Promise<QueryPlan> {
  const sent = (udfs ?? []).map(({ definition }) => definition);
  const text = [...sent, query].join('\n').toLowerCase();
  const functions = /\(/.test(text) ? await listFunctions(services.database) : [];
  const named = functions
    .filter(({ name }) => text.includes(name))
    .map(({ definition }) => definition);
  const stored = await storedTables(services);
  const planned = planSql(query, DECLARATIONS, {
    ...options,
    functions: [...named, ...sent],
    tables: stored.map(({ name, definition }) => ({ name, definition })),
  });
  const used = new Set(planned.outside);
  const ids = stored.filter(({ name }) => used.has(name)).map(({ id }) => id);
  const plan: QueryPlan = { ...planned, stored: ids };
  if (plan.graph === null) return plan;
  const errors = await checkFunctions(services, calledBy(plan.graph));
  return errors.length === 0 ? plan : { ...plan, graph: null, logical: '', physical: '', errors };
}

/** Tables that every query may name, as texts of CREATE TABLE. */
async function storedTables(
  services: ApiServices,
): Promise<{ id: string; name: string; definition: string }[]> {
  const tables = await allTables(services.database);
  return tables.map((stored) => ({
    id: stored.table.id,
    name: stored.table.name,
    definition: tableSql(declaredOf(stored)),
  }));
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
