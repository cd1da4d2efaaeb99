/** What an editor asks for while a query is written. */
import { createRoute, z } from '@hono/zod-openapi';
import { hashBytes } from '../../base/hash.ts';
import { formatSql } from '../../sql/format.ts';
import type { Api } from '../app.ts';
import { json, jsonBody } from '../http/json-answer.ts';
import { problems, refusal } from '../http/problem.ts';
import { CompletionsSchema, FormatAnswerSchema, FormatRequestSchema } from './authoring-shapes.ts';
import { buildCompletions } from './completions.ts';

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
}
