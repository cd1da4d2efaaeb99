/** Sends the pasted rows into a table of the running preview, once it runs. */
import type { z } from 'zod';
import type { RowsAnswerSchema } from '../../../api/rows/rows-shapes.ts';
import { api, ApiError } from '../../api/client.ts';
import type { Desk } from './desk.ts';
import { bodyOf } from '../../lib/rows-text.ts';

export type RowsAnswer = z.infer<typeof RowsAnswerSchema>;

export async function sendRows(desk: Desk, table: string): Promise<RowsAnswer> {
  const body = bodyOf(desk.rows.value);
  if (body === null)
    throw new ApiError(0, {
      error: 'these are no rows',
      hint: 'One JSON object a line, or an array of objects.',
    });
  const { value: pipeline } = desk.preview.pipeline;
  const source = pipeline?.sources.find((found) => found.table === table);
  if (pipeline === null || source === undefined)
    throw new ApiError(0, {
      error: `no preview with a table ${table} runs`,
      hint: 'Run the preview; the Problems tab says what keeps it from starting.',
    });
  const path = `/pipelines/${pipeline.id}/tables/${encodeURIComponent(source.table)}/rows`;
  return api.post<RowsAnswer>(path, undefined, { text: body });
}
