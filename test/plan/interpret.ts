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
import type { LogicalPlan, PlanNode } from '../../src/plan/logical.ts';

/** Positions instead of names, so that two plans compare whatever they call their columns. */
type Table = { schema: Schema; rows: readonly (readonly Value[])[]; times: readonly bigint[] };

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
    case 'window-aggregate': {
      const input = run(node.input);
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
