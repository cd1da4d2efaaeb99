/** Timestamps from and to numbers since 1970; what does not fit fails its row. */
import type { Column, Float64Column, Int64Column } from '../../batch/column.ts';
import { INT64, TIMESTAMP } from '../../batch/types.ts';
import { castColumn } from '../cast.ts';
import type { Evaluate, ScalarFunction } from '../function-types.ts';
import { Outcome, makeInt64, strideOf } from '../vector.ts';
import {
  fitsInt64,
  int64AsNumber,
  isSafe,
  readInt64,
  writeInt64,
  writeSafeInt64,
} from '../wide.ts';
import { timeFunction } from './calendar.ts';

/** Multiplies or divides an int64 by a constant into another 64-bit type. */
const rescaled =
  (factor: number, divisor: number): Evaluate =>
  (args, rows, errors, type) => {
    const [input] = args as readonly [Int64Column];
    const outcome = new Outcome(args, rows, errors);
    const result = makeInt64(rows, type);
    const stride = strideOf(input);
    for (let row = 0; row < rows; row++) {
      const x = int64AsNumber(input.words, row * stride);
      const value = Math.floor((x * factor) / divisor);
      if (isSafe(x) && isSafe(x * factor)) {
        writeSafeInt64(result.words, row, value);
        continue;
      }
      const product = readInt64(input.words, row * stride) * BigInt(factor);
      const rest = product % BigInt(divisor);
      const exact = product / BigInt(divisor) - (rest < 0n ? 1n : 0n);
      if (fitsInt64(exact)) writeInt64(result.words, row, exact);
      else
        outcome.fail(
          row,
          'NUMERIC_OUT_OF_RANGE',
          () => `${readInt64(input.words, row * stride)} is out of range for a timestamp`,
        );
    }
    result.validity = outcome.validity;
    return result;
  };

/** Rounds a number of microseconds; fails rows that are no finite int64. */
function writeMicros(outcome: Outcome, words: Int32Array, row: number, micros: number): void {
  const rounded = Math.round(micros);
  if (isSafe(rounded)) writeSafeInt64(words, row, rounded);
  else if (Number.isFinite(rounded) && fitsInt64(BigInt(rounded)))
    writeInt64(words, row, BigInt(rounded));
  else outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => `${micros} microseconds are out of range`);
}

const fromFloatSeconds: Evaluate = (args, rows, errors) => {
  const [input] = args as readonly [Float64Column];
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt64(rows, TIMESTAMP);
  for (let row = 0; row < rows; row++) {
    writeMicros(outcome, result.words, row, (input.values[row * strideOf(input)] as number) * 1e6);
  }
  result.validity = outcome.validity;
  return result;
};

export const TIME: readonly ScalarFunction[] = [
  timeFunction(
    'to-timestamp:int64',
    'to_timestamp',
    ['int64'],
    TIMESTAMP,
    'the moment so many seconds after 1970',
    { args: ['2'], gives: '2000000' },
    rescaled(1e6, 1),
  ),
  timeFunction(
    'to-timestamp:float64',
    'to_timestamp',
    ['float64'],
    TIMESTAMP,
    'the moment so many seconds after 1970, to the nearest microsecond',
    { args: [0.25], gives: '250000' },
    fromFloatSeconds,
  ),
  timeFunction(
    'to-timestamp:text',
    'to_timestamp',
    ['text'],
    TIMESTAMP,
    'the moment an ISO 8601 text means, as CAST reads it',
    { args: ['1970-01-01T00:00:02Z'], gives: '2000000' },
    (args, _rows, errors) => castColumn(args[0] as Column, TIMESTAMP, false, errors),
  ),
  timeFunction(
    'to-timestamp-seconds',
    'to_timestamp_seconds',
    ['int64'],
    TIMESTAMP,
    'the moment so many seconds after 1970',
    { args: ['2'], gives: '2000000' },
    rescaled(1e6, 1),
  ),
  timeFunction(
    'to-timestamp-millis',
    'to_timestamp_millis',
    ['int64'],
    TIMESTAMP,
    'the moment so many milliseconds after 1970',
    { args: ['2'], gives: '2000' },
    rescaled(1e3, 1),
  ),
  timeFunction(
    'to-timestamp-micros',
    'to_timestamp_micros',
    ['int64'],
    TIMESTAMP,
    'the moment so many microseconds after 1970',
    { args: ['2'], gives: '2' },
    rescaled(1, 1),
  ),
  timeFunction(
    'to-timestamp-nanos',
    'to_timestamp_nanos',
    ['int64'],
    TIMESTAMP,
    'the moment so many nanoseconds after 1970, rounded down to microseconds',
    { args: ['2999'], gives: '2' },
    rescaled(1, 1e3),
  ),
  timeFunction(
    'from-unixtime',
    'from_unixtime',
    ['int64'],
    TIMESTAMP,
    'the moment so many seconds after 1970',
    { args: ['2'], gives: '2000000' },
    rescaled(1e6, 1),
  ),
  timeFunction(
    'to-unixtime',
    'to_unixtime',
    ['timestamp'],
    INT64,
    'the whole seconds since 1970, rounded down',
    { args: ['-1'], gives: '-1' },
    rescaled(1, 1e6),
  ),
  timeFunction(
    'to-unix-millis',
    'to_unix_millis',
    ['timestamp'],
    INT64,
    'the whole milliseconds since 1970, rounded down',
    { args: ['2999'], gives: '2' },
    rescaled(1, 1e3),
  ),
  timeFunction(
    'to-unix-micros',
    'to_unix_micros',
    ['timestamp'],
    INT64,
    'the microseconds since 1970',
    { args: ['2999'], gives: '2999' },
    rescaled(1, 1),
  ),
];
