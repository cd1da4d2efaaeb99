/** Rows in by HTTP, and the rows that were refused. */
import { createRoute, z } from '@hono/zod-openapi';
import { EngineError } from '../../base/errors.ts';
import { LIMITS } from '../../base/limits.ts';
import type { Api } from '../app.ts';
import type { Ingest } from './ingest.ts';
import { json } from '../http/json-answer.ts';
import { httpTable, loadPipeline, partitionsOf } from '../load.ts';
import { problems } from '../http/problem.ts';
import { readBody } from '../http/read-body.ts';
import { RejectedRowsSchema, RowsAnswerSchema, RowsHeaders, TableParams } from './rows-shapes.ts';
import { graphOf, microsOf } from '../views.ts';

const tags = ['rows'];

const append = createRoute({
  method: 'post',
  path: '/api/v1/pipelines/{id}/tables/{table}/rows',
  operationId: 'postRows',
  tags,
  summary: 'Store rows of an http table',
  description:
    'The body is NDJSON (one row a line) or a JSON array of rows, at most 16 MiB, with or without gzip. The answer comes when the accepted rows are durable; a row that is not one of the table costs only itself.',
  request: {
    params: TableParams,
    headers: RowsHeaders,
    body: {
      required: true,
      content: {
        'application/x-ndjson': { schema: z.string().openapi({ example: '{"id":1}\n{"id":2}\n' }) },
        'application/json': {
          schema: z.array(z.unknown()).openapi({ example: [{ id: 1 }, { id: 2 }] }),
        },
      },
    },
  },
  responses: {
    200: json(RowsAnswerSchema, 'Every row is stored.'),
    207: json(RowsAnswerSchema, 'Some rows were rejected; the others are stored.'),
    ...problems(400, 404, 413, 422, 429),
  },
});

const rejected = createRoute({
  method: 'get',
  path: '/api/v1/pipelines/{id}/tables/{table}/errors',
  operationId: 'getRejectedRows',
  tags,
  summary: 'The newest rows that were rejected',
  request: {
    params: TableParams,
    query: z.object({
      limit: z.coerce.number().int().min(1).max(LIMITS.errorRowsKept).default(100),
    }),
  },
  responses: {
    200: json(RejectedRowsSchema, 'Newest first; each log keeps the last 1000.'),
    ...problems(400, 404),
  },
});

export function addRowsRoutes(api: Api, ingest: Ingest): void {
  // Only documented: the body of this route is read as bytes and never parsed as a whole.
  api.openAPIRegistry.registerPath(append);
  api.post('/api/v1/pipelines/:id/tables/:table/rows', async (c) => {
    const headers = RowsHeaders.safeParse({ 'idempotency-key': c.req.header('idempotency-key') });
    if (!headers.success)
      throw new EngineError('INVALID_REQUEST', 'idempotency-key is 1 to 200 characters long');
    const body = await readBody(c.req.raw, LIMITS.ingestBytesMax);
    const { id, table } = c.req.param();
    const answer = await ingest.append(
      c.env,
      id,
      table,
      body,
      headers.data['idempotency-key'] ?? null,
    );
    return c.json(answer, answer.rejected === 0 ? 200 : 207);
  });
  api.openapi(rejected, async (c) => {
    const { id, table } = c.req.valid('param');
    const { limit } = c.req.valid('query');
    const spec = httpTable(graphOf((await loadPipeline(c.env, id)).pipeline), table);
    const logs = Array.from({ length: partitionsOf(spec) }, (_, partition) => partition);
    const pages = await Promise.all(
      logs.map(async (partition) =>
        (await c.env.log(id, spec.table, partition).rejected(limit)).map(
          ({ sequence, atMs, index, code, column, message, raw }) => ({
            id: `${partition}-${sequence}`,
            partition,
            created_at: microsOf(atMs),
            index,
            code,
            column: column === '' ? null : column,
            message,
            raw,
          }),
        ),
      ),
    );
    const newest = pages.flat().sort((left, right) => right.created_at - left.created_at);
    return c.json({ data: newest.slice(0, limit) }, 200);
  });
}
