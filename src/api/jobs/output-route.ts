/** GET …/output: the rows of preview sinks as they come. */
import { createRoute } from '@hono/zod-openapi';
import { EngineError } from '../../base/errors.ts';
import { getPipeline } from '../../catalog/pipelines.ts';
import type { Api } from '../app.ts';
import { JobParams, OutputDataSchema } from './job-shapes.ts';
import { loadJob } from '../load.ts';
import { OutputFollower, previewSubtasks } from './output-stream.ts';
import { problems } from '../http/problem.ts';
import type { ApiServices } from '../services.ts';

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

export function addOutputRoute(api: Api): void {
  api.openapi(output, async (c) => {
    const { id, job_id: jobId } = c.req.valid('param');
    const found = await loadJob(c.env, id, jobId);
    if (previewSubtasks(found).length === 0) {
      throw new EngineError('INVALID_REQUEST', 'the job has no preview sink', {
        hint: 'A bare SELECT in the query makes one.',
      });
    }
    const headers = {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    };
    return new Response(eventStream(c.env, id), { headers }) as never;
  });
}

/** Written and not yet read, at most about this much. */
const BUFFER_BYTES = 256 * 1024;

function eventStream(services: ApiServices, pipelineId: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let follower: OutputFollower | null = null;
  let room = Promise.withResolvers<void>();
  const source = {
    start(controller: ReadableStreamDefaultController<Uint8Array>): void {
      const sink = {
        write: (text: string): void => {
          if (follower?.closed !== true) controller.enqueue(encoder.encode(text));
        },
        ready: async (): Promise<void> => {
          while (follower?.closed !== true && (controller.desiredSize ?? 1) <= 0)
            await room.promise;
        },
      };
      const following = new OutputFollower(
        services,
        () => getPipeline(services.database, pipelineId),
        sink,
      );
      follower = following;
      sink.write(': following\n\n');
      following.run().then(
        () => {
          if (!following.closed) controller.close();
        },
        (thrown: unknown) => {
          if (!following.closed) controller.error(thrown);
        },
      );
    },
    pull(): void {
      room.resolve();
      room = Promise.withResolvers<void>();
    },
    cancel(): void {
      follower?.close();
      room.resolve();
    },
  };
  return new ReadableStream<Uint8Array>(source, {
    highWaterMark: BUFFER_BYTES,
    size: (chunk) => chunk?.byteLength ?? 0,
  });
}
