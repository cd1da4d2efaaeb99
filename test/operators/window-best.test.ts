/** The best rows of windows against a look at all rows at once, whatever the batches, subtasks, disorder and restarts are. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Int64Column } from '../../src/batch/column.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import { INT32, INT64, TEXT, TIMESTAMP, WINDOW, type Schema } from '../../src/batch/types.ts';
import { batchFromRows, type Row } from '../../src/batch/values.ts';
import { WindowBest, type WindowBestSpec } from '../../src/operators/window-best.ts';
import { Subtasks, cutAt, text } from './harness.ts';

const SEED = 20261130;
const WIDTH = 10;
const SLIDE = 5;

const SCHEMA: Schema = [
  { name: 'v', type: INT64, nullable: true },
  { name: 'd', type: INT32, nullable: true },
  { name: 'w', type: WINDOW, nullable: false },
  { name: 'name', type: TEXT, nullable: true },
  { name: 't', type: TIMESTAMP, nullable: false },
];

/** Values that are alike in their low or their high word. */
const wide = fc.constantFrom(
  null,
  -1n,
  0n,
  1n,
  2147483648n,
  4294967295n,
  4294967296n,
  -4294967296n,
  2n ** 63n - 1n,
  -(2n ** 63n),
);

type Each = { v: bigint | null; d: number | null; name: string | null; t: number; second: boolean };

const row: fc.Arbitrary<Each> = fc.record({
  v: wide,
  d: fc.option(fc.integer({ min: -2, max: 2 })),
  name: fc.option(fc.constantFrom('a', 'é', 'long enough for a vector')),
  t: fc.integer({ min: 0, max: 60 }),
  second: fc.boolean(),
});

/** The window of a hop that the row was aggregated in: one of two that hold its time. */
function rowOf({ v, d, name, t, second }: Each): Row {
  const start = t - (t % SLIDE) - (second ? SLIDE : 0);
  return {
    v,
    d,
    w: { start: BigInt(start), end: BigInt(start + WIDTH) },
    name,
    t: BigInt(t),
  };
}

function batchOf(rows: readonly Row[]): RecordBatch {
  const batch = batchFromRows(SCHEMA, rows);
  return { ...batch, eventTime: batch.columns[4] as Int64Column };
}

function bestOf(rows: readonly Row[], spec: WindowBestSpec): string[] {
  const name = spec.column === 0 ? 'v' : 'd';
  const windowOf = (each: Row): string =>
    spec.windowColumn === undefined
      ? String((each['t'] as bigint) / BigInt(WIDTH))
      : text(each['w']);
  const best = new Map<string, bigint | number>();
  for (const each of rows) {
    const value = each[name] as bigint | number | null;
    if (value === null) continue;
    const known = best.get(windowOf(each));
    if (known === undefined || (spec.greatest ? value > known : value < known))
      best.set(windowOf(each), value);
  }
  return rows
    .filter((each) => each[name] !== null && each[name] === best.get(windowOf(each)))
    .map(text)
    .toSorted();
}

const specs = fc.record({
  byColumn: fc.boolean(),
  column: fc.constantFrom(0, 1),
  greatest: fc.boolean(),
  local: fc.boolean(),
});

type Of = { byColumn: boolean; column: number; greatest: boolean; local: boolean };

const specOf = (of: Of): WindowBestSpec => ({
  tag: 'window-best',
  ...(of.byColumn
    ? {
        window: { tag: 'hop', widthMicros: WIDTH, slideMicros: SLIDE, offsetMicros: 0 },
        windowColumn: 2,
      }
    : { window: { tag: 'tumble', widthMicros: WIDTH, offsetMicros: 0 } }),
  column: of.column,
  greatest: of.greatest,
  ...(of.local ? { local: true as const } : {}),
});

test('the rows that leave are those with the best value of their window', () => {
  fc.assert(
    fc.property(
      specs,
      fc.array(row, { maxLength: 80 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 }),
      fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 6 }),
      (of, each, sizes, restarts) => {
        const spec = specOf(of);
        // In order of blocks of time, so that the watermark moves on among them.
        const rows = each
          .toSorted((left, right) => Math.floor(left.t / 4) - Math.floor(right.t / 4))
          .map(rowOf);
        const keys = of.byColumn ? [2] : [];
        const subtasks = new Subtasks(
          () => new WindowBest(spec, SCHEMA),
          keys,
          of.byColumn ? 2 : 1,
        );
        let at = 0;
        let turn = 0;
        for (const batch of rows.length === 0 ? [] : cutAt(batchOf(rows), sizes)) {
          const first = Number(rows[at]?.['t'] ?? 0n);
          subtasks.watermark(first - (first % 4));
          subtasks.send(batch);
          at += batch.rows;
          const parallelism = restarts[turn++ % restarts.length] ?? 0;
          if (parallelism === 0) continue;
          subtasks.checkpoint();
          if (of.local)
            for (const operator of subtasks.operators) expect(operator.stateRows()).toBe(0);
          subtasks.restart(of.byColumn ? parallelism : 1);
        }
        subtasks.watermark(Infinity);
        const { output } = subtasks;
        expect(output.lateRows).toEqual([]);
        // Before a shuffle some leave that are not the best after all, and what is chosen from them is.
        const left = output.rows(SCHEMA);
        const chosen = of.local ? bestOf(left, spec) : left.map(text).toSorted();
        expect(chosen).toEqual(bestOf(rows, spec));
        for (const operator of subtasks.operators) expect(operator.stateRows()).toBe(0);
      },
    ),
    { seed: SEED, numRuns: 150 },
  );
});

test('a window leaves when the watermark has reached its end, and rows that come later are late', () => {
  const spec = specOf({ byColumn: false, column: 0, greatest: true, local: false });
  const subtasks = new Subtasks(() => new WindowBest(spec, SCHEMA), [], 1);
  const at = (t: number, v: bigint): Row => rowOf({ v, d: null, name: null, t, second: false });
  subtasks.send(batchOf([at(3, 7n), at(9, 7n), at(4, 6n), at(12, 1n)]));
  expect(subtasks.operators[0]?.openWindows?.()).toEqual({ count: 2, firstEnd: 10 });
  subtasks.watermark(9);
  expect(subtasks.output.rows(SCHEMA)).toEqual([]);
  subtasks.watermark(10);
  expect(subtasks.output.rows(SCHEMA).map(({ t }) => t)).toEqual([3n, 9n]);
  subtasks.send(batchOf([at(5, 9n), at(13, 2n)]));
  expect(subtasks.output.lateRows.map(({ row: index, code }) => [index, code])).toEqual([
    [0, 'LATE_ROW'],
  ]);
  subtasks.watermark(Infinity);
  expect(subtasks.output.rows(SCHEMA).map(({ t }) => t)).toEqual([3n, 9n, 13n]);
});
