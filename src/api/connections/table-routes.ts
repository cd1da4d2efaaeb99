/** Connection tables: declared once, named by every query. Routes and shapes are Arroyo's. */
import { createRoute, z } from '@hono/zod-openapi';
import { EngineError, type ErrorReport } from '../../base/errors.ts';
import { makeId } from '../../base/ids.ts';
import {
  createTable,
  deleteTable,
  getProfile,
  listTables,
  type StoredProfile,
  type StoredTable,
  type TableInUse,
} from '../../catalog/connections.ts';
import { DECLARATIONS } from '../../connectors/declarations.ts';
import type { Api } from '../app.ts';
import { json, jsonBody } from '../http/json-answer.ts';
import { problems, refusal } from '../http/problem.ts';
import { PageQuery } from '../pipelines/pipeline-shapes.ts';
import type { ApiServices } from '../services.ts';
import { checkOptions, checkSchema, checkTable, connectorOf } from './check.ts';
import {
  type ConnectionSchema,
  ConnectionSchemaSchema,
  type ConnectionTable,
  type ConnectionTablePost,
  ConnectionTablePostSchema,
  ConnectionTableSchema,
  TestSourceMessageSchema,
} from './connection-shapes.ts';
import { noProfile, profileView } from './profile-routes.ts';
import { masked } from './secrets.ts';
import { declaredOf, tableSql } from './table-sql.ts';
import { testTable } from './test-table.ts';

const tags = ['connections'];

const create = createRoute({
  method: 'post',
  path: '/api/v1/connection_tables',
  operationId: 'createConnectionTable',
  tags,
  summary: 'Store a table that every query may name',
  request: { body: jsonBody(ConnectionTablePostSchema) },
  responses: { 200: json(ConnectionTableSchema, 'The table.'), ...problems(400, 404, 409) },
});

const list = createRoute({
  method: 'get',
  path: '/api/v1/connection_tables',
  operationId: 'getConnectionTables',
  tags,
  summary: 'List the stored tables, newest first, with the number of pipelines that use each',
  request: { query: PageQuery },
  responses: {
    200: json(
      z.object({ data: z.array(ConnectionTableSchema), hasMore: z.boolean() }),
      'A page of tables.',
    ),
    ...problems(400),
  },
});

const test = createRoute({
  method: 'post',
  path: '/api/v1/connection_tables/test',
  operationId: 'testConnectionTable',
  tags,
  summary: 'Try out a table, and store nothing',
  request: { body: jsonBody(ConnectionTablePostSchema) },
  responses: {
    200: {
      description: 'What was tried, as server-sent events; the last one has done: true.',
      content: { 'text/event-stream': { schema: TestSourceMessageSchema } },
    },
    ...problems(400, 404),
  },
});

const testSchema = createRoute({
  method: 'post',
  path: '/api/v1/connection_tables/schemas/test',
  operationId: 'testSchema',
  tags,
  summary: 'Check a schema',
  request: { body: jsonBody(ConnectionSchemaSchema) },
  responses: {
    200: json(ConnectionSchemaSchema, 'The schema, with the fields of its definition.'),
    ...problems(400),
  },
});

const remove = createRoute({
  method: 'delete',
  path: '/api/v1/connection_tables/{id}',
  operationId: 'deleteConnectionTable',
  tags,
  summary: 'Delete a stored table that no pipeline uses',
  request: { params: z.object({ id: z.string().openapi({ example: 'ct_5bY2kd81Qz' }) }) },
  responses: { 200: json(z.object({ id: z.string() }), 'It is gone.'), ...problems(400, 404) },
});

export function addTableRoutes(api: Api): void {
  api.openapi(test, async (c) => {
    const { table, profile, errors } = await wanted(c.env, c.req.valid('json'));
    const messages = testTable(c.env, declaredOf({ table, profile }), errors);
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
    return new Response(eventsOf(messages), { headers }) as never;
  });
  api.openapi(testSchema, async (c) => {
    const schema = c.req.valid('json');
    const { errors, fields } = checkSchema(schema);
    const [first] = errors;
    if (first !== undefined) throw refusal(first, errors);
    return c.json({ ...schema, fields: [...fields] }, 200);
  });
  api.openapi(create, async (c) => c.json(await store(c.env, c.req.valid('json')), 200));
  api.openapi(list, async (c) => {
    const { limit, starting_after: after } = c.req.valid('query');
    const { tables, more } = await listTables(c.env.database, { limit, after: after ?? null });
    return c.json({ data: tables.map(tableView), hasMore: more }, 200);
  });
  api.openapi(remove, async (c) => {
    const { id } = c.req.valid('param');
    const deleted = await deleteTable(c.env.database, id);
    if (deleted === 'missing')
      throw new EngineError('NOT_FOUND', `there is no connection table ${id}`, {
        hint: 'GET /api/v1/connection_tables lists those there are.',
      });
    if (deleted === 'used')
      throw new EngineError(
        'INVALID_REQUEST',
        'the connection table is still being used by pipelines',
        { hint: 'delete those first; GET /api/v1/connection_tables tells how many there are' },
      );
    return c.json({ id }, 200);
  });
}

async function store(services: ApiServices, post: ConnectionTablePost): Promise<ConnectionTable> {
  const { table, profile, errors: wrong } = await wanted(services, post);
  const checked = wrong.length > 0 ? null : checkTable(declaredOf({ table, profile }));
  const errors = checked?.errors ?? wrong;
  const [first] = errors;
  if (first !== undefined || checked === null) throw refusal(first as ErrorReport, errors);
  const stored = { ...table, schema: checked.schema };
  const created = await createTable(services.database, stored);
  if (created === 'no_profile') throw noProfile(table.profileId ?? '');
  if (created === 'full')
    throw new EngineError('CONFLICT', 'there are too many connection tables', {
      hint: 'delete some: DELETE /api/v1/connection_tables/{id}',
    });
  if (created === 'exists')
    throw new EngineError('CONFLICT', `there is a connection table "${post.name}" already`, {
      hint: 'delete it first, or give this one another name',
    });
  return tableView({ table: stored, profile, consumers: 0 });
}

/** The table as it would be stored, and what is wrong with its options. */
async function wanted(
  services: ApiServices,
  post: ConnectionTablePost,
): Promise<{ table: StoredTable; profile: StoredProfile | null; errors: ErrorReport[] }> {
  const connector = connectorOf(post.connector);
  const profileId = post.connection_profile_id ?? null;
  const profile = profileId === null ? null : await getProfile(services.database, profileId);
  if (profileId !== null && profile === null) throw noProfile(profileId);
  if (profile !== null && profile.connector !== connector.name)
    throw new EngineError(
      'INVALID_REQUEST',
      `the connection profile "${profile.name}" is one of ${profile.connector}, and the table is one of ${connector.name}`,
    );
  const schema: ConnectionSchema = post.schema ?? { fields: [], primary_keys: [] };
  const table: StoredTable = {
    id: makeId('ct', services.randomBytes(10)),
    name: post.name,
    connector: connector.name,
    profileId,
    tableType: post.table_type ?? onlyTypeOf(connector),
    config: post.config,
    schema,
    createdMs: services.nowMs(),
  };
  return { table, profile, errors: checkOptions(connector, post.config) };
}

/** @throws INVALID_REQUEST when the connector reads and writes */
function onlyTypeOf({ name, source, sink }: { name: string; source: boolean; sink: boolean }) {
  if (source && sink)
    throw new EngineError(
      'INVALID_REQUEST',
      `table_type: is missing, and ${name} is read and written`,
      { hint: 'Say "source", "sink" or "lookup".' },
    );
  return source ? 'source' : 'sink';
}

export function tableView({ table, profile, consumers }: TableInUse): ConnectionTable {
  const connector = DECLARATIONS.find(({ name }) => name === table.connector);
  const declared = declaredOf({ table, profile });
  return {
    id: table.id,
    name: table.name,
    created_at: table.createdMs * 1000,
    connector: table.connector,
    connection_profile: profile === null ? null : profileView(profile),
    table_type: table.tableType,
    config: masked(connector, table.config),
    schema: declared.schema,
    consumers,
    sql: tableSql({ ...declared, config: masked(connector, declared.config) }),
  };
}

function eventsOf(messages: AsyncGenerator<object>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller): Promise<void> {
      const next = await messages.next();
      if (next.done === true) controller.close();
      else controller.enqueue(encoder.encode(`data: ${JSON.stringify(next.value)}\n\n`));
    },
  });
}
