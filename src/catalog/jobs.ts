/**
 * What controllers read and write: due pipelines, observations of jobs, and why generations ended.
 *
 * Invariant: an observation is written only over the very version it was made from, so a controller that comes late changes
 * nothing, and learns that. Failure: the caller reads again and decides again.
 */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { ErrorReport } from '../base/errors.ts';
import { getPipeline, removePreview } from './pipelines.ts';
import type { Database, Job, JobTable, PipelineAndJob } from './schema.ts';

/** Ids of at most `limit` pipelines whose time to be looked at has come, the longest overdue first. */
export async function duePipelines(
  db: Kysely<Database>,
  nowMs: number,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('pipelines')
    .select('id')
    .where('next_poll_ms', '<=', nowMs)
    .orderBy('next_poll_ms')
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

/** What a controller may change; members that are absent stay. */
export type JobPatch = Partial<Omit<Job, 'id' | 'pipelineId' | 'updatedMs' | 'version'>>;

/**
 * Writes over `seen`, a job as it was read; false when it has changed since, or was deleted.
 *
 * Epochs only grow; whoever knows less keeps what is there.
 *
 * @param pipelineVersion  given: also false when what is wanted is not of this version any more
 */
export async function recordObservation(
  db: Kysely<Database>,
  seen: Job,
  patch: JobPatch,
  nowMs: number,
  pipelineVersion: number | null = null,
): Promise<boolean> {
  const updated = await db
    .updateTable('jobs')
    .set({ ...columnsOf(patch), updated_ms: nowMs, version: sql<number>`version + 1` })
    .where('id', '=', seen.id)
    .where('version', '=', seen.version)
    .where('generation', '=', seen.generation)
    .where((is) =>
      is.exists(
        is
          .selectFrom('pipelines')
          .select('pipelines.id')
          .where('pipelines.id', '=', seen.pipelineId)
          .$if(pipelineVersion !== null, (wanted) =>
            wanted.where('pipelines.version', '=', pipelineVersion),
          ),
      ),
    )
    .returning('id')
    .executeTakeFirst();
  return updated !== undefined;
}

function columnsOf(patch: JobPatch) {
  const columns: Partial<JobTable> = {};
  if (patch.state !== undefined) columns.state = patch.state;
  if (patch.generation !== undefined) columns.generation = patch.generation;
  if (patch.reason !== undefined) columns.reason = patch.reason;
  if (patch.restarts !== undefined) columns.restarts = patch.restarts;
  if (patch.failure !== undefined)
    columns.failure = patch.failure === null ? null : JSON.stringify(patch.failure);
  if (patch.startMs !== undefined) columns.start_ms = patch.startMs;
  if (patch.finishMs !== undefined) columns.finish_ms = patch.finishMs;
  if (patch.healthySinceMs !== undefined) columns.healthy_since_ms = patch.healthySinceMs;
  if (patch.unreachableSinceMs !== undefined)
    columns.unreachable_since_ms = patch.unreachableSinceMs;
  if (patch.retryAtMs !== undefined) columns.retry_at_ms = patch.retryAtMs;
  if (patch.restartDone !== undefined) columns.restart_done = patch.restartDone;
  if (patch.resetFrom !== undefined) columns.reset_from = patch.resetFrom;
  return {
    ...columns,
    ...(patch.epoch === undefined ? {} : { epoch: sql<number>`max(epoch, ${patch.epoch})` }),
    ...(patch.committedEpoch === undefined
      ? {}
      : { committed_epoch: sql<number>`max(committed_epoch, ${patch.committedEpoch})` }),
  };
}

/** When to look again (null: when somebody asks); nothing when what is wanted has changed since `pipelineVersion`. */
export async function scheduleNext(
  db: Kysely<Database>,
  pipelineId: string,
  pipelineVersion: number,
  nextPollMs: number | null,
): Promise<void> {
  await db
    .updateTable('pipelines')
    .set({ next_poll_ms: nextPollMs })
    .where('id', '=', pipelineId)
    .where('version', '=', pipelineVersion)
    .execute();
}

/** Why a generation ended badly; written once for each, however many controllers saw it. */
export async function recordFailure(
  db: Kysely<Database>,
  jobId: string,
  generation: number,
  report: ErrorReport,
  nowMs: number,
): Promise<void> {
  await db
    .insertInto('job_errors')
    .values({ job_id: jobId, generation, at_ms: nowMs, report: JSON.stringify(report) })
    .onConflict((conflict) => conflict.columns(['job_id', 'generation']).doNothing())
    .execute();
}

export type JobFailure = { id: number; generation: number; atMs: number; report: ErrorReport };

/** At most `limit` failures with ids below `before`, newest first. */
export async function listFailures(
  db: Kysely<Database>,
  jobId: string,
  limit: number,
  before: number | null,
): Promise<JobFailure[]> {
  let query = db
    .selectFrom('job_errors')
    .selectAll()
    .where('job_id', '=', jobId)
    .orderBy('id', 'desc')
    .limit(limit);
  if (before !== null) query = query.where('id', '<', before);
  const rows = await query.execute();
  return rows.map((row) => ({
    id: row.id,
    generation: row.generation,
    atMs: row.at_ms,
    report: JSON.parse(row.report) as ErrorReport,
  }));
}

/** The catalogue as a controller uses it. */
export type ControllerCatalog = {
  load(pipelineId: string): Promise<PipelineAndJob | null>;
  due(nowMs: number, limit: number): Promise<string[]>;
  record(
    seen: Job,
    patch: JobPatch,
    nowMs: number,
    pipelineVersion: number | null,
  ): Promise<boolean>;
  recordFailure(
    jobId: string,
    generation: number,
    report: ErrorReport,
    nowMs: number,
  ): Promise<void>;
  schedule(pipelineId: string, pipelineVersion: number, nextPollMs: number | null): Promise<void>;
  removePreview(pipelineId: string): Promise<void>;
};

export function controllerCatalog(db: Kysely<Database>): ControllerCatalog {
  return {
    load: (pipelineId) => getPipeline(db, pipelineId),
    due: (nowMs, limit) => duePipelines(db, nowMs, limit),
    record: (seen, patch, nowMs, pipelineVersion) =>
      recordObservation(db, seen, patch, nowMs, pipelineVersion),
    recordFailure: (jobId, generation, report, nowMs) =>
      recordFailure(db, jobId, generation, report, nowMs),
    schedule: (pipelineId, version, nextPollMs) =>
      scheduleNext(db, pipelineId, version, nextPollMs),
    removePreview: (pipelineId) => removePreview(db, pipelineId),
  };
}
