/** What the pipeline page says: sums, consequences, phases, steps after a failure, and colours of SQL. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Proof } from '../../src/api/jobs/proof-view.ts';
import type { History } from '../../src/api/observe/history-shapes.ts';
import { sqlTokens } from '../../src/console/lib/sql-tokens.ts';
import { aftermathOf, type Killing } from '../../src/console/pages/pipeline/aftermath.ts';
import { consequenceOf } from '../../src/console/pages/pipeline/consequences.ts';
import { mergeHistory } from '../../src/console/pages/pipeline/history-merge.ts';
import { invariantOf } from '../../src/console/pages/pipeline/invariant.ts';
import { EMPTY_RIVER, type River } from '../../src/console/pages/pipeline/lineage/river.ts';
import { phaseChart } from '../../src/console/pages/pipeline/phases.ts';
import { checkpoint, statusOf } from './status.ts';

const PROOF: Proof = {
  from_epoch: 3,
  to_epoch: 6,
  committed_epoch: 6,
  generations: 2,
  ranges: 8,
  partitions: 4,
  rows_in: 1_000,
  rows_out: 900,
  filtered: 90,
  errors: 10,
  late: 0,
  sinks: 1,
  row_for_row: true,
  lost: 0,
  doubled: 0,
  flaws: [],
  notes: [],
};

describe('the invariant line', () => {
  test('where each row gives a row, the sum is written out', () => {
    const line = invariantOf(PROOF, 1_050);
    expect(line.sums).toBe('rows in 1,000 = rows out 900 + 90 filtered + 10 refused');
    expect(line.verdict).toBe('0 lost, 0 doubled');
    expect(line.tone).toBe('good');
    expect(line.because.join(' ')).toContain('50 more rows have been read since');
  });

  test('no equation is claimed that does not hold', () => {
    expect(invariantOf({ ...PROOF, rows_out: 899 }, null).sums).not.toContain('=');
    for (const other of [{ row_for_row: false }, { row_for_row: null }, { sinks: 2 }])
      expect(invariantOf({ ...PROOF, ...other }, null).sums).toContain('each read once');
  });

  test('before a commit nothing is claimed, and what is wrong is said', () => {
    expect(invariantOf(null, 5).tone).toBe('wait');
    expect(invariantOf({ ...PROOF, committed_epoch: 0 }, 5).tone).toBe('wait');
    const broken = invariantOf({ ...PROOF, lost: 7, flaws: ['a gap'] }, null);
    expect(broken).toMatchObject({ tone: 'bad', verdict: '7 lost, 0 doubled; one contradiction' });
  });
});

describe('consequences', () => {
  test('deleting names the unread rows and the state that go', () => {
    const status = statusOf({
      epoch: 12,
      backlog: 1_234,
      operators: [{ state_bytes: 2_048, state_rows: 5 }],
    });
    const { sentences, danger } = consequenceOf('delete', status, null);
    expect(danger).toBe(true);
    expect(sentences.join(' ')).toMatch(/2\.0 KiB of state in 12 epochs.*1,234 stored rows/);
  });

  test('stopping at once says how many rows are read again', () => {
    const status = statusOf({ epoch: 3, read: 5_000 });
    const said = (committed: number | null): string =>
      consequenceOf('stop_immediate', status, committed).sentences.join(' ');
    expect(said(3_000)).toContain('2,000 rows read since epoch 3');
    expect(said(5_000)).toContain('No row was read since');
    expect(said(null)).toContain('What was read since the last commit');
  });

  test('forgetting state counts the rows and the open windows', () => {
    const status = statusOf({
      operators: [{ state_rows: 9, state_bytes: 10, open_windows: { count: 3, first_end: null } }],
    });
    const said = consequenceOf('restart_without_state', status, null).sentences.join(' ');
    expect(said).toContain('9 rows of state');
    expect(said).toContain('3 open windows');
  });
});

describe('phases of a checkpoint', () => {
  const host = (index: number, reported_at: number) => ({
    index,
    bytes: 1,
    align_micros: 10,
    snapshot_micros: 20,
    upload_micros: 30,
    reported_at,
  });

  test('a host’s phases end when it reported; the leader publishes when all have, then commits', () => {
    const chart = phaseChart(
      checkpoint({
        started_at: 1_000,
        aligned_at: 1_100,
        published_at: 1_150,
        committed_at: 1_200,
        hosts: [host(1, 1_100), host(0, 1_070)],
      }),
      9_999,
    );
    expect(chart.total).toBe(200);
    expect(chart.rows.map(({ name }) => name)).toEqual(['Host 0', 'Host 1', 'Leader']);
    expect(
      chart.rows[1]?.stretches.map(({ phase, start, length }) => [phase, start, length]),
    ).toEqual([
      ['align', 40, 10],
      ['snapshot', 50, 20],
      ['upload', 70, 30],
    ]);
    expect(chart.rows[2]?.stretches).toEqual([
      { phase: 'publish', start: 100, length: 50, running: false },
      { phase: 'commit', start: 150, length: 50, running: false },
    ]);
  });

  test('what still runs reaches to now', () => {
    const chart = phaseChart(checkpoint({ started_at: 1_000, aligned_at: 1_100 }), 1_400);
    expect(chart.total).toBe(400);
    expect(chart.rows[0]?.stretches).toEqual([
      { phase: 'publish', start: 100, length: 300, running: true },
    ]);
  });
});

describe('after a killing', () => {
  const killing: Killing = { target: 'leader', host: 0, at: 1_000, generation: 1, epoch: 4 };
  const states = (river: River, proof: Proof | null): string[] =>
    aftermathOf(killing, statusOf({}), river, proof).map(({ state }) => state);
  const entry = (epoch: number, kind: 'data' | 'fence', createdAt: number) =>
    ({
      epoch,
      generation: 1,
      nonce: 'n',
      createdAt,
      known: 'kept',
      detail: { epoch, kind, committed: true },
    }) as never;

  test('each step is done only when it was seen: the fence, the first commit, and its proof', () => {
    expect(states(EMPTY_RIVER, null)).toEqual(['done', 'now', 'waiting', 'waiting']);
    const fenced = { ...EMPTY_RIVER, epochs: [entry(5, 'fence', 2_000)] };
    expect(states(fenced, null)).toEqual(['done', 'done', 'done', 'now']);
    const committed = { ...fenced, epochs: [...fenced.epochs, entry(6, 'data', 3_000)] };
    expect(states(committed, { ...PROOF, committed_epoch: 5 }).at(-1)).toBe('now');
    expect(states(committed, PROOF).at(-1)).toBe('done');
  });

  test('what was there before the killing counts for nothing', () => {
    const old = { ...EMPTY_RIVER, epochs: [entry(4, 'data', 500), entry(5, 'fence', 900)] };
    expect(states(old, PROOF)).toEqual(['done', 'now', 'waiting', 'waiting']);
  });
});

describe('history', () => {
  const history = (times: number[], append: boolean, ids = ['a']): History => ({
    step_micros: 1,
    from: 0,
    to: (times.at(-1) ?? 0) + 1,
    times,
    pipeline: {
      rows_in: times.slice(),
      rows_out: times.slice(),
      lag_micros: times.map(() => null),
    },
    operators: ids.map((operator_id) => ({
      operator_id,
      rows_in: times.slice(),
      rows_out: times.slice(),
      bytes_in: times.slice(),
      backpressure: times.slice(),
      state_bytes: times.slice(),
      late: times.slice(),
      errors: times.slice(),
      lag_micros: times.slice(),
    })),
    marks: [],
    append,
  });

  test('columns stay aligned and ascending, however the points come, and no older than the span', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 2 })), {
          minLength: 1,
          maxLength: 20,
        }),
        (parts) => {
          let merged = mergeHistory(null, history([0, 1, 2], false), 10);
          let next = 3;
          for (const [length, again] of parts) {
            const first = Math.max(0, next - again);
            const times = Array.from({ length }, (_, index) => first + index);
            merged = mergeHistory(merged, history(times, true, ['a', 'b']), 10);
            next = Math.max(next, first + length);
            expect(merged.times.at(-1)).toBe(times.at(-1));
            expect(merged.times.every((time) => time >= merged.to - 10)).toBe(true);
            merged.times.reduce(
              (before, time) => {
                expect(time).toBe(before + 1);
                return time;
              },
              (merged.times[0] ?? 0) - 1,
            );
            for (const { rows_in: rows, operator_id: id } of merged.operators) {
              expect(rows.length).toBe(merged.times.length);
              rows.forEach((value, index) => {
                if (value !== null || id === 'a') expect(value).toBe(merged.times[index]);
              });
            }
            next = (merged.times.at(-1) ?? 0) + 1;
          }
        },
      ),
      { seed: 7, numRuns: 100 },
    );
  });

  test('a whole history replaces what was there', () => {
    const whole = history([5, 6], false);
    expect(mergeHistory(history([1, 2], false), whole, 10)).toBe(whole);
  });
});

describe('SQL in colours', () => {
  test('the tokens are the text', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            "'",
            '"',
            '--',
            '\n',
            ' ',
            'select',
            'x',
            '1',
            '.',
            '/*',
            '*/',
            '(',
            '$$',
            '/',
            '-',
          ),
        ),
        (parts) => {
          const text = parts.join('');
          expect(
            sqlTokens(text)
              .map((token) => token.text)
              .join(''),
          ).toBe(text);
        },
      ),
      { seed: 3, numRuns: 300 },
    );
  });

  test('words are told apart', () => {
    const kinds = sqlTokens("SELECT count(*), 'a''b' FROM t -- end\nWHERE x > 1.5e3 AND y::BIGINT")
      .filter(({ text }) => text.trim() !== '')
      .map(({ kind, text }) => `${kind}:${text.trim()}`);
    expect(kinds).toEqual(
      expect.arrayContaining([
        'keyword:SELECT',
        'function:count',
        "string:'a''b'",
        'comment:-- end',
        'number:1.5e3',
        'type:BIGINT',
      ]),
    );
  });
});
