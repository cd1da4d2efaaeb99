/** Routes that exist only on one's own machine: faults on demand, and the objects of the bucket. */
import { createRoute, z } from '@hono/zod-openapi';
import { EngineError } from '../../base/errors.ts';
import { nearest } from '../../base/nearest.ts';
import type { Pipeline } from '../../catalog/schema.ts';
import type { Api } from '../app.ts';
import { json, jsonBody } from '../http/json-answer.ts';
import { HOST_POINTS, LEADER_POINTS } from './crash-points.ts';
import { httpTable, loadPipeline, partitionsOf } from '../load.ts';
import { PipelineParams } from '../pipelines/pipeline-shapes.ts';
import { problems } from '../http/problem.ts';
import { readBody } from '../http/read-body.ts';
import type { ApiServices, LocalServices } from '../services.ts';
import { strictShape } from '../http/strict-shape.ts';
import { graphOf } from '../views.ts';

const tags = ['local'];
const OBJECT_BYTES_MAX = 256 * 1024 * 1024;

const CrashSchema = strictShape({
  target: z.enum(['leader', 'host', 'log']),
  index: z
    .int()
    .min(0)
    .default(0)
    .openapi({ description: 'Of the host, or of the partition of the log.' }),
  table: z.string().optional().openapi({ description: 'Of the log.' }),
  at: z.string().min(1).default('now').openapi({
    description: 'At which point of its work; of leaders and hosts.',
    example: 'lineage:publish',
  }),
}).openapi('Crash');

const crash = createRoute({
  method: 'post',
  path: '/api/v1/local/pipelines/{id}/crash',
  operationId: 'crash',
  tags,
  summary: 'Reset an object as the platform would',
  request: { params: PipelineParams, body: jsonBody(CrashSchema) },
  responses: {
    200: json(z.object({ generation: z.int() }), 'It is reset, or will be when it gets there.'),
    ...problems(400, 404, 503),
  },
});

const objects = createRoute({
  method: 'get',
  path: '/api/v1/local/objects',
  operationId: 'listObjects',
  tags,
  summary: 'Objects of the bucket in the order of their keys',
  request: { query: z.object({ prefix: z.string().default(''), after: z.string().default('') }) },
  responses: {
    200: json(
      z
        .object({
          objects: z.array(z.object({ key: z.string(), size: z.int() })),
          truncated: z.boolean(),
        })
        .openapi('ObjectPage'),
      'A page; go on with after set to the last key.',
    ),
    ...problems(404),
  },
});

const KeyQuery = z.object({ key: z.string().min(1).max(1024) });

const bytes = { 'application/octet-stream': { schema: z.string().openapi({ format: 'binary' }) } };

const content = createRoute({
  method: 'get',
  path: '/api/v1/local/objects/content',
  operationId: 'getObject',
  tags,
  summary: 'The bytes of an object',
  request: { query: KeyQuery },
  responses: { 200: { description: 'The bytes.', content: bytes }, ...problems(400, 404) },
});

const putContent = createRoute({
  method: 'put',
  path: '/api/v1/local/objects/content',
  operationId: 'putObject',
  tags,
  summary: 'Write an object, to have example data',
  request: { query: KeyQuery, body: { required: true, content: bytes } },
  responses: {
    200: json(
      z.object({ key: z.string(), size: z.int() }).openapi('StoredObject'),
      'It is written.',
    ),
    ...problems(400, 404, 413),
  },
});

export function addLocalRoutes(api: Api): void {
  api.openapi(crash, async (c) => {
    const local = localOf(c.env);
    const { pipeline, job } = await loadPipeline(c.env, c.req.valid('param').id);
    const { target, index, table, at } = c.req.valid('json');
    const { generation } = job;
    checkCrash(c.req.valid('json'), pipeline);
    if (target === 'log') {
      const spec = httpTable(graphOf(pipeline), table ?? '');
      await local.crash(pipeline.id, { tag: 'log', table: spec.table, index });
    } else {
      if (generation === 0)
        throw new EngineError('NOT_RUNNING', `pipeline ${pipeline.id} has no generation yet`);
      await local.crash(
        pipeline.id,
        target === 'leader'
          ? { tag: 'leader', generation, at }
          : { tag: 'host', generation, index, at },
      );
    }
    return c.json({ generation }, 200);
  });
  api.openapi(objects, async (c) => {
    const { prefix, after } = c.req.valid('query');
    return c.json(await localOf(c.env).objects(prefix, after), 200);
  });
  api.openapi(content, async (c) => {
    const { key } = c.req.valid('query');
    const object = await localOf(c.env).object(key);
    if (object === null) throw new EngineError('NOT_FOUND', `there is no object ${key}`);
    const headers = {
      'content-type': 'application/octet-stream',
      'content-length': String(object.size),
    };
    return new Response(object.body, { headers }) as never;
  });
  api.openapi(putContent, async (c) => {
    const local = localOf(c.env);
    const { key } = c.req.valid('query');
    const body = await readBody(c.req.raw, OBJECT_BYTES_MAX);
    await local.putObject(key, body);
    return c.json({ key, size: body.byteLength }, 200);
  });
}

/** What would reset nothing is refused: whoever asks would wait for it. */
function checkCrash(
  { target, index, table, at }: z.infer<typeof CrashSchema>,
  pipeline: Pipeline,
): void {
  const there =
    target === 'leader'
      ? 1
      : target === 'host'
        ? pipeline.parallelism
        : partitionsOf(httpTable(graphOf(pipeline), table ?? ''));
  if (index >= there) {
    const what = target === 'log' ? `partition of table "${table}"` : target;
    throw new EngineError('INVALID_REQUEST', `there is no ${what} ${index}`, {
      hint: there === 1 ? 'There is only 0.' : `There are 0 to ${there - 1}.`,
    });
  }
  const points = target === 'leader' ? LEADER_POINTS : target === 'host' ? HOST_POINTS : ['now'];
  if (points.includes(at)) return;
  const suggestion = nearest(at, points);
  throw new EngineError('INVALID_REQUEST', `a ${target} can not be reset at "${at}"`, {
    hint: `Its points are ${points.join(', ')}.`,
    ...(suggestion === null ? {} : { suggestion }),
  });
}

/** Elsewhere these routes do not exist. */
function localOf({ local }: ApiServices): LocalServices {
  if (local === null)
    throw new EngineError('NOT_FOUND', "this route exists only on one's own machine");
  return local;
}
