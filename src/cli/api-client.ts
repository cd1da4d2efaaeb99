/** The pipeline API as the command line uses it: plain HTTP, errors raised as EngineErrors again. */
import { ERROR_CODES, EngineError, type ErrorCode, type ErrorReport } from '../base/errors.ts';

export type Fetch = (path: string, init?: RequestInit) => Promise<Response>;

export type PipelineView = {
  id: string;
  name: string;
  query: string;
  stop: string;
  sinks: {
    operator_id: string;
    table: string;
    connector: string;
    path: string | null;
    updating: boolean;
  }[];
};

export type JobView = {
  id: string;
  state: string;
  run_id: number;
  epoch: number;
  committed_epoch: number;
  restarts: number;
  rows: { in: number; out: number; errors: number; late: number } | null;
  failure_reason: ErrorReport | null;
};

export type ObjectView = { key: string; size: number };

export class ApiClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  async create(body: Record<string, unknown>): Promise<PipelineView> {
    return await this.#json('/api/v1/pipelines', body);
  }

  async list(): Promise<PipelineView[]> {
    return (await this.#json<{ data: PipelineView[] }>('/api/v1/pipelines?limit=100')).data;
  }

  async job(pipelineId: string): Promise<JobView> {
    const { data } = await this.#json<{ data: JobView[] }>(`/api/v1/pipelines/${pipelineId}/jobs`);
    const job = data[0];
    if (job === undefined) throw new EngineError('NOT_FOUND', `pipeline ${pipelineId} has no job`);
    return job;
  }

  /** The newest messages about rows and failures. */
  async errors(
    pipelineId: string,
    jobId: string,
  ): Promise<{ message: string; details: string; code: string; operator_id: string | null }[]> {
    return (
      await this.#json<{
        data: { message: string; details: string; code: string; operator_id: string | null }[];
      }>(`/api/v1/pipelines/${pipelineId}/jobs/${jobId}/errors?limit=100`)
    ).data;
  }

  async patch(pipelineId: string, body: Record<string, unknown>): Promise<PipelineView> {
    return await this.#json(`/api/v1/pipelines/${pipelineId}`, body, 'PATCH');
  }

  async crash(pipelineId: string, target: 'leader' | 'host', index: number): Promise<void> {
    await this.#json(`/api/v1/local/pipelines/${pipelineId}/crash`, { target, index });
  }

  /** Every object under the prefix, in the order of keys. */
  async objects(prefix: string): Promise<ObjectView[]> {
    const found: ObjectView[] = [];
    for (let after = ''; ;) {
      const page = await this.objectPage(prefix, after);
      found.push(...page.objects);
      if (!page.truncated) return found;
      after = page.objects.at(-1)?.key ?? after;
    }
  }

  /** A page of the objects under the prefix whose keys come after `after`. */
  async objectPage(
    prefix: string,
    after: string,
  ): Promise<{ objects: ObjectView[]; truncated: boolean }> {
    return await this.#json(`/api/v1/local/objects?${new URLSearchParams({ prefix, after })}`);
  }

  /** The object's bytes, or null when there is none. */
  async object(key: string): Promise<Uint8Array | null> {
    const response = await this.#fetch(
      `/api/v1/local/objects/content?${new URLSearchParams({ key })}`,
    );
    if (response.status === 404) {
      await response.body?.cancel();
      return null;
    }
    if (!response.ok) throw new EngineError('INTERNAL', `reading ${key}: HTTP ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  }

  async #json<T>(path: string, body?: Record<string, unknown>, method = 'POST'): Promise<T> {
    const init: RequestInit =
      body === undefined
        ? {}
        : { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await this.#fetch(path, init);
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as T;
    throw problemOf(text, response.status);
  }
}

function problemOf(text: string, status: number): EngineError {
  try {
    const { code, error, ...extras } = JSON.parse(text) as ErrorReport & { error: string };
    if (code in ERROR_CODES) return new EngineError(code as ErrorCode, error, extras);
  } catch {
    // Not a problem document: said below.
  }
  return new EngineError('INTERNAL', `the API answered ${status}: ${text.slice(0, 200)}`);
}
