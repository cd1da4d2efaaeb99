/** Planning with everything a query may name: its own functions, those sent with it, and functions and tables stored for all. */
import type { z } from '@hono/zod-openapi';
import type { ErrorReport } from '../../base/errors.ts';
import { allTables, listProfiles } from '../../catalog/connections.ts';
import { listFunctions } from '../../catalog/functions.ts';
import { DECLARATIONS } from '../../connectors/declarations.ts';
import type { UserFunction } from '../../expr/user-function.ts';
import { type Findings, withFixes } from '../../graph/check-sql.ts';
import type { PhysicalGraph } from '../../graph/graph.ts';
import { type PlanSqlOptions, type SqlPlan, planSql } from '../../graph/plan-sql.ts';
import type { ConnectionProfile } from '../../plan/connection-profiles.ts';
import type { OutsideTable } from '../../plan/outside-tables.ts';
import { declaredOf, tableSql } from '../connections/table-sql.ts';
import { checkStoredPaths } from './path-checks.ts';
import type { UdfsSchema } from './pipeline-shapes.ts';
import type { ApiServices } from '../services.ts';

/** `stored`: ids of the stored tables that the query names. */
export type QueryPlan = SqlPlan & { stored: string[] };

export type CheckedQuery = QueryPlan &
  Findings & {
    /** Tables that it may name though it does not declare them. */
    outsideTables: readonly OutsideTable[];
  };

/** @param udfs  sent with the query: they stand before those that are stored */
export async function planQuery(
  services: ApiServices,
  query: string,
  udfs: z.infer<typeof UdfsSchema>,
  options: PlanSqlOptions,
): Promise<QueryPlan> {
  const { plan } = await planned(services, query, udfs, options);
  return plan;
}

/** The same, and with each finding what removes it. */
export async function checkQuery(
  services: ApiServices,
  query: string,
  udfs: z.infer<typeof UdfsSchema>,
  options: PlanSqlOptions,
): Promise<CheckedQuery> {
  const { plan, complete } = await planned(services, query, udfs, options);
  const { tables = [] } = complete;
  return { ...plan, ...withFixes(query, plan, DECLARATIONS, complete), outsideTables: tables };
}

/** The plan, and the options with all functions that it was made with. */
async function planned(
  services: ApiServices,
  query: string,
  udfs: z.infer<typeof UdfsSchema>,
  options: PlanSqlOptions,
): Promise<{ plan: QueryPlan; complete: PlanSqlOptions }> {
  const sent = (udfs ?? []).map(({ definition }) => definition);
  const text = [...sent, query].join('\n').toLowerCase();
  const functions = /\(/.test(text) ? await listFunctions(services.database) : [];
  const named = functions
    .filter(({ name }) => text.includes(name))
    .map(({ definition }) => definition);
  const stored = await storedTables(services);
  const complete = {
    ...options,
    functions: [...named, ...sent],
    profiles: text.includes('connection_profile') ? await profilesOf(services) : [],
    tables: stored.map(({ name, definition }) => ({ name, definition })),
  };
  const bound = planSql(query, DECLARATIONS, complete);
  const used = new Set(bound.outside);
  const ids = stored.filter(({ name }) => used.has(name)).map(({ id }) => id);
  const plan: QueryPlan = { ...bound, stored: ids };
  if (plan.graph === null) return { plan, complete };
  const paths = await checkStoredPaths(services, plan);
  const errors = [...(await checkFunctions(services, calledBy(plan.graph))), ...paths.errors];
  const warnings = [...plan.warnings, ...paths.warnings];
  if (errors.length === 0) return { plan: { ...plan, warnings }, complete };
  return { plan: { ...plan, graph: null, logical: '', physical: '', errors }, complete };
}

async function profilesOf(services: ApiServices): Promise<ConnectionProfile[]> {
  const profiles = await listProfiles(services.database);
  return profiles.map(({ name, connector, config }) => ({ name, connector, options: config }));
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
