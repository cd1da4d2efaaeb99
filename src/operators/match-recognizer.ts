/**
 * MATCH_RECOGNIZE: one row for each run of rows that fits the pattern.
 *
 * Place in the walk: stage 6. A row waits until no earlier one can come (`due-rows.ts`); then it goes through the
 * pattern (`match-round.ts`). Rows are kept from the first row of the earliest candidate on, and as many before it as
 * PREV looks back. A match leaves when nothing that is preferred to it can still match and no earlier candidate is open;
 * its event time is when that was certain: the time of the row that decided it, else the last moment of WITHIN.
 *
 * State tables: `waiting`; `rows` (columns, event time, number of the row in its partition); `partitions` (keys, number
 * of matches, candidates as JSON text).
 * Invariants: INV-86 (`match-threads.ts`); a match leaves once; its event time is not below a watermark passed on.
 * Failure: rows whose time had passed are late; conditions and measures that cannot be computed are errors of their
 * row, a measure's of the last row of its match. All are reported.
 */
import { must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import type { Column, Int64Column, TextColumn } from '../batch/column.ts';
import { TextBuilder } from '../batch/column-builder.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { filterBatch, sliceBatch, takeBatch } from '../batch/take.ts';
import { INT64, TEXT, TIMESTAMP, type Schema } from '../batch/types.ts';
import { lookBack, type MatchShape } from '../expr/match.ts';
import { RowErrors } from '../expr/row-errors.ts';
import { allGroups, GroupIndex } from '../state/group-index.ts';
import { RowStore } from '../state/row-store.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import { DueRows } from './due-rows.ts';
import { withoutLateRows } from './late-rows.ts';
import { MatchPartition } from './match-partition.ts';
import { type Arrivals, type MatchEvents, MatchRounds } from './match-round.ts';
import { MatchCases, MatchValues } from './match-values.ts';
import type { Operator, Output, RowProblem, Watermark } from './operator.ts';
import { columnIndex, integerColumn } from './over-columns.ts';
import { survivors } from './project.ts';
import { rowJson } from './row-json.ts';
import type { KeyColumn } from './sort-approximation.ts';
import { timedOrder } from './timed-order.ts';
import { timeAt, timesOf } from './times.ts';

/** Partitions that are gone are forgotten when there are so many, and more than are left. */
const GONE_MAX = 1024;

export class MatchRecognizer implements Operator {
  readonly #shape: MatchShape;
  readonly #schema: Schema;
  readonly #partition: readonly number[];
  readonly #keys: readonly KeyColumn[];
  readonly #lookBack: number;
  readonly #isNumbered: boolean;
  readonly #measures: readonly MatchValues[];
  readonly #due: DueRows;
  readonly #store: RowStore;
  readonly #rounds: MatchRounds;
  #index: GroupIndex;
  /** By group; missing: nothing is kept of it. */
  #partitions: (MatchPartition | undefined)[] = [];
  #gone = 0;
  /** Those with candidates or new rows. */
  #active = new Set<MatchPartition>();
  #watermark: Watermark = -Infinity;
  /** What came back was due already: former subtasks may have heard of time in another order. */
  #overdue = false;

  constructor(shape: MatchShape, inputSchema: Schema) {
    this.#shape = shape;
    this.#schema = inputSchema;
    this.#partition = shape.partitionBy.map(columnIndex);
    this.#keys = shape.orderBy.map(({ expr, descending, nullsFirst }) => ({
      index: columnIndex(expr),
      descending,
      nullsFirst,
    }));
    this.#lookBack = lookBack(shape);
    this.#isNumbered = shape.measures.some(({ navigations }) =>
      navigations.some(({ read }) => read.tag === 'match_number'),
    );
    const timeColumn = inputSchema.length;
    this.#measures = shape.measures.map(
      (measure) => new MatchValues(measure, shape.variables, timeColumn),
    );
    this.#due = new DueRows(inputSchema);
    this.#store = new RowStore([...inputSchema.map(({ type }) => type), TIMESTAMP]);
    this.#rounds = new MatchRounds(shape, this.#store, timeColumn);
    this.#index = this.#newIndex();
  }

  #newIndex(): GroupIndex {
    return new GroupIndex(this.#shape.partitionBy.map(({ type }) => type));
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    this.#due.add(withoutLateRows(batch, this.#schema, this.#watermark, this.#watermark, output));
  }

  onWatermark(watermark: Watermark, output: Output): void {
    if (watermark <= this.#watermark) return;
    this.#watermark = watermark;
    this.#advance(output);
  }

  #advance(output: Output): void {
    this.#overdue = false;
    const leaving = new Leaving(this.#store, this.#schema);
    const due = this.#due.take(this.#watermark);
    if (due !== null) this.#rounds.run(this.#arrive(due), leaving);
    this.#expire(leaving);
    this.#emit(leaving, output);
    this.#forget();
  }

  /** Puts rows that are due behind those of their partitions. */
  #arrive(due: RecordBatch): Arrivals[] {
    const keys = this.#partition.map((index) => due.columns[index] as Column);
    const groups = new Int32Array(due.rows);
    this.#index.lookupOrInsert(keys, 0, due.rows, groups);
    const order = timedOrder(due, groups, this.#keys);
    const slots = this.#store.take(due.rows);
    const columns = [...due.columns, must(due.eventTime, 'event times')];
    this.#store.put(slots, columns, order, due.rows);
    const words = timesOf(due);
    const arrivals: Arrivals[] = [];
    for (let at = 0; at < due.rows; at++) {
      const row = order[at] as number;
      const partition = this.#partitionOf(groups[row] as number);
      const number = partition.add(slots[at] as number, timeAt(words, row));
      const last = arrivals.at(-1);
      if (last?.partition === partition) last.to = number + 1;
      else arrivals.push({ partition, from: number, to: number + 1 });
    }
    return arrivals;
  }

  #partitionOf(group: number): MatchPartition {
    const known = this.#partitions[group];
    if (known !== undefined) {
      this.#active.add(known);
      return known;
    }
    if (group < this.#partitions.length) this.#gone--;
    // Groups are numbered as they come, so that no place between is left out.
    while (this.#partitions.length < group) {
      this.#partitions.push(undefined);
      this.#gone++;
    }
    const partition = new MatchPartition(group);
    this.#partitions[group] = partition;
    this.#active.add(partition);
    return partition;
  }

  #expire(leaving: Leaving): void {
    const { withinMicros, skip } = this.#shape;
    for (const partition of this.#active) {
      if (withinMicros !== null)
        partition.expire(this.#watermark, withinMicros, skip, leaving.match);
      // Every match has as many rows as the others: what is still open lacks some.
      else if (this.#watermark === Infinity) partition.candidates = [];
    }
  }

  #emit(leaving: Leaving, output: Output): void {
    const { cases, times } = leaving;
    if (cases.count > 0) {
      const errors = new RowErrors(cases.count);
      const slots = cases.slots();
      const columns = [
        ...this.#partition.map((index) => this.#store.gatherColumn(index, slots)),
        ...this.#measures.map((measure) => measure.evaluate(cases, this.#store, errors)),
      ];
      const eventTime = timestampColumn(times);
      const all: RecordBatch = { rows: cases.count, columns, eventTime, retract: null };
      for (const { row, code, message, column } of errors.list)
        leaving.fail(cases.partitions[row] as MatchPartition, cases.ends[row] as number, {
          code,
          message,
          column,
        });
      const good = errors.failed ? filterBatch(all, survivors(all.rows, errors)) : all;
      const order = allGroups(good.rows);
      const words = timesOf(good);
      order.sort((left, right) => timeAt(words, left) - timeAt(words, right) || left - right);
      const sorted = takeBatch(good, order, good.rows);
      for (let from = 0; from < sorted.rows; from += LIMITS.batchRowsDefault)
        output.emit(
          sliceBatch(sorted, from, Math.min(sorted.rows, from + LIMITS.batchRowsDefault)),
        );
    }
    if (leaving.problems.length > 0) output.fail(leaving.problems);
  }

  /** Gives up rows that nothing needs, and partitions of which nothing is left. */
  #forget(): void {
    for (const partition of this.#active) {
      for (const slot of partition.trim(this.#lookBack)) this.#store.release(slot);
      const counts = this.#isNumbered && partition.matches > 0;
      if (partition.candidates.length > 0) continue;
      this.#active.delete(partition);
      if (partition.slots.length > 0 || counts) continue;
      this.#partitions[partition.group] = undefined;
      this.#gone++;
    }
    if (this.#gone < GONE_MAX || this.#gone * 2 < this.#partitions.length) return;
    const left = this.#live();
    this.#index = this.#index.retain(Int32Array.from(left, ({ group }) => group));
    left.forEach((partition, group) => (partition.group = group));
    this.#partitions = left;
    this.#gone = 0;
  }

  #live(): MatchPartition[] {
    return this.#partitions.filter((partition) => partition !== undefined);
  }

  onTick(_nowMs: number, output: Output): void {
    if (this.#overdue) this.#advance(output);
  }

  onBarrier(_output: Output): void {}

  snapshot(kind: SnapshotKind): StateTable[] {
    return [
      ...this.#due.snapshot(this.#partition, kind),
      this.#rowsTable(),
      this.#partitionsTable(),
    ];
  }

  #rowsTable(): StateTable {
    const live = this.#live();
    const slots = Int32Array.from(live.flatMap((partition) => partition.slots));
    const groups = Int32Array.from(live.flatMap(({ group, slots: own }) => own.map(() => group)));
    const numbers = Float64Array.from(
      live.flatMap(({ first, slots: own }) => own.map((_, at) => first + at)),
    );
    return {
      table: 'rows',
      schema: [
        ...this.#schema.map((field, index) => ({ ...field, name: `c${index}` })),
        { name: 'event_time', type: TIMESTAMP, nullable: false },
        { name: 'number', type: INT64, nullable: false },
      ],
      rows: slots.length,
      columns: [...this.#store.gather(slots), integerColumn(numbers)],
      hashes: this.#index.hashesOf(groups),
      changes: null,
    };
  }

  #partitionsTable(): StateTable {
    const live = this.#live();
    const groups = Int32Array.from(live, ({ group }) => group);
    const texts = new TextBuilder(TEXT, live.length);
    for (const partition of live) {
      const text = new TextEncoder().encode(partition.candidatesText());
      texts.append(text, 0, text.length);
    }
    return {
      table: 'partitions',
      schema: [
        ...this.#shape.partitionBy.map(({ type }, at) => ({
          name: `key${at}`,
          type,
          nullable: true,
        })),
        { name: 'matches', type: INT64, nullable: false },
        { name: 'candidates', type: TEXT, nullable: false },
      ],
      rows: live.length,
      columns: [
        ...this.#index.keyColumns(groups),
        integerColumn(Float64Array.from(live, ({ matches }) => matches)),
        texts.finish(),
      ],
      hashes: this.#index.hashesOf(groups),
      changes: null,
    };
  }

  restore(tables: readonly StateTable[]): void {
    for (const table of tables) {
      if (table.table === 'waiting') this.#due.restore(table);
      else if (table.table === 'rows') this.#restoreRows(table);
      else this.#restorePartitions(table);
      if (table.table !== 'waiting') continue;
      const { words } = table.columns.at(-1) as Int64Column;
      for (let row = 0; row < table.rows; row++)
        if (timeAt(words, row) < this.#watermark) this.#overdue = true;
    }
    const within = this.#shape.withinMicros ?? Infinity;
    for (const { candidates } of this.#live())
      if (candidates.some(({ startTime }) => startTime + within < this.#watermark))
        this.#overdue = true;
  }

  #groupsOf(keys: readonly Column[], rows: number): Int32Array {
    const groups = new Int32Array(rows);
    this.#index.lookupOrInsert(keys, 0, rows, groups);
    return groups;
  }

  /** All rows of a partition are in one table. */
  #restoreRows(table: StateTable): void {
    const { rows, columns } = table;
    const keys = this.#partition.map((index) => columns[index] as Column);
    const groups = this.#groupsOf(keys, rows);
    const { words: times } = columns.at(-2) as Int64Column;
    const { words: numbers } = columns.at(-1) as Int64Column;
    const order = allGroups(rows).sort(
      (left, right) => timeAt(numbers, left) - timeAt(numbers, right),
    );
    const slots = this.#store.take(rows);
    this.#store.put(slots, columns.slice(0, -1), order, rows);
    order.forEach((row, at) => {
      const partition = this.#partitionOf(groups[row] as number);
      if (partition.slots.length === 0) partition.first = timeAt(numbers, row);
      partition.add(slots[at] as number, timeAt(times, row));
    });
  }

  #restorePartitions({ rows, columns }: StateTable): void {
    const groups = this.#groupsOf(columns.slice(0, -2), rows);
    const { words: matches } = columns.at(-2) as Int64Column;
    const { offsets, bytes } = columns.at(-1) as TextColumn;
    for (let row = 0; row < rows; row++) {
      const partition = this.#partitionOf(groups[row] as number);
      partition.matches = timeAt(matches, row);
      const text = bytes.subarray(offsets[row] as number, offsets[row + 1] as number);
      partition.restoreCandidates(new TextDecoder().decode(text));
    }
  }

  stateBytes(): number {
    let threads = 0;
    for (const partition of this.#active) threads += partition.threadCount();
    return this.#due.bytes() + this.#store.bytes() + this.#index.bytes() + threads * 96;
  }

  stateRows(): number {
    return this.#due.rows + this.#store.live;
  }
}

/** What leaves at one time: matches and errors. */
class Leaving implements MatchEvents {
  readonly cases = new MatchCases();
  /** When each match was certain. */
  readonly times: number[] = [];
  readonly problems: RowProblem[] = [];
  readonly #store: RowStore;
  readonly #schema: Schema;

  constructor(store: RowStore, schema: Schema) {
    this.#store = store;
    this.#schema = schema;
  }

  match: MatchEvents['match'] = (partition, candidate, found, number, time) => {
    this.cases.add(partition, found.run, candidate.start, found.end, number);
    this.times.push(time);
  };

  fail: MatchEvents['fail'] = (partition, row, { code, column, message }) => {
    const columns = this.#store.gather(Int32Array.of(partition.slotOf(row))).slice(0, -1);
    const batch: RecordBatch = { rows: 1, columns, eventTime: null, retract: null };
    this.problems.push({ row: 0, code, column, message, raw: rowJson(batch, this.#schema, 0) });
  };
}

function timestampColumn(times: readonly number[]): Int64Column {
  const { words } = integerColumn(Float64Array.from(times)) as Int64Column;
  return { tag: 'timestamp', type: TIMESTAMP, length: times.length, validity: null, words };
}
