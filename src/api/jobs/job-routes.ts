/** Jobs: how pipelines run, what went wrong, their checkpoints, metrics and lineage. */
import { createRoute } from '@hono/zod-openapi';
import { EngineError } from '../../base/errors.ts';
import { listFailures } from '../../catalog/jobs.ts';
import { listPipelines } from '../../catalog/pipelines.ts';
import { type PipelineAndJob, TERMINAL_STATES } from '../../catalog/schema.ts';
import type { LeaderStatus } from '../../protocol/messages.ts';
import type { Api } from '../app.ts';
import { AuditQuery, AuditSchema, auditView } from './audit-view.ts';
import { checkpointGroups, checkpointViews, summariesOf } from './checkpoint-views.ts';
import {
  CheckpointsSchema,
  EpochParams,
  JobLogPageSchema,
  JobParams,
  JobsSchema,
  OperatorCheckpointGroupsSchema,
  OperatorMetricGroupsSchema,
} from './job-shapes.ts';
import { json } from '../http/json-answer.ts';
import { LineageSchema, lineageView } from './lineage-view.ts';
import { lineageOf } from './lineage-of.ts';
import { loadJob, loadPipeline } from '../load.ts';
import { jobErrors } from './job-errors.ts';
import { metricGroups } from './metric-views.ts';
import { PageQuery, PipelineParams } from '../pipelines/pipeline-shapes.ts';
import { problems } from '../http/problem.ts';
import { ProofSchema, proofView } from './proof-view.ts';
import type { ApiServices } from '../services.ts';
import { graphOf, jobView } from '../views.ts';

const tags = ['jobs'];
const JOB = '/api/v1/pipelines/{id}/jobs/{job_id}';

const allJobs = createRoute({
  method: 'get',
  path: '/api/v1/jobs',
  operationId: 'getJobs',
  tags,
  summary: 'The jobs of all pipelines',
  responses: { 200: json(JobsSchema, 'Newest pipeline first.'), ...problems() },
});

const pipelineJobs = createRoute({
  method: 'get',
  path: '/api/v1/pipelines/{id}/jobs',
  operationId: 'getPipelineJobs',
  tags,
  summary: 'The job of a pipeline',
  request: { params: PipelineParams },
  responses: { 200: json(JobsSchema, 'A list of one.'), ...problems(404) },
});

const errors = createRoute({
  method: 'get',
  path: `${JOB}/errors`,
  operationId: 'getJobErrors',
  tags,
  summary: 'What went wrong, newest first',
  description: 'Why generations ended, and what operators of the running one report.',
  request: { params: JobParams, query: PageQuery },
  responses: { 200: json(JobLogPageSchema, 'A page of errors.'), ...problems(400, 404) },
});

const checkpoints = createRoute({
  method: 'get',
  path: `${JOB}/checkpoints`,
  operationId: 'getJobCheckpoints',
  tags,
  summary: 'The checkpoints that are kept and the one under way, newest first',
  request: { params: JobParams },
  responses: { 200: json(CheckpointsSchema, 'Checkpoints.'), ...problems(404, 503) },
});

const groups = createRoute({
  method: 'get',
  path: `${JOB}/checkpoints/{epoch}/operator_checkpoint_groups`,
  operationId: 'getOperatorCheckpointGroups',
  tags,
  summary: 'What each operator wrote in a checkpoint',
  request: { params: EpochParams },
  responses: {
    200: json(OperatorCheckpointGroupsSchema, 'By operator and subtask.'),
    ...problems(404, 503),
  },
});

const metrics = createRoute({
  method: 'get',
  path: `${JOB}/operator_metric_groups`,
  operationId: 'getOperatorMetricGroups',
  tags,
  summary: 'Counters of every operator and subtask',
  request: { params: JobParams },
  responses: {
    200: json(OperatorMetricGroupsSchema, 'By operator; without points while no leader answers.'),
    ...problems(404),
  },
});

const lineage = createRoute({
  method: 'get',
  path: '/api/v1/pipelines/{id}/lineage',
  operationId: 'getPipelineLineage',
  tags,
  summary: 'The tree of generations and checkpoints: which are canonical, which lost, and to what',
  request: { params: PipelineParams },
  responses: {
    200: json(LineageSchema, 'The line as it lies in the bucket.'),
    ...problems(404, 503),
  },
});

const audit = createRoute({
  method: 'get',
  path: '/api/v1/pipelines/{id}/audit',
  operationId: 'getPipelineAudit',
  tags,
  summary: 'What each epoch read, counted and committed, hash-chained',
  request: { params: PipelineParams, query: AuditQuery },
  responses: {
    200: json(AuditSchema, 'Entries of the epochs that are kept.'),
    ...problems(400, 404, 503),
  },
});

const proof = createRoute({
  method: 'get',
  path: '/api/v1/pipelines/{id}/proof',
  operationId: 'getPipelineProof',
  tags,
  summary: 'Whether any row was lost or doubled, by the ranges and counters of the kept epochs',
  description:
    'What the kept epochs prove without reading any data: input ranges without gap or overlap, rows that add up between operators, and output that is committed once. GET …/audit has the evidence; `thalweg verify` also compares bytes.',
  request: { params: PipelineParams },
  responses: {
    200: json(ProofSchema, 'The sums, and what contradicts them.'),
    ...problems(404, 503),
  },
});

export function addJobRoutes(api: Api): void {
  api.openapi(allJobs, async (c) => {
    const all = await everyPipeline(c.env);
    const running = all.filter(({ job }) => !TERMINAL_STATES.includes(job.state));
    // Leaders are asked one by one only while they are few.
    const asked = running.length <= LEADERS_ASKED_MAX ? running : [];
    const statuses = new Map(
      await Promise.all(asked.map(async (found) => [found, await statusOf(c.env, found)] as const)),
    );
    return c.json({ data: all.map((found) => jobView(found, statuses.get(found) ?? null)) }, 200);
  });
  api.openapi(pipelineJobs, async (c) => {
    const found = await loadPipeline(c.env, c.req.valid('param').id);
    const status = await statusOf(c.env, found);
    return c.json({ data: [jobView(found, status)] }, 200);
  });
  api.openapi(errors, async (c) => {
    const found = await loadParams(c.env, c.req.valid('param'));
    const { limit, starting_after: after } = c.req.valid('query');
    const failures = await listFailures(c.env.database, found.job.id, limit + 1, failureId(after));
    // Those of operators come first, and only on the first page: the leader keeps few.
    const status = after === undefined ? await statusOf(c.env, found) : null;
    return c.json(jobErrors(failures, status, limit), 200);
  });
  api.openapi(checkpoints, async (c) => {
    const found = await loadParams(c.env, c.req.valid('param'));
    const [view, status] = await Promise.all([lineageOf(c.env, found), statusOf(c.env, found)]);
    return c.json({ data: checkpointViews(view, status) }, 200);
  });
  api.openapi(groups, async (c) => {
    const { epoch } = c.req.valid('param');
    const found = await loadParams(c.env, c.req.valid('param'));
    const [view, status] = await Promise.all([lineageOf(c.env, found), statusOf(c.env, found)]);
    const checkpoint = view?.checkpoints.find((candidate) => candidate.epoch === epoch);
    if (checkpoint === undefined)
      throw new EngineError('NOT_FOUND', `epoch ${epoch} is not kept, or not published yet`);
    const isOfLeader = checkpoint.manifest.generation === status?.generation;
    const summary = isOfLeader ? summariesOf(status).get(epoch) : undefined;
    return c.json({ data: checkpointGroups(checkpoint.manifest, summary ?? null) }, 200);
  });
  api.openapi(metrics, async (c) => {
    const found = await loadParams(c.env, c.req.valid('param'));
    const [status, series] = await Promise.all([
      statusOf(c.env, found),
      found.job.generation === 0 ? [] : c.env.leaderSeries(found.pipeline.id, found.job.generation),
    ]);
    const graph = graphOf(found.pipeline);
    return c.json({ data: metricGroups(graph, status?.metrics ?? [], series, c.env.nowMs()) }, 200);
  });
  api.openapi(lineage, async (c) => {
    const found = await loadPipeline(c.env, c.req.valid('param').id);
    return c.json(lineageView(await lineageOf(c.env, found)), 200);
  });
  api.openapi(proof, async (c) => {
    const found = await loadPipeline(c.env, c.req.valid('param').id);
    return c.json(proofView(await lineageOf(c.env, found)), 200);
  });
  api.openapi(audit, async (c) => {
    const found = await loadPipeline(c.env, c.req.valid('param').id);
    return c.json(auditView(await lineageOf(c.env, found), c.req.valid('query')), 200);
  });
}

const loadParams = (
  services: ApiServices,
  params: { id: string; job_id: string },
): Promise<PipelineAndJob> => loadJob(services, params.id, params.job_id);

const failureId = (after: string | undefined): number | null => {
  const id = Number(after);
  return after === undefined || !Number.isSafeInteger(id) ? null : id;
};

async function statusOf(
  services: ApiServices,
  { job }: PipelineAndJob,
): Promise<LeaderStatus | null> {
  return job.generation === 0 ? null : await services.leaderStatus(job.pipelineId, job.generation);
}

const PAGE_MAX = 100;
const LEADERS_ASKED_MAX = 20;

async function everyPipeline({ database }: ApiServices): Promise<PipelineAndJob[]> {
  const all: PipelineAndJob[] = [];
  for (let after: string | null = null; ;) {
    const { pipelines, more } = await listPipelines(database, { limit: PAGE_MAX, after });
    all.push(...pipelines);
    const last = pipelines.at(-1);
    if (!more || last === undefined) return all;
    after = last.pipeline.id;
  }
}
