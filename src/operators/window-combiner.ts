/**
 * The first of two stages of a windowed aggregate: rows are aggregated where they are, and what crosses to other hosts is
 * one partial state per pane and key.
 *
 * Place in the walk: stage 6, at the sending end of the shuffle edge before a `WindowAggregate` (`shuffle-edge.ts`). A pane is
 * held until a watermark is about to pass that ends a window with it, or a barrier, or the sender falls idle or ends;
 * so nothing here outlives a barrier, and no partial state comes after the watermark that makes it due. A row that is late here,
 * that cannot be computed, or that lies in no window, goes to the receiver as it is, which knows what to do with it.
 *
 * Invariants: INV-74 the receiver comes to the states it would have come to by the rows themselves, and counts as many rows.
 * When keys hardly repeat, combining costs more than it saves: the next rows pass as they are, and then it is tried again.
 */
import { assert, must } from '../base/assert.ts';
import type { Column } from '../batch/column.ts';
import { concatBatches } from '../batch/concat.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { takeBatch } from '../batch/take.ts';
import { FLOAT64, TIMESTAMP, type Schema } from '../batch/types.ts';
import { inParts, RowErrors } from '../expr/row-errors.ts';
import type { GraphOperator } from '../graph/graph.ts';
import { allGroups } from '../state/group-index.ts';
import { wider, grown } from '../state/growth.ts';
import { GroupedAggregates, GroupInputs } from './group-aggregates.ts';
import type { Output } from './operator.ts';
import { constantTime, timeAt, timesOf } from './times.ts';
import { WindowGrid } from './window-grid.ts';
import type { WindowAggregateSpec } from './window-rows.ts';

/** Aggregates whose states have a size of their own and merge to the same state in any order. */
const COMBINABLE = new Set([
  'count-rows',
  'count',
  'sum',
  'avg',
  'min',
  'max',
  'bool_and',
  'bool_or',
]);

/** Groups that may be held before they leave. */
const GROUPS_MAX = 32_768;
/** So many rows pass uncombined after a flush with more than half as many groups as rows. */
const REST_ROWS = 100_000;

/** Columns of partial states before the keys: where the pane starts, and how many rows went into it. */
export const PARTIAL_COLUMNS = 2;

type HeldPane = { groups: GroupedAggregates; rows: Float64Array; firstEnd: number };

/** The schema of partial states: pane, rows, keys, states. */
export function partialSchema({ keys, aggregates }: WindowAggregateSpec): Schema {
  return [
    { name: 'pane_start', type: TIMESTAMP, nullable: false },
    { name: 'rows', type: FLOAT64, nullable: false },
    ...new GroupedAggregates(keys, aggregates).stateSchema(),
  ];
}

/** A combiner for rows on their way to the operator; null when its aggregates do not combine. */
export function combinerFor(receiver: GraphOperator, input: Schema): WindowCombiner | null {
  const { spec } = receiver;
  if (spec.tag !== 'window-aggregate' || spec.window.tag === 'session') return null;
  const { window } = spec;
  if (window.latenessMicros !== undefined || window.earlyMs !== undefined) return null;
  if (spec.windowColumn !== undefined || spec.updatingInput === true) return null;
  const combines = spec.aggregates.every(
    (call) =>
      COMBINABLE.has(call.fn.split('(')[0] as string) && !call.distinct && call.order === undefined,
  );
  return combines ? new WindowCombiner(spec, input) : null;
}

export class WindowCombiner {
  readonly schema: Schema;
  readonly #spec: WindowAggregateSpec;
  readonly #grid: WindowGrid;
  readonly #inputs: GroupInputs;
  #panes = new Map<number, HeldPane>();
  #groups = 0;
  #rowsHeld = 0;
  #restRows = 0;
  /** The earliest end of a window with a held pane. */
  #due = Infinity;

  constructor(spec: WindowAggregateSpec, input: Schema) {
    assert(spec.window.tag !== 'session', 'sessions have no panes');
    this.schema = partialSchema(spec);
    this.#spec = spec;
    this.#grid = new WindowGrid(spec.window);
    this.#inputs = new GroupInputs(spec.keys, spec.aggregates, input);
  }

  /**
   * Takes rows in.
   * @param watermark what the receivers have been told
   * @returns the rows that go as they are; null: none
   */
  add(batch: RecordBatch, watermark: number): RecordBatch | null {
    if (this.#restRows > 0 || batch.retract !== null) {
      this.#restRows -= batch.rows;
      return batch;
    }
    const rest: RecordBatch[] = [];
    inParts(batch, (part) => rest.push(...this.#combine(part, watermark)));
    return rest.length === 0 ? null : concatBatches(rest);
  }

  /** The rows that go as they are. */
  #combine(batch: RecordBatch, watermark: number): RecordBatch[] {
    const passing = new Uint8Array(batch.rows);
    const whole = this.#markPassing(batch, watermark, passing);
    const combinable = whole ? batch : picked(batch, passing, 0);
    const refused: number[] = [];
    const evaluated = this.#inputs.evaluate(
      combinable,
      refusals(refused),
      RowErrors.divisible(combinable.rows),
    );
    this.#forEachRun(evaluated.batch, (pane, from, to) => {
      const held = this.#paneAt(pane);
      const before = held.groups.count;
      const groups = held.groups.groupsOf(evaluated, from, to);
      held.groups.update(evaluated, from, to, groups);
      this.#groups += held.groups.count - before;
      if (held.groups.count > held.rows.length)
        held.rows = wider(Float64Array, held.rows, grown(held.rows.length, held.groups.count));
      for (let row = 0; row < to - from; row++) {
        const group = groups[row] as number;
        held.rows[group] = (held.rows[group] as number) + 1;
      }
    });
    this.#rowsHeld += evaluated.batch.rows;
    const left = whole ? [] : [picked(batch, passing, 1)];
    if (refused.length > 0)
      left.push(takeBatch(combinable, Int32Array.from(refused), refused.length));
    return left.filter(({ rows }) => rows > 0);
  }

  /** Marks rows that are due already or lie in no window; true when there are none. */
  #markPassing(batch: RecordBatch, watermark: number, passing: Uint8Array): boolean {
    let whole = true;
    const position = this.#grid.positionOf(watermark);
    this.#forEachRun(batch, (pane, from, to) => {
      if (this.#firstEndOf(pane) > position && this.#grid.lastEndOf(pane) > pane) return;
      passing.fill(1, from, to);
      whole = false;
    });
    return whole;
  }

  #firstEndOf(pane: number): number {
    return this.#grid.endAfter(pane + this.#grid.pane - 1);
  }

  #forEachRun(batch: RecordBatch, visit: (pane: number, from: number, to: number) => void): void {
    const words = timesOf(batch);
    for (let from = 0; from < batch.rows;) {
      const pane = this.#grid.paneOfInstant(timeAt(words, from));
      const first = this.#grid.instantOf(pane);
      const end = this.#grid.instantOf(pane + this.#grid.pane);
      let to = from + 1;
      for (; to < batch.rows; to++) {
        const micros = timeAt(words, to);
        if (micros < first || micros >= end) break;
      }
      visit(pane, from, to);
      from = to;
    }
  }

  #paneAt(pane: number): HeldPane {
    let held = this.#panes.get(pane);
    if (held === undefined) {
      const { keys, aggregates } = this.#spec;
      const firstEnd = this.#firstEndOf(pane);
      held = {
        groups: new GroupedAggregates(keys, aggregates),
        rows: new Float64Array(16),
        firstEnd,
      };
      this.#panes.set(pane, held);
      this.#due = Math.min(this.#due, firstEnd);
    }
    return held;
  }

  /** Whether more is held than should be. */
  get full(): boolean {
    return this.#groups > GROUPS_MAX;
  }

  /** What has to leave before `watermark` is passed on: all there is, or nothing. */
  takeDue(watermark: number): RecordBatch | null {
    return this.#grid.positionOf(watermark) < this.#due ? null : this.takeAll();
  }

  /** Everything that is held, as partial states; null: nothing is. */
  takeAll(): RecordBatch | null {
    if (this.#panes.size === 0) return null;
    const parts = [...this.#panes].map(([pane, held]) => partialStates(pane, held));
    if (this.#groups * 2 > this.#rowsHeld) this.#restRows = REST_ROWS;
    this.#panes = new Map();
    this.#groups = 0;
    this.#rowsHeld = 0;
    this.#due = Infinity;
    return concatBatches(parts);
  }

  /** The key columns of partial states. */
  keysOf(partial: RecordBatch): readonly Column[] {
    return partial.columns.slice(PARTIAL_COLUMNS, PARTIAL_COLUMNS + this.#spec.keys.length);
  }
}

function partialStates(pane: number, { groups, rows }: HeldPane): RecordBatch {
  const { count } = groups;
  const counts: Column = {
    tag: 'float64',
    type: FLOAT64,
    length: count,
    validity: null,
    values: rows.slice(0, count),
  };
  return {
    rows: count,
    columns: [constantTime(pane, count), counts, ...groups.stateColumns(allGroups(count))],
    eventTime: null,
    retract: null,
  };
}

/** How many rows went into partial states. */
export function rowsOfPartial(partial: RecordBatch): number {
  const counts = must(partial.columns[1], 'the numbers of rows');
  assert(counts.tag === 'float64', 'numbers of rows are doubles');
  let rows = 0;
  for (let row = 0; row < partial.rows; row++) rows += counts.values[row] as number;
  return rows;
}

function picked(batch: RecordBatch, marks: Uint8Array, mark: number): RecordBatch {
  const indices = new Int32Array(batch.rows);
  let count = 0;
  for (let row = 0; row < batch.rows; row++) if (marks[row] === mark) indices[count++] = row;
  return takeBatch(batch, indices, count);
}

/** Notes which rows could not be computed; the receiver computes them again and tells. */
function refusals(rows: number[]): Output {
  return {
    emit: () => assert(false, 'nothing is emitted'),
    fail: (problems) => {
      for (const { row } of problems) rows.push(row);
    },
    late: () => assert(false, 'nothing is late'),
  };
}
