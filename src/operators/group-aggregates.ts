/**
 * What the grouping operators share: the keys and arguments of a batch, and accumulators over a group index.
 *
 * Place in the walk: stage 6. `GroupInputs` evaluates a batch once; `GroupedAggregates` is one index with one
 * accumulator per aggregate, group g of the index being group g of each accumulator.
 *
 * Invariants: state columns of a checkpoint are keys, then the states of each accumulator in order; when the groups are
 * neighbours, as all groups together are, they are copies of buffers. A group that `groupsOf` named is *changed* until
 * `takeChanged` tells of it. What accumulators keep as entries is in the state columns too, but a snapshot has tables of their
 * own for it (`entry-tables.ts`) and leaves it out (`savedColumns`).
 * Failure: rows whose keys or arguments cannot be computed are handed to the caller as errors; they reach no group.
 */
import { assert, must } from '../base/assert.ts';
import type { Column } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { filterBatch, sliceColumn } from '../batch/take.ts';
import type { Field, Schema, SqlType } from '../batch/types.ts';
import { areFlat, mergeGroups, type Accumulator } from '../expr/accumulator.ts';
import {
  CountAccumulator,
  DistinctAccumulator,
  makeAccumulators,
  type SharedDistinct,
} from '../expr/aggregate-registry.ts';
import { compilePredicate, type CompiledPredicate } from '../expr/compile.ts';
import type { AggregateCall, Expr } from '../expr/expr.ts';
import { exprName, NamedExprs } from '../expr/named-exprs.ts';
import { RowErrors, inParts } from '../expr/row-errors.ts';
import { allGroups, firstGroups, GroupIndex } from '../state/group-index.ts';
import { grown, wider } from '../state/growth.ts';
import type { Output } from './operator.ts';
import { survivors } from './project.ts';
import { problemsOf, rowJson } from './row-json.ts';

/** A batch of which every key, argument and filter could be computed. */
export type EvaluatedBatch = {
  batch: RecordBatch;
  keys: readonly Column[];
  /** Of each aggregate: its arguments, and 1 for each row its FILTER lets through (null: every row). */
  aggregates: readonly { args: readonly Column[]; passes: Uint8Array | null }[];
};

export class GroupInputs {
  readonly #keys: NamedExprs;
  /** What aggregates read, each once, however many of them read it: arguments and filters, by their places in these. */
  readonly #args: NamedExprs;
  readonly #filters: readonly { expr: Expr; predicate: CompiledPredicate }[];
  readonly #aggregates: readonly { args: readonly number[]; filter: number | null }[];
  readonly #inputSchema: Schema;

  constructor(keys: readonly Expr[], aggregates: readonly AggregateCall[], inputSchema: Schema) {
    this.#keys = NamedExprs.byText(keys, inputSchema);
    const args = new Places();
    const filters = new Places();
    this.#aggregates = aggregates.map((call) => ({
      args: call.args.map((arg) => args.of(arg)),
      filter: call.filter === null ? null : filters.of(call.filter),
    }));
    this.#args = NamedExprs.byText(args.exprs, inputSchema);
    this.#filters = filters.exprs.map((expr) => ({ expr, predicate: compilePredicate(expr) }));
    this.#inputSchema = inputSchema;
  }

  /** As `evaluate`, in several pieces where keys and arguments are too large to be held for the whole batch. */
  inParts(batch: RecordBatch, output: Output, use: (evaluated: EvaluatedBatch) => void): void {
    inParts(batch, (part) => use(this.evaluate(part, output, RowErrors.divisible(part.rows))));
  }

  /** Rows that cannot be computed go to `output` as errors and are missing in the result. */
  evaluate(batch: RecordBatch, output: Output, errors = new RowErrors(batch.rows)): EvaluatedBatch {
    const keys = this.#keys.evaluate(batch, errors);
    const columns = this.#args.evaluate(batch, errors);
    const filters = this.#filters.map(({ expr, predicate }) => {
      const before = errors.list.length;
      const passes = passesOf(predicate, batch, errors);
      if (errors.list.length > before) errors.nameSince(before, exprName(expr, this.#inputSchema));
      return passes;
    });
    const aggregates = this.#aggregates.map(({ args, filter }) => ({
      args: args.map((at) => columns[at] as Column),
      passes: filter === null ? null : (filters[filter] as Uint8Array),
    }));
    if (errors.failed) {
      output.fail(problemsOf(errors, (row) => rowJson(batch, this.#inputSchema, row)));
      return this.evaluate(filterBatch(batch, survivors(batch.rows, errors)), output);
    }
    return { batch, keys, aggregates };
  }
}

/** Expressions that mean different things, in order of appearance. */
class Places {
  readonly exprs: Expr[] = [];
  readonly #known = new Map<string, number>();

  of(expr: Expr): number {
    const text = JSON.stringify(expr);
    const known = this.#known.get(text) ?? this.exprs.push(expr) - 1;
    this.#known.set(text, known);
    return known;
  }
}

function passesOf(filter: CompiledPredicate, batch: RecordBatch, errors: RowErrors): Uint8Array {
  const { indices, count } = filter(batch, errors);
  const passes = new Uint8Array(batch.rows);
  for (let at = 0; at < count; at++) passes[indices[at] as number] = 1;
  return passes;
}

/** Lists of groups at work in a call that nobody else gets to see. */
let found = new Int32Array(0);
let passing = new Int32Array(0);

export class GroupedAggregates {
  readonly #calls: readonly AggregateCall[];
  readonly #keyTypes: readonly SqlType[];
  index: GroupIndex;
  accumulators: readonly Accumulator[];
  #groups = new Int32Array(0);
  #members = new Int32Array(0);
  /** The filters that `#members` are of, in one call of `update`. */
  #membersOfFilters: readonly (Uint8Array | null)[] | null = null;
  /** 1: the group has changed since `takeChanged` last told; null: it has told nothing yet, and every group counts. */
  #isChanged: Uint8Array | null = null;
  /** Those groups, in the order in which they first changed: new ones, that is most, are neighbours. */
  #changed: Int32Array = new Int32Array(0);
  #changedCount = 0;

  constructor(keys: readonly Expr[], calls: readonly AggregateCall[]) {
    this.#calls = calls;
    this.#keyTypes = keys.map((key) => key.type);
    this.index = new GroupIndex(this.#keyTypes);
    this.accumulators = makeAccumulators(calls);
  }

  get count(): number {
    return this.index.count;
  }

  /** The group of each of rows `[from, to)`, the first at 0; valid until the next call. */
  groupsOf(evaluated: EvaluatedBatch, from: number, to: number): Int32Array {
    const rows = to - from;
    if (this.#groups.length < rows) this.#groups = new Int32Array(rows);
    const groups = this.#groups;
    this.#find(evaluated, from, to, groups);
    return groups;
  }

  #find(evaluated: EvaluatedBatch, from: number, to: number, groups: Int32Array): void {
    this.index.lookupOrInsert(evaluated.keys, from, to, groups);
    this.#makeRoom();
    this.#noteChanged(groups, to - from);
  }

  /** `groupsOf` and `update` in one, for many of these that get few rows each. */
  take(evaluated: EvaluatedBatch, from: number, to: number): void {
    if (found.length < to - from) found = new Int32Array(to - from);
    this.#find(evaluated, from, to, found);
    this.update(evaluated, from, to, found);
  }

  #noteChanged(groups: Int32Array, rows: number): void {
    const isChanged = this.#isChanged;
    if (isChanged === null) return;
    let count = this.#changedCount;
    if (count + rows > this.#changed.length)
      this.#changed = wider(Int32Array, this.#changed, grown(this.#changed.length, count + rows));
    const changed = this.#changed;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (isChanged[group] === 1) continue;
      isChanged[group] = 1;
      changed[count++] = group;
    }
    this.#changedCount = count;
  }

  #makeRoom(): void {
    const { count } = this.index;
    const isChanged = this.#isChanged;
    if (isChanged === null || count <= isChanged.length) return;
    this.#isChanged = wider(Uint8Array, isChanged, grown(isChanged.length, count));
  }

  /** The groups that changed since the last call, all at the first call; from now on none has. */
  takeChanged(): Int32Array {
    const isChanged = this.#isChanged;
    if (isChanged === null) {
      this.#isChanged = new Uint8Array(this.count);
      return allGroups(this.count);
    }
    isChanged.fill(0);
    const changed = this.#changed.slice(0, this.#changedCount);
    this.#changed = new Int32Array(0);
    this.#changedCount = 0;
    return changed;
  }

  /** Folds rows `[from, to)` in; `groups` as `groupsOf` gave them. */
  update(evaluated: EvaluatedBatch, from: number, to: number, groups: Int32Array): void {
    const rows = to - from;
    const whole = from === 0 && to === evaluated.batch.rows;
    const retract = evaluated.batch.retract?.subarray(from, to) ?? null;
    this.#membersOfFilters = null;
    this.accumulators.forEach((accumulator, at) => {
      const inputs = evaluated.aggregates[at];
      assert(inputs !== undefined, 'inputs of every aggregate');
      const shared = accumulator instanceof DistinctAccumulator ? accumulator.shared : null;
      // The first of those that share a table takes the rows for all.
      if (accumulator instanceof DistinctAccumulator && accumulator.member > 0) return;
      const args = whole ? inputs.args : inputs.args.map((arg) => sliceColumn(arg, from, to));
      if (shared !== null) {
        accumulator.resize(this.index.count);
        shared.update(groups, rows, args, this.#membersOf(shared, evaluated, from, to), retract);
        return;
      }
      accumulator.resize(this.index.count);
      const { passes } = inputs;
      if (passes !== null && retract === null && accumulator instanceof CountAccumulator) {
        if ((args[0]?.validity ?? null) === null)
          return accumulator.countPassing(groups, rows, passes, from);
      }
      const passed = passes === null ? groups : this.#onlyPassing(groups, passes, from, rows);
      accumulator.update(passed, rows, args, retract);
    });
  }

  /** A bit for each of the aggregates that share a table and let a row through. */
  #membersOf(
    shared: SharedDistinct,
    evaluated: EvaluatedBatch,
    from: number,
    to: number,
  ): Int32Array {
    const rows = to - from;
    const filters: (Uint8Array | null)[] = [];
    this.accumulators.forEach((accumulator, at) => {
      if (accumulator instanceof DistinctAccumulator && accumulator.shared === shared)
        filters[accumulator.member] = evaluated.aggregates[at]?.passes ?? null;
    });
    // Counts of different values of several columns mostly have the same filters.
    const known = this.#membersOfFilters;
    if (known?.length === filters.length && known.every((filter, at) => filter === filters[at]))
      return this.#members;
    this.#membersOfFilters = filters;
    if (this.#members.length < rows) this.#members = new Int32Array(rows);
    const members = this.#members;
    let all = 0;
    for (const [member, filter] of filters.entries()) if (filter === null) all |= 1 << member;
    members.fill(all, 0, rows);
    for (const [member, filter] of filters.entries()) {
      if (filter === null) continue;
      for (let row = 0; row < rows; row++)
        members[row] = (members[row] as number) | ((filter[from + row] as number) << member);
    }
    return members;
  }

  /** Valid until anybody's next call. */
  #onlyPassing(groups: Int32Array, passes: Uint8Array, from: number, rows: number): Int32Array {
    if (passing.length < rows) passing = new Int32Array(rows);
    for (let row = 0; row < rows; row++)
      passing[row] = passes[from + row] === 1 ? (groups[row] as number) : -1;
    return passing;
  }

  /** Keys, then accumulator states, of the given groups. */
  stateColumns(groups: Int32Array): Column[] {
    return [
      ...this.index.keyColumns(groups),
      ...this.accumulators.flatMap((each) => each.stateColumns(groups)),
    ];
  }

  keySchema(): Schema {
    return this.#keyTypes.map((type, at) => ({ name: `key${at}`, type, nullable: true }));
  }

  stateSchema(): Schema {
    const field = (name: string, type: SqlType): Field => ({ name, type, nullable: true });
    return [
      ...this.keySchema(),
      ...this.accumulators.flatMap((each, at) =>
        each.stateTypes.map((type, part) => field(`state${at}_${part}`, type)),
      ),
    ];
  }

  /**
   * Folds in rows that `stateColumns` gave, here or elsewhere. That changes no group as `takeChanged` understands it.
   * @returns the group of each row
   */
  merge(columns: readonly Column[], rows: number): Int32Array {
    return this.#fold(columns, rows, false);
  }

  /** As `merge`, for what `savedColumns` gave; entries come by `mergeEntries`. */
  mergeSaved(columns: readonly Column[], rows: number): Int32Array {
    return this.#fold(columns, rows, true);
  }

  #fold(columns: readonly Column[], rows: number, withoutEntries: boolean): Int32Array {
    const groups = new Int32Array(rows);
    const keyCount = this.#keyTypes.length;
    if (this.count === 0) this.index.reserve(rows);
    this.index.lookupOrInsert(columns.slice(0, keyCount), 0, rows, groups);
    this.#makeRoom();
    let at = keyCount;
    for (const accumulator of this.accumulators) {
      accumulator.resize(this.index.count);
      if (withoutEntries && accumulator.entries !== undefined) continue;
      accumulator.merge(groups, rows, columns.slice(at, at + accumulator.stateTypes.length));
      at += accumulator.stateTypes.length;
    }
    return groups;
  }

  /** Folds all groups of others of the same keys and calls in. @returns the group here of each */
  mergeAllOf(others: GroupedAggregates): Int32Array {
    const { count } = others;
    const groups = new Int32Array(count);
    this.index.lookupAllOf(others.index, groups);
    this.#makeRoom();
    const all = firstGroups(count);
    this.accumulators.forEach((accumulator, at) => {
      accumulator.resize(this.index.count);
      mergeGroups(accumulator, groups, count, others.accumulators[at] as Accumulator, all);
    });
    return groups;
  }

  /** Keeps the keys, and of the states nothing but room for `count` groups. */
  clearStates(count = this.count): void {
    if (!areFlat(this.accumulators)) this.accumulators = makeAccumulators(this.#calls);
    for (const accumulator of this.accumulators) {
      accumulator.resize(0);
      accumulator.resize(count);
    }
  }

  /** Forgets everything; tells of changes as a new one does. */
  clear(): void {
    this.index.clear();
    this.clearStates();
    this.#isChanged = null;
    this.#changed = new Int32Array(0);
    this.#changedCount = 0;
  }

  /** Keys, then the states of the accumulators that have no entries. */
  savedColumns(groups: Int32Array): Column[] {
    const states = this.accumulators.flatMap((each) =>
      each.entries === undefined ? each.stateColumns(groups) : [],
    );
    return [...this.index.keyColumns(groups), ...states];
  }

  savedSchema(): Schema {
    const dropped = this.accumulators.flatMap((each, at) =>
      each.entries === undefined ? [] : [`state${at}_`],
    );
    return this.stateSchema().filter(
      ({ name }) => !dropped.some((prefix) => name.startsWith(prefix)),
    );
  }

  /** Folds entries of an accumulator in: keys, values and counts. Those of groups that are not there any more are left out. */
  mergeEntries(accumulator: number, columns: readonly Column[], rows: number): void {
    const groups = new Int32Array(rows);
    const keyCount = this.#keyTypes.length;
    const known = this.index.count;
    this.index.lookupOrInsert(columns.slice(0, keyCount), 0, rows, groups);
    if (this.index.count > known) {
      for (let row = 0; row < rows; row++) if ((groups[row] as number) >= known) groups[row] = -1;
      this.index = this.index.retain(allGroups(known));
    }
    const { entries } = must(this.accumulators[accumulator], 'an accumulator');
    assert(entries !== undefined, 'an accumulator with entries');
    entries.mergeEntries(groups, rows, columns.slice(keyCount));
  }

  /** As `merge`, for rows that the snapshot before does not have: their groups have changed. */
  mergeNew(columns: readonly Column[], rows: number): Int32Array {
    const groups = this.merge(columns, rows);
    this.#noteChanged(groups, rows);
    return groups;
  }

  /** Drops every group but these, which become groups 0, 1, 2, … in their order. */
  retain(groups: Int32Array): void {
    const states = this.accumulators.map((each) => each.stateColumns(groups));
    const isChanged = this.#isChanged;
    if (isChanged !== null) {
      this.#isChanged = Uint8Array.from(groups, (group) => isChanged[group] as number);
      this.#changed = allGroups(groups.length).filter((group) => this.#isChanged?.[group] === 1);
      this.#changedCount = this.#changed.length;
    }
    this.index = this.index.retain(groups);
    const renumbered = allGroups(groups.length);
    this.accumulators = makeAccumulators(this.#calls);
    this.accumulators.forEach((accumulator, at) => {
      accumulator.resize(groups.length);
      accumulator.merge(renumbered, groups.length, states[at] ?? []);
    });
  }

  bytes(): number {
    return this.accumulators.reduce(
      (sum, each) => sum + each.bytes(),
      this.index.bytes() + (this.#isChanged?.length ?? 0) + this.#changed.byteLength,
    );
  }
}
