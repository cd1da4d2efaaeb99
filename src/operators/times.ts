/** Event times as numbers: exact, since microseconds stay below 2^53 until the year 2255. */
import { must } from '../base/assert.ts';
import { wordsToNumber, type Int64Column } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { TIMESTAMP } from '../batch/types.ts';

/** No event time is further from 1970, so that windows and bounds around it are exact too. */
export const EVENT_TIME_MAX = 8_520_336_000_000_000;

/** Event time `row` of a column's words. */
export const timeAt = (words: Int32Array, row: number): number =>
  wordsToNumber(words[row * 2] as number, words[row * 2 + 1] as number);

/** The words of the batch's event times, which must have been set. */
export const timesOf = (batch: RecordBatch): Int32Array =>
  must(batch.eventTime, 'event times of the batch').words;

/** The earliest and the latest of the times last looked at by `measureTimes`. */
export const timeSpan = { first: Infinity, last: -Infinity };

/** Puts the earliest and the latest of the first `rows` times into `timeSpan`. */
export function measureTimes(words: Int32Array, rows: number): void {
  let first = Infinity;
  let last = -Infinity;
  for (let row = 0; row < rows; row++) {
    const time = timeAt(words, row);
    if (time < first) first = time;
    if (time > last) last = time;
  }
  timeSpan.first = first;
  timeSpan.last = last;
}

/** The same time in every row. */
export function constantTime(micros: number, rows: number): Int64Column {
  const words = new Int32Array(rows * 2);
  const high = Math.floor(micros / 4294967296);
  for (let row = 0; row < rows; row++) {
    words[row * 2] = micros | 0;
    words[row * 2 + 1] = high;
  }
  return { tag: 'timestamp', type: TIMESTAMP, length: rows, validity: null, words };
}
