/** The error log of a job: what its operators report now, and why its generations ended. */
import type { z } from '@hono/zod-openapi';
import type { JobFailure } from '../../catalog/jobs.ts';
import type { LeaderStatus } from '../../protocol/messages.ts';
import type { JobLogMessageSchema, JobLogPageSchema } from './job-shapes.ts';
import { microsOf } from '../views.ts';

/** @param failures  newest first, one more than `limit` when there are more */
export function jobErrors(
  failures: readonly JobFailure[],
  status: LeaderStatus | null,
  limit: number,
): z.infer<typeof JobLogPageSchema> {
  const reported = operatorErrors(status).slice(0, limit);
  const kept = failures.slice(0, limit).map(failureMessage);
  return {
    data: [...reported, ...kept].sort((left, right) => right.created_at - left.created_at),
    hasMore: failures.length > limit,
  };
}

function operatorErrors(status: LeaderStatus | null): z.infer<typeof JobLogMessageSchema>[] {
  const errors = status?.errors ?? [];
  return errors.toReversed().map((error, index) => ({
    id: `operator-${status?.generation ?? 0}-${errors.length - index}`,
    created_at: microsOf(error.atMs),
    operator_id: error.operator,
    task_index: error.subtask,
    level: 'error',
    message: error.message,
    details: error.detail,
    error_domain: error.domain,
    code: error.code,
    generation: status?.generation ?? 0,
  }));
}

function failureMessage({
  id,
  generation,
  atMs,
  report,
}: JobFailure): z.infer<typeof JobLogMessageSchema> {
  return {
    id: String(id),
    created_at: microsOf(atMs),
    operator_id: null,
    task_index: null,
    level: 'error',
    message: report.message,
    details: [report.detail, report.hint].filter((part) => part !== undefined).join(' '),
    error_domain: report.domain,
    code: report.code,
    generation,
  };
}
