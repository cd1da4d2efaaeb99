/**
 * What a logical plan means, computed the slow and obvious way over all rows at once: the oracle for the
 * optimiser. Updating results are given as their final rows.
 */
import { must } from '../../src/base/assert.ts';
import { type Row, type Value, batchFromRows, valueAt } from '../../src/batch/values.ts';
import type { Schema } from '../../src/batch/types.ts';
import { compileExpr, compilePredicate } from '../../src/expr/compile.ts';
import type { AggregateCall, Expr } from '../../src/expr/expr.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';
import type { JoinNode, LogicalPlan, PlanNode } from '../../src/plan/logical.ts';
import { interpretOver } from './interpret-over.ts';

/** Positions instead of names, so that two plans compare whatever they call their columns. */
export type Table = {
  schema: Schema;
  rows: readonly (readonly Value[])[];
  times: readonly bigint[];
};

export type Inputs = Readonly<Record<string, readonly Row[]>>;

/** Rows of each sink, sorted, as text. */
export function interpret(plan: LogicalPlan, inputs: Inputs): Record<string, string[]> {
  const known = new Map<PlanNode, Table>();
  const run = (node: PlanNode): Table => {
    const before = known.get(node);
    if (before !== undefined) return before;
    const table = compute(node, run, inputs);
    known.set(node, table);
    return table;
  };
  return Object.fromEntries(
    plan.sinks.map((sink) => [sink.table, run(sink.input).rows.map(printRow).sort()]),
  );
}

const printRow = (row: readonly Value[]): string =>
  JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));

const numbered = (schema: Schema): Schema =>
  schema.map((field, index) => ({ ...field, name: `c${index}` }));

function batchOf(table: Table): ReturnType<typeof batchFromRows> {
  const schema = numbered(table.schema);
  const rows = table.rows.map((row) =>
    Object.fromEntries(row.map((value, index) => [`c${index}`, value])),
  );
  const batch = batchFromRows(schema, rows);
  return { ...batch, rows: table.rows.length };
}

function evaluate(expr: Expr, table: Table): Value[] {
  const errors = new RowErrors(table.rows.length);
  const column = compileExpr(expr)(batchOf(table), errors);
  if (errors.failed) throw new Error(`a row failed: ${JSON.stringify(errors.list)}`);
  return table.rows.map((_, index) => valueAt(column, column.length === 1 ? 0 : index));
}

function compute(node: PlanNode, run: (node: PlanNode) => Table, inputs: Inputs): Table {
  switch (node.tag) {
    case 'scan': {
      const decoded = must(inputs[node.table], 'rows of a table');
      const physical: Table = {
        schema: node.physical,
        rows: decoded.map((row) => node.physical.map((column) => row[column.name] ?? null)),
        times: decoded.map(() => 0n),
      };
      const scanned = project(physical, node.computed, node.schema);
      if (node.watermark === null) return scanned;
      const times = evaluate(node.watermark.eventTime, scanned).map((value) =>
        BigInt(value as bigint),
      );
      return { ...scanned, times };
    }
    case 'project':
      return project(run(node.input), node.exprs, node.schema);
    case 'filter': {
      const input = run(node.input);
      const selection = compilePredicate(node.predicate)(
        batchOf(input),
        new RowErrors(input.rows.length),
      );
      const kept = [...selection.indices.subarray(0, selection.count)];
      return {
        schema: node.schema,
        rows: kept.map((index) => must(input.rows[index], 'row')),
        times: kept.map((index) => must(input.times[index], 'time')),
      };
    }
    case 'union': {
      const tables = node.inputs.map(run);
      return {
        schema: node.schema,
        rows: tables.flatMap((table) => table.rows),
        times: tables.flatMap((table) => table.times),
      };
    }
    case 'over':
    case 'top-n':
    case 'set-operation':
      return interpretOver(node, run);
    case 'window-aggregate': {
      const input = run(node.input);
      if (node.window.tag !== 'tumble') throw new Error('only tumbling windows are generated');
      const [width, offset] = [BigInt(node.window.widthMicros), BigInt(node.window.offsetMicros)];
      const starts = input.times.map(
        (time) => time - ((((time - offset) % width) + width) % width),
      );
      const groups = groupsOf(input, [...node.groupBy.map((key) => evaluate(key, input)), starts]);
      const aggregates = node.aggregates.map((call) => aggregate(call, input, groups.members));
      const rows = groups.keys.map((key, group) =>
        node.outputs.map((output): Value => {
          if (output.tag === 'key') return key[output.index] ?? null;
          if (output.tag === 'aggregate') return aggregates[output.index]?.[group] ?? null;
          const start = key.at(-1) as bigint;
          return { start, end: start + width };
        }),
      );
      return {
        schema: node.schema,
        rows,
        times: groups.keys.map((key) => (key.at(-1) as bigint) + width - 1n),
      };
    }
    case 'window-best': {
      const input = run(node.input);
      if (node.window.tag !== 'tumble') throw new Error('only tumbling windows are generated');
      const width = BigInt(node.window.widthMicros);
      const windowOf = (row: number): string =>
        node.windowColumn === null
          ? `${must(input.times[row], 'time') / width}`
          : printRow([must(input.rows[row], 'row')[node.windowColumn] ?? null]);
      const valueOf = (row: number): Value => must(input.rows[row], 'row')[node.column] ?? null;
      const kept = input.rows.flatMap((_, row) => {
        const value = valueOf(row);
        const better = input.rows.some((_row, other) => {
          const found = valueOf(other);
          if (value === null || found === null || windowOf(other) !== windowOf(row)) return false;
          return node.greatest ? found > value : found < value;
        });
        return value === null || better ? [] : [row];
      });
      return {
        schema: node.schema,
        rows: kept.map((index) => must(input.rows[index], 'row')),
        times: kept.map((index) => must(input.times[index], 'time')),
      };
    }
    case 'user-function':
      throw new Error('functions of the user are not generated');
    case 'newest-by-key': {
      // The inputs of the tests hold no deletions: the last row of each key stays.
      const input = run(node.input);
      const last = new Map<string, number>();
      input.rows.forEach((row, index) =>
        last.set(printRow(node.keyColumns.map((key) => row[key] ?? null)), index),
      );
      const kept = [...last.values()].sort((left, right) => left - right);
      return {
        schema: node.schema,
        rows: kept.map((index) => must(input.rows[index], 'row')),
        times: kept.map((index) => must(input.times[index], 'time')),
      };
    }
    case 'unnest': {
      const input = run(node.input);
      const lists = node.lists.map((list) => evaluate(list, input) as (readonly Value[] | null)[]);
      const made = input.rows.flatMap((row, at) => {
        const own = lists.map((list) => list[at] ?? []);
        const length = Math.max(...own.map((list) => list.length));
        const places = length === 0 && node.outer ? [-1] : [...Array(length).keys()];
        return places.map((place) => ({
          at,
          row: [
            ...node.kept.map((column) => row[column] ?? null),
            ...own.map((list) => list[place] ?? null),
            ...(node.ordinality ? [place < 0 ? null : BigInt(place + 1)] : []),
          ],
        }));
      });
      return {
        schema: node.schema,
        rows: made.map(({ row }) => row),
        times: made.map(({ at }) => must(input.times[at], 'time')),
      };
    }
    case 'match':
      throw new Error('matches are not generated');
    case 'join':
      return join(node, run(node.left), run(node.right));
    case 'updating-aggregate': {
      const input = run(node.input);
      const groups = groupsOf(
        input,
        node.groupBy.map((key) => evaluate(key, input)),
      );
      const aggregates = node.aggregates.map((call) => aggregate(call, input, groups.members));
      const rows = groups.keys.map((key, group) => [
        ...key,
        ...aggregates.map((values) => values[group] ?? null),
      ]);
      return { schema: node.schema, rows, times: rows.map(() => 0n) };
    }
  }
}

function join(node: JoinNode, left: Table, right: Table): Table {
  const leftKeys = node.leftKeys.map((key) => evaluate(key, left));
  const rightKeys = node.rightKeys.map((key) => evaluate(key, right));
  const sameKeys = (one: number, other: number): boolean =>
    node.nullsMeet.every((nullsMeet, key) => {
      const [mine, theirs] = [leftKeys[key]?.[one] ?? null, rightKeys[key]?.[other] ?? null];
      return printRow([mine]) === printRow([theirs]) && (mine !== null || nullsMeet);
    });
  const inTime = (one: number, other: number): boolean => {
    if (node.time.tag !== 'interval') return true;
    const apart = Number(must(right.times[other], 'time') - must(left.times[one], 'time'));
    const { lowMicros, highMicros } = node.time;
    return apart >= (lowMicros ?? -Infinity) && apart <= (highMicros ?? Infinity);
  };
  const pairs = left.rows.flatMap((_, one) =>
    right.rows.flatMap((__, other) =>
      sameKeys(one, other) && inTime(one, other) ? [[one, other] as const] : [],
    ),
  );
  const joined = pairs.map(([one, other]) => [
    ...must(left.rows[one], 'row'),
    ...must(right.rows[other], 'row'),
  ]);
  const holds =
    node.residual === null || joined.length === 0
      ? joined.map(() => true)
      : evaluate(node.residual, {
          schema: [...node.left.schema, ...node.right.schema],
          rows: joined,
          times: joined.map(() => 0n),
        });
  const met = pairs.filter((_, index) => holds[index] === true);
  const metLeft = new Set(met.map(([one]) => one));
  const metRight = new Set(met.map(([, other]) => other));
  const alone = (table: Table, taken: ReadonlySet<number>): number[] =>
    table.rows.flatMap((_, index) => (taken.has(index) ? [] : [index]));
  const { kind } = node;
  const rows: (readonly Value[])[] = [];
  const times: bigint[] = [];
  const add = (one: number | null, other: number | null): void => {
    const ofLeft = one === null ? node.left.schema.map(() => null) : must(left.rows[one], 'row');
    const ofRight =
      other === null ? node.right.schema.map(() => null) : must(right.rows[other], 'row');
    rows.push(kind === 'semi' || kind === 'anti' ? ofLeft : [...ofLeft, ...ofRight]);
    const both = [
      one === null ? 0n : must(left.times[one], 'time'),
      other === null ? 0n : must(right.times[other], 'time'),
    ];
    times.push(both.reduce((most, time) => (time > most ? time : most)));
  };
  if (kind === 'semi') for (const one of metLeft) add(one, null);
  else if (kind === 'anti') for (const one of alone(left, metLeft)) add(one, null);
  else {
    for (const [one, other] of met) add(one, other);
    if (kind === 'left' || kind === 'full') for (const one of alone(left, metLeft)) add(one, null);
    if (kind === 'right' || kind === 'full')
      for (const other of alone(right, metRight)) add(null, other);
  }
  return { schema: node.schema, rows, times };
}

function project(input: Table, exprs: readonly Expr[], schema: Schema): Table {
  const columns = exprs.map((expr) => evaluate(expr, input));
  return {
    schema,
    rows: input.rows.map((_, row) => columns.map((column) => column[row] ?? null)),
    times: input.times,
  };
}

function groupsOf(
  input: Table,
  columns: readonly (readonly Value[])[],
): { keys: Value[][]; members: number[][] } {
  const places = new Map<string, number>();
  const keys: Value[][] = [];
  const members: number[][] = [];
  input.rows.forEach((_, row) => {
    const key = columns.map((column) => column[row] ?? null);
    const text = printRow(key);
    const place = places.get(text) ?? keys.push(key) - 1;
    places.set(text, place);
    (members[place] ??= []).push(row);
  });
  return { keys, members };
}

function aggregate(
  call: AggregateCall,
  input: Table,
  members: readonly (readonly number[])[],
): Value[] {
  const passes = call.filter === null ? null : evaluate(call.filter, input);
  const args = call.args.map((arg) => evaluate(arg, input));
  return members.map((rows): Value => {
    const taken = rows.filter((row) => passes === null || passes[row] === true);
    if (call.fn === 'count-rows') return BigInt(taken.length);
    const values = taken.map((row) => args[0]?.[row] ?? null).filter((value) => value !== null);
    if (call.fn === 'count') return BigInt(values.length);
    if (values.length === 0) return null;
    const numbers = values.map((value) => BigInt(value as number | bigint));
    if (call.fn === 'sum') return numbers.reduce((left, right) => left + right, 0n);
    const sorted = [...numbers].sort((left, right) => (left < right ? -1 : left > right ? 1 : 0));
    const extreme = must(call.fn === 'min' ? sorted[0] : sorted.at(-1), 'extreme');
    return call.type.tag === 'int32' ? Number(extreme) : extreme;
  });
}
