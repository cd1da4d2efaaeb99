/** Sends rows, as somebody pasted them, into an http table of a pipeline. */
import type { z } from 'zod';
import type { RowsAnswerSchema } from '../../api/rows/rows-shapes.ts';
import { bodyOf } from '../lib/rows-text.ts';
import { api, ApiError } from './client.ts';

export type RowsAnswer = z.infer<typeof RowsAnswerSchema>;

export async function postRows(
  pipelineId: string,
  table: string,
  text: string,
): Promise<RowsAnswer> {
  const body = bodyOf(text);
  if (body === null)
    throw new ApiError(0, {
      error: 'these are no rows',
      hint: 'One JSON object a line, or an array of objects.',
    });
  const path = `/pipelines/${pipelineId}/tables/${encodeURIComponent(table)}/rows`;
  return api.post<RowsAnswer>(path, undefined, { text: body });
}
