/** The controller's ports on Cloudflare: D1, the bucket, leaders by name. */
import { partitionsOf } from '../api/load.ts';
import { leaderName } from '../base/ids.ts';
import type { PhysicalGraph } from '../graph/graph.ts';
import { controllerCatalog } from '../catalog/jobs.ts';
import { type ControllerPorts, reconcileDue, reconcilePipeline } from '../controller/reconcile.ts';
import { allocateGeneration } from '../lineage/allocate.ts';
import { LineagePaths } from '../lineage/paths.ts';
import { catalogDatabase } from './catalog-database.ts';
import { answeredWithin } from './deadline.ts';
import { type Env, leaders } from './env.ts';
import { forget, forgetLogs } from './forget.ts';
import { driveLineage } from './r2-store.ts';

/**
 * Which code this is, ordered by time of deployment. Generations of older code are restarted in order, with a checkpoint.
 * Source: the version metadata binding; the local runtime gives the time of its build instead.
 */
export const codeVersionOf = ({ VERSION, THALWEG_CODE_VERSION }: Env): string =>
  THALWEG_CODE_VERSION ?? (VERSION === undefined ? '' : `${VERSION.timestamp} ${VERSION.id}`);

const LEADER_ANSWER_MS = 10_000;
/** A run that was asked for goes on looking for so long; afterwards cron does. */
const FOLLOW_MS = 25_000;

export function controllerPorts(env: Env): ControllerPorts {
  return {
    catalog: controllerCatalog(catalogDatabase(env)),
    allocate: (pipeline, job, expected) => {
      const context = {
        paths: new LineagePaths(pipeline.id, job.id),
        nowMs: Date.now(),
        writeId: crypto.randomUUID(),
      };
      return driveLineage(env.BUCKET, allocateGeneration(context, expected));
    },
    leader: (pipelineId, generation) => {
      const leader = leaders(env).getByName(leaderName(pipelineId, generation));
      return {
        start: (spec) => answeredWithin(LEADER_ANSWER_MS, leader.start(spec)),
        poll: () => answeredWithin(LEADER_ANSWER_MS, leader.poll()),
        stop: (mode, nonce) => answeredWithin(LEADER_ANSWER_MS, leader.stop(mode, nonce)),
      };
    },
    forget: async (pipeline, job) => {
      const graph = JSON.parse(pipeline.graph) as PhysicalGraph;
      for (const { spec } of graph.operators)
        if (spec.tag === 'source' && spec.connector.connector === 'http')
          await forgetLogs(env, pipeline.id, spec.table, partitionsOf(spec));
      await forget(env, pipeline.id, job.id, job.generation);
    },
    codeVersion: codeVersionOf(env),
    jitter: () => Math.random(),
  };
}

/**
 * Reconciles one pipeline at once, and again whenever it is due soon, so that nobody waits for the next minute.
 * `first` settles with the first look; `rest` when this run has nothing more to do soon, and is never rejected.
 */
export function reconcileNow(
  env: Env,
  pipelineId: string,
): { first: Promise<void>; rest: Promise<void> } {
  const ports = controllerPorts(env);
  const untilMs = Date.now() + FOLLOW_MS;
  const look = (): Promise<number | null> => reconcilePipeline(ports, pipelineId, Date.now());
  const first = look();
  return {
    first: first.then(() => undefined),
    // What fails here leaves the pipeline due: cron looks again.
    rest: follow(first, look, untilMs).catch(() => undefined),
  };
}

async function follow(
  first: Promise<number | null>,
  look: () => Promise<number | null>,
  untilMs: number,
): Promise<void> {
  let nextMs = await first;
  while (nextMs !== null && nextMs < untilMs) {
    const waitMs = Math.max(50, nextMs - Date.now());
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    nextMs = await look();
  }
}

/** The minute's round over what is due. Throws when a pipeline could not be looked at, after all the others were. */
export async function reconcileAll(env: Env): Promise<void> {
  const { failed } = await reconcileDue(controllerPorts(env), Date.now());
  const [first] = failed;
  if (first === undefined) return;
  throw new Error(
    `${failed.length} pipelines could not be looked at, ${first.pipelineId} among them: ${first.report.message}`,
  );
}
