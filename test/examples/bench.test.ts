import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Compared } from '../../bench/compare.ts';
import { dataSet } from '../../bench/data.ts';
import { duckdb } from '../../bench/engines/duckdb.ts';
import { JOBS } from '../../bench/jobs.ts';
import { type Digest, digestOf } from '../../bench/digest.ts';
import { eventLines } from '../../bench/product/events.ts';
import { type JobResult, mergeResults, resultTables } from '../../bench/product/report.ts';
import { readable, summarise } from '../../bench/product/statistics.ts';
import { targetTable } from '../../bench/targets.ts';
import { comparisonTable, type JobRecord, mergeRecords, ratio } from '../../bench/table.ts';

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

async function digest(...lines: readonly string[]): Promise<Digest> {
  const directory = mkdtempSync(join(tmpdir(), 'thalweg-digest-'));
  try {
    const path = join(directory, 'rows.ndjson');
    writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
    return await digestOf([path]);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describe('the answers of engines', () => {
  test('are equal whatever the order of rows and the spelling of values', async () => {
    const one = await digest(
      '{"a":1,"t":"2026-01-01T00:00:01.500Z","x":0.1}',
      '{"a":2,"t":null,"x":3}',
    );
    const other = await digest(
      '{"b":"2","u":null,"y":"3.000"}',
      '{"b":"1","u":"2026-01-01 00:00:01.500","y":0.1000000000000004}',
    );
    expect(other).toEqual(one);
    expect(one.rows).toBe(2);
  });

  test('differ when a value, a row or its number differs', async () => {
    const right = await digest('{"a":1,"s":"x"}', '{"a":2,"s":"y"}');
    const wrong = [
      await digest('{"a":1,"s":"y"}', '{"a":2,"s":"x"}'),
      await digest('{"a":1,"s":"x"}'),
      await digest('{"a":1,"s":"x"}', '{"a":2,"s":"y"}', '{"a":2,"s":"y"}'),
      await digest('{"a":9007199254740990,"s":"x"}', '{"a":2,"s":"y"}'),
      await digest('{"a":9007199254740991,"s":"x"}', '{"a":2,"s":"y"}'),
    ];
    expect(new Set([right, ...wrong].map(({ hash }) => hash)).size).toBe(6);
  });

  test('that change count as what they change to', async () => {
    const changed = await digest(
      '{"before":null,"after":{"k":1,"n":1},"op":"c"}',
      '{"before":{"k":1,"n":1},"after":{"k":1,"n":2},"op":"u"}',
      '{"before":null,"after":{"k":2,"n":1},"op":"c"}',
      '{"before":{"k":2,"n":1},"after":null,"op":"d"}',
    );
    expect(changed).toEqual(await digest('{"k":1,"n":2}'));
  });
});

describe('DuckDB', () => {
  test(
    'computes all rows and columns of an answer that it drops',
    { timeout: 60_000 },
    async () => {
      const directory = mkdtempSync(join(tmpdir(), 'thalweg-duckdb-'));
      try {
        const data = await dataSet(directory, 500);
        const peer = await duckdb();
        for (const name of ['parse', 'tumble', 'q5', 'join', 'q1', 'ndjson-sink']) {
          const job = JOBS.find((candidate) => candidate.name === name);
          if (job === undefined) throw new Error(`there is no job ${name}`);
          await peer.prepare(job, data.directory);
          const kept = join(directory, 'kept.ndjson');
          await peer.keep(job, kept);
          const { rows } = await digestOf([kept]);
          expect(rows).toBeGreaterThan(0);
          expect([name, await peer.run(job)]).toEqual([name, rows]);
        }
      } finally {
        rmSync(directory, { recursive: true });
      }
    },
  );
});

const compared = (engine: string, rowsPerSecond: number | null, failure: string | null = null) =>
  ({
    job: 'tumble',
    engine,
    rowsPerSecond,
    peakRssBytes: 64e6,
    runs: 1,
    samples: [],
    rowsPerProcessorSecond: null,
    answerRows: 1,
    failure,
  }) satisfies Compared;

const record = (job: string, results: Compared[]): JobRecord => ({
  job,
  summary: 'what it does',
  date: '2026-01-02',
  command: 'npm run bench',
  machine: 'a machine',
  remark: '',
  rows: 1000,
  results,
  figures: [],
});

describe('the table of engines', () => {
  const columns = ['thalweg', 'duckdb'].map((engine) => ({ engine, title: engine }));

  test('has rates in millions, memory, and how many times as fast Thalweg is', () => {
    const one = record('tumble', [compared('thalweg', 5_000_000), compared('duckdb', 2_000_000)]);
    expect(ratio(one, 'duckdb')).toBe(2.5);
    expect(comparisonTable([one], columns, columns.slice(1))).toContain(
      '| tumble: what it does | 1,000 | 5 (64 MB) | 2 (64 MB) | **2.50** |',
    );
  });

  test('says why there is no figure', () => {
    const one = record('tumble', [
      compared('thalweg', null, 'not supported: no such window'),
      compared('duckdb', 2_000_000),
    ]);
    const text = comparisonTable([one], columns, columns.slice(1));
    expect(text).toContain('| [1] | 2 (64 MB) | – |');
    expect(text).toContain('1. tumble, thalweg: not supported: no such window');
  });

  test('keeps the jobs that were not run again, in the order of jobs', () => {
    const old = [record('b', [compared('thalweg', 1)]), record('a', [])];
    const merged = mergeRecords(old, [record('b', [compared('thalweg', 2)])], ['a', 'b']);
    expect(merged.map(({ job, results }) => [job, results[0]?.rowsPerSecond])).toEqual([
      ['a', undefined],
      ['b', 2],
    ]);
  });
});

describe('the targets', () => {
  const line = (records: readonly JobRecord[], what: string): string | undefined =>
    targetTable(records, true)
      .split('\n')
      .find((found) => found.startsWith(`| ${what} |`));

  test('are met, missed or not measured', () => {
    const of = (rate: number): JobRecord[] => [
      record('tumble', [compared('thalweg', rate), compared('duckdb', 2_000_000)]),
    ];
    expect(line(of(5_000_000), 'tumble')).toBe('| tumble | ≥ 2.5 × DuckDB | 2.5 × | yes |');
    expect(line(of(4_000_000), 'tumble')).toBe('| tumble | ≥ 2.5 × DuckDB | 2 × | **no** |');
    expect(line([], 'tumble')).toBe('| tumble | ≥ 2.5 × DuckDB | – | not measured |');
  });

  test('of figures that are no rates', () => {
    const state = {
      ...record('state', []),
      figures: [{ name: 'restore', value: 90, unit: 'MB/s' as const }],
    };
    expect(line([state], 'restore')).toBe('| restore | ≥ 100 MB/s | 90 MB/s | **no** |');
  });
});
