/** DATE ± days, the days between two dates, and a date at a time of day. */
import type { Int32Column, Int64Column } from '../../batch/column.ts';
import { DATE, INT32, TIMESTAMP } from '../../batch/types.ts';
import type { Evaluate, ScalarFunction } from '../function-types.ts';
import { Outcome, makeInt32, makeInt64, strideOf } from '../vector.ts';
import { fitsInt64, int64AsNumber, isSafe, writeInt64, writeSafeInt64 } from '../wide.ts';
import { operator } from './time-operator.ts';

const DAY = 86_400_000_000;

const shiftDate =
  (sign: 1 | -1, swapped = false): Evaluate =>
  (args, rows, errors) => {
    const date = args[swapped ? 1 : 0] as Int32Column;
    const days = args[swapped ? 0 : 1] as Int32Column;
    const outcome = new Outcome(args, rows, errors);
    const result: Int32Column = { ...makeInt32(rows), type: DATE };
    for (let row = 0; row < rows; row++) {
      const value =
        (date.values[row * strideOf(date)] as number) +
        sign * (days.values[row * strideOf(days)] as number);
      result.values[row] = value;
      if (value !== (value | 0))
        outcome.fail(row, 'NUMERIC_OVERFLOW', () => 'the day does not fit DATE');
    }
    result.validity = outcome.validity;
    return result;
  };

const daysBetween: Evaluate = (args, rows, errors) => {
  const [left, right] = args as readonly [Int32Column, Int32Column];
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt32(rows);
  for (let row = 0; row < rows; row++) {
    const value =
      (left.values[row * strideOf(left)] as number) -
      (right.values[row * strideOf(right)] as number);
    result.values[row] = value;
    if (value !== (value | 0))
      outcome.fail(row, 'NUMERIC_OVERFLOW', () => 'the days between do not fit INT');
  }
  result.validity = outcome.validity;
  return result;
};

const dateAtTime: Evaluate = (args, rows, errors) => {
  const date = args.find((column) => column.tag === 'int32') as Int32Column;
  const time = args.find((column) => column.tag === 'int64') as Int64Column;
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt64(rows, TIMESTAMP);
  for (let row = 0; row < rows; row++) {
    const day = date.values[row * strideOf(date)] as number;
    const micros = int64AsNumber(time.words, row * strideOf(time));
    const value = day * DAY + micros;
    if (isSafe(value)) writeSafeInt64(result.words, row, value);
    else {
      const exact = BigInt(day) * BigInt(DAY) + BigInt(micros);
      if (fitsInt64(exact)) writeInt64(result.words, row, exact);
      else outcome.fail(row, 'NUMERIC_OVERFLOW', () => 'the moment does not fit TIMESTAMP');
    }
  }
  result.validity = outcome.validity;
  return result;
};

export const DATE_ARITHMETIC: readonly ScalarFunction[] = [
  operator(
    'add:date-int32',
    '+',
    ['date', 'int32'],
    DATE,
    'the date so many days later',
    { args: [10, 5], gives: 15 },
    shiftDate(1),
  ),
  operator(
    'add:int32-date',
    '+',
    ['int32', 'date'],
    DATE,
    'the date so many days later',
    { args: [5, 10], gives: 15 },
    shiftDate(1, true),
  ),
  operator(
    'subtract:date-int32',
    '-',
    ['date', 'int32'],
    DATE,
    'the date so many days earlier',
    { args: [10, 5], gives: 5 },
    shiftDate(-1),
  ),
  operator(
    'subtract:date',
    '-',
    ['date', 'date'],
    INT32,
    'the days between',
    { args: [10, 5], gives: 5 },
    daysBetween,
  ),
  operator(
    'add:date-time',
    '+',
    ['date', 'time'],
    TIMESTAMP,
    'the moment of that time on that day',
    { args: [1, '5'], gives: '86400000005' },
    dateAtTime,
  ),
  operator(
    'add:time-date',
    '+',
    ['time', 'date'],
    TIMESTAMP,
    'the moment of that time on that day',
    { args: ['5', 1], gives: '86400000005' },
    dateAtTime,
  ),
];
