/**
 * Creating, reading, changing and deleting pipelines.
 *
 * Every change is one statement, so that there is no half of it; where two rows belong together, the order is such that
 * a crash in between leaves something harmless, and is told. D1 offers no transactions to hold a read and a write together:
 * what a write depends on stands in its WHERE.
 */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { jobOf, pipelineOf, TERMINAL_STATES } from './schema.ts';
import type { Database, Job, JobTable, PipelineAndJob, StopMode } from './schema.ts';

/** `graph` is JSON text; `settings` overrides defaults of the runtime, by their names. */
export type NewPipeline = {
  id: string;
  jobId: string;
  name: string;
  query: string;
  parallelism: number;
  checkpointIntervalMs: number;
  graph: string;
  planHash: string;
  settings: Record<string, number>;
  tags: Record<string, string>;
  udfs?: readonly { definition: string }[];
  connectors?: Connectors;
  /** It is only to be looked at: lists leave it out, and controllers delete it when nobody does. */
  preview?: boolean;
  nowMs: number;
};

/** Names of the connectors that a pipeline reads and writes, each once. */
export type Connectors = { sources: string[]; sinks: string[] };

/** Stores a pipeline that is wanted to run, and its job; `exists` when the id is taken, which changes nothing. */
export async function createPipeline(
  db: Kysely<Database>,
  pipeline: NewPipeline,
): Promise<'created' | 'exists'> {
  // The job first: a job without a pipeline is never looked at, a pipeline without a job would be stuck.
  // The job that a creation which was interrupted after it has left is taken over.
  await db
    .insertInto('jobs')
    .values({
      id: pipeline.jobId,
      pipeline_id: pipeline.id,
      state: 'Created',
      generation: 0,
      reason: 'created',
      epoch: 0,
      committed_epoch: 0,
      restarts: 0,
      failure: null,
      start_ms: null,
      finish_ms: null,
      healthy_since_ms: null,
      unreachable_since_ms: null,
      retry_at_ms: null,
      restart_done: null,
      reset_from: null,
      updated_ms: pipeline.nowMs,
      version: 1,
    })
    .onConflict((conflict) => conflict.column('pipeline_id').doNothing())
    .execute();
  const created = await db
    .insertInto('pipelines')
    .values({
      id: pipeline.id,
      name: pipeline.name,
      query: pipeline.query,
      parallelism: pipeline.parallelism,
      checkpoint_interval_ms: pipeline.checkpointIntervalMs,
      graph: pipeline.graph,
      plan_hash: pipeline.planHash,
      settings: JSON.stringify(pipeline.settings),
      tags: JSON.stringify(pipeline.tags),
      udfs: JSON.stringify(pipeline.udfs ?? []),
      connectors: JSON.stringify(pipeline.connectors ?? { sources: [], sinks: [] }),
      watched_ms: pipeline.preview === true ? pipeline.nowMs : null,
      desired_state: 'running',
      stop_mode: null,
      stop_nonce: null,
      restart_nonce: null,
      restart_mode: null,
      restart_reset: 0,
      next_poll_ms: pipeline.nowMs,
      created_ms: pipeline.nowMs,
      updated_ms: pipeline.nowMs,
      version: 1,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  return created === undefined ? 'exists' : 'created';
}

/** The job is read first: what is wanted is then as new as the job, or newer, and never an order that the job has carried out. */
export async function getPipeline(
  db: Kysely<Database>,
  id: string,
): Promise<PipelineAndJob | null> {
  const job = await db
    .selectFrom('jobs')
    .selectAll()
    .where('pipeline_id', '=', id)
    .executeTakeFirst();
  if (job === undefined) return null;
  const pipeline = await db
    .selectFrom('pipelines')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  return pipeline === undefined ? null : { pipeline: pipelineOf(pipeline), job: jobOf(job) };
}

/** The job as it is now, and which version of its pipeline is stored: small, for those who look every second. */
export async function watchJob(
  db: Kysely<Database>,
  id: string,
): Promise<{ job: Job; pipelineVersion: number } | null> {
  const row = await db
    .selectFrom('jobs')
    .innerJoin('pipelines', 'pipelines.id', 'jobs.pipeline_id')
    .selectAll('jobs')
    .select('pipelines.version as pipeline_version')
    .where('jobs.pipeline_id', '=', id)
    .executeTakeFirst();
  return row === undefined ? null : { job: jobOf(row), pipelineVersion: row.pipeline_version };
}

/**
 * Somebody looks at a preview; nothing of any other pipeline. At time 0 it is given up for good: whoever still looks does not
 * bring it back.
 */
export async function touchPreview(db: Kysely<Database>, id: string, nowMs: number): Promise<void> {
  await db
    .updateTable('pipelines')
    .set({ watched_ms: nowMs })
    .where('id', '=', id)
    .where('watched_ms', '>', 0)
    .execute();
}

/** A page of at most `limit` pipelines, newest first, after the pipeline `after` (from the beginning when it is null or gone). */
export async function listPipelines(
  db: Kysely<Database>,
  page: { limit: number; after: string | null },
): Promise<{ pipelines: PipelineAndJob[]; more: boolean }> {
  let query = db
    .selectFrom('pipelines')
    .selectAll()
    .where('watched_ms', 'is', null)
    .orderBy('created_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1);
  const { after } = page;
  if (after !== null) {
    const last = await db
      .selectFrom('pipelines')
      .select('created_ms')
      .where('id', '=', after)
      .executeTakeFirst();
    if (last !== undefined) {
      query = query.where((is) =>
        is.or([
          is('created_ms', '<', last.created_ms),
          is.and([is('created_ms', '=', last.created_ms), is('id', '<', after)]),
        ]),
      );
    }
  }
  const rows = await query.execute();
  const shown = rows.slice(0, page.limit);
  const jobs = new Map(
    (
      await jobsOf(
        db,
        shown.map((row) => row.id),
      )
    ).map((row) => [row.pipeline_id, jobOf(row)]),
  );
  const pipelines: PipelineAndJob[] = [];
  for (const row of shown) {
    const job = jobs.get(row.id);
    if (job !== undefined) pipelines.push({ pipeline: pipelineOf(row), job });
  }
  return { pipelines, more: rows.length > page.limit };
}

/** D1 binds at most a hundred values in one statement. */
const IDS_MAX = 90;

async function jobsOf(db: Kysely<Database>, ids: readonly string[]): Promise<JobTable[]> {
  const rows: JobTable[] = [];
  for (let at = 0; at < ids.length; at += IDS_MAX) {
    rows.push(
      ...(await db
        .selectFrom('jobs')
        .selectAll()
        .where('pipeline_id', 'in', ids.slice(at, at + IDS_MAX))
        .execute()),
    );
  }
  return rows;
}

/** Something the user asks for. `nonce` is fresh for each request. */
export type DesiredChange =
  /** Run. A job that failed or finished begins again, one that runs is left alone. */
  | { tag: 'run'; nonce: string }
  | { tag: 'stop'; mode: StopMode; nonce: string }
  /** Stop in this mode, then run again. `reset`: without state, but from the last source offsets; applies once. */
  | { tag: 'restart'; mode: StopMode; reset: boolean; nonce: string }
  /** Takes effect by a restart with a checkpoint, if the pipeline runs. */
  | { tag: 'configure'; parallelism?: number; checkpointIntervalMs?: number; nonce: string }
  | { tag: 'describe'; name?: string; tags?: Record<string, string> };

/** Writes what is wanted and makes the pipeline due; false when there is none with this id. */
export async function updateDesired(
  db: Kysely<Database>,
  id: string,
  change: DesiredChange,
  nowMs: number,
): Promise<boolean> {
  const updated = await db
    .updateTable('pipelines')
    .set({
      ...columnsOf(change),
      next_poll_ms: nowMs,
      updated_ms: nowMs,
      version: sql<number>`version + 1`,
    })
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return updated !== undefined;
}

const jobState = sql<string>`(SELECT state FROM jobs WHERE jobs.pipeline_id = pipelines.id)`;
const restartPending = sql<boolean>`(restart_nonce IS NOT NULL
  AND restart_nonce IS NOT (SELECT restart_done FROM jobs WHERE jobs.pipeline_id = pipelines.id))`;

function columnsOf(change: DesiredChange) {
  const running = { desired_state: 'running', stop_mode: null, stop_nonce: null } as const;
  switch (change.tag) {
    case 'run':
      return {
        ...running,
        // Starting again is no restart without state, whatever an earlier restart was.
        restart_reset: sql<number>`CASE WHEN ${restartPending} THEN restart_reset ELSE 0 END`,
        restart_nonce: sql<string>`CASE WHEN ${jobState} IN ('Failed', 'Finished') THEN ${change.nonce} ELSE restart_nonce END`,
      };
    case 'stop':
      return {
        desired_state: 'stopped' as const,
        stop_mode: change.mode,
        stop_nonce: change.nonce,
      };
    case 'restart':
      return {
        ...running,
        restart_nonce: change.nonce,
        restart_mode: change.mode,
        // A reset that was asked for and not yet honoured is not lost by a second restart.
        restart_reset: sql<number>`CASE WHEN ${restartPending} THEN max(restart_reset, ${Number(change.reset)}) ELSE ${Number(change.reset)} END`,
      };
    case 'configure':
      return {
        ...(change.parallelism === undefined ? {} : { parallelism: change.parallelism }),
        ...(change.checkpointIntervalMs === undefined
          ? {}
          : { checkpoint_interval_ms: change.checkpointIntervalMs }),
        restart_reset: sql<number>`CASE WHEN ${restartPending} THEN restart_reset ELSE 0 END`,
        restart_mode: sql<StopMode>`CASE WHEN ${restartPending} THEN restart_mode ELSE 'checkpoint' END`,
        restart_nonce: sql<string>`CASE WHEN desired_state = 'running' AND ${jobState} NOT IN ('Failed', 'Finished')
          THEN ${change.nonce} ELSE restart_nonce END`,
      };
    case 'describe':
      return {
        ...(change.name === undefined ? {} : { name: change.name }),
        ...(change.tags === undefined ? {} : { tags: JSON.stringify(change.tags) }),
      };
  }
}

/** Deletes a pipeline at rest. `running`: its job has not stopped, or is about to start again. */
export async function deletePipeline(
  db: Kysely<Database>,
  id: string,
): Promise<'deleted' | 'missing' | 'running'> {
  const deleted = await db
    .deleteFrom('pipelines')
    .where('id', '=', id)
    .where(jobState, 'in', TERMINAL_STATES)
    .where(sql<boolean>`NOT ${restartPending}`)
    .where((is) => is.or([is('desired_state', '=', 'stopped'), is(jobState, '!=', 'Stopped')]))
    .returning('id')
    .executeTakeFirst();
  const found =
    deleted === undefined
      ? await db.selectFrom('pipelines').select('id').where('id', '=', id).executeTakeFirst()
      : undefined;
  if (found !== undefined) return 'running';
  await deleteJob(db, id);
  return deleted === undefined ? 'missing' : 'deleted';
}

/** Also cleans up after a deletion that was interrupted before it. */
async function deleteJob(db: Kysely<Database>, pipelineId: string): Promise<void> {
  const job = await db
    .selectFrom('jobs')
    .select('id')
    .where('pipeline_id', '=', pipelineId)
    .executeTakeFirst();
  if (job !== undefined) await db.deleteFrom('job_errors').where('job_id', '=', job.id).execute();
  await db.deleteFrom('jobs').where('pipeline_id', '=', pipelineId).execute();
}

/** Deletes a preview whatever its state; nothing of any other pipeline. */
export async function removePreview(db: Kysely<Database>, id: string): Promise<void> {
  const kept = await db
    .selectFrom('pipelines')
    .select('id')
    .where('id', '=', id)
    .where('watched_ms', 'is', null)
    .executeTakeFirst();
  if (kept !== undefined) return;
  await db.deleteFrom('pipelines').where('id', '=', id).execute();
  await deleteJob(db, id);
}
