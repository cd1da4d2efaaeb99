/**
 * The rows of a pipeline that went wrong, from all who keep some: leaders of the newest generations, and the logs of `http`
 * tables, which refuse rows before any generation reads them.
 *
 * Ids tell time, keeper and number of a row, so that a page goes on behind a row that is gone by now. Failure: what does
 * not answer is left out.
 */
import type { PipelineAndJob } from '../../catalog/schema.ts';
import type { RejectedRecord } from '../../connectors/http/log-store.ts';
import type { PhysicalGraph } from '../../graph/graph.ts';
import type { ProblemPage } from '../../protocol/messages.ts';
import { LIMITS } from '../../base/limits.ts';
import { partitionsOf } from '../load.ts';
import type { ApiServices } from '../services.ts';
import { graphOf, microsOf } from '../views.ts';
import type { ErrorRow, ErrorRows } from './detail-shapes.ts';

/** Generations whose leaders are asked; older ones had their time. */
const GENERATIONS_ASKED = 5;
const RAW_BYTES_MAX = 2_048;

/** Who keeps a row: a leader by its generation, or a log by source and partition. */
export type Keeper =
  | { tag: 'leader'; generation: number }
  | { tag: 'log'; operator: string; table: string; partition: number };

/** A page of rows, newest first, behind the row with the id `after`. */
export async function errorRows(
  services: ApiServices,
  found: PipelineAndJob,
  after: string | null,
  limit: number,
): Promise<ErrorRows> {
  const graph = graphOf(found.pipeline);
  const keepers = [...leadersOf(found.job.generation), ...logsOf(graph)];
  const pages = await Promise.all(
    keepers.map((keeper) => keptBy(services, found.pipeline.id, graph, keeper, 0)),
  );
  const all = pages.flatMap(({ rows }) => rows).sort(newestFirst);
  const rest = after === null ? all : all.filter((row) => isBehind(row.id, after));
  return { data: rest.slice(0, limit), hasMore: rest.length > limit };
}

function leadersOf(generation: number): Keeper[] {
  const first = Math.max(1, generation - GENERATIONS_ASKED + 1);
  return Array.from({ length: Math.max(0, generation - first + 1) }, (_, index) => ({
    tag: 'leader',
    generation: generation - index,
  }));
}

export function logsOf(graph: PhysicalGraph): Keeper[] {
  return graph.operators.flatMap(({ id, spec }) => {
    if (spec.tag !== 'source' || spec.connector.connector !== 'http') return [];
    return Array.from({ length: partitionsOf(spec) }, (_, partition): Keeper => ({
      tag: 'log',
      operator: id,
      table: spec.table,
      partition,
    }));
  });
}

/** What `keeper` has with numbers above `after`, oldest first, and the number of its newest; null: it does not answer. */
export async function keptBy(
  services: ApiServices,
  pipelineId: string,
  graph: PhysicalGraph,
  keeper: Keeper,
  after: number,
  limit: number = LIMITS.errorRowsKept,
): Promise<{ rows: ErrorRow[]; last: number | null }> {
  try {
    if (keeper.tag === 'leader') {
      const { generation } = keeper;
      const page = await services.problems(pipelineId, generation, after, limit);
      return {
        rows: page.rows.map((row) => problemRow(graph, generation, row)),
        last: page.last,
      };
    }
    const { table, partition } = keeper;
    const kept = await services.log(pipelineId, table, partition).rejected(limit);
    // Sequences of a log count from 0.
    const rows = kept
      .toReversed()
      .filter(({ sequence }) => sequence + 1 > after)
      .map((row) => rejectedRow(keeper, row));
    return { rows, last: kept[0] === undefined ? 0 : kept[0].sequence + 1 };
  } catch {
    return { rows: [], last: null };
  }
}

function problemRow(
  graph: PhysicalGraph,
  generation: number,
  problem: ProblemPage['rows'][number],
): ErrorRow {
  const { number, atMs, operator, subtask, code, message, row } = problem;
  return {
    id: idOf(atMs, `g${generation}`, number),
    time: microsOf(atMs),
    generation,
    operator_id: operator,
    table: tableOf(graph, operator),
    subtask,
    partition: row?.partition ?? null,
    code,
    column: row?.column ?? null,
    reason: row?.reason ?? message,
    hint: null,
    raw: row?.raw ?? null,
    raw_sha256: row?.rawSha256 ?? null,
  };
}

function rejectedRow(
  { operator, table, partition }: Keeper & { tag: 'log' },
  { sequence, atMs, code, column, message, raw, rawSha256 }: RejectedRecord,
): ErrorRow {
  return {
    id: idOf(atMs, `${operator}.${partition}`, sequence + 1),
    time: microsOf(atMs),
    generation: 0,
    operator_id: operator,
    table,
    subtask: 0,
    partition,
    code,
    column: column === '' ? null : column,
    reason: message,
    hint: null,
    raw: raw === null ? null : beginning(raw),
    raw_sha256: rawSha256 ?? null,
  };
}

function tableOf(graph: PhysicalGraph, operator: string): string | null {
  const spec = graph.operators.find(({ id }) => id === operator)?.spec;
  return spec?.tag === 'source' || spec?.tag === 'sink' ? spec.table : null;
}

function beginning(text: string): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(RAW_BYTES_MAX));
  return text.slice(0, read);
}

/** Parts of equal width where they count, so that ids are ordered as texts. */
const idOf = (atMs: number, keeper: string, number: number): string =>
  `${Math.floor(atMs).toString(36).padStart(9, '0')}-${keeper}-${number.toString(36).padStart(8, '0')}`;

export const newestFirst = (left: ErrorRow, right: ErrorRow): number =>
  left.id < right.id ? 1 : left.id > right.id ? -1 : 0;

const isBehind = (id: string, after: string): boolean => id < after;
