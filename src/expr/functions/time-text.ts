/**
 * Moments to text and back by a pattern: to_char, strftime, date_format; to_timestamp and to_date with a pattern,
 * strptime. Rows of one stretch of time that a pattern does not tell apart are written once.
 */
import type { Column, Int64Column, TextColumn } from '../../batch/column.ts';
import { DATE, TEXT, TIMESTAMP } from '../../batch/types.ts';
import type { Evaluate, FunctionExample, ScalarFunction } from '../function-types.ts';
import { always } from '../function-types.ts';
import { TextSink, textAt } from '../text-sink.ts';
import type { DayTime } from '../time/read-time.ts';
import { readTime } from '../time/read-time.ts';
import type { Dialect, TimePart, TimePattern } from '../time/time-format.ts';
import { timePattern } from '../time/time-format.ts';
import { finenessOf, writeTime } from '../time/write-time.ts';
import { Outcome, makeInt32, makeInt64, strideOf } from '../vector.ts';
import { int64AsNumber, isSafe } from '../wide.ts';
import { join, moment, split } from './calendar.ts';

/** Below a minute few rows look alike. */
const FINE_MAX = 60_000_000;
const NOTHING = new Uint8Array(0);

const toText =
  (dialect: Dialect): Evaluate =>
  (args, rows, errors) => {
    const [input, pattern] = args as readonly [Int64Column, TextColumn];
    const outcome = new Outcome(args, rows, errors);
    const sink = new TextSink(rows, 16 * rows, errors);
    let known: TimePattern | null = null;
    if (strideOf(pattern) === 0 && outcome.validity === null && strideOf(input) === 1) {
      const constant = timePattern(textAt(pattern, 0), dialect);
      if ('parts' in constant && finenessOf(constant.parts) >= FINE_MAX) {
        writeStretches(input.words, rows, constant.parts, sink);
        return sink.finish(null);
      }
    }
    let fineness = 1;
    let kept = NaN;
    let text: Uint8Array = NOTHING;
    for (let row = 0; row < rows; row++) {
      if (outcome.has(row)) {
        if (known === null || strideOf(pattern) === 1) {
          known = timePattern(textAt(pattern, row * strideOf(pattern)), dialect);
          if ('parts' in known) fineness = finenessOf(known.parts);
          kept = NaN;
        }
        if ('problem' in known) {
          const { problem } = known;
          outcome.fail(row, 'PARSE_ERROR', () => problem);
        } else {
          const at = row * strideOf(input);
          const time = int64AsNumber(input.words, at);
          const stretch = Math.floor(time / fineness);
          if (fineness < FINE_MAX) {
            split(input.words, at);
            writeTime(known.parts, moment.days, moment.micros, sink);
            text = NOTHING;
          } else if (stretch !== kept || !isSafe(time)) {
            text = written(input.words, at, known.parts);
            // Of a time that is not exact here, not even the second is certain.
            kept = isSafe(time) ? stretch : NaN;
          }
          sink.append(text, 0, text.length);
        }
      }
      sink.endRow();
    }
    return sink.finish(outcome.validity);
  };

/** Writes moments one behind the other that look alike at once. */
function writeStretches(
  words: Int32Array,
  rows: number,
  parts: readonly TimePart[],
  sink: TextSink,
): void {
  const fineness = finenessOf(parts);
  let from = NaN;
  let to = NaN;
  let first = 0;
  let text: Uint8Array = NOTHING;
  for (let row = 0; row < rows; row++) {
    const value = int64AsNumber(words, row);
    if (value >= from && value < to) continue;
    sink.endRowsOf(text, 0, text.length, row - first);
    first = row;
    text = written(words, row, parts);
    from = NaN;
    if (!isSafe(value)) continue;
    from = Math.floor(value / fineness) * fineness;
    // A quotient just below a whole number may have been rounded to it.
    if (from > value) from -= fineness;
    to = from + fineness;
  }
  sink.endRowsOf(text, 0, text.length, rows - first);
}

function written(words: Int32Array, row: number, parts: readonly TimePart[]): Uint8Array {
  split(words, row);
  const one = new TextSink(1, 32);
  writeTime(parts, moment.days, moment.micros, one);
  one.endRow();
  const { bytes, offsets } = one.finish(null);
  return bytes.subarray(0, offsets[1]);
}

/** @param write  puts microseconds into the result, or fails the row */
function readRows(
  args: readonly Column[],
  rows: number,
  dialect: Dialect,
  outcome: Outcome,
  write: (row: number, time: DayTime) => void,
): void {
  const [input, pattern] = args as readonly [TextColumn, TextColumn];
  for (let row = 0; row < rows; row++) {
    if (!outcome.has(row)) continue;
    const known = timePattern(textAt(pattern, row * strideOf(pattern)), dialect);
    if ('problem' in known) {
      outcome.fail(row, 'PARSE_ERROR', () => known.problem);
      continue;
    }
    const text = textAt(input, row * strideOf(input));
    const time = readTime(known.parts, text);
    if (time === null)
      outcome.fail(row, 'INVALID_CAST', () => `'${text}' is no time of the pattern`);
    else write(row, time);
  }
}

const toTimestamp =
  (dialect: Dialect): Evaluate =>
  (args, rows, errors) => {
    const outcome = new Outcome(args, rows, errors);
    const result = makeInt64(rows, TIMESTAMP);
    readRows(args, rows, dialect, outcome, (row, { days, micros }) => {
      if (!join(result.words, row, days, micros))
        outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => 'a timestamp out of range');
    });
    return { ...result, validity: outcome.validity };
  };

const toDate: Evaluate = (args, rows, errors) => {
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt32(rows);
  readRows(args, rows, 'postgres', outcome, (row, { days }) => {
    result.values[row] = days;
  });
  return { ...result, type: DATE, validity: outcome.validity };
};

const check =
  (dialect: Dialect): NonNullable<ScalarFunction['check']> =>
  (values) => {
    const pattern = values[1];
    if (typeof pattern !== 'string') return null;
    const found = timePattern(pattern, dialect);
    return 'problem' in found ? found.problem : null;
  };

const record = (
  id: string,
  name: string,
  args: ScalarFunction['args'],
  result: typeof TEXT,
  doc: string,
  example: FunctionExample,
  dialect: Dialect,
  evaluate: Evaluate,
): ScalarFunction => ({
  id,
  name,
  args,
  result: always(result),
  nullRule: 'strict',
  canFail: true,
  check: check(dialect),
  doc,
  examples: [example],
  evaluate,
});

const writing = (
  name: string,
  dialect: Dialect,
  doc: string,
  pattern: string,
  gives: string,
): ScalarFunction =>
  record(
    name.replaceAll('_', '-'),
    name,
    ['timestamp', 'text'],
    TEXT,
    doc,
    { args: ['1700000000123456', pattern], gives },
    dialect,
    toText(dialect),
  );

export const TIME_TEXT: readonly ScalarFunction[] = [
  writing(
    'to_char',
    'postgres',
    'the moment as text, by a pattern of Postgres (YYYY-MM-DD HH24:MI:SS) or of strftime (%Y-%m-%d)',
    'YYYY-MM-DD HH24:MI:SS.US',
    '2023-11-14 22:13:20.123456',
  ),
  writing(
    'strftime',
    'strftime',
    'the moment as text, by a pattern with per cent signs',
    '%d %B %Y',
    '14 November 2023',
  ),
  writing(
    'date_format',
    'java',
    'the moment as text, by a pattern of Java (yyyy-MM-dd HH:mm:ss) or of strftime',
    "yyyy-MM-dd'T'HH:mm",
    '2023-11-14T22:13',
  ),
  record(
    'to-timestamp:pattern',
    'to_timestamp',
    ['text', 'text'],
    TIMESTAMP,
    'the moment that a text means, by a pattern of Postgres or of strftime',
    { args: ['14.11.2023 22:13', 'DD.MM.YYYY HH24:MI'], gives: '1699999980000000' },
    'postgres',
    toTimestamp('postgres'),
  ),
  record(
    'strptime',
    'strptime',
    ['text', 'text'],
    TIMESTAMP,
    'the moment that a text means, by a pattern with per cent signs',
    { args: ['14 Nov 2023', '%d %b %Y'], gives: '1699920000000000' },
    'strftime',
    toTimestamp('strftime'),
  ),
  record(
    'to-date:pattern',
    'to_date',
    ['text', 'text'],
    DATE,
    'the date that a text means, by a pattern of Postgres or of strftime',
    { args: ['14/11/2023', 'DD/MM/YYYY'], gives: 19675 },
    'postgres',
    toDate,
  ),
];
