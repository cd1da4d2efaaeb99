/**
 * Values of conditions and measures, for many candidates at once.
 *
 * Place in the walk: stage 6, under MATCH_RECOGNIZE. A *case* is a row in hand with the rows before it that are matched;
 * each navigation becomes one column over all cases, gathered from the row store, each aggregate one accumulator with a
 * group for each case.
 * Failure: a case whose expression cannot be computed, through `RowErrors` by its place among the cases.
 */
import { must } from '../base/assert.ts';
import { bitAt, type BooleanColumn, type Column, isValid, setBit } from '../batch/column.ts';
import { TextBuilder } from '../batch/column-builder.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { takeColumn } from '../batch/take.ts';
import { TEXT } from '../batch/types.ts';
import type { Accumulator } from '../expr/accumulator.ts';
import { makeAccumulator } from '../expr/aggregate-registry.ts';
import { type CompiledExpr, compileExpr } from '../expr/compile.ts';
import { exprColumns } from '../expr/expr-tools.ts';
import type { MatchAggregate, MatchExpr, Navigation } from '../expr/match.ts';
import { RowErrors } from '../expr/row-errors.ts';
import { makeBoolean } from '../expr/vector.ts';
import { allGroups } from '../state/group-index.ts';
import type { RowStore } from '../state/row-store.ts';
import type { MatchPartition } from './match-partition.ts';
import { nthFirst, nthLast, type Run } from './match-threads.ts';
import { integerColumn } from './over-columns.ts';

/** Rows that are folded into aggregates at once. */
const FOLDED_ROWS = 8192;

/** What is evaluated, place by place. */
export class MatchCases {
  readonly partitions: MatchPartition[] = [];
  readonly runs: (Run | null)[] = [];
  /** The first row and the row in hand. */
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  readonly numbers: number[] = [];

  get count(): number {
    return this.ends.length;
  }

  add(
    partition: MatchPartition,
    run: Run | null,
    start: number,
    end: number,
    number: number,
  ): number {
    this.partitions.push(partition);
    this.runs.push(run);
    this.starts.push(start);
    this.ends.push(end);
    this.numbers.push(number);
    return this.count - 1;
  }

  /** Where the rows in hand are. */
  slots(): Int32Array {
    return Int32Array.from(this.ends, (row, at) =>
      (this.partitions[at] as MatchPartition).slotOf(row),
    );
  }
}

export class MatchValues {
  readonly #part: MatchExpr;
  readonly #expr: CompiledExpr;
  readonly #read: ReadonlySet<number>;
  readonly #aggregates: readonly CaseAggregate[];
  readonly #variables: readonly string[];
  readonly #timeColumn: number;

  /** @param timeColumn  where the store has the event times */
  constructor(part: MatchExpr, variables: readonly string[], timeColumn: number) {
    this.#part = part;
    this.#expr = compileExpr(part.expr);
    this.#read = exprColumns(part.expr);
    this.#aggregates = part.aggregates.map((each) => new CaseAggregate(each, timeColumn));
    this.#variables = variables;
    this.#timeColumn = timeColumn;
  }

  evaluate(cases: MatchCases, store: RowStore, errors: RowErrors): Column {
    const { navigations } = this.#part;
    const columns: Column[] = [];
    navigations.forEach((navigation, at) => {
      if (this.#read.has(at)) columns[at] = this.#navigated(navigation, cases, store);
    });
    this.#aggregates.forEach((aggregate, at) => {
      const place = navigations.length + at;
      if (this.#read.has(place)) columns[place] = aggregate.evaluate(cases, store, errors);
    });
    return this.#expr({ rows: cases.count, columns, eventTime: null, retract: null }, errors);
  }

  #navigated(navigation: Navigation, cases: MatchCases, store: RowStore): Column {
    const { read } = navigation;
    if (read.tag === 'match_number') return integerColumn(Float64Array.from(cases.numbers));
    if (read.tag === 'classifier') return this.#classified(cases);
    const slots = new Int32Array(cases.count);
    let missing = 0;
    for (let at = 0; at < cases.count; at++) {
      const partition = cases.partitions[at] as MatchPartition;
      const row = rowOf(navigation, cases, at);
      slots[at] = row < partition.first ? -1 : partition.slotOf(row);
      if (slots[at] === -1) missing++;
    }
    if (read.tag === 'present') return presence(slots);
    const column = 'index' in read ? read.index : this.#timeColumn;
    if (missing === 0) return store.gatherColumn(column, slots);
    const present = slots.filter((slot) => slot >= 0);
    let next = 0;
    const places = slots.map((slot) => (slot < 0 ? -1 : next++));
    return takeColumn(store.gatherColumn(column, present), places, cases.count);
  }

  #classified(cases: MatchCases): Column {
    const builder = new TextBuilder(TEXT, cases.count);
    const texts = this.#variables.map((name) => new TextEncoder().encode(name));
    for (const run of cases.runs) {
      const text = must(texts[must(run, 'a match').variable], 'a variable');
      builder.append(text, 0, text.length);
    }
    return builder.finish();
  }
}

/** The row that a navigation reads; below the first one kept: there is none. */
function rowOf(
  { from, variable, offset, back }: Navigation,
  cases: MatchCases,
  at: number,
): number {
  const [start, end] = [cases.starts[at] as number, cases.ends[at] as number];
  const run = cases.runs[at] ?? null;
  let row: number;
  if (variable === null) {
    row = from === 'last' ? end - offset : start + offset;
    if (row < start || row > end) return -1;
  } else {
    row =
      from === 'last' ? nthLast(run, end, variable, offset) : nthFirst(run, end, variable, offset);
    if (row < 0) return -1;
  }
  return row - back;
}

function presence(slots: Int32Array): Column {
  const column = makeBoolean(slots.length, null);
  for (let at = 0; at < slots.length; at++) if ((slots[at] as number) >= 0) setBit(column.bits, at);
  return column;
}

class CaseAggregate {
  readonly #aggregate: MatchAggregate;
  readonly #args: readonly CompiledExpr[];
  readonly #filter: CompiledExpr | null;
  readonly #columns: readonly number[];
  readonly #timeColumn: number;

  constructor(aggregate: MatchAggregate, timeColumn: number) {
    const { args, filter } = aggregate.call;
    this.#aggregate = aggregate;
    this.#args = args.map(compileExpr);
    this.#filter = filter === null ? null : compileExpr(filter);
    const columns = new Set<number>();
    for (const expr of filter === null ? args : [...args, filter]) exprColumns(expr, columns);
    this.#columns = [...columns];
    this.#timeColumn = timeColumn;
  }

  evaluate(cases: MatchCases, store: RowStore, errors: RowErrors): Column {
    const accumulator = makeAccumulator(this.#aggregate.call);
    accumulator.resize(cases.count);
    let slots: number[] = [];
    let groups: number[] = [];
    const fold = (): void => {
      this.#fold(accumulator, Int32Array.from(slots), Int32Array.from(groups), store, errors);
      slots = [];
      groups = [];
    };
    for (let at = 0; at < cases.count; at++) {
      const partition = cases.partitions[at] as MatchPartition;
      forEachRow(this.#aggregate.variable, cases, at, (row) => {
        slots.push(partition.slotOf(row));
        groups.push(at);
        if (slots.length === FOLDED_ROWS) fold();
      });
    }
    if (slots.length > 0) fold();
    return accumulator.results(allGroups(cases.count), errors);
  }

  #fold(
    accumulator: Accumulator,
    slots: Int32Array,
    groups: Int32Array,
    store: RowStore,
    errors: RowErrors,
  ): void {
    const rows = slots.length;
    const columns: Column[] = [];
    for (const index of this.#columns) columns[index] = store.gatherColumn(index, slots);
    const times = store.gatherColumn(this.#timeColumn, slots);
    const batch: RecordBatch = {
      rows,
      columns,
      eventTime: times as RecordBatch['eventTime'],
      retract: null,
    };
    const failed = new RowErrors(rows);
    const args = this.#args.map((arg) => arg(batch, failed));
    const passes = (this.#filter?.(batch, failed) ?? null) as BooleanColumn | null;
    for (const { row, code, message, column } of failed.list)
      errors.fail(groups[row] as number, code, message, column);
    for (let row = 0; row < rows; row++)
      if (failed.hasFailed(row) || (passes !== null && !isTrue(passes, row))) groups[row] = -1;
    accumulator.update(groups, rows, args, null);
  }
}

/** Whether a condition holds: neither false nor NULL. */
export const isTrue = (column: BooleanColumn, row: number): boolean =>
  isValid(column, row) && bitAt(column.bits, row);

/** The rows of a variable, or all rows of the match, in order. */
function forEachRow(
  variable: number | null,
  cases: MatchCases,
  at: number,
  visit: (row: number) => void,
): void {
  const [start, end] = [cases.starts[at] as number, cases.ends[at] as number];
  if (variable === null) {
    for (let row = start; row <= end; row++) visit(row);
    return;
  }
  const spans: [number, number][] = [];
  let last = end;
  for (let run = cases.runs[at] ?? null; run !== null; run = run.before) {
    if (run.variable === variable) spans.push([run.from, last]);
    last = run.from - 1;
  }
  for (const [from, to] of spans.reverse()) for (let row = from; row <= to; row++) visit(row);
}
