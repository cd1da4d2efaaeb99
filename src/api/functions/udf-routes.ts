/** Functions of the user's own that every pipeline may call. Shapes and routes are Arroyo's; a definition is a CREATE FUNCTION. */
import { createRoute, z } from '@hono/zod-openapi';
import { EngineError, type ErrorReport } from '../../base/errors.ts';
import { makeId } from '../../base/ids.ts';
import {
  type StoredFunction,
  createFunction,
  deleteFunction,
  listFunctions,
} from '../../catalog/functions.ts';
import type { UserFunction } from '../../expr/user-function.ts';
import { planFunction } from '../../graph/plan-sql.ts';
import type { Api } from '../app.ts';
import { json, jsonBody } from '../http/json-answer.ts';
import { checkFunctions } from '../pipelines/planning.ts';
import { problems, refusal } from '../http/problem.ts';
import type { ApiServices } from '../services.ts';
import {
  GlobalUdfSchema,
  UdfPostSchema,
  UdfValidationSchema,
  ValidateUdfSchema,
} from './udf-shapes.ts';

const tags = ['udfs'];

const create = createRoute({
  method: 'post',
  path: '/api/v1/udfs',
  operationId: 'createUdf',
  tags,
  summary: 'Store a function that every pipeline may call',
  request: { body: jsonBody(UdfPostSchema) },
  responses: { 200: json(GlobalUdfSchema, 'The function.'), ...problems(400, 409) },
});

const list = createRoute({
  method: 'get',
  path: '/api/v1/udfs',
  operationId: 'getUdfs',
  tags,
  summary: 'List the stored functions by name',
  responses: { 200: json(z.object({ data: z.array(GlobalUdfSchema) }), 'All of them.') },
});

const remove = createRoute({
  method: 'delete',
  path: '/api/v1/udfs/{id}',
  operationId: 'deleteUdf',
  tags,
  summary: 'Delete a stored function; pipelines that call it go on',
  request: { params: z.object({ id: z.string() }) },
  responses: { 200: json(z.object({ id: z.string() }), 'It is gone.'), ...problems(404) },
});

const validate = createRoute({
  method: 'post',
  path: '/api/v1/udfs/validate',
  operationId: 'validateUdf',
  tags,
  summary: 'Check a function: its declaration, and that its code loads',
  request: { body: jsonBody(ValidateUdfSchema) },
  responses: {
    200: json(UdfValidationSchema, 'Its name, and everything that is wrong.'),
    ...problems(400),
  },
});

export function addUdfRoutes(api: Api): void {
  api.openapi(validate, async (c) => {
    const { fn, errors } = await checked(c.env, c.req.valid('json'));
    const messages = errors.map(({ message }) => message);
    return c.json({ udf_name: fn?.name ?? null, errors: messages, reports: errors }, 200);
  });
  api.openapi(create, async (c) => {
    const post = c.req.valid('json');
    const { fn, errors } = await checked(c.env, post);
    const [first] = errors;
    if (first !== undefined) throw refusal(first, errors);
    if (fn === null) throw new EngineError('INTERNAL', 'a function is neither there nor wrong');
    const nowMs = c.env.nowMs();
    const stored: StoredFunction = {
      id: makeId('udf', c.env.randomBytes(10)),
      prefix: post.prefix,
      name: fn.name,
      language: fn.language,
      definition: post.definition,
      description: post.description ?? null,
      createdMs: nowMs,
      updatedMs: nowMs,
    };
    const created = await createFunction(c.env.database, stored);
    if (created === 'full')
      throw new EngineError('CONFLICT', 'there are too many stored functions', {
        hint: 'delete some: DELETE /api/v1/udfs/{id}',
      });
    if (created === 'exists')
      throw new EngineError('CONFLICT', `there is a function ${fn.name}() already`, {
        hint: 'delete it first, or give this one another name',
      });
    return c.json(view(stored), 200);
  });
  api.openapi(list, async (c) => {
    const functions = await listFunctions(c.env.database);
    return c.json({ data: functions.map(view) }, 200);
  });
  api.openapi(remove, async (c) => {
    const { id } = c.req.valid('param');
    if (!(await deleteFunction(c.env.database, id)))
      throw new EngineError('NOT_FOUND', `there is no function ${id}`, {
        hint: 'GET /api/v1/udfs lists those there are.',
      });
    return c.json({ id }, 200);
  });
}

async function checked(
  services: ApiServices,
  post: { definition: string; language?: string | undefined },
): Promise<{ fn: UserFunction | null; errors: ErrorReport[] }> {
  const { fn, errors } = planFunction(post.definition);
  if (fn === null) return { fn, errors };
  if (post.language !== undefined && post.language !== fn.language) {
    const message = `the request says ${post.language} and the definition ${fn.language}`;
    return { fn, errors: [new EngineError('INVALID_REQUEST', message).report] };
  }
  return { fn, errors: await checkFunctions(services, [fn]) };
}

const view = (fn: StoredFunction) => ({
  id: fn.id,
  prefix: fn.prefix,
  name: fn.name,
  language: fn.language,
  created_at: fn.createdMs * 1000,
  updated_at: fn.updatedMs * 1000,
  definition: fn.definition,
  description: fn.description,
  dylib_url: null,
});
