/** The built-in examples: queries over seeded data that run as they are. */
import { createRoute } from '@hono/zod-openapi';
import type { Api } from '../app.ts';
import { json } from '../http/json-answer.ts';
import { EXAMPLES } from './catalogue.ts';
import { ExampleCollectionSchema } from './example-shapes.ts';

const list = createRoute({
  method: 'get',
  path: '/api/v1/examples',
  operationId: 'getExamples',
  tags: ['meta'],
  summary: 'Queries over built-in data that run as they are',
  responses: { 200: json(ExampleCollectionSchema, 'All of them.') },
});

export function addExampleRoutes(api: Api): void {
  api.openapi(list, (c) => c.json({ data: EXAMPLES.map((example) => ({ ...example })) }, 200));
}
