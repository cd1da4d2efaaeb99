/** Charts and operators of the pipeline page: columns that add up, and words for what an operator does. */
import { describe, expect, test } from 'vitest';
import type { History, HistoryOperator } from '../../src/api/observe/history-shapes.ts';
import {
  busyOf,
  watermarkWords,
  widthClass,
} from '../../src/console/pages/pipeline/overview/load.ts';
import { chartsOf, latest } from '../../src/console/pages/pipeline/overview/series.ts';
import { addCheckpoints } from '../../src/console/pages/pipeline/checkpoint-list.ts';
import { codesOf, filterErrors, joinErrors } from '../../src/console/pages/pipeline/error-list.ts';
import type { ErrorRow } from '../../src/api/stream/detail-shapes.ts';
import { statusOf } from './status.ts';

type Cells = (number | null)[];

const operator = (id: string, said: Partial<HistoryOperator>): HistoryOperator => ({
  operator_id: id,
  rows_in: [1, 1],
  rows_out: [1, 1],
  bytes_in: [0, 0],
  backpressure: [0, 0],
  state_bytes: [0, 0],
  late: [0, 0],
  errors: [0, 0],
  lag_micros: [null, null],
  ...said,
});

const history = (operators: HistoryOperator[], lag: Cells = [5, 6]): History => ({
  step_micros: 1_000_000,
  from: 0,
  to: 2_000_000,
  times: [0, 1_000_000],
  pipeline: { rows_in: [10, 20], rows_out: [5, null], lag_micros: lag },
  operators,
  marks: [],
});

describe('charts', () => {
  const both = history([
    operator('a', { backpressure: [0.1, null], state_bytes: [100, null] }),
    operator('b', { backpressure: [0.7, null], state_bytes: [20, null], late: [0, 2] }),
  ]);
  const values = (data: History, id: string | null, key: string) =>
    chartsOf(data, id)
      .find((chart) => chart.key === key)
      ?.series.map((series) => series.values);

  test('of the pipeline: the fullest operator, the state of all, and null where nobody knows', () => {
    expect(values(both, null, 'backpressure')).toEqual([[0.7, null]]);
    expect(values(both, null, 'state')).toEqual([[120, null]]);
    expect(values(both, null, 'rows')).toEqual([
      [10, 20],
      [5, null],
    ]);
  });

  test('of one operator: its own', () => {
    expect(values(both, 'a', 'state')).toEqual([[100, null]]);
    expect(values(both, 'a', 'rows')).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  test('late and refused rows have a chart only where there are any; data of other days has no lag', () => {
    expect(values(both, null, 'wrong')).toEqual([
      [0, 2],
      [0, 0],
    ]);
    expect(values(both, 'a', 'wrong')).toBeUndefined();
    expect(values(history([], [9e12, 3]), null, 'lag')).toEqual([[null, 3]]);
  });

  test('the newest value is the last that is known', () => {
    expect(latest([1, 2, null])).toBe(2);
    expect(latest([null])).toBeNull();
  });
});

describe('operators', () => {
  test('load and width say more the more there is', () => {
    expect([0, 0.4, 0.8, 1].map(busyOf)).toEqual(['calm', 'busy', 'full', 'full']);
    expect(widthClass(0, 1_000)).toBe('');
    expect(widthClass(1_000, 1_000)).toBe('w5');
    expect(widthClass(1, 1_000_000)).toBe('w1');
  });

  test('a watermark is told with how far it is behind; of other days with the day', () => {
    const at = Date.UTC(2026, 0, 2, 3, 4, 5) * 1000;
    expect(watermarkWords({ watermark: null, lag_micros: null })).toBe('no watermark yet');
    expect(watermarkWords({ watermark: 'end', lag_micros: null })).toBe('input has ended');
    expect(watermarkWords({ watermark: at, lag_micros: 2_000_000 })).toBe(
      'at 03:04:05, 2 s behind',
    );
    expect(watermarkWords({ watermark: at, lag_micros: 9e12 })).toBe('at 2026-01-02 03:04:05');
    expect(watermarkWords({ watermark: at, lag_micros: -60_000_000 })).toContain('1 min ahead');
  });
});

test('checkpoints that the leader has forgotten stay on the page, each once, with its generation', () => {
  const first = addCheckpoints(
    [],
    statusOf({
      generation: 1,
      running: { epoch: 3, started_at: 30 },
      recent: [{ epoch: 2, started_at: 20 }],
    }),
  );
  expect(first.map(({ epoch, running }) => [epoch, running])).toEqual([
    [3, true],
    [2, false],
  ]);
  const second = addCheckpoints(
    first,
    statusOf({ generation: 2, recent: [{ epoch: 3, started_at: 30 }] }),
  );
  expect(second.map(({ epoch, running, generation }) => [epoch, running, generation])).toEqual([
    [3, false, 1],
    [2, false, 1],
  ]);
});

describe('rows that went wrong', () => {
  const row = (id: string, code: string, reason = ''): ErrorRow => ({
    id,
    time: 0,
    generation: 1,
    operator_id: 'source-1',
    table: null,
    subtask: 0,
    partition: null,
    code,
    column: null,
    reason,
    hint: null,
    raw: null,
    raw_sha256: null,
  });

  test('are listed once, newest first, whether they were there or came', () => {
    const ids = joinErrors([row('2', 'A'), row('1', 'A')], [row('2', 'A'), row('3', 'B')]).map(
      ({ id }) => id,
    );
    expect(ids).toEqual(['3', '2', '1']);
  });

  test('are counted by code and found by code and text', () => {
    const rows = [row('1', 'A', 'too late'), row('2', 'B'), row('3', 'A')];
    expect(codesOf(rows)).toEqual([
      { code: 'A', count: 2 },
      { code: 'B', count: 1 },
    ]);
    expect(filterErrors(rows, 'A', '').map(({ id }) => id)).toEqual(['1', '3']);
    expect(filterErrors(rows, '', ' LATE').map(({ id }) => id)).toEqual(['1']);
  });
});
