/** Requests to the API. What goes wrong is an `ApiError` with the server's problem document, or with one that says why none came. */
import { signal } from '@preact/signals';
import type { Problem } from '../../api/http/problem.ts';

/** Whether the last request or stream reached the server. */
export const reachable = signal(true);

export class ApiError extends Error {
  readonly status: number;
  readonly problem: Partial<Problem> & { error: string };

  constructor(status: number, problem: Partial<Problem> & { error: string }) {
    super(problem.error);
    this.name = 'ApiError';
    this.status = status;
    this.problem = problem;
  }
}

/** What to show of anything that was thrown. */
export function problemOf(thrown: unknown): Partial<Problem> & { error: string } {
  if (thrown instanceof ApiError) return thrown.problem;
  return { error: thrown instanceof Error ? thrown.message : String(thrown) };
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

type Options = {
  signal?: AbortSignal;
  /** Sent as it is, with this type, instead of a JSON body. */
  text?: { body: string; type: string };
};

/** @param path  behind `/api/v1`, with its leading slash */
async function request<T>(
  method: Method,
  path: string,
  body: unknown,
  options: Options,
): Promise<T> {
  const init: RequestInit = { method };
  if (options.signal !== undefined) init.signal = options.signal;
  if (options.text !== undefined) {
    init.body = options.text.body;
    init.headers = { 'content-type': options.text.type };
  } else if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { 'content-type': 'application/json' };
  }
  let response: Response;
  try {
    response = await fetch(`/api/v1${path}`, init);
  } catch (thrown) {
    if (options.signal?.aborted === true) throw thrown;
    reachable.value = false;
    throw new ApiError(0, {
      error: 'the server does not answer',
      hint: 'Is `npm run dev` still running? The page goes on by itself when it is back.',
    });
  }
  reachable.value = true;
  const text = await response.text();
  if (!response.ok) throw new ApiError(response.status, problemIn(text, response));
  return JSON.parse(text) as T;
}

function problemIn(text: string, response: Response): Partial<Problem> & { error: string } {
  try {
    const found = JSON.parse(text) as Partial<Problem>;
    if (typeof found.error === 'string') return { ...found, error: found.error };
  } catch {
    // Not from our API: a proxy in between, for instance.
  }
  return { error: `the server answered ${response.status} ${response.statusText}` };
}

export const api = {
  get: <T>(path: string, options: Options = {}): Promise<T> =>
    request<T>('GET', path, undefined, options),
  post: <T>(path: string, body?: unknown, options: Options = {}): Promise<T> =>
    request<T>('POST', path, body ?? {}, options),
  patch: <T>(path: string, body: unknown): Promise<T> => request<T>('PATCH', path, body, {}),
  remove: <T>(path: string): Promise<T> => request<T>('DELETE', path, undefined, {}),
};
