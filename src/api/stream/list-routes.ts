/** The list of pipelines, at once. Its stream of changes is in `list-events.ts`. */
import { createRoute } from '@hono/zod-openapi';
import { listSummaries } from '../../catalog/summaries.ts';
import type { Api } from '../app.ts';
import { json } from '../http/json-answer.ts';
import { problems } from '../http/problem.ts';
import { PipelineSummariesSchema, SummariesQuery } from './summary-shapes.ts';
import { summaryView } from './summary-view.ts';

const summaries = createRoute({
  method: 'get',
  path: '/api/v1/pipelines/summaries',
  operationId: 'getPipelineSummaries',
  tags: ['pipelines'],
  summary: 'All pipelines in short, thousands at once',
  request: { query: SummariesQuery },
  responses: {
    200: json(PipelineSummariesSchema, 'Those that match; live is null here.'),
    ...problems(400),
  },
});

export function addListRoutes(api: Api): void {
  api.openapi(summaries, async (c) => {
    const { q, state, sort, descending, limit } = c.req.valid('query');
    const { summaries: found, total } = await listSummaries(c.env.database, {
      text: q === undefined || q === '' ? null : q,
      states: (state ?? '').split(',').filter((name) => name !== ''),
      sort,
      descending: descending === 'true',
      limit,
    });
    return c.json({ data: found.map((summary) => summaryView(summary, null)), total }, 200);
  });
}
