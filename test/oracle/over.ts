/** Calls with OVER for every row of a query, partition by partition, by looking at all of its rows. */
import type {
  CallExpression,
  Expression,
  FrameBound,
  WindowFrame,
  WindowSpecification,
} from '../../src/sql/ast-expression.ts';
import type { NamedWindow } from '../../src/sql/ast-query.ts';
import { aggregate, compareAs, compareByItems } from './aggregates.ts';
import { arithmetic } from './arithmetic.ts';
import { evaluate } from './expression.ts';
import type { Context } from './scope.ts';
import { big, keyText, type Value, type Whole } from './value.ts';

/** Of each row, in the order given, the value of each call. */
export function overValues(
  calls: readonly CallExpression[],
  rows: readonly Context[],
  windows: readonly NamedWindow[],
): Map<CallExpression, Value>[] {
  const results = rows.map(() => new Map<CallExpression, Value>());
  for (const call of calls) {
    const window = resolve(call.over as WindowSpecification, windows);
    for (const members of partitionsOf(rows, window))
      members.forEach((at, place) => {
        const sorted = members.map((each) => rows[each] as Context);
        results[at]?.set(call, valueOf(call, window, sorted, place));
      });
  }
  return results;
}

/** The specification with what the windows it goes on from say. */
function resolve(
  window: WindowSpecification,
  windows: readonly NamedWindow[],
): WindowSpecification {
  if (window.base === null) return window;
  const named = windows.find(({ name }) => name.name === window.base?.name);
  if (named === undefined) throw new Error(`no window ${window.base.name}`);
  const base = resolve(named.window, windows);
  return {
    ...window,
    partitionBy: base.partitionBy,
    orderBy: base.orderBy.length > 0 ? base.orderBy : window.orderBy,
    frame: window.frame ?? base.frame,
  };
}

function partitionsOf(rows: readonly Context[], window: WindowSpecification): number[][] {
  const known = new Map<string, number[]>();
  rows.forEach((row, at) => {
    const key = keyText(window.partitionBy.map((expression) => evaluate(expression, row)));
    const members = known.get(key) ?? [];
    known.set(key, members);
    members.push(at);
  });
  return [...known.values()].map((members) =>
    members.sort((left, right) =>
      compareByItems(rows[left] as Context, rows[right] as Context, window.orderBy, evaluate),
    ),
  );
}

function valueOf(
  call: CallExpression,
  window: WindowSpecification,
  sorted: readonly Context[],
  place: number,
): Value {
  const equal = (left: number, right: number): boolean =>
    compareByItems(sorted[left] as Context, sorted[right] as Context, window.orderBy, evaluate) ===
    0;
  const firstEqual = sorted.findIndex((_, at) => equal(at, place));
  const lastEqual = sorted.findLastIndex((_, at) => equal(at, place));
  const args = call.args.map((arg) => arg.value);
  const constant = (at: number): number =>
    Number((evaluate(args[at] as Expression, sorted[place] as Context) as Whole).value);
  switch (call.name.name) {
    case 'row_number':
      return big(place + 1);
    case 'rank':
      return big(firstEqual + 1);
    case 'dense_rank':
      return big(
        sorted.filter((_, at) => at <= firstEqual && (at === 0 || !equal(at, at - 1))).length,
      );
    case 'percent_rank':
      return sorted.length === 1 ? 0 : firstEqual / (sorted.length - 1);
    case 'cume_dist':
      return (lastEqual + 1) / sorted.length;
    case 'ntile':
      return big(tileOf(place, sorted.length, constant(0)));
    case 'lag':
    case 'lead':
      return shifted(call, sorted, place, args.length > 1 ? constant(1) : 1);
    default:
      return overFrame(call, window, sorted, place);
  }
}

/** The first tiles are one longer when rows do not divide evenly. */
function tileOf(place: number, rows: number, tiles: number): number {
  const [small, longer] = [Math.floor(rows / tiles), rows % tiles];
  for (let tile = 1, end = 0; ; tile++) {
    end += small + (tile <= longer ? 1 : 0);
    if (place < end) return tile;
  }
}

function shifted(
  call: CallExpression,
  sorted: readonly Context[],
  place: number,
  by: number,
): Value {
  const args = call.args.map((arg) => arg.value);
  const step = call.name.name === 'lag' ? -1 : 1;
  let left = by;
  for (let at = place + step; at >= 0 && at < sorted.length; at += step) {
    const value = evaluate(args[0] as Expression, sorted[at] as Context);
    if (call.nullTreatment === 'ignore' && value === null) continue;
    if (--left === 0) return value;
  }
  return args[2] === undefined ? null : evaluate(args[2], sorted[place] as Context);
}

/** Aggregates and first, last and nth values: of the rows of the frame, in their order. */
function overFrame(
  call: CallExpression,
  window: WindowSpecification,
  sorted: readonly Context[],
  place: number,
): Value {
  const rows = frameOf(window, sorted, place).map((at) => sorted[at] as Context);
  const name = call.name.name;
  if (name !== 'first_value' && name !== 'last_value' && name !== 'nth_value')
    return aggregate(call, rows, evaluate);
  const values = rows
    .map((row) => evaluate(call.args[0]?.value as Expression, row))
    .filter((value) => call.nullTreatment !== 'ignore' || value !== null);
  if (name === 'first_value') return values[0] ?? null;
  if (name === 'last_value') return values.at(-1) ?? null;
  const n = evaluate(call.args[1]?.value as Expression, sorted[place] as Context) as Whole;
  return values[Number(n.value) - 1] ?? null;
}

function frameOf(window: WindowSpecification, sorted: readonly Context[], place: number): number[] {
  const frame = window.frame ?? defaultFrame(window);
  const all = sorted.map((_, at) => at);
  if (frame === null) return all;
  const starts = placesOf(frame, frame.start, window, sorted, place);
  const ends = placesOf(frame, frame.end, window, sorted, place);
  return all.filter((at) => starts.from(at) && ends.to(at));
}

/** From the beginning to the last equal row; everything without an order. */
function defaultFrame(window: WindowSpecification): WindowFrame | null {
  if (window.orderBy.length === 0) return null;
  const { span } = window;
  return {
    unit: 'range',
    start: { tag: 'unbounded_preceding', span },
    end: { tag: 'current_row', span },
    span,
  };
}

type Side = { from: (at: number) => boolean; to: (at: number) => boolean };

/** Whether a row lies at or behind a bound, and at or before it. */
function placesOf(
  frame: WindowFrame,
  bound: FrameBound,
  window: WindowSpecification,
  sorted: readonly Context[],
  place: number,
): Side {
  if (bound.tag === 'unbounded_preceding') return { from: () => true, to: () => false };
  if (bound.tag === 'unbounded_following') return { from: () => false, to: () => true };
  const forward = bound.tag === 'following';
  if (frame.unit === 'range' && bound.tag !== 'current_row') {
    const offset = evaluate(bound.offset, sorted[place] as Context);
    return byDistance(window, sorted, place, offset, forward);
  }
  const offset =
    bound.tag === 'current_row'
      ? 0
      : Number((evaluate(bound.offset, sorted[place] as Context) as Whole).value);
  if (frame.unit === 'rows') {
    const limit = place + (forward ? offset : -offset);
    return { from: (at) => at >= limit, to: (at) => at <= limit };
  }
  const groups = groupsOf(window, sorted);
  const limit = (groups[place] as number) + (forward ? offset : -offset);
  return {
    from: (at) => (groups[at] as number) >= limit,
    to: (at) => (groups[at] as number) <= limit,
  };
}

/** The number of the group of equals that each row is in. */
function groupsOf(window: WindowSpecification, sorted: readonly Context[]): number[] {
  let group = 0;
  return sorted.map((row, at) => {
    const before = sorted[at - 1];
    if (before !== undefined && compareByItems(before, row, window.orderBy, evaluate) !== 0)
      group++;
    return group;
  });
}

/** A NULL is as far from everything as it can be, and at no distance from other NULLs. */
function byDistance(
  window: WindowSpecification,
  sorted: readonly Context[],
  place: number,
  offset: Value,
  forward: boolean,
): Side {
  const [item] = window.orderBy;
  if (item === undefined) throw new Error('RANGE needs an order');
  const { expression, descending, nulls } = item;
  const keyAt = (at: number): Value => evaluate(expression, sorted[at] as Context);
  const key = keyAt(place);
  const limit = key === null ? null : arithmetic(forward !== descending ? '+' : '-', key, offset);
  const order = (at: number): number => compareAs(keyAt(at), limit, descending, nulls);
  return { from: (at) => order(at) >= 0, to: (at) => order(at) <= 0 };
}
