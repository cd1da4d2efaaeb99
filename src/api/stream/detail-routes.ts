/** A pipeline's details: rows that went wrong, manifests of its lineage, its sinks, a checkpoint now. */
import { createRoute } from '@hono/zod-openapi';
import { EngineError } from '../../base/errors.ts';
import { VERSION } from '../../base/version.ts';
import type { Api } from '../app.ts';
import { json } from '../http/json-answer.ts';
import { problems } from '../http/problem.ts';
import { loadPipeline } from '../load.ts';
import { PipelineParams } from '../pipelines/pipeline-shapes.ts';
import {
  ErrorRowsQuery,
  ErrorRowsSchema,
  FlushSchema,
  ManifestQuery,
  ManifestSchema,
  ServerSchema,
  SinksSchema,
} from './detail-shapes.ts';
import { errorRows } from './error-rows.ts';
import { lineageManifest } from './manifest-view.ts';
import { sinkStatus } from './sink-view.ts';

const PIPELINE = '/api/v1/pipelines/{id}';

const server = createRoute({
  method: 'get',
  path: '/api/v1/server',
  operationId: 'getServer',
  tags: ['meta'],
  summary: 'What this server is',
  responses: { 200: json(ServerSchema, 'Name and versions.'), ...problems() },
});

const rows = createRoute({
  method: 'get',
  path: `${PIPELINE}/errors/rows`,
  operationId: 'getErrorRows',
  tags: ['observe'],
  summary: 'Rows that went wrong: refused, not decoded, not computed, late',
  description: 'Newest first. The newest thousand of each generation and of each log are kept.',
  request: { params: PipelineParams, query: ErrorRowsQuery },
  responses: { 200: json(ErrorRowsSchema, 'A page.'), ...problems(400, 404) },
});

const manifest = createRoute({
  method: 'get',
  path: `${PIPELINE}/lineage/manifest`,
  operationId: 'getLineageManifest',
  tags: ['observe'],
  summary: 'One object of the lineage, with what it names',
  request: { params: PipelineParams, query: ManifestQuery },
  responses: {
    200: json(ManifestSchema, 'The object.'),
    ...problems(400, 404, 503),
  },
});

const sinks = createRoute({
  method: 'get',
  path: `${PIPELINE}/sinks`,
  operationId: 'getSinks',
  tags: ['observe'],
  summary: 'What each sink has received, staged and committed',
  request: { params: PipelineParams },
  responses: { 200: json(SinksSchema, 'Every sink.'), ...problems(404, 503) },
});

const flush = createRoute({
  method: 'post',
  path: `${PIPELINE}/checkpoint`,
  operationId: 'startCheckpoint',
  tags: ['jobs'],
  summary: 'Begin a checkpoint now, so that output is committed',
  description: 'While one is under way, that one is named and none is begun.',
  request: { params: PipelineParams },
  responses: { 200: json(FlushSchema, 'It has begun.'), ...problems(404, 503) },
});

export function addDetailRoutes(api: Api): void {
  api.openapi(server, (c) =>
    c.json(
      {
        name: 'Thalweg' as const,
        version: VERSION,
        local: c.env.local !== null,
        code_version: c.env.codeVersion,
        api: 'v1' as const,
      },
      200,
    ),
  );
  api.openapi(rows, async (c) => {
    const found = await loadPipeline(c.env, c.req.valid('param').id);
    const { starting_after: after, limit } = c.req.valid('query');
    return c.json(await errorRows(c.env, found, after ?? null, limit), 200);
  });
  api.openapi(manifest, async (c) => {
    const found = await loadPipeline(c.env, c.req.valid('param').id);
    return c.json(await lineageManifest(c.env, found, c.req.valid('query').ref), 200);
  });
  api.openapi(sinks, async (c) => {
    const found = await loadPipeline(c.env, c.req.valid('param').id);
    return c.json({ data: await sinkStatus(c.env, found) }, 200);
  });
  api.openapi(flush, async (c) => {
    const { pipeline, job } = await loadPipeline(c.env, c.req.valid('param').id);
    const epoch =
      job.generation === 0
        ? null
        : await c.env.flush(pipeline.id, job.generation).catch(() => null);
    if (epoch === null)
      throw new EngineError('NOT_RUNNING', `pipeline ${pipeline.id} is ${job.state}`, {
        hint: 'A checkpoint needs a pipeline that runs.',
      });
    return c.json({ epoch }, 200);
  });
}
