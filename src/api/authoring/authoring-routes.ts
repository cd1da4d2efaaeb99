/** What an editor asks for while a query is written. */
import { createRoute, z } from '@hono/zod-openapi';
import { hashBytes } from '../../base/hash.ts';
import { formatSql } from '../../sql/format.ts';
import type { Api } from '../app.ts';
import { json, jsonBody } from '../http/json-answer.ts';
import { problems, refusal } from '../http/problem.ts';
import {
  CheckRowsAnswerSchema,
  CheckRowsRequestSchema,
  CompletionsSchema,
  EvaluateAnswerSchema,
  EvaluateRequestSchema,
  FormatAnswerSchema,
  FormatRequestSchema,
  InferAnswerSchema,
  InferRequestSchema,
} from './authoring-shapes.ts';
import { buildCompletions } from './completions.ts';
import { evaluateFunction } from './evaluate-function.ts';
import { checkAgainst, inferFrom } from './samples.ts';

const tags = ['authoring'];

const format = createRoute({
  method: 'post',
  path: '/api/v1/sql/format',
  operationId: 'formatSql',
  tags,
  summary: 'Lay a query out in the house style',
  description:
    'Comments stay, the meaning never changes, and a text that was formatted stays as it is. A text with an error is refused with everything that is wrong.',
  request: { body: jsonBody(FormatRequestSchema) },
  responses: { 200: json(FormatAnswerSchema, 'The text.'), ...problems(400) },
});

const completions = createRoute({
  method: 'get',
  path: '/api/v1/sql/completions',
  operationId: 'getCompletions',
  tags,
  summary: 'Keywords, types, functions, connectors and snippets, with their documentation',
  description: 'It changes with the version of the server only: ask again with If-None-Match.',
  request: { headers: z.object({ 'if-none-match': z.string().optional() }) },
  responses: {
    200: json(CompletionsSchema, 'All there is to offer.'),
    304: { description: 'It is what the ETag says.' },
    ...problems(),
  },
});

/** Built when it is first asked for. */
function catalogue(): () => { body: string; etag: string } {
  let made: { body: string; etag: string } | null = null;
  return () => {
    if (made !== null) return made;
    const body = JSON.stringify(buildCompletions());
    const bytes = new TextEncoder().encode(body);
    const hash = [0, 1].map((seed) => hashBytes(bytes, 0, bytes.length, seed) >>> 0);
    made = { body, etag: `"${hash.map((each) => each.toString(16).padStart(8, '0')).join('')}"` };
    return made;
  };
}

const infer = createRoute({
  method: 'post',
  path: '/api/v1/schemas/infer',
  operationId: 'inferSchema',
  tags,
  summary: 'Guess a table from pasted rows',
  description:
    'The CREATE TABLE that is answered plans, and its table takes every pasted row that is a JSON object; the others are told with the reason.',
  request: { body: jsonBody(InferRequestSchema) },
  responses: {
    200: json(InferAnswerSchema, 'The table, and what it makes of each row.'),
    ...problems(400),
  },
});

const check = createRoute({
  method: 'post',
  path: '/api/v1/schemas/check',
  operationId: 'checkRows',
  tags,
  summary: 'Check pasted rows against a table',
  description: 'By the decoder that pipelines read with. Nothing is stored.',
  request: { body: jsonBody(CheckRowsRequestSchema) },
  responses: {
    200: json(CheckRowsAnswerSchema, 'Each row, accepted or refused.'),
    ...problems(400),
  },
});

const evaluate = createRoute({
  method: 'post',
  path: '/api/v1/udfs/evaluate',
  operationId: 'evaluateUdf',
  tags: ['udfs'],
  summary: 'Try a function out',
  description:
    'Each call is a JSON array of the arguments; of an aggregate function, of the values of a group, or of the arguments of each of its rows. Calls are made one after the other, in the sandbox that pipelines use.',
  request: { body: jsonBody(EvaluateRequestSchema) },
  responses: { 200: json(EvaluateAnswerSchema, 'What each call gave.'), ...problems(400) },
});

export function addAuthoringRoutes(api: Api): void {
  const offered = catalogue();
  api.openapi(completions, (c) => {
    const { body, etag } = offered();
    const headers = { etag, 'cache-control': 'no-cache' };
    const known = c.req.valid('header')['if-none-match']?.replaceAll('W/', '') ?? '';
    if (known.split(',').some((each) => each.trim() === etag)) return c.body(null, 304, headers);
    return c.body(body, 200, { ...headers, 'content-type': 'application/json' }) as never;
  });
  api.openapi(format, (c) => {
    const formatted = formatSql(c.req.valid('json').query);
    if (formatted.tag === 'formatted') return c.json({ query: formatted.text }, 200);
    const [first] = formatted.errors;
    if (first === undefined) throw new Error('a refused text has errors');
    throw refusal(first, formatted.errors);
  });
  api.openapi(infer, (c) => {
    const { rows, table = 'events' } = c.req.valid('json');
    return c.json(inferFrom(rows, table.toLowerCase()), 200);
  });
  api.openapi(check, (c) => {
    const { sql, rows } = c.req.valid('json');
    return c.json(checkAgainst(sql, rows), 200);
  });
  api.openapi(evaluate, async (c) => {
    const { definition, calls } = c.req.valid('json');
    return c.json(await evaluateFunction(c.env, definition, calls), 200);
  });
}
