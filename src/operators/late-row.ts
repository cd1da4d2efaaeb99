/** What is told of a row that came after every window of its had closed. */
import type { RecordBatch } from '../batch/record-batch.ts';
import { timestampText } from '../batch/timestamp-text.ts';
import type { Schema } from '../batch/types.ts';
import type { RowProblem, Watermark } from './operator.ts';
import { rowJson } from './row-json.ts';
import { timeAt, timesOf } from './times.ts';

/** @param end  when the last window closed that could have held the row */
export function lateRow(
  batch: RecordBatch,
  schema: Schema,
  row: number,
  end: number,
  watermark: Watermark,
): RowProblem {
  return {
    row,
    code: 'LATE_ROW',
    column: '',
    message: lateMessage(timeAt(timesOf(batch), row), end, watermark),
    raw: rowJson(batch, schema, row),
  };
}

function lateMessage(micros: number, end: number, watermark: Watermark): string {
  const windowEnd = `its window ended at ${timestampText(BigInt(end))}`;
  if (watermark === Infinity) return `late: ${windowEnd}, and the input had ended`;
  const lateByMs = (watermark - micros) / 1000;
  return `late by ${lateByMs} ms: ${windowEnd}, and event time had reached ${timestampText(BigInt(Math.round(watermark)))}`;
}
