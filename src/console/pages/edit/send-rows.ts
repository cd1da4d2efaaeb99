/** Sends the pasted rows into a table of the running preview, once it runs. */
import { ApiError } from '../../api/client.ts';
import { postRows, type RowsAnswer } from '../../api/rows.ts';
import type { Desk } from './desk.ts';

export async function sendRows(desk: Desk, table: string): Promise<RowsAnswer> {
  const { value: pipeline } = desk.preview.pipeline;
  const source = pipeline?.sources.find((found) => found.table === table);
  if (pipeline === null || source === undefined)
    throw new ApiError(0, {
      error: `no preview with a table ${table} runs`,
      hint: 'Run the preview; the Problems tab says what keeps it from starting.',
    });
  return postRows(pipeline.id, source.table, desk.rows.value);
}
