import { describe, expect, test } from 'vitest';
import { eventLines } from '../../bench/events.ts';
import { type JobResult, mergeResults, resultTables } from '../../bench/report.ts';
import { readable, summarise } from '../../bench/statistics.ts';

const result = (job: string, values: number[]): JobResult => ({
  job,
  date: '2026-01-02',
  command: `npm run bench:job -- --jobs ${job}`,
  machine: 'a machine',
  remark: '',
  measurements: [{ name: 'thing', unit: 'ms', values, note: 'how' }],
});

describe('the benchmarks report', () => {
  test('the median of an odd and an even number of values, whatever their order', () => {
    expect(summarise([9, 1, 5])).toEqual({ median: 5, min: 1, max: 9, runs: 3 });
    expect(summarise([10, 2, 4, 1])).toEqual({ median: 3, min: 1, max: 10, runs: 4 });
    expect(() => summarise([])).toThrow('nothing was measured');
  });

  test('three digits that count', () => {
    expect([0, 0.01234, 1.234, 12.34, 123.4, 1234, 123456].map(readable)).toEqual([
      '0',
      '0.0123',
      '1.23',
      '12.3',
      '123',
      '1,230',
      '123,000',
    ]);
  });

  test('a job that is run again replaces its old result and leaves the others', () => {
    const merged = mergeResults([result('a', [1]), result('b', [2])], [result('b', [3])]);
    expect(merged.map(({ job, measurements }) => [job, measurements[0]?.values])).toEqual([
      ['a', [1]],
      ['b', [3]],
    ]);
    expect(resultTables(merged)).toContain('| thing | **3 ms** | 3 | 3 | 1 | how |');
  });

  test('equal seeds give equal rows, in event-time order', () => {
    const options = { seed: 's', keys: 10, stepMs: 1 };
    const lines = eventLines(options, 1_000, 50);
    expect(eventLines(options, 1_000, 50)).toBe(lines);
    expect(eventLines({ ...options, seed: 't' }, 1_000, 50)).not.toBe(lines);
    const times = lines.split('\n').map((line) => (JSON.parse(line) as { ts: string }).ts);
    expect(times.length).toBe(50);
    expect(times.toSorted()).toEqual(times);
  });
});
