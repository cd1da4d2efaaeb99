/** Previews: a query that runs at once, to be looked at, and is deleted when nobody looks any more. */
import { createRoute } from '@hono/zod-openapi';
import { makeId } from '../../base/ids.ts';
import { LIMITS } from '../../base/limits.ts';
import { previewGraph } from '../../graph/preview-graph.ts';
import type { Api } from '../app.ts';
import { json, jsonBody } from '../http/json-answer.ts';
import { problems } from '../http/problem.ts';
import { PipelineSchema } from '../pipelines/pipeline-shapes.ts';
import { plannedGraph, reconciled, storePipeline, warned } from '../pipelines/store-pipeline.ts';
import { PreviewPostSchema } from './preview-shapes.ts';

const preview = createRoute({
  method: 'post',
  path: '/api/v1/pipelines/preview',
  operationId: 'createPreview',
  tags: ['pipelines'],
  summary: 'Run a query to look at its rows',
  description:
    'Every sink is replaced by one that shows its rows, or has one beside it with enable_sinks. A preview is in no list; it is stopped and deleted when nobody has read its events or output for a minute.',
  request: { body: jsonBody(PreviewPostSchema) },
  responses: {
    200: json(PipelineSchema, 'The pipeline, with preview: true; its job is starting.'),
    ...problems(400, 413),
  },
});

export function addPreviewRoutes(api: Api): void {
  api.openapi(preview, async (c) => {
    const { query, udfs, parallelism, enable_sinks: enableSinks } = c.req.valid('json');
    const planned = await plannedGraph(c.env, query, udfs, { defaultSink: 'preview' });
    const id = makeId('pl', c.env.randomBytes(10));
    await storePipeline(
      c.env,
      { graph: previewGraph(planned.graph, enableSinks), tables: planned.tables },
      udfs,
      {
        id,
        name: 'preview',
        query,
        parallelism,
        // Nothing depends on its checkpoints, unless output is committed by them.
        checkpointIntervalMs: enableSinks
          ? LIMITS.checkpointIntervalDefaultMs
          : LIMITS.checkpointIntervalMaxMs,
        settings: {},
        tags: {},
        preview: true,
      },
    );
    return c.json(warned(await reconciled(c.env, id), enableSinks ? planned.warnings : []), 200);
  });
}
