/**
 * Every kind of window against a plain evaluator that takes one row at a time: whatever the batches, the checkpoints
 * (whole or of changes), the restarts and the number of subtasks.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  BOOLEAN,
  FLOAT64,
  INT64,
  TEXT,
  TIMESTAMP,
  WINDOW,
  type Schema,
} from '../../src/batch/types.ts';
import type { StateTable } from '../../src/state/state-table.ts';
import type { Int64Column } from '../../src/batch/column.ts';
import type { WindowSpec } from '../../src/graph/graph.ts';
import { BucketedWindowAggregate } from '../../src/operators/bucketed-window-aggregate.ts';
import type { Operator } from '../../src/operators/operator.ts';
import { SessionAggregate } from '../../src/operators/session-aggregate.ts';
import { WatermarkGenerator } from '../../src/operators/watermark-generator.ts';
import { WindowAggregate } from '../../src/operators/window-aggregate.ts';
import type { WindowAggregateSpec } from '../../src/operators/window-rows.ts';
import {
  call,
  Collected,
  column,
  cutAt,
  INPUT,
  inputBatch,
  Subtasks,
  text,
  type InputRow,
} from './harness.ts';
import { SmallPipeline } from './small-pipeline.ts';

type Aggregates = 'invertible' | 'flat' | 'any';

const CALLS = {
  invertible: [
    call('count-rows', [], INT64),
    call('sum', [column(1, INT64)], INT64),
    call('avg', [column(1, INT64)], FLOAT64),
    call('count-rows', [], INT64, column(2, BOOLEAN)),
  ],
  flat: [
    call('count-rows', [], INT64),
    call('min', [column(1, INT64)], INT64),
    call('avg', [column(1, INT64)], FLOAT64),
    call('max', [column(3, TIMESTAMP)], TIMESTAMP),
  ],
  any: [
    call('count-rows', [], INT64),
    call('min', [column(1, INT64)], INT64),
    call('max', [column(0, TEXT)], TEXT),
    call('max', [column(3, TIMESTAMP)], TIMESTAMP),
  ],
};

const specOf = (window: WindowSpec, aggregates: Aggregates): WindowAggregateSpec => ({
  tag: 'window-aggregate',
  window,
  keys: [column(0, TEXT)],
  aggregates: CALLS[aggregates],
  outputs: [
    { tag: 'window' },
    { tag: 'key', index: 0 },
    ...[0, 1, 2, 3].map((index) => ({ tag: 'aggregate' as const, index })),
  ],
});

const schemaOf = (aggregates: Aggregates): Schema => [
  { name: 'window', type: WINDOW, nullable: false },
  { name: 'k', type: TEXT, nullable: true },
  ...CALLS[aggregates].map((each, at) => ({ name: `x${at}`, type: each.type, nullable: true })),
];

function valuesOf(rows: readonly InputRow[], aggregates: Aggregates): unknown[] {
  const values = rows.flatMap((row) => (row.v === null ? [] : [row.v]));
  const sum = values.reduce((left, right) => left + right, 0n);
  const none = values.length === 0;
  const mean = none ? null : Number(sum) / values.length;
  if (aggregates === 'invertible')
    return [
      BigInt(rows.length),
      none ? null : sum,
      mean,
      BigInt(rows.filter((row) => row.flag === true).length),
    ];
  const times = rows.map((row) => row.t).sort((left, right) => Number(left - right));
  return [
    BigInt(rows.length),
    none ? null : values.reduce((left, right) => (left < right ? left : right)),
    aggregates === 'flat' ? mean : (rows[0]?.k ?? null),
    times.at(-1),
  ];
}

const asText = (
  start: number,
  end: number,
  rows: readonly InputRow[],
  aggregates: Aggregates,
): string =>
  text({
    window: { start: BigInt(start), end: BigInt(end) },
    k: rows[0]?.k,
    ...Object.fromEntries(valuesOf(rows, aggregates).map((value, at) => [`x${at}`, value])),
  });

type Result = { rows: string[]; late: number };

/** All windows that hold an instant, by trying every start. */
function windowsAt(window: Exclude<WindowSpec, { tag: 'session' }>, t: number): [number, number][] {
  const found: [number, number][] = [];
  const { widthMicros: width, offsetMicros: offset } = window;
  for (let start = t - width; start <= t; start++) {
    const since = start - offset;
    const grid = window.tag === 'hop' ? window.slideMicros : width;
    if (((since % grid) + grid) % grid !== 0) continue;
    const step = window.tag === 'cumulate' ? window.stepMicros : width;
    for (let end = start + step; end <= start + width; end += step)
      if (start <= t && t < end) found.push([start, end]);
  }
  return found;
}

function alignedOracle(
  window: Exclude<WindowSpec, { tag: 'session' }>,
  rows: readonly InputRow[],
  aggregates: Aggregates,
): Result {
  const groups = new Map<string, { start: number; end: number; rows: InputRow[] }>();
  let watermark = -Infinity;
  let late = 0;
  for (const row of rows) {
    const all = windowsAt(window, Number(row.t));
    const open = all.filter(([, end]) => end + (window.latenessMicros ?? 0) > watermark);
    if (all.length > 0 && open.length === 0) late++;
    for (const [start, end] of open) {
      const key = text([start, end, row.k]);
      const group = groups.get(key) ?? { start, end, rows: [] };
      groups.set(key, group);
      group.rows.push(row);
    }
    watermark = Math.max(watermark, Number(row.mark));
  }
  const results = [...groups.values()].map((group) =>
    asText(group.start, group.end, group.rows, aggregates),
  );
  return { rows: results.sort(), late };
}

function sessionOracle(gap: number, rows: readonly InputRow[], aggregates: Aggregates): Result {
  let open: { k: string | null; rows: InputRow[] }[] = [];
  const results: string[] = [];
  const startOf = (session: { rows: InputRow[] }): number =>
    Math.min(...session.rows.map((row) => Number(row.t)));
  const endOf = (session: { rows: InputRow[] }): number =>
    Math.max(...session.rows.map((row) => Number(row.t))) + gap;
  let watermark = -Infinity;
  let late = 0;
  const close = (): void => {
    for (const session of open.filter((each) => endOf(each) <= watermark))
      results.push(asText(startOf(session), endOf(session), session.rows, aggregates));
    open = open.filter((each) => endOf(each) > watermark);
  };
  for (const row of rows) {
    const t = Number(row.t);
    const met = open.filter(
      (each) => each.k === row.k && startOf(each) < t + gap && t < endOf(each),
    );
    if (met.length === 0 && t + gap <= watermark) late++;
    else {
      open = open.filter((each) => !met.includes(each));
      open.push({ k: row.k, rows: [...met.flatMap((each) => each.rows), row] });
    }
    watermark = Math.max(watermark, Number(row.mark));
    close();
  }
  watermark = Infinity;
  close();
  return { rows: results.sort(), late };
}

const BOUND = 15n;
/** Event times wander forward, with leaps, and with disorder of up to twice the watermark's bound: some rows are late. */
const inputArbitrary = fc
  .array(
    fc.record({
      k: fc.constantFrom<string | null>('a', 'b', 'c', 'dd', null),
      v: fc.option(fc.bigInt({ min: -1000n, max: 1000n })),
      flag: fc.option(fc.boolean()),
      step: fc.oneof(
        { weight: 12, arbitrary: fc.nat({ max: 6 }) },
        { weight: 1, arbitrary: fc.constant(90) },
      ),
      back: fc.oneof(
        { weight: 5, arbitrary: fc.nat({ max: 15 }) },
        { weight: 1, arbitrary: fc.nat({ max: 45 }) },
      ),
    }),
    { minLength: 10, maxLength: 80 },
  )
  .map((steps) => {
    let now = -40;
    return steps.map(({ k, v, flag, step, back }): InputRow => {
      now += step;
      const t = BigInt(now - back);
      return { k, v, flag, t, mark: t - BOUND };
    });
  });

/** Before batch i: nothing, a checkpoint, or a checkpoint and a restart with so many subtasks. */
type Turn = 'go on' | 'checkpoint' | number;
const turnArbitrary = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Turn>('go on') },
  { weight: 3, arbitrary: fc.constant<Turn>('checkpoint') },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 3 }) },
);

const historyArbitrary = fc.record({
  sizes: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 }),
  turns: fc.array(turnArbitrary, { minLength: 2, maxLength: 7 }),
});

const alignedArbitrary = fc
  .record({
    tag: fc.constantFrom('tumble', 'hop', 'hop', 'cumulate'),
    step: fc.integer({ min: 1, max: 12 }),
    width: fc.integer({ min: 1, max: 30 }),
    steps: fc.integer({ min: 1, max: 6 }),
    offset: fc.nat({ max: 40 }),
  })
  .map(({ tag, step, width, steps, offset }): Exclude<WindowSpec, { tag: 'session' }> => {
    if (tag === 'hop')
      return { tag, slideMicros: step, widthMicros: width, offsetMicros: offset % step };
    if (tag === 'tumble') return { tag, widthMicros: width, offsetMicros: offset % width };
    return {
      tag: 'cumulate',
      stepMicros: step,
      widthMicros: step * steps,
      offsetMicros: offset % (step * steps),
    };
  });

const WATERMARK = {
  eventTime: column(3, TIMESTAMP),
  watermark: column(4, TIMESTAMP),
  idleMs: null,
  idleAdvanceMs: null,
};

type History = { sizes: readonly number[]; turns: readonly Turn[] };

function run(make: () => Operator, rows: readonly InputRow[], history: History): Subtasks {
  const subtasks = new Subtasks(make, [0], 1);
  const generator = new WatermarkGenerator(WATERMARK, INPUT, [0]);
  let at = 0;
  for (const batch of cutAt(inputBatch(rows), history.sizes)) {
    const turn = history.turns[at++ % history.turns.length] as Turn;
    if (turn === 'checkpoint') subtasks.checkpoint();
    else if (turn !== 'go on') subtasks.restart(turn);
    for (const segment of generator.onBatch(0, batch, 0).segments) {
      subtasks.watermark(segment.watermarkBefore);
      subtasks.send(segment.batch);
      subtasks.tick(at * 700);
    }
    subtasks.watermark(generator.watermark);
  }
  subtasks.watermark(Infinity);
  return subtasks;
}

function check(
  make: () => Operator,
  aggregates: Aggregates,
  expected: Result,
  subtasks: Subtasks,
): void {
  const { output, operators } = subtasks;
  expect(output.rows(schemaOf(aggregates)).map(text).sort()).toEqual(expected.rows);
  expect(output.lateRows).toHaveLength(expected.late);
  expect(output.failed).toEqual([]);
  expect(operators.every((operator) => operator.stateRows() === 0)).toBe(true);
}

const aggregatesArbitrary = fc.constantFrom<Aggregates>('invertible', 'flat', 'any');

test('tumbling, hopping and cumulating windows hold what row-at-a-time puts into them', () => {
  fc.assert(
    fc.property(
      alignedArbitrary,
      aggregatesArbitrary,
      inputArbitrary,
      historyArbitrary,
      (window, aggregates, rows, history) => {
        const make = (): Operator =>
          new WindowAggregate(specOf(window, aggregates), INPUT, schemaOf(aggregates));
        check(make, aggregates, alignedOracle(window, rows, aggregates), run(make, rows, history));
      },
    ),
    { numRuns: 100 },
  );
}, 30_000);

test('sessions hold what row-at-a-time puts into them', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 14 }),
      aggregatesArbitrary,
      inputArbitrary,
      historyArbitrary,
      (gapMicros, aggregates, rows, history) => {
        const spec = specOf({ tag: 'session', gapMicros }, aggregates);
        const make = (): Operator => new SessionAggregate(spec, INPUT, schemaOf(aggregates));
        check(
          make,
          aggregates,
          sessionOracle(gapMicros, rows, aggregates),
          run(make, rows, history),
        );
      },
    ),
    { numRuns: 100 },
  );
}, 30_000);

/** Rows emitted less rows taken back; a row that is taken back without having been there is a fault. */
function remaining(subtasks: Subtasks, schema: Schema): string[] {
  const counts = new Map<string, number>();
  for (const batch of subtasks.output.batches)
    subtasks.output.rowsOfBatch(batch, schema).forEach((row, at) => {
      const key = text(row);
      const count = (counts.get(key) ?? 0) + (batch.retract?.[at] === 1 ? -1 : 1);
      expect(count, key).toBeGreaterThanOrEqual(0);
      counts.set(key, count);
    });
  return [...counts].flatMap(([key, count]) => Array.from({ length: count }, () => key)).sort();
}

test('with lateness and early results, what remains is what row-at-a-time has in the end', () => {
  fc.assert(
    fc.property(
      alignedArbitrary,
      fc.record({ lateness: fc.nat({ max: 20 }), early: fc.boolean() }),
      aggregatesArbitrary,
      inputArbitrary,
      historyArbitrary,
      (aligned, { lateness, early }, aggregates, rows, history) => {
        const window: typeof aligned = {
          ...aligned,
          ...(lateness > 0 ? { latenessMicros: lateness } : {}),
          ...(early ? { earlyMs: 500 } : {}),
        };
        const make = (): Operator =>
          new BucketedWindowAggregate(specOf(window, aggregates), INPUT, schemaOf(aggregates));
        const subtasks = run(make, rows, history);
        const expected = alignedOracle(window, rows, aggregates);
        expect(remaining(subtasks, schemaOf(aggregates))).toEqual(expected.rows);
        expect(subtasks.output.lateRows).toHaveLength(expected.late);
        expect(subtasks.operators.every((operator) => operator.stateRows() === 0)).toBe(true);
      },
    ),
    { numRuns: 100 },
  );
}, 30_000);

test('a window that is grouped again adds up whatever the inner one has taken back and given anew', () => {
  fc.assert(
    fc.property(
      alignedArbitrary,
      fc.record({ lateness: fc.nat({ max: 20 }), early: fc.boolean() }),
      inputArbitrary,
      fc.array(fc.constantFrom('go on', 'tick', 'restart'), { minLength: 1, maxLength: 5 }),
      (aligned, { lateness, early }, rows, turns) => {
        const call = callOf(aligned, lateness, early);
        const pipeline = new SmallPipeline(
          `CREATE TABLE t (ts TIMESTAMP, k TEXT, WATERMARK FOR ts AS ts - interval '${BOUND} microseconds')
             WITH (connector = 'http', format = 'json', type = 'source');
           SELECT w.start AS s, w.end AS e, sum(n) AS n, count(*) AS keys FROM (
             SELECT k, ${call} AS w, count(*) AS n FROM t GROUP BY k, w) GROUP BY w;`,
          7,
        );
        rows.forEach((row, at) => {
          pipeline.append('t', [JSON.stringify({ ts: micros(row.t), k: row.k })]);
          const turn = turns[at % turns.length];
          if (turn === 'tick') pipeline.advanceClock(600);
          else if (turn === 'restart') pipeline.restart();
        });
        pipeline.end();
        const inner = alignedOracle({ ...aligned, latenessMicros: lateness }, rows, 'invertible');
        const sums = new Map<string, [n: bigint, keys: bigint]>();
        for (const row of inner.rows) {
          const { window, x0 } = JSON.parse(row) as { window: unknown; x0: string };
          const [n, keys] = sums.get(text(window)) ?? [0n, 0n];
          sums.set(text(window), [n + BigInt(x0.slice(1)), keys + 1n]);
        }
        const expected = [...sums].map(([window, [n, keys]]) => {
          const { start, end } = JSON.parse(window) as { start: string; end: string };
          return text([start.slice(1), end.slice(1), String(n), String(keys)]);
        });
        const rowsOut = pipeline.values().map((row) => text(Object.values(row).map(String)));
        expect(rowsOut.sort()).toEqual(expected.sort());
        expect(pipeline.late).toHaveLength(inner.late);
      },
    ),
    { numRuns: 25 },
  );
}, 30_000);

const micros = (t: bigint): string =>
  new Date(Number(t / 1000n) - (t % 1000n < 0n ? 1 : 0)).toISOString().slice(0, -1) +
  String(((t % 1000n) + 1000n) % 1000n).padStart(3, '0');

function callOf(
  window: Exclude<WindowSpec, { tag: 'session' }>,
  lateness: number,
  early: boolean,
): string {
  const interval = (length: number): string => `interval '${length} microseconds'`;
  const step =
    window.tag === 'hop'
      ? window.slideMicros
      : window.tag === 'cumulate'
        ? window.stepMicros
        : null;
  const lengths = [...(step === null ? [] : [step]), window.widthMicros, window.offsetMicros];
  return `${window.tag}(${[
    ...lengths.map(interval),
    ...(lateness > 0 ? [`lateness => ${interval(lateness)}`] : []),
    ...(early ? ["early => interval '500 milliseconds'"] : []),
  ].join(', ')})`;
}

test('windows and sessions that several subtasks aggregated in part are those of all rows', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        alignedArbitrary,
        fc
          .integer({ min: 1, max: 14 })
          .map((gapMicros) => ({ tag: 'session' as const, gapMicros })),
      ),
      aggregatesArbitrary,
      inputArbitrary,
      fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 7 }),
      (window, aggregates, rows, dealt) => {
        const make = (): WindowAggregate | SessionAggregate =>
          window.tag === 'session'
            ? new SessionAggregate(specOf(window, aggregates), INPUT, schemaOf(aggregates))
            : new WindowAggregate(specOf(window, aggregates), INPUT, schemaOf(aggregates));
        const whole = make();
        const output = new Collected();
        const tables: StateTable[] = [];
        for (let part = 0; part < 3; part++) {
          const own = rows.filter((_, at) => dealt[at % dealt.length] === part);
          if (own.length === 0) continue;
          const partial = make();
          const batch = inputBatch(own);
          partial.onBatch(0, { ...batch, eventTime: batch.columns[3] as Int64Column }, output);
          tables.push(...partial.snapshot('whole'));
        }
        whole.restore(tables.filter((table) => table.rows > 0));
        whole.onWatermark(Infinity, output);
        const onTime = rows.map((row) => ({ ...row, mark: -1_000_000n }));
        const expected =
          window.tag === 'session'
            ? sessionOracle(window.gapMicros, onTime, aggregates)
            : alignedOracle(window, onTime, aggregates);
        expect(output.rows(schemaOf(aggregates)).map(text).sort()).toEqual(expected.rows);
      },
    ),
    { numRuns: 100 },
  );
}, 30_000);
