/** From a resolved call to its accumulator. */
import { must } from '../../base/assert.ts';
import type { Float64Column } from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import { isNested, layoutOf } from '../../batch/types.ts';
import type { Accumulator } from '../accumulator.ts';
import type { AggregateCall, SortOrder } from '../expr.ts';
import { ApproxDistinctAccumulator } from './approx-distinct.ts';
import { BestAccumulator } from './best.ts';
import type { BitFunction } from './bits.ts';
import { BitAccumulator } from './bits.ts';
import type { Collected, Finish, Prepare } from './collected.ts';
import { CollectedAccumulator } from './collected.ts';
import { CountAccumulator } from './count.ts';
import { CountIfAccumulator } from './count-if.ts';
import { AGGREGATES } from './declared.ts';
import { DistinctAccumulator, SharedDistinct } from './distinct.ts';
import { ExactSumAccumulator } from './exact-sum.ts';
import { FloatExtremeAccumulator, WordExtremeAccumulator } from './extreme-fixed.ts';
import { TextExtremeAccumulator } from './extreme-text.ts';
import * as finish from './finishers.ts';
import { FloatSumAccumulator } from './float-sum.ts';
import { IntervalSumAccumulator } from './interval-sum.ts';
import { MEMBERS_MAX } from './multiset.ts';
import { MOMENTS, MomentsAccumulator } from './moments.ts';
import { TruthAccumulator } from './truth.ts';

const ASCENDING: SortOrder = { descending: false, nullsFirst: false };
const DESCENDING: SortOrder = { descending: true, nullsFirst: false };

const inputOf = (call: AggregateCall): SqlType => must(call.args[0], 'an argument').type;

/** Keeps every value: what `retracts` and the order-dependent functions need. */
type Keeping = Partial<Collected> & { finish: Finish };

/** How a function is computed from all values of a group; undefined: it never needs them. */
function keeping(call: AggregateCall): Keeping | undefined {
  const params = call.params ?? [];
  const descending = call.order?.[0]?.descending === true;
  const nulls = call.ignoreNulls === true ? [0] : [];
  switch (call.fn) {
    case 'array-agg':
      return { finish: finish.arrayOf, required: nulls };
    case 'string-agg':
      return { finish: finish.joinedText };
    case 'nth-value':
      return { finish: finish.nth, required: nulls };
    case 'first-value':
      return { finish: finish.first, required: nulls };
    case 'last-value':
      return { finish: finish.last, required: nulls };
    case 'any-value':
      return { finish: finish.first };
    case 'arg-min':
    case 'arg-max':
      return {
        finish: finish.first,
        required: [1],
        orders: [call.fn === 'arg-min' ? ASCENDING : DESCENDING],
      };
    case 'median':
      return {
        finish: inputOf(call).tag === 'decimal' ? finish.medianDecimal : finish.percentileCont,
        orders: [],
        params: [0.5],
      };
    case 'mode':
      return { finish: finish.mode, orders: [] };
    case 'percentile-cont':
      return { finish: finish.percentileCont, orders: [], params: [turned(params[0], descending)] };
    case 'percentile-disc':
      return { finish: finish.percentileDisc, orders: [], params: [params[0] ?? 0, descending] };
    case 'approx-median':
      return { finish: finish.percentileCont, orders: [], params: [0.5], prepare: coarsely };
    case 'approx-percentile-cont':
      return {
        finish: finish.percentileCont,
        orders: [],
        params: [turned(params[0], descending)],
        prepare: coarsely,
      };
    case 'approx-percentile-cont-with-weight':
      return { finish: finish.percentileWeighted, orders: [], required: [0, 1], prepare: coarsely };
    case 'min':
      return isNested(inputOf(call))
        ? { finish: finish.smallest, sorted: false }
        : { finish: finish.smallest, sorted: false, extreme: 'smallest' };
    case 'max':
      return isNested(inputOf(call))
        ? { finish: finish.largest, sorted: false }
        : { finish: finish.largest, sorted: false, extreme: 'largest' };
    case 'bit-and':
    case 'bit-or':
      return { finish: finish.bits(call.fn === 'bit-and'), sorted: false };
  }
  return undefined;
}

const turned = (fraction: unknown, descending: boolean): number =>
  descending ? 1 - Number(fraction) : Number(fraction);

const coarsely: Prepare = ([first, ...others], rows) => [
  finish.coarse(first as Float64Column, rows),
  ...others,
];

function collected(call: AggregateCall, kept: Keeping): Accumulator {
  return new CollectedAccumulator({
    label: call.label,
    types: call.args.map(({ type }) => type),
    orders: call.order ?? [],
    required: [0],
    distinct: call.distinct,
    type: call.type,
    params: call.params ?? [],
    sorted: true,
    ...kept,
  });
}

/** Keeps one tuple a group: enough when nothing is taken back. */
const BEST: ReadonlySet<string> = new Set([
  'first-value',
  'last-value',
  'any-value',
  'arg-min',
  'arg-max',
]);

/** Incremental as long as no row is taken back. */
const APPENDING: ReadonlySet<string> = new Set(['min', 'max', 'bit-and', 'bit-or']);

/**
 * An empty accumulator without groups. The caller evaluates arguments and the filter, and gives rows
 * that the filter rejects a negative group.
 */
export function makeAccumulator(call: AggregateCall): Accumulator {
  const retracts = call.retracts === true;
  const kept = keeping(call);
  if (kept !== undefined && !retracts && BEST.has(call.fn)) {
    return new BestAccumulator({
      types: call.args.map(({ type }) => type),
      orders: kept.orders ?? call.order ?? [],
      last: call.fn === 'last-value',
      required: kept.required ?? [0],
    });
  }
  if (kept !== undefined && (retracts || !APPENDING.has(call.fn))) return collected(call, kept);
  const inner = distinctInner(call);
  if (inner !== null) return new DistinctAccumulator(sharedDistinct(call, [inner]), 0);
  return call.fn === 'approx-distinct' ? new ApproxDistinctAccumulator() : plain(call);
}

/** What DISTINCT hands each value once; null: the call wants every row, or keeps what it needs itself. */
function distinctInner(call: AggregateCall): Accumulator | null {
  const retracts = call.retracts === true;
  if (call.fn === 'approx-distinct') return retracts ? new CountAccumulator() : null;
  if (!call.distinct) return null;
  const declared = AGGREGATES.find(({ id }) => id === call.fn);
  if (declared?.ignoresDuplicates === true) return null;
  return keeping(call) === undefined ? plain(call) : null;
}

const sharedDistinct = (call: AggregateCall, inners: readonly Accumulator[]): SharedDistinct =>
  new SharedDistinct(
    call.args.map(({ type }) => type),
    inners,
    call.retracts === true,
  );

/** One for each call, as `makeAccumulator` makes them; those with DISTINCT over the same arguments share what they keep. */
export function makeAccumulators(calls: readonly AggregateCall[]): Accumulator[] {
  // Panes are made by the thousand: most have nothing to share.
  if (calls.every((call) => !call.distinct && call.fn !== 'approx-distinct'))
    return calls.map(makeAccumulator);
  const tables: number[][] = [];
  const open = new Map<string, number[]>();
  calls.forEach((call, at) => {
    if (distinctInner(call) === null) return;
    const key = JSON.stringify([call.args, call.retracts === true]);
    const known = open.get(key);
    if (known !== undefined && known.length < MEMBERS_MAX) known.push(at);
    else {
      const members = [at];
      open.set(key, members);
      tables.push(members);
    }
  });
  const accumulators: (Accumulator | undefined)[] = calls.map(() => undefined);
  for (const members of tables) {
    const first = must(calls[members[0] as number], 'a call');
    const inners = members.map((at) =>
      must(distinctInner(must(calls[at], 'a call')) ?? undefined, 'an aggregate'),
    );
    const shared = sharedDistinct(first, inners);
    members.forEach((at, member) => {
      accumulators[at] = new DistinctAccumulator(shared, member);
    });
  }
  return calls.map((call, at) => accumulators[at] ?? makeAccumulator(call));
}

/** The accumulators that see each row once. */
function plain(call: AggregateCall): Accumulator {
  const { fn, label } = call;
  if (fn === 'count' || fn === 'count-rows') return new CountAccumulator();
  if (fn === 'count-if' || fn === 'regr-count') return new CountIfAccumulator();
  if (fn === 'bool-and' || fn === 'bool-or') return new TruthAccumulator(fn === 'bool-and');
  if (fn in MOMENTS) return new MomentsAccumulator({ fn, label, paired: call.args.length === 2 });
  const input = inputOf(call);
  if (fn.startsWith('bit-')) return new BitAccumulator(fn.slice(4) as BitFunction, call.type);
  if (fn === 'min' || fn === 'max') return extreme(input, fn === 'max');
  if (input.tag === 'interval') return new IntervalSumAccumulator(fn as 'sum' | 'avg', label);
  if (layoutOf(input) === 'float64') return new FloatSumAccumulator(fn as 'sum' | 'avg', label);
  return new ExactSumAccumulator({ label, kind: fn as 'sum' | 'avg', input, result: call.type });
}

function extreme(input: SqlType, largest: boolean): Accumulator {
  const layout = layoutOf(input);
  if (isNested(input))
    return new BestAccumulator({
      types: [input],
      orders: [largest ? DESCENDING : ASCENDING],
      last: false,
      required: [0],
    });
  if (layout === 'text') return new TextExtremeAccumulator(input, largest);
  if (layout === 'float64') return new FloatExtremeAccumulator(input, largest);
  return new WordExtremeAccumulator(input, largest);
}
