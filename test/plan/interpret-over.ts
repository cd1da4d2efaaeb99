/**
 * OVER, Top-N and set operations over all rows at once, row by row with JavaScript values: the oracle for the
 * optimiser and for the operators. It shares no code with them.
 */
import { must } from '../../src/base/assert.ts';
import type { Value } from '../../src/batch/values.ts';
import type { Expr } from '../../src/expr/expr.ts';
import type { FrameBound, OverCall, SortKey } from '../../src/expr/over.ts';
import type { OverNode, PlanNode, SetOperationNode, TopNNode } from '../../src/plan/logical.ts';
import type { Table } from './interpret.ts';

type Row = readonly Value[];

const at = (row: Row, expr: Expr): Value => {
  if (expr.tag !== 'column') throw new Error('OVER reads columns');
  return row[expr.index] ?? null;
};

/** NULL last, NaN behind numbers, text by code point, structs field by field. */
export function compareJs(left: Value, right: Value): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  if (typeof left === 'object' && typeof right === 'object') {
    for (const field of Object.keys(left)) {
      const order = compareJs(
        (left as Record<string, Value>)[field] ?? null,
        (right as Record<string, Value>)[field] ?? null,
      );
      if (order !== 0) return order;
    }
    return 0;
  }
  if (typeof left === 'string' && typeof right === 'string')
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  if (Number.isNaN(left) || Number.isNaN(right))
    return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
  return left < right ? -1 : left > right ? 1 : 0;
}

function compareByKeys(left: Row, right: Row, orderBy: readonly SortKey[]): number {
  for (const { expr, descending, nullsFirst } of orderBy) {
    const [here, there] = [at(left, expr), at(right, expr)];
    if ((here === null) !== (there === null)) return (here === null) === nullsFirst ? -1 : 1;
    const order = compareJs(here, there);
    if (order !== 0) return descending ? -order : order;
  }
  return 0;
}

const keyText = (values: Row): string =>
  JSON.stringify(values, (_, value: unknown) =>
    typeof value === 'bigint' ? `n${value}` : Number.isNaN(value) ? 'NaN' : value,
  );

/** Row numbers of each partition in order: by the keys, then by all columns. */
function partitions(
  rows: readonly Row[],
  partitionBy: readonly Expr[],
  orderBy: readonly SortKey[],
): number[][] {
  const known = new Map<string, number[]>();
  rows.forEach((row, index) => {
    const key = keyText(partitionBy.map((expr) => at(row, expr)));
    const members = known.get(key) ?? [];
    members.push(index);
    known.set(key, members);
  });
  return [...known.values()].map((members) =>
    members.sort((left, right) => {
      const [here, there] = [must(rows[left], 'row'), must(rows[right], 'row')];
      const order = compareByKeys(here, there, orderBy);
      if (order !== 0) return order;
      for (let column = 0; column < here.length; column++) {
        const next = compareJs(here[column] ?? null, there[column] ?? null);
        if (next !== 0) return next;
      }
      return 0;
    }),
  );
}

export function interpretOver(
  node: OverNode | TopNNode | SetOperationNode,
  run: (node: PlanNode) => Table,
): Table {
  if (node.tag === 'set-operation') return setOperation(node, node.inputs.map(run));
  const input = run(node.input);
  return node.tag === 'over' ? over(node, input) : topN(node, input);
}

function topN(node: TopNNode, input: Table): Table {
  const rows: Row[] = [];
  for (const members of partitions(input.rows, node.partitionBy, node.orderBy)) {
    const sorted = members.map((index) => must(input.rows[index], 'row'));
    sorted.forEach((row, index) => {
      const before = node.ties
        ? sorted.filter((other) => compareByKeys(other, row, node.orderBy) < 0).length
        : index;
      if (before < node.offset || before >= node.offset + node.limit) return;
      rows.push(node.rank === null ? row : [...row, BigInt(before + 1)]);
    });
  }
  return { schema: node.schema, rows, times: rows.map(() => 0n) };
}

function over(node: OverNode, input: Table): Table {
  const results = input.rows.map((): Value[] => []);
  for (const members of partitions(input.rows, node.partitionBy, node.orderBy)) {
    const sorted = members.map((index) => must(input.rows[index], 'row'));
    for (const call of node.calls)
      members.forEach((index, place) =>
        must(results[index], 'results').push(callValue(call, sorted, place, node.orderBy)),
      );
  }
  const rows = input.rows.map((row, index) => [...row, ...must(results[index], 'results')]);
  return { schema: node.schema, rows, times: input.times };
}

/** The value of one call in row `place` of a partition. */
export function callValue(
  call: OverCall,
  sorted: readonly Row[],
  place: number,
  orderBy: readonly SortKey[],
): Value {
  const row = must(sorted[place], 'row');
  const before = sorted.filter((other) => compareByKeys(other, row, orderBy) < 0);
  const size = sorted.length;
  switch (call.fn) {
    case 'row_number':
      return BigInt(place + 1);
    case 'rank':
      return BigInt(before.length + 1);
    case 'dense_rank': {
      const keys = before.map((other) => keyText(orderBy.map(({ expr }) => at(other, expr))));
      return BigInt(new Set(keys).size + 1);
    }
    case 'percent_rank':
      return size === 1 ? 0 : before.length / (size - 1);
    case 'cume_dist':
      return sorted.filter((other) => compareByKeys(other, row, orderBy) <= 0).length / size;
    case 'ntile': {
      const sizes = Array.from(
        { length: call.count },
        (_, tile) => Math.floor(size / call.count) + (tile < size % call.count ? 1 : 0),
      );
      let left = place;
      return BigInt(sizes.findIndex((rows) => (left -= rows) < 0) + 1);
    }
    case 'lag':
    case 'lead':
      return shifted(call, sorted, place);
    default:
      return framed(call, frameRows(call, sorted, place, orderBy));
  }
}

function shifted(call: OverCall, sorted: readonly Row[], place: number): Value {
  const [value, otherwise] = call.args;
  const distance = call.fn === 'lead' ? call.count : -call.count;
  const fallback = otherwise === undefined ? null : at(must(sorted[place], 'row'), otherwise);
  const read = (index: number): Value | undefined => {
    const row = sorted[index];
    return row === undefined ? undefined : at(row, must(value, 'value'));
  };
  if (!call.ignoreNulls) {
    const found = read(place + distance);
    return found === undefined ? fallback : found;
  }
  if (distance === 0) return read(place) ?? null;
  const step = Math.sign(distance);
  let left = Math.abs(distance);
  for (let index = place + step; index >= 0 && index < sorted.length; index += step)
    if (read(index) !== null && --left === 0) return read(index) ?? null;
  return fallback;
}

/** Rows of the frame of row `place`, by looking at every row. */
function frameRows(
  call: OverCall,
  sorted: readonly Row[],
  place: number,
  orderBy: readonly SortKey[],
): Row[] {
  const { unit, start, end } = call.frame;
  const groups: number[] = [];
  sorted.forEach((row, index) => {
    const previous = sorted[index - 1];
    const same = previous !== undefined && compareByKeys(previous, row, orderBy) === 0;
    groups.push(same ? must(groups.at(-1), 'group') : (groups.at(-1) ?? -1) + 1);
  });
  const distance = (index: number): number | null => {
    if (unit === 'rows') return index - place;
    if (unit === 'groups') return must(groups[index], 'group') - must(groups[place], 'group');
    const [key] = orderBy;
    if (key === undefined) return 0;
    const [here, there] = [
      at(must(sorted[index], 'row'), key.expr),
      at(must(sorted[place], 'row'), key.expr),
    ];
    if (here === null || there === null) return null;
    // NaN, like NULL, is its own equal only.
    const far = Number.isNaN(here) || Number.isNaN(there);
    return far ? null : Number(here) - Number(there);
  };
  const key = orderBy[0];
  const sign = key?.descending === true && unit === 'range' ? -1 : 1;
  const reaches = (index: number, bound: FrameBound, side: -1 | 1): boolean => {
    switch (bound.tag) {
      case 'unbounded_preceding':
        return side === -1;
      case 'unbounded_following':
        return side === 1;
      case 'current_row': {
        const step =
          unit === 'rows' ? index - place : must(groups[index], 'g') - must(groups[place], 'g');
        return side === -1 ? step >= 0 : step <= 0;
      }
      default: {
        const by = (bound.tag === 'preceding' ? -1 : 1) * Number(bound.offset);
        const step = distance(index);
        if (step === null) {
          // They are equal to each other and infinitely far from everything else.
          const group = must(groups[index], 'g') - must(groups[place], 'g');
          return side === -1 ? group >= 0 : group <= 0;
        }
        return side === -1 ? step * sign >= by : step * sign <= by;
      }
    }
  };
  return sorted.filter((_, index) => reaches(index, start, -1) && reaches(index, end, 1));
}

function framed(call: OverCall, frame: readonly Row[]): Value {
  if (call.fn === 'aggregate') return folded(call, frame);
  const values = frame
    .map((row) => at(row, must(call.args[0], 'value')))
    .filter((value) => !call.ignoreNulls || value !== null);
  if (call.fn === 'last_value') return values.at(-1) ?? null;
  return values[call.fn === 'nth_value' ? call.count - 1 : 0] ?? null;
}

function folded(call: OverCall, frame: readonly Row[]): Value {
  const aggregate = must(call.aggregate, 'aggregate');
  const { filter, fn } = aggregate;
  const taken = frame.filter((row) => filter === null || at(row, filter) === true);
  if (fn === 'count-rows') return BigInt(taken.length);
  const values = taken
    .map((row) => at(row, must(aggregate.args[0], 'argument')))
    .filter((value) => value !== null);
  if (fn === 'count') return BigInt(values.length);
  if (values.length === 0) return null;
  if (fn === 'sum') return values.reduce<bigint>((sum, value) => sum + BigInt(value as bigint), 0n);
  if (fn === 'avg')
    return values.reduce<number>((sum, value) => sum + Number(value), 0) / values.length;
  const sorted = [...values].sort(compareJs);
  return must(fn === 'min' ? sorted[0] : sorted.at(-1), 'extreme');
}

function setOperation(node: SetOperationNode, [left, right]: readonly Table[]): Table {
  const counts = new Map<string, { row: Row; left: number; right: number }>();
  const count = (table: Table | undefined, side: 'left' | 'right'): void => {
    for (const row of table?.rows ?? []) {
      const known = counts.get(keyText(row)) ?? { row, left: 0, right: 0 };
      known[side]++;
      counts.set(keyText(row), known);
    }
  };
  count(left, 'left');
  count(right, 'right');
  const rows = [...counts.values()].flatMap(({ row, left: ours, right: theirs }) => {
    const times =
      node.operator === 'intersect'
        ? node.all
          ? Math.min(ours, theirs)
          : Number(ours > 0 && theirs > 0)
        : node.all
          ? Math.max(0, ours - theirs)
          : Number(ours > 0 && theirs === 0);
    return Array.from({ length: times }, () => row);
  });
  return { schema: node.schema, rows, times: rows.map(() => 0n) };
}
