/** What operators with windows say of those that are open, against all windows of all rows that came in time. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { INT64, TEXT, WINDOW, type Schema } from '../../src/batch/types.ts';
import type { WindowSpec } from '../../src/graph/graph.ts';
import { BucketedWindowAggregate } from '../../src/operators/bucketed-window-aggregate.ts';
import type { OpenWindows, Operator } from '../../src/operators/operator.ts';
import { SessionAggregate } from '../../src/operators/session-aggregate.ts';
import { constantTime } from '../../src/operators/times.ts';
import { WindowAggregate } from '../../src/operators/window-aggregate.ts';
import type { WindowAggregateSpec } from '../../src/operators/window-rows.ts';
import { call, Collected, column, INPUT, inputBatch } from './harness.ts';

const SEED = 20_240_613;

const OUTPUT: Schema = [
  { name: 'window', type: WINDOW, nullable: false },
  { name: 'k', type: TEXT, nullable: true },
  { name: 'n', type: INT64, nullable: true },
];

const specOf = (window: WindowSpec): WindowAggregateSpec => ({
  tag: 'window-aggregate',
  window,
  keys: [column(0, TEXT)],
  aggregates: [call('count-rows', [], INT64)],
  outputs: [{ tag: 'window' }, { tag: 'key', index: 0 }, { tag: 'aggregate', index: 0 }],
});

/** Rows of one key and instant each, and watermarks between them. */
type Step = { tag: 'row'; k: string; t: number } | { tag: 'watermark'; ahead: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        tag: fc.constant('row' as const),
        k: fc.constantFrom('a', 'b'),
        t: fc.integer({ min: 0, max: 60 }),
      }),
    },
    fc.record({ tag: fc.constant('watermark' as const), ahead: fc.integer({ min: 1, max: 12 }) }),
  ),
  { minLength: 1, maxLength: 40 },
);

function run(
  operator: Operator,
  list: readonly Step[],
  seen: (open: OpenWindows, watermark: number, upTo: number) => void,
): void {
  const output = new Collected();
  let watermark = -Infinity;
  for (const [at, step] of list.entries()) {
    if (step.tag === 'watermark') {
      watermark = (watermark === -Infinity ? 0 : watermark) + step.ahead;
      operator.onWatermark(watermark, output);
    } else {
      const t = BigInt(step.t);
      const batch = inputBatch([{ k: step.k, v: 1n, flag: true, t, mark: t }]);
      operator.onBatch(0, { ...batch, eventTime: constantTime(step.t, 1) }, output);
    }
    seen(operator.openWindows?.() as OpenWindows, watermark, at + 1);
  }
}

const aligned: fc.Arbitrary<Exclude<WindowSpec, { tag: 'session' }>> = fc.oneof(
  fc.record({
    tag: fc.constant('tumble' as const),
    widthMicros: fc.integer({ min: 1, max: 9 }),
    offsetMicros: fc.integer({ min: 0, max: 3 }),
  }),
  fc.record({
    tag: fc.constant('hop' as const),
    widthMicros: fc.integer({ min: 1, max: 9 }),
    slideMicros: fc.integer({ min: 1, max: 9 }),
    offsetMicros: fc.constant(0),
  }),
  fc
    .record({ step: fc.integer({ min: 1, max: 3 }), steps: fc.integer({ min: 1, max: 4 }) })
    .map(({ step, steps: count }) => ({
      tag: 'cumulate' as const,
      widthMicros: step * count,
      stepMicros: step,
      offsetMicros: 0,
    })),
);

/** Ends of the windows that hold an instant, by trying every start. */
function endsAt(window: Exclude<WindowSpec, { tag: 'session' }>, t: number): number[] {
  const { widthMicros: width, offsetMicros: offset } = window;
  const grid = window.tag === 'hop' ? window.slideMicros : width;
  const step = window.tag === 'cumulate' ? window.stepMicros : width;
  const ends: number[] = [];
  for (let start = t - width; start <= t; start++) {
    if ((((start - offset) % grid) + grid) % grid !== 0) continue;
    for (let end = start + step; end <= start + width; end += step) if (t < end) ends.push(end);
  }
  return ends;
}

test.each([
  ['panes', (window: WindowSpec) => new WindowAggregate(specOf(window), INPUT, OUTPUT)],
  ['buckets', (window: WindowSpec) => new BucketedWindowAggregate(specOf(window), INPUT, OUTPUT)],
] as const)('%s tell how many windows are open and when the first ends', (_, make) => {
  fc.assert(
    fc.property(aligned, steps, (window, list) => {
      const ends = new Set<number>();
      let counted = 0;
      run(make(window), list, (open, watermark, upTo) => {
        for (const step of list.slice(counted, upTo))
          if (step.tag === 'row')
            for (const end of endsAt(window, step.t)) if (end > watermark) ends.add(end);
        counted = upTo;
        const left = [...ends].filter((end) => end > watermark);
        expect(open).toEqual({
          count: left.length,
          firstEnd: left.length === 0 ? null : Math.min(...left),
        });
      });
    }),
    { seed: SEED, numRuns: 200 },
  );
});

test('sessions tell how many are open and when the first ends, also when they have grown and merged', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), steps, (gap, list) => {
      const spec = specOf({ tag: 'session', gapMicros: gap });
      let open: { k: string; from: number; to: number }[] = [];
      run(new SessionAggregate(spec, INPUT, OUTPUT), list, (told, watermark, upTo) => {
        const step = list[upTo - 1] as Step;
        open = open.filter(({ to }) => to > watermark);
        if (step.tag === 'row') {
          const { k, t } = step;
          const met = open.filter((each) => each.k === k && each.from < t + gap && t < each.to);
          if (met.length > 0 || t + gap > watermark) {
            open = open.filter((each) => !met.includes(each));
            const from = Math.min(t, ...met.map((each) => each.from));
            open.push({ k, from, to: Math.max(t + gap, ...met.map((each) => each.to)) });
          }
        }
        const ends = open.map(({ to }) => to);
        expect(told).toEqual({
          count: ends.length,
          firstEnd: ends.length === 0 ? null : Math.min(...ends),
        });
      });
    }),
    { seed: SEED, numRuns: 200 },
  );
});
