/** Composition root: the API and the page, the minute's round of the controller, and the Durable Objects. */
import { WorkerEntrypoint } from 'cloudflare:workers';
import { createApi } from './api/app.ts';
import { apiServices } from './platform/api-services.ts';
import { reconcileAll, reconcileNow } from './platform/controller-ports.ts';
import type { ControllerCalls, Env } from './platform/env.ts';
import { installKernels } from './platform/kernels.ts';

export { LogPartition } from '../durable-objects/log-partition.ts';
export { PipelineLeader } from '../durable-objects/pipeline-leader.ts';
export { FunctionNetwork } from './platform/functions/function-network.ts';
export { SubtaskHost } from '../durable-objects/subtask-host.ts';

installKernels();

/** The controller as leaders reach it. */
export class Controller extends WorkerEntrypoint<Env> implements ControllerCalls {
  async nudge(pipelineId: string): Promise<void> {
    const { first, rest } = reconcileNow(this.env, pipelineId);
    this.ctx.waitUntil(rest);
    await first;
  }
}

const api = createApi();

const handler: ExportedHandler<Env> = {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith('/api/') || pathname === '/metrics')
      return await api.fetch(request, apiServices(env, ctx));
    return await env.ASSETS.fetch(request);
  },
  async scheduled(_controller, env) {
    await reconcileAll(env);
  },
};

export default handler;
