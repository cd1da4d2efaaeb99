/** The streams of changes: one for the page of a pipeline, one for the list. */
import { createRoute } from '@hono/zod-openapi';
import type { Api } from '../app.ts';
import { eventResponse } from '../http/event-stream.ts';
import { problems } from '../http/problem.ts';
import { loadPipeline } from '../load.ts';
import { PipelineParams } from '../pipelines/pipeline-shapes.ts';
import { decodeCursor } from './cursor.ts';
import { EventsQuery, PageEventSchema } from './event-shapes.ts';
import { ListStream } from './list-stream.ts';
import { PageStream } from './page-stream.ts';
import { ChangedSummariesSchema, ListEventsQuery } from './summary-shapes.ts';

const pipelineEvents = createRoute({
  method: 'get',
  path: '/api/v1/pipelines/{id}/events',
  operationId: 'getPipelineEvents',
  tags: ['observe'],
  summary: 'Everything that changes of a pipeline, as server-sent events',
  description:
    'One stream for all topics: each event is named after its topic. An event is sent when something has changed, and its id is the place to go on from with Last-Event-ID: no row of output is repeated, and nothing is sent again that did not change. `gone` is the last event of a pipeline that is deleted.',
  request: { params: PipelineParams, query: EventsQuery },
  responses: {
    200: {
      description: 'Events until the reader goes away.',
      content: { 'text/event-stream': { schema: PageEventSchema } },
    },
    ...problems(400, 404),
  },
});

const listEvents = createRoute({
  method: 'get',
  path: '/api/v1/events',
  operationId: 'getEvents',
  tags: ['pipelines'],
  summary: 'The list of pipelines and everything that changes of it, as server-sent events',
  description:
    'First `summaries` with all of them, then `changed` with those that have changed. With Last-Event-ID only `changed`. `live` is filled for the watched ones.',
  request: { query: ListEventsQuery },
  responses: {
    200: {
      description: 'Events until the reader goes away.',
      content: { 'text/event-stream': { schema: ChangedSummariesSchema } },
    },
    ...problems(400),
  },
});

export function addEventRoutes(api: Api): void {
  api.openapi(pipelineEvents, async (c) => {
    const { id } = c.req.valid('param');
    const { topics, last_event_id: given } = c.req.valid('query');
    await loadPipeline(c.env, id);
    const cursor = decodeCursor(c.req.header('last-event-id') ?? given ?? '');
    return eventResponse((sink) => new PageStream(c.env, id, topics, cursor, sink).run()) as never;
  });
  api.openapi(listEvents, (c) => {
    const { watch, last_event_id: given } = c.req.valid('query');
    const last = c.req.header('last-event-id') ?? given ?? '';
    // An id that nobody here has written reads as none.
    const sequence = /^\d{1,15}$/.test(last) ? Number(last) : null;
    return eventResponse((sink) => new ListStream(c.env, watch, sequence, sink).run()) as never;
  });
}
