/**
 * The list of pipelines without their texts and graphs, and what of it has changed: thousands of them, every second.
 *
 * Invariants: `sequence` is read before the rows, so that a change which comes between them is told again and never missed;
 * previews are not listed. Not guaranteed: one moment in time.
 */
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { Connectors } from './pipelines.ts';
import type { Database, DesiredState, JobState } from './schema.ts';

export type Summary = {
  id: string;
  name: string;
  desiredState: DesiredState;
  state: JobState;
  createdMs: number;
  parallelism: number;
  generation: number;
  epoch: number;
  committedEpoch: number;
  restarts: number;
  tags: Record<string, string>;
  failure: { code: string; message: string } | null;
  connectors: Connectors;
};

const SORTED_BY = {
  created: sql`pipelines.created_ms`,
  name: sql`pipelines.name COLLATE NOCASE`,
  state: sql`jobs.state`,
  epoch: sql`jobs.epoch`,
  restarts: sql`jobs.restarts`,
};

export type SummaryOrder = keyof typeof SORTED_BY;

export type SummaryQuery = {
  /** Part of name, id, a tag or a connector, in any case; null: all. */
  text: string | null;
  /** Empty: all. */
  states: readonly string[];
  sort: SummaryOrder;
  descending: boolean;
  limit: number;
};

export const EVERYTHING: SummaryQuery = {
  text: null,
  states: [],
  sort: 'created',
  descending: true,
  limit: 5_000,
};

/** Number of the newest change; 0: there was none. */
export async function lastChange(db: Kysely<Database>): Promise<number> {
  const row = await db
    .selectFrom('changes')
    .select('sequence')
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.sequence ?? 0;
}

/** `total`: how many match, also beyond the limit; `sequence`: they are as of this change, or newer. */
export async function listSummaries(
  db: Kysely<Database>,
  query: SummaryQuery,
): Promise<{ summaries: Summary[]; total: number; sequence: number }> {
  const sequence = await lastChange(db);
  let wanted = summaries(db).where('pipelines.watched_ms', 'is', null);
  if (query.states.length > 0)
    wanted = wanted.where('jobs.state', 'in', query.states as JobState[]);
  if (query.text !== null) {
    // LIKE takes fifty bytes at most in D1.
    wanted = wanted.where(
      sql<boolean>`instr(lower(pipelines.name || char(10) || pipelines.id || char(10) || pipelines.tags
        || char(10) || pipelines.connectors), lower(${query.text})) > 0`,
    );
  }
  const direction = query.descending ? sql`DESC` : sql`ASC`;
  const rows = await wanted
    .select(sql<number>`count(*) OVER ()`.as('total'))
    .orderBy(sql`${SORTED_BY[query.sort]} ${direction}`)
    .orderBy(sql`pipelines.id ${direction}`)
    .limit(query.limit)
    .execute();
  return { summaries: rows.map(summaryOf), total: rows[0]?.total ?? 0, sequence };
}

/** D1 binds at most a hundred values in one statement. */
const IDS_MAX = 90;

/** Those of these pipelines that there are. */
export async function summariesOf(
  db: Kysely<Database>,
  ids: readonly string[],
): Promise<Summary[]> {
  const found: Summary[] = [];
  for (let at = 0; at < ids.length; at += IDS_MAX) {
    const rows = await summaries(db)
      .where('pipelines.id', 'in', ids.slice(at, at + IDS_MAX))
      .execute();
    found.push(...rows.map(summaryOf));
  }
  return found;
}

/** How many pipelines there are. */
export async function countPipelines(db: Kysely<Database>): Promise<number> {
  const row = await db
    .selectFrom('pipelines')
    .select(sql<number>`count(*)`.as('count'))
    .where('watched_ms', 'is', null)
    .executeTakeFirstOrThrow();
  return row.count;
}

/** Changes told at once; more come with the next question. */
const CHANGES_MAX = 1_000;

/** What has changed since `sequence`: as it is now, or the ids of what is deleted. */
export async function changedSince(
  db: Kysely<Database>,
  sequence: number,
): Promise<{ changed: Summary[]; removed: string[]; sequence: number }> {
  const changes = await db
    .selectFrom('changes')
    .selectAll()
    .where('sequence', '>', sequence)
    .orderBy('sequence')
    .limit(CHANGES_MAX)
    .execute();
  const last = changes.at(-1)?.sequence ?? sequence;
  if (changes.length === 0) return { changed: [], removed: [], sequence };
  const rows = await summaries(db)
    .innerJoin('changes', 'changes.pipeline_id', 'pipelines.id')
    .where('changes.sequence', '>', sequence)
    .orderBy('changes.sequence')
    .execute();
  const present = new Set(rows.map((row) => row.id));
  const removed = changes.flatMap(({ pipeline_id: id }) => (present.has(id) ? [] : [id]));
  return { changed: rows.map(summaryOf), removed, sequence: last };
}

type SummaryRow = {
  id: string;
  name: string;
  desired_state: DesiredState;
  state: JobState;
  created_ms: number;
  parallelism: number;
  generation: number;
  epoch: number;
  committed_epoch: number;
  restarts: number;
  tags: string;
  connectors: string;
  failure_code: string | null;
  failure_message: string | null;
};

function summaries(
  db: Kysely<Database>,
): SelectQueryBuilder<Database, 'pipelines' | 'jobs', SummaryRow> {
  return db
    .selectFrom('pipelines')
    .innerJoin('jobs', 'jobs.pipeline_id', 'pipelines.id')
    .select([
      'pipelines.id',
      'pipelines.name',
      'pipelines.desired_state',
      'pipelines.created_ms',
      'pipelines.parallelism',
      'pipelines.tags',
      'pipelines.connectors',
      'jobs.state',
      'jobs.generation',
      'jobs.epoch',
      'jobs.committed_epoch',
      'jobs.restarts',
      sql<string | null>`json_extract(jobs.failure, '$.code')`.as('failure_code'),
      sql<string | null>`json_extract(jobs.failure, '$.message')`.as('failure_message'),
    ]);
}

function summaryOf(row: SummaryRow): Summary {
  return {
    id: row.id,
    name: row.name,
    desiredState: row.desired_state,
    state: row.state,
    createdMs: row.created_ms,
    parallelism: row.parallelism,
    generation: row.generation,
    epoch: row.epoch,
    committedEpoch: row.committed_epoch,
    restarts: row.restarts,
    tags: JSON.parse(row.tags) as Record<string, string>,
    failure:
      row.failure_code === null
        ? null
        : { code: row.failure_code, message: row.failure_message ?? '' },
    connectors: JSON.parse(row.connectors) as Connectors,
  };
}
