/** Rows that come after event time has passed them, taken out of a batch and reported. */
import type { RecordBatch } from '../batch/record-batch.ts';
import { filterBatch } from '../batch/take.ts';
import { timestampText } from '../batch/timestamp-text.ts';
import type { Schema } from '../batch/types.ts';
import type { Output, RowProblem, Watermark } from './operator.ts';
import { rowJson } from './row-json.ts';
import { timeAt } from './times.ts';

/**
 * The batch without its rows below `open`; the batch itself when there are none.
 *
 * @param watermark  for the message
 */
export function withoutLateRows(
  batch: RecordBatch,
  schema: Schema,
  open: number,
  watermark: Watermark,
  output: Output,
): RecordBatch {
  if (batch.eventTime === null) return batch;
  const { words } = batch.eventTime;
  let keep: Uint8Array | null = null;
  const late: RowProblem[] = [];
  for (let row = 0; row < batch.rows; row++) {
    const time = timeAt(words, row);
    if (time >= open) continue;
    keep ??= new Uint8Array(batch.rows).fill(1);
    keep[row] = 0;
    // What is taken back here was forgotten before.
    if (batch.retract?.[row] === 1) continue;
    const message = lateMessage(time, watermark);
    late.push({ row, code: 'LATE_ROW', column: '', message, raw: rowJson(batch, schema, row) });
  }
  if (keep === null) return batch;
  if (late.length > 0) output.late(late);
  return filterBatch(batch, keep);
}

/** A row that came after everything it could be added to was forgotten. */
export const lateForgotten = (
  batch: RecordBatch,
  schema: Schema,
  row: number,
  watermark: Watermark,
): RowProblem => ({
  row,
  code: 'LATE_ROW',
  column: '',
  message: lateMessage(
    batch.eventTime === null ? watermark : timeAt(batch.eventTime.words, row),
    watermark,
  ),
  raw: rowJson(batch, schema, row),
});

function lateMessage(time: number, watermark: Watermark): string {
  if (watermark === Infinity) return 'late: the input had ended';
  const lateByMs = (watermark - time) / 1000;
  const reached = timestampText(BigInt(Math.round(watermark)));
  return `late by ${lateByMs} ms: event time had reached ${reached}, and rows it could meet were dropped`;
}
