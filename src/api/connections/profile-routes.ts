/** Connection profiles: options that several stored tables share. Routes and shapes are Arroyo's. */
import { createRoute, z } from '@hono/zod-openapi';
import { EngineError, type ErrorReport } from '../../base/errors.ts';
import { makeId } from '../../base/ids.ts';
import {
  createProfile,
  deleteProfile,
  getProfile,
  listProfiles,
  type StoredProfile,
} from '../../catalog/connections.ts';
import { DECLARATIONS } from '../../connectors/declarations.ts';
import type { Api } from '../app.ts';
import { json, jsonBody } from '../http/json-answer.ts';
import { problems, refusal } from '../http/problem.ts';
import type { ApiServices } from '../services.ts';
import { checkOptions, connectorOf } from './check.ts';
import {
  ConnectionAutocompleteSchema,
  type ConnectionProfile,
  type ConnectionProfilePost,
  ConnectionProfilePostSchema,
  ConnectionProfileSchema,
  TestSourceMessageSchema,
} from './connection-shapes.ts';
import { masked } from './secrets.ts';

const tags = ['connections'];
const params = z.object({ id: z.string().openapi({ example: 'cp_5bY2kd81Qz' }) });

const create = createRoute({
  method: 'post',
  path: '/api/v1/connection_profiles',
  operationId: 'createConnectionProfile',
  tags,
  summary: 'Store options that several tables share',
  request: { body: jsonBody(ConnectionProfilePostSchema) },
  responses: { 200: json(ConnectionProfileSchema, 'The profile.'), ...problems(400, 409) },
});

const test = createRoute({
  method: 'post',
  path: '/api/v1/connection_profiles/test',
  operationId: 'testConnectionProfile',
  tags,
  summary: 'Check the options of a profile, and store nothing',
  request: { body: jsonBody(ConnectionProfilePostSchema) },
  responses: {
    200: json(TestSourceMessageSchema, 'Whether they are options of the connector.'),
    ...problems(400),
  },
});

const list = createRoute({
  method: 'get',
  path: '/api/v1/connection_profiles',
  operationId: 'getConnectionProfiles',
  tags,
  summary: 'List the profiles by name',
  responses: { 200: json(z.object({ data: z.array(ConnectionProfileSchema) }), 'All of them.') },
});

const remove = createRoute({
  method: 'delete',
  path: '/api/v1/connection_profiles/{id}',
  operationId: 'deleteConnectionProfile',
  tags,
  summary: 'Delete a profile that no table uses',
  request: { params },
  responses: { 200: json(z.object({ id: z.string() }), 'It is gone.'), ...problems(400, 404) },
});

const autocomplete = createRoute({
  method: 'get',
  path: '/api/v1/connection_profiles/{id}/autocomplete',
  operationId: 'getConnectionAutocomplete',
  tags,
  summary: 'Values that options of its tables could have',
  description: 'Keys of the bucket, where it can be read: on one’s own machine.',
  request: { params },
  responses: {
    200: json(ConnectionAutocompleteSchema, 'Values by the name of the option.'),
    ...problems(404),
  },
});

export function addProfileRoutes(api: Api): void {
  api.openapi(test, async (c) => {
    const [first, ...others] = wrongWith(c.req.valid('json'));
    const message = first?.message ?? 'the options are those of the connector';
    const reports = first === undefined ? {} : { reports: [first, ...others] };
    return c.json({ error: first !== undefined, done: true, message, ...reports }, 200);
  });
  api.openapi(create, async (c) => {
    const post = c.req.valid('json');
    const errors = wrongWith(post);
    const [first] = errors;
    if (first !== undefined) throw refusal(first, errors);
    const profile: StoredProfile = {
      id: makeId('cp', c.env.randomBytes(10)),
      name: post.name,
      connector: post.connector,
      config: post.config,
      createdMs: c.env.nowMs(),
    };
    const created = await createProfile(c.env.database, profile);
    if (created === 'full')
      throw new EngineError('CONFLICT', 'there are too many connection profiles', {
        hint: 'delete some: DELETE /api/v1/connection_profiles/{id}',
      });
    if (created === 'exists')
      throw new EngineError('CONFLICT', `there is a connection profile "${post.name}" already`, {
        hint: 'delete it first, or give this one another name',
      });
    return c.json(profileView(profile), 200);
  });
  api.openapi(list, async (c) => {
    const profiles = await listProfiles(c.env.database);
    return c.json({ data: profiles.map(profileView) }, 200);
  });
  api.openapi(remove, async (c) => {
    const { id } = c.req.valid('param');
    const deleted = await deleteProfile(c.env.database, id);
    if (deleted === 'missing') throw noProfile(id);
    if (deleted === 'used')
      throw new EngineError(
        'INVALID_REQUEST',
        'the connection profile is still being used by connection tables',
        { hint: 'delete those first: GET /api/v1/connection_tables shows them' },
      );
    return c.json({ id }, 200);
  });
  api.openapi(autocomplete, async (c) => {
    const { id } = c.req.valid('param');
    const profile = await getProfile(c.env.database, id);
    if (profile === null) throw noProfile(id);
    return c.json({ values: await valuesFor(c.env, profile.connector) }, 200);
  });
}

export const noProfile = (id: string): EngineError =>
  new EngineError('NOT_FOUND', `there is no connection profile ${id}`, {
    hint: 'GET /api/v1/connection_profiles lists those there are.',
  });

const wrongWith = ({ connector, config }: ConnectionProfilePost): ErrorReport[] =>
  checkOptions(connectorOf(connector), config);

const KEYS_MAX = 100;

async function valuesFor(
  services: ApiServices,
  connector: string,
): Promise<Record<string, string[]>> {
  if (services.local === null || (connector !== 'r2' && connector !== 'single_file')) return {};
  const { objects } = await services.local.objects('', '');
  return { path: objects.slice(0, KEYS_MAX).map(({ key }) => key) };
}

export function profileView(profile: StoredProfile): ConnectionProfile {
  const connector = DECLARATIONS.find(({ name }) => name === profile.connector);
  const config = masked(connector, profile.config);
  const said = Object.entries(config).map(([key, value]) => `${key} = ${String(value)}`);
  return {
    id: profile.id,
    name: profile.name,
    connector: profile.connector,
    config,
    description: said.join(', '),
  };
}
