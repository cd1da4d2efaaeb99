/** Creating, reading, changing and deleting pipelines. */
import { createRoute, type z } from '@hono/zod-openapi';
import { EngineError } from '../../base/errors.ts';
import { makeId } from '../../base/ids.ts';
import { LIMITS } from '../../base/limits.ts';
import {
  deletePipeline,
  getPipeline,
  listPipelines,
  touchPreview,
  updateDesired,
} from '../../catalog/pipelines.ts';
import type { PipelineAndJob } from '../../catalog/schema.ts';
import { viewGraph } from '../../graph/graph-view.ts';
import type { Api } from '../app.ts';
import { changesOf } from './desired-changes.ts';
import type { Ingest } from '../rows/ingest.ts';
import { json, jsonBody } from '../http/json-answer.ts';
import { loadPipeline, partitionsOf } from '../load.ts';
import {
  ignoredFields,
  PageQuery,
  PipelinePageSchema,
  PipelineParams,
  PipelinePatchSchema,
  PipelinePostSchema,
  PipelineRestartSchema,
  PipelineSchema,
  ValidateQuerySchema,
  ValidationSchema,
} from './pipeline-shapes.ts';
import { checkQuery } from './planning.ts';
import { outputViews, tableViews } from '../authoring/query-views.ts';
import { plannedGraph, reconciled, storePipeline, warned } from './store-pipeline.ts';
import { problems } from '../http/problem.ts';
import type { ApiServices } from '../services.ts';
import { graphOf, pipelineView, settingsOf } from '../views.ts';

const tags = ['pipelines'];

const create = createRoute({
  method: 'post',
  path: '/api/v1/pipelines',
  operationId: 'createPipeline',
  tags,
  summary: 'Create a pipeline and start it',
  request: { body: jsonBody(PipelinePostSchema) },
  responses: {
    200: json(PipelineSchema, 'The pipeline; its job is starting.'),
    ...problems(400, 413),
  },
});

const put = createRoute({
  method: 'put',
  path: '/api/v1/pipelines/{id}',
  operationId: 'putPipeline',
  tags,
  summary: 'Create a pipeline under an id of your own',
  request: { params: PipelineParams, body: jsonBody(PipelinePostSchema) },
  responses: {
    200: json(PipelineSchema, 'The pipeline; its job is starting.'),
    ...problems(400, 413, 503),
  },
});

const list = createRoute({
  method: 'get',
  path: '/api/v1/pipelines',
  operationId: 'getPipelines',
  tags,
  summary: 'List pipelines, newest first',
  request: { query: PageQuery },
  responses: { 200: json(PipelinePageSchema, 'A page of pipelines.'), ...problems(400) },
});

const get = createRoute({
  method: 'get',
  path: '/api/v1/pipelines/{id}',
  operationId: 'getPipeline',
  tags,
  summary: 'Get a pipeline',
  request: { params: PipelineParams },
  responses: { 200: json(PipelineSchema, 'The pipeline.'), ...problems(404) },
});

const patch = createRoute({
  method: 'patch',
  path: '/api/v1/pipelines/{id}',
  operationId: 'patchPipeline',
  tags,
  summary: 'Stop, start, rescale or rename a pipeline',
  description:
    'A new parallelism or checkpoint interval takes effect by a restart from a checkpoint.',
  request: { params: PipelineParams, body: jsonBody(PipelinePatchSchema) },
  responses: {
    200: json(PipelineSchema, 'The pipeline; the change is under way.'),
    ...problems(400, 404, 409),
  },
});

const restart = createRoute({
  method: 'post',
  path: '/api/v1/pipelines/{id}/restart',
  operationId: 'restartPipeline',
  tags,
  summary: 'Restart a pipeline, with its state or without',
  request: {
    params: PipelineParams,
    body: { ...jsonBody(PipelineRestartSchema), required: false },
  },
  responses: {
    200: json(PipelineSchema, 'The pipeline; the restart is under way.'),
    ...problems(400, 404),
  },
});

const remove = createRoute({
  method: 'delete',
  path: '/api/v1/pipelines/{id}',
  operationId: 'deletePipeline',
  tags,
  summary: 'Delete a stopped pipeline and the rows of its http tables',
  request: { params: PipelineParams },
  responses: { 200: json(PipelineSchema, 'The pipeline as it was.'), ...problems(400, 404) },
});

const validate = createRoute({
  method: 'post',
  path: '/api/v1/pipelines/validate_query',
  operationId: 'validateQuery',
  tags,
  summary: 'Check a query and show its plan',
  request: { body: jsonBody(ValidateQuerySchema) },
  responses: {
    200: json(ValidationSchema, 'The plan, or everything that is wrong.'),
    ...problems(400),
  },
});

export function addPipelineRoutes(api: Api, ingest: Ingest): void {
  api.openapi(validate, async (c) => {
    const { query, udfs, parallelism, default_sink: defaultSink } = c.req.valid('json');
    const plan = await checkQuery(c.env, query, udfs, { defaultSink, parallelism, explain: true });
    const { graph, errors, warnings, more, logical, physical } = plan;
    return c.json(
      {
        ...(graph === null ? {} : { graph: viewGraph(graph, parallelism) }),
        errors,
        warnings,
        ...(more === 0 ? {} : { more }),
        tables: tableViews(plan),
        outputs: graph === null ? [] : outputViews(graph),
        logical,
        physical,
      },
      200,
    );
  });
  api.openapi(create, async (c) =>
    c.json(await start(c.env, makeId('pl', c.env.randomBytes(10)), c.req.valid('json')), 200),
  );
  api.openapi(put, async (c) => {
    const { id } = c.req.valid('param');
    await refuseUsedId(c.env, id);
    return c.json(await start(c.env, id, c.req.valid('json')), 200);
  });
  api.openapi(list, async (c) => {
    const { limit, starting_after: after } = c.req.valid('query');
    const page = await listPipelines(c.env.database, { limit, after: after ?? null });
    return c.json({ data: page.pipelines.map(pipelineView), hasMore: page.more }, 200);
  });
  api.openapi(get, async (c) =>
    c.json(pipelineView(await loadPipeline(c.env, c.req.valid('param').id)), 200),
  );
  api.openapi(patch, async (c) => {
    const found = await loadPipeline(c.env, c.req.valid('param').id);
    for (const change of changesOf(found, c.req.valid('json'), () => nonce(c.env))) {
      await updateDesired(c.env.database, found.pipeline.id, change, c.env.nowMs());
    }
    const view = await reconciled(c.env, found.pipeline.id);
    return c.json(warned(view, ignoredWords(c.req.valid('json'))), 200);
  });
  api.openapi(restart, async (c) => {
    const { pipeline } = await loadPipeline(c.env, c.req.valid('param').id);
    const { force = false, ignore_state: reset = false } = c.req.valid('json') ?? {};
    const mode = force ? 'immediate' : 'checkpoint';
    await updateDesired(
      c.env.database,
      pipeline.id,
      { tag: 'restart', mode, reset, nonce: nonce(c.env) },
      c.env.nowMs(),
    );
    return c.json(await reconciled(c.env, pipeline.id), 200);
  });
  api.openapi(remove, async (c) => {
    const found = await loadPipeline(c.env, c.req.valid('param').id);
    if (found.pipeline.watchedMs !== null) {
      // As if nobody had looked at it for long: the controller stops and deletes it.
      await touchPreview(c.env.database, found.pipeline.id, 0);
      c.env.reconcileLater(found.pipeline.id);
      return c.json(pipelineView(found), 200);
    }
    const unread = await destroy(c.env, found);
    ingest.forget(found.pipeline.id);
    const words = [
      `${unread} rows of its http tables were deleted that no committed checkpoint had read`,
    ];
    return c.json(warned(pipelineView(found), unread === 0 ? [] : words), 200);
  });
}

const ignoredWords = (request: Parameters<typeof ignoredFields>[0]): string[] =>
  ignoredFields(request).map((name) => `${name} has no effect here`);

const nonce = (services: ApiServices): string => makeId('jlm', services.randomBytes(10));

async function start(services: ApiServices, id: string, post: z.infer<typeof PipelinePostSchema>) {
  const {
    name,
    query,
    parallelism,
    checkpoint_interval_micros: interval,
    default_sink: defaultSink,
  } = post;
  const planned = await plannedGraph(services, query, post.udfs, { defaultSink });
  const settings = settingsOf({
    ...(post.batch_rows === undefined ? {} : { batch_rows: post.batch_rows }),
    ...post.settings,
  });
  const created = await storePipeline(services, planned, post.udfs, {
    id,
    name,
    query,
    parallelism,
    checkpointIntervalMs: Math.max(LIMITS.checkpointIntervalMinMs, Math.round(interval / 1000)),
    settings,
    tags: post.tags,
  });
  if (created === 'exists') throw alreadyThere(id);
  const words = [...ignoredWords(post), ...planned.warnings];
  return warned(await reconciled(services, id), words);
}

/** The objects of a deleted pipeline's generations live on under its id, at their ends: another pipeline must not meet them. */
async function refuseUsedId(services: ApiServices, id: string): Promise<void> {
  if ((await getPipeline(services.database, id)) !== null) throw alreadyThere(id);
  const first = await services.leaderStatus(id, 1);
  if (first === null)
    throw new EngineError(
      'NOT_RUNNING',
      `whether the id ${id} was used before cannot be found out now`,
    );
  if (first.generation === 0) return;
  throw new EngineError('INVALID_REQUEST', `the id ${id} was that of a pipeline that is deleted`, {
    hint: 'Choose another id, or let POST make one.',
  });
}

const alreadyThere = (id: string): EngineError =>
  new EngineError('INVALID_REQUEST', `there is a pipeline ${id} already`, {
    hint: 'Change it with PATCH, or stop and DELETE it; an id is never used again, so a new pipeline needs another.',
  });

/** Answers how many stored rows no committed checkpoint had read. */
async function destroy(services: ApiServices, { pipeline, job }: PipelineAndJob): Promise<number> {
  const deleted = await deletePipeline(services.database, pipeline.id);
  if (deleted === 'running') {
    throw new EngineError(
      'INVALID_REQUEST',
      `pipeline ${pipeline.id} is ${job.state}: only a pipeline at rest can be deleted`,
      {
        hint: 'Stop it first: PATCH with {"stop": "checkpoint"}, or "immediate", and wait until it is Stopped.',
      },
    );
  }
  const logs = new Map<string, number>();
  for (const { spec } of graphOf(pipeline).operators) {
    if (spec.tag === 'source' && spec.connector.connector === 'http')
      logs.set(spec.table, partitionsOf(spec));
  }
  let unread = 0;
  for (const [table, partitions] of logs) {
    for (let partition = 0; partition < partitions; partition++) {
      const log = services.log(pipeline.id, table, partition);
      unread += await log.unread();
      await log.destroy();
    }
  }
  services.forgetLater(pipeline.id, job.id, job.generation);
  return unread;
}
