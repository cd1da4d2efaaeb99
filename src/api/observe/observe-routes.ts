/** What a pipeline does: status, health, history. */
import { createRoute, z } from '@hono/zod-openapi';
import type { Api } from '../app.ts';
import { json } from '../http/json-answer.ts';
import { problems } from '../http/problem.ts';
import { loadPipeline } from '../load.ts';
import { PipelineParams } from '../pipelines/pipeline-shapes.ts';
import { pipelineHealth } from './health.ts';
import { HealthSchema } from './health-shapes.ts';
import { historyOf } from './history.ts';
import { HistoryQuery, HistorySchema } from './history-shapes.ts';
import { PROMETHEUS_TYPE } from './prometheus-text.ts';
import { prometheusText } from './prometheus.ts';
import { pipelineStatus } from './status.ts';
import { PipelineStatusSchema } from './status-shapes.ts';

const tags = ['observe'];
const PIPELINE = '/api/v1/pipelines/{id}';

const status = createRoute({
  method: 'get',
  path: `${PIPELINE}/status`,
  operationId: 'getPipelineStatus',
  tags,
  summary: 'What every operator, subtask, partition and checkpoint does now',
  description:
    'As the leader heard it last: hosts report every two seconds. Without a leader that answers, what the catalogue knows.',
  request: { params: PipelineParams },
  responses: { 200: json(PipelineStatusSchema, 'The status.'), ...problems(404) },
});

const health = createRoute({
  method: 'get',
  path: `${PIPELINE}/health`,
  operationId: 'getPipelineHealth',
  tags,
  summary: 'Why nothing comes out, in one sentence with a code and the way out',
  request: { params: PipelineParams },
  responses: { 200: json(HealthSchema, 'The health.'), ...problems(404) },
});

const history = createRoute({
  method: 'get',
  path: `${PIPELINE}/metrics/history`,
  operationId: 'getPipelineHistory',
  tags,
  summary: 'Rates and levels over time, for charts',
  description:
    'Points of one second for the last five minutes, else of ten seconds, across the last generations.',
  request: { params: PipelineParams, query: HistoryQuery },
  responses: { 200: json(HistorySchema, 'Columns aligned with times.'), ...problems(400, 404) },
});

const metrics = createRoute({
  method: 'get',
  path: '/metrics',
  operationId: 'getMetrics',
  tags,
  summary: 'What the leaders of running pipelines tell, for Prometheus',
  description:
    'Asks the leaders of 200 pipelines at most; thalweg_scrape_pipelines_skipped counts the others.',
  responses: {
    200: {
      description: 'Text of format 0.0.4.',
      content: { 'text/plain': { schema: z.string() } },
    },
    ...problems(),
  },
});

export function addObserveRoutes(api: Api): void {
  api.openapi(status, async (c) => {
    const found = await loadPipeline(c.env, c.req.valid('param').id);
    return c.json(await pipelineStatus(c.env, found), 200);
  });
  api.openapi(health, async (c) => {
    const found = await loadPipeline(c.env, c.req.valid('param').id);
    return c.json(await pipelineHealth(c.env, found), 200);
  });
  api.openapi(metrics, async (c) => {
    const text = await prometheusText(c.env);
    return c.text(text, 200, { 'content-type': PROMETHEUS_TYPE });
  });
  api.openapi(history, async (c) => {
    const found = await loadPipeline(c.env, c.req.valid('param').id);
    return c.json(await historyOf(c.env, found, c.req.valid('query').seconds), 200);
  });
}
