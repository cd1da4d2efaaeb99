/** The HTTP API: every route, and the OpenAPI document made of them. Built once; services come with each request. */
import { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { addAuthoringRoutes } from './authoring/authoring-routes.ts';
import { Ingest } from './rows/ingest.ts';
import { addProfileRoutes } from './connections/profile-routes.ts';
import { addTableRoutes } from './connections/table-routes.ts';
import { addExampleRoutes } from './examples/example-routes.ts';
import { useOwnWords } from './http/issue-words.ts';
import { addJobRoutes } from './jobs/job-routes.ts';
import { addLocalRoutes } from './local/local-routes.ts';
import { addMetaRoutes } from './meta/meta-routes.ts';
import { addObserveRoutes } from './observe/observe-routes.ts';
import { addOutputRoute } from './jobs/output-route.ts';
import { addPipelineRoutes } from './pipelines/pipeline-routes.ts';
import { answerError, notFound, refuseInvalid } from './http/problem.ts';
import { addRowsRoutes } from './rows/rows-routes.ts';
import { addDetailRoutes } from './stream/detail-routes.ts';
import { addEventRoutes } from './stream/event-routes.ts';
import { addListRoutes } from './stream/list-routes.ts';
import { addPreviewRoutes } from './stream/preview-routes.ts';
import { addUdfRoutes } from './functions/udf-routes.ts';
import type { ApiEnv } from './services.ts';

export type Api = OpenAPIHono<ApiEnv>;

const DESCRIPTION = {
  openapi: '3.1.0',
  info: {
    title: 'Thalweg',
    version: '1',
    description:
      'Streaming SQL pipelines. Where Arroyo has a resource, route and shape are the same. Times are microseconds since 1970; errors are problem documents with a code.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  tags: [
    { name: 'pipelines', description: 'SQL that runs continuously.' },
    { name: 'jobs', description: 'How a pipeline runs.' },
    { name: 'observe', description: 'What a pipeline does, and why nothing comes out.' },
    { name: 'rows', description: 'Rows in by HTTP.' },
    { name: 'authoring', description: 'What an editor asks while a query is written.' },
    { name: 'udfs', description: "Functions of the user's own." },
    { name: 'connections', description: 'Stored options and tables, for every query.' },
    { name: 'meta', description: 'About this server.' },
    { name: 'local', description: "Only on one's own machine." },
  ],
};

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The methods that a path has. */
const methodsOf = (api: Api, path: string): string[] =>
  METHODS.filter((method) =>
    api.router.match(method, path)[0].some(([[, route]]) => route.method !== 'ALL'),
  );

/** So that the next prompt of a terminal is on a line of its own. */
const endJsonWithNewline: MiddlewareHandler<ApiEnv> = async (c, next) => {
  await next();
  if (c.res.headers.get('content-type')?.startsWith('application/json') !== true) return;
  c.res = new Response(`${await c.res.text()}\n`, c.res);
};

/** `api.fetch(request, services)` answers a request. */
export function createApi(): Api {
  useOwnWords();
  const ingest = new Ingest();
  const api: Api = new OpenAPIHono<ApiEnv>({ defaultHook: (result) => refuseInvalid(result) });
  api.use('/api/v1/*', cors({ origin: '*', exposeHeaders: ['retry-after'] }));
  api.use('/api/v1/*', endJsonWithNewline);
  addMetaRoutes(api);
  // Ahead of the routes with {id}: paths are tried in this order.
  addListRoutes(api);
  addPreviewRoutes(api);
  addDetailRoutes(api);
  addEventRoutes(api);
  addPipelineRoutes(api, ingest);
  addJobRoutes(api);
  addOutputRoute(api);
  addObserveRoutes(api);
  addRowsRoutes(api, ingest);
  addUdfRoutes(api);
  addProfileRoutes(api);
  addTableRoutes(api);
  addExampleRoutes(api);
  addAuthoringRoutes(api);
  addLocalRoutes(api);
  api.doc31('/api/v1/openapi.json', DESCRIPTION);
  api.doc31('/api/v1/api-docs/openapi.json', DESCRIPTION);
  api.notFound((c) => notFound(c, methodsOf(api, c.req.path)));
  api.onError(answerError);
  return api;
}
