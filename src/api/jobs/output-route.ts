/** GET …/output: the rows of preview sinks as they come. */
import { createRoute } from '@hono/zod-openapi';
import { EngineError } from '../../base/errors.ts';
import { getPipeline, touchPreview } from '../../catalog/pipelines.ts';
import type { Api } from '../app.ts';
import { JobParams, OutputDataSchema } from './job-shapes.ts';
import { loadJob } from '../load.ts';
import { previewSubtasks } from './output-readers.ts';
import { followOutput } from './output-stream.ts';
import { eventResponse } from '../http/event-stream.ts';
import { problems } from '../http/problem.ts';

const output = createRoute({
  method: 'get',
  path: '/api/v1/pipelines/{id}/jobs/{job_id}/output',
  operationId: 'getJobOutput',
  tags: ['jobs'],
  summary: 'The rows of preview sinks as server-sent events',
  description:
    'Each event is an OutputData; `batch` holds the rows with their exact digits. Goes on across generations and ends when the job is at rest. It shows the newest rows; what must not be missed belongs into another sink.',
  request: { params: JobParams },
  responses: {
    200: {
      description: 'Events until the job is at rest.',
      content: { 'text/event-stream': { schema: OutputDataSchema } },
    },
    ...problems(400, 404),
  },
});

/** A preview that is read is not deleted. */
export const TOUCH_MS = 10_000;

export function addOutputRoute(api: Api): void {
  api.openapi(output, async (c) => {
    const { id, job_id: jobId } = c.req.valid('param');
    const found = await loadJob(c.env, id, jobId);
    let touchedMs = -Infinity;
    const load = async () => {
      const loaded = await getPipeline(c.env.database, id);
      const nowMs = c.env.nowMs();
      if (loaded !== null && loaded.pipeline.watchedMs !== null && nowMs - touchedMs >= TOUCH_MS) {
        touchedMs = nowMs;
        await touchPreview(c.env.database, id, nowMs);
      }
      return loaded;
    };
    if (previewSubtasks(found).length === 0) {
      throw new EngineError('INVALID_REQUEST', 'the job has no preview sink', {
        hint: 'A bare SELECT in the query makes one.',
      });
    }
    return eventResponse(async (sink) => {
      sink.write(': following\n\n');
      await followOutput(c.env, load, sink);
    }) as never;
  });
}
