/**
 * Errors as HTTP answers: the one place that knows which code has which status.
 *
 * A problem document is `{error, code, domain, retry, detail?, hint?, suggestion?, span?}`; of an unknown error it keeps
 * the message and no stack.
 */
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import {
  EngineError,
  ERROR_CODES,
  type ErrorCode,
  type ErrorDomain,
  type ErrorReport,
  reportOf,
} from '../../base/errors.ts';
import { LIMITS } from '../../base/limits.ts';

/** Codes whose status is not that of their domain. */
const STATUS: Partial<Record<ErrorCode, ContentfulStatusCode>> = {
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  BODY_TOO_LARGE: 413,
  IDEMPOTENCY_MISMATCH: 422,
  BACKPRESSURE: 429,
  NOT_RUNNING: 503,
};

const STATUS_OF_DOMAIN: Record<ErrorDomain, ContentfulStatusCode> = {
  user: 400,
  external: 503,
  internal: 500,
};

/** When to try again, for answers that say so. */
const RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, number>> = {
  BACKPRESSURE: 5,
  NOT_RUNNING: 1,
  CATALOG_NOT_READY: 1,
};

const position = z.object({ line: z.int(), column: z.int() });

export const SpanSchema = z.object({ start: position, end: position }).openapi('Span');

const CODES = Object.keys(ERROR_CODES) as ErrorCode[];

const reported = {
  code: z.enum(CODES).openapi({ example: 'UNKNOWN_COLUMN' }),
  domain: z.enum(['user', 'external', 'internal']),
  retry: z.enum(['never', 'backoff']),
  detail: z.string().optional(),
  hint: z.string().optional(),
  suggestion: z.string().optional(),
  span: SpanSchema.optional(),
};

/** One error or warning in a list. */
export const ReportSchema = z.object({ message: z.string(), ...reported }).openapi('Report');
export type Report = z.infer<typeof ReportSchema>;

export const MoreSchema = z.int().openapi({
  description: `How many errors and warnings there are beyond the first ${LIMITS.findingsToldMax} of each, when there are more.`,
});

export const ProblemSchema = z
  .object({
    error: z.string().openapi({ example: 'there is no pipeline pl_5bY2kd81Qz' }),
    ...reported,
    /** Of a refused query: what is wrong with it. */
    errors: z.array(ReportSchema).optional(),
    more: MoreSchema.optional(),
  })
  .openapi('Problem');

export type Problem = z.infer<typeof ProblemSchema>;

export const statusOf = (code: ErrorCode): ContentfulStatusCode =>
  STATUS[code] ?? STATUS_OF_DOMAIN[ERROR_CODES[code].domain];

export function problemOf(report: ErrorReport): Problem {
  const { message, ...rest } = report;
  return { error: message, ...rest };
}

/** @param errors  when one request has several, all of them; the document is that of the first */
export function problemResponse(report: ErrorReport, errors?: readonly ErrorReport[]): Response {
  const headers: Record<string, string> = {};
  const retryAfter = RETRY_AFTER_SECONDS[report.code];
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
  const body = { ...problemOf(report), ...(errors === undefined ? {} : told(errors)) };
  return Response.json(body, { status: statusOf(report.code), headers });
}

function told(errors: readonly ErrorReport[]): Pick<Problem, 'errors' | 'more'> {
  const first = errors.slice(0, LIMITS.findingsToldMax);
  const more = errors.length - first.length;
  return { errors: first, ...(more === 0 ? {} : { more }) };
}

/** Thrown by a route to answer with several errors. */
export const refusal = (report: ErrorReport, errors: readonly ErrorReport[]): HTTPException =>
  new HTTPException(statusOf(report.code), { res: problemResponse(report, errors) });

/** The answer to anything thrown by a route. */
export async function answerError(thrown: unknown, c: Context): Promise<Response> {
  if (thrown instanceof HTTPException) {
    if (thrown.res !== undefined) return thrown.res;
    if (thrown.message.includes('JSON'))
      return problemResponse(malformed(await c.req.text()).report);
    if (thrown.status < 500)
      return problemResponse(new EngineError('INVALID_REQUEST', lowerFirst(thrown.message)).report);
  }
  return problemResponse(reportOf(catalogNotReady(thrown) ?? thrown));
}

/** D1 has no code for it: these are SQLite's own words, which D1 passes on. */
const SCHEMA_BEHIND = /\bno such (?:table|column): (\S+)|\bhas no column named (\S+)/;

function catalogNotReady(thrown: unknown): EngineError | null {
  if (!(thrown instanceof Error) || thrown instanceof EngineError) return null;
  const match = SCHEMA_BEHIND.exec(thrown.message);
  if (match === null) return null;
  return new EngineError(
    'CATALOG_NOT_READY',
    `the database has no ${(match[1] ?? match[2] ?? '').replace(/:$/, '')} yet`,
    {
      hint: 'Right after a start try again; after a deployment apply the migrations: npx wrangler d1 migrations apply thalweg --remote.',
    },
    thrown,
  );
}

/** The parser's own words say where; the framework's do not. */
function malformed(body: string): EngineError {
  let where = '';
  try {
    JSON.parse(body);
  } catch (error) {
    where = (error as Error).message;
  }
  return new EngineError(
    'INVALID_REQUEST',
    'the body is no JSON',
    where === '' ? {} : { detail: where },
  );
}

const lowerFirst = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1);

/** Turns what the schema of a request found into one error; used for every route. */
export function refuseInvalid(result: { success: boolean; error?: z.core.$ZodError }): void {
  if (result.success || result.error === undefined) return;
  const issues = result.error.issues.map(({ path, message }) => ({
    name: path.join('.'),
    message,
  }));
  const [first] = issues;
  const message =
    first === undefined
      ? 'the request is not valid'
      : `${first.name === '' ? 'the request' : first.name}: ${lowerFirst(first.message)}`;
  const others = issues.slice(1).map(({ name, message: text }) => `${name}: ${lowerFirst(text)}`);
  throw new EngineError(
    'INVALID_REQUEST',
    message,
    others.length === 0 ? {} : { detail: others.join('; ') },
  );
}

/** @param others  methods that the path has instead */
export const notFound = (c: Context, others: readonly string[]): Response => {
  if (others.length > 0) {
    const answer = problemResponse(
      new EngineError('METHOD_NOT_ALLOWED', `${c.req.path} has no ${c.req.method}`, {
        hint: `It has ${others.join(', ')}.`,
      }).report,
    );
    answer.headers.set('allow', others.join(', '));
    return answer;
  }
  return problemResponse(
    new EngineError('NOT_FOUND', `there is no ${c.req.method} ${c.req.path}`, {
      hint: 'GET /api/v1/openapi.json lists every route.',
    }).report,
  );
};

const problemContent = { content: { 'application/json': { schema: ProblemSchema } } };

const DESCRIPTIONS: Record<number, string> = {
  400: 'The request, or the query in it, is not valid.',
  404: 'There is no such thing.',
  409: 'The state of the pipeline does not allow it; the hint says what it allows.',
  413: 'The body is too large.',
  422: 'The idempotency key was used with another body.',
  429: 'The log is full: send again later.',
  500: 'Something went wrong inside Thalweg.',
  503: 'Something that is needed does not answer: try again.',
};

/** Documents the problems a route may answer with. */
export const problems = (
  ...statuses: number[]
): Record<number, { description: string; content: typeof problemContent.content }> =>
  Object.fromEntries(
    [...statuses, 500].map((status) => [
      status,
      { description: DESCRIPTIONS[status] ?? 'A problem.', ...problemContent },
    ]),
  );
