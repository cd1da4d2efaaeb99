/**
 * For each group a bag of tuples: what aggregates keep that need all values, or each value once.
 *
 * A flat hash table over (group, tuple) gives entries. Aggregates over the same arguments share it and differ in
 * their filters: each is a *member* with a bit, which says that it has the tuple. Where rows are taken back, or how often a
 * tuple came matters, an entry also has a count for each member, and the bit says that it is above zero. Entries
 * without a member stay until they outweigh the others. -0 is kept as 0.
 *
 * What comes out of a group is sorted, so that nothing depends on the order in which tuples came: equal bags give equal
 * answers. State, as lists of a group or as entries by rows: the tuple's columns, then the members as bits, or their counts.
 */
import { must } from '../../base/assert.ts';
import type { Column, Int32Column, Int64Column, ListColumn } from '../../batch/column.ts';
import { takeColumn } from '../../batch/take.ts';
import type { SqlType } from '../../batch/types.ts';
import { INT32, INT64, listType } from '../../batch/types.ts';
import { allGroups, GroupIndex } from '../../state/group-index.ts';
import type { EntryChanges, EntryTable } from '../accumulator.ts';
import type { SortOrder } from '../expr.ts';
import { int64AsNumber } from '../wide.ts';
import { EntryList } from './entry-list.ts';
import { ExtremeEntries } from './extreme-entries.ts';
import { countColumn, grownFloat64, grownInt32 } from './group-arrays.ts';
import {
  int32Column,
  listsOf,
  pickRows,
  rowsOfLists,
  tupleOrder,
  withoutNegativeZero,
} from './tuple-rows.ts';

/** Entries without a member are swept when there are more of them than this and than the others. */
const DEAD_MAX = 1024;

/** Bits of members. */
export const MEMBERS_MAX = 31;

/** The tuples of some groups: those of the group at i are rows [offsets[i], offsets[i + 1]). */
export type Bags = {
  offsets: Int32Array;
  columns: readonly Column[];
  /** How often each tuple is there, at least once. */
  counts: Float64Array;
};

/** Of each row: the members for which its tuple came first, or went; and the rows, ascending, where there are any. */
export type Flips = { bits: Int32Array; union: number; rows: Int32Array };

export class Multiset implements EntryTable {
  readonly valueTypes: readonly SqlType[];
  readonly countTypes: readonly SqlType[];
  readonly stateTypes: readonly SqlType[];
  readonly #members: number;
  readonly #list = new EntryList();
  #index: GroupIndex;
  /** Entry → its members. */
  #bits: Int32Array = new Int32Array(16);
  /** Entry × member → how often; null: nothing is taken back. */
  #counts: Float64Array | null;
  #dead = 0;
  readonly #extremes: ExtremeEntries | null;
  #entries = new Int32Array(0);

  /** @param end  which end of the first values `extreme` is to give; null: it is not asked */
  constructor(
    types: readonly SqlType[],
    members: number,
    counted: boolean,
    end: 'smallest' | 'largest' | null = null,
  ) {
    this.#extremes =
      end === null ? null : new ExtremeEntries(types[0] as SqlType, this.#list, end === 'largest');
    this.valueTypes = types;
    this.#members = members;
    this.#counts = counted ? new Float64Array(16) : null;
    this.countTypes = counted ? Array.from({ length: members }, () => INT64) : [INT32];
    this.stateTypes = [...types, ...this.countTypes].map(listType);
    this.#index = new GroupIndex([INT32, ...types]);
  }

  resize(count: number): void {
    if (!this.#list.resizeGroups(count)) return;
    this.#keep(this.#list.all().filter((entry) => (this.#list.owners[entry] as number) < count));
  }

  /** Whether it knows how often a tuple is there, and so can take rows out. */
  get counts(): boolean {
    return this.#counts !== null;
  }

  /**
   * Puts rows in, or with `retract` takes them out.
   *
   * @param groups   a negative one skips the row
   * @param members  the members that see each row
   */
  update(
    groups: Int32Array,
    rows: number,
    columns: readonly Column[],
    members: Int32Array,
    retract: Uint8Array | null,
  ): Flips {
    const entries = this.#entriesOf(groups, rows, columns, members);
    if (this.#counts === null) return this.#mark(entries, rows, members);
    const width = this.#members;
    const weights = new Float64Array(rows * width);
    for (let row = 0, at = 0; row < rows; row++) {
      const weight = retract !== null && retract[row] === 1 ? -1 : 1;
      const seeing = members[row] as number;
      for (let member = 0; member < width; member++)
        weights[at++] = ((seeing >> member) & 1) * weight;
    }
    return this.#step(entries, rows, weights);
  }

  /** The entry of each row, made where there is none; -1 for rows that no member sees. */
  #entriesOf(
    groups: Int32Array,
    rows: number,
    columns: readonly Column[],
    members: Int32Array,
  ): Int32Array {
    if (this.#entries.length < rows) this.#entries = new Int32Array(rows);
    const entries = this.#entries;
    const seen = seenRows(groups, rows, members);
    const picked = pickRows(seen, rows);
    const count = picked?.length ?? rows;
    const owners =
      picked === null
        ? seen.subarray(0, rows)
        : Int32Array.from(picked, (row) => seen[row] as number);
    const values = columns.map((column) =>
      withoutNegativeZero(picked === null ? column : takeColumn(column, picked, count)),
    );
    this.#index.lookupOrInsert([int32Column(owners, count), ...values], 0, count, entries);
    this.#append(entries, owners, count, values);
    if (picked === null) return entries;
    for (let row = rows - 1, at = count - 1; row >= 0; row--)
      entries[row] = at >= 0 && picked[at] === row ? (entries[at--] as number) : -1;
    return entries;
  }

  #append(entries: Int32Array, owners: Int32Array, rows: number, values: readonly Column[]): void {
    const { count } = this.#index;
    if (count === this.#list.count) return;
    this.#list.reserve(count);
    this.#bits = grownInt32(this.#bits, count);
    if (this.#counts !== null) this.#counts = grownFloat64(this.#counts, count * this.#members);
    for (let row = 0; row < rows; row++) {
      // Entries are numbered in order of appearance, so this is the next one.
      if ((entries[row] as number) !== this.#list.count) continue;
      this.#bits[this.#list.count] = 0;
      this.#extremes?.append(values[0] as Column, row);
      this.#list.append(owners[row] as number);
      this.#dead++;
    }
  }

  /** Sets bits where nothing is taken back. */
  #mark(entries: Int32Array, rows: number, members: Int32Array): Flips {
    const bits = this.#bits;
    const flips = new Int32Array(rows);
    // All bits are read before what they say is acted on: see `CompositeTable`.
    for (let row = 0; row < rows; row++) {
      const entry = entries[row] as number;
      if (entry >= 0) flips[row] = (members[row] as number) & ~(bits[entry] as number);
    }
    const flipped = new Int32Array(rows);
    let count = 0;
    let union = 0;
    for (let row = 0; row < rows; row++) {
      if (flips[row] === 0) continue;
      // A row before may have had the same tuple.
      const entry = entries[row] as number;
      const known = bits[entry] as number;
      const added = (members[row] as number) & ~known;
      flips[row] = added;
      if (added === 0) continue;
      if (known === 0) this.#dead--;
      bits[entry] = known | added;
      flipped[count++] = row;
      union |= added;
      this.#list.touch(entry);
    }
    return { bits: flips, union, rows: flipped.subarray(0, count) };
  }

  /** Adds to counts: of each row and member, `weights`. */
  #step(entries: Int32Array, rows: number, weights: Float64Array): Flips {
    const counts = this.#counts as Float64Array;
    const width = this.#members;
    const flips = new Int32Array(rows);
    const flippedRows = new Int32Array(rows);
    let count = 0;
    let union = 0;
    for (let row = 0; row < rows; row++) {
      const entry = entries[row] as number;
      if (entry < 0) continue;
      let flipped = 0;
      for (let member = 0; member < width; member++) {
        const at = entry * width + member;
        const before = counts[at] as number;
        const after = before + (weights[row * width + member] as number);
        counts[at] = after;
        if (before > 0 !== after > 0) flipped |= 1 << member;
      }
      this.#list.touch(entry);
      if (flipped === 0) continue;
      flips[row] = flipped;
      flippedRows[count++] = row;
      union |= flipped;
      const known = this.#bits[entry] as number;
      this.#bits[entry] = known ^ flipped;
      if (known === 0) this.#extremes?.add(entry);
      this.#dead += Number((known ^ flipped) === 0) - Number(known === 0);
    }
    return { bits: flips, union, rows: flippedRows.subarray(0, count) };
  }

  /** Drops entries that no member has when they outweigh the others. */
  sweep(): void {
    if (this.#dead <= DEAD_MAX || this.#dead * 2 <= this.#list.count) return;
    this.#keep(this.#list.all().filter((entry) => !this.#isSpent(entry)));
  }

  /** Whether an entry says nothing: a count below zero still has to be made up for. */
  #isSpent(entry: number): boolean {
    if (this.#counts === null) return this.#bits[entry] === 0;
    for (let at = entry * this.#members; at < (entry + 1) * this.#members; at++)
      if (this.#counts[at] !== 0) return false;
    return true;
  }

  #keep(kept: Int32Array): void {
    const width = this.#members;
    this.#index = this.#index.retain(kept);
    this.#bits = Int32Array.from(kept, (entry) => this.#bits[entry] as number);
    const counts = this.#counts;
    if (counts !== null)
      this.#counts = Float64Array.from(
        { length: kept.length * width },
        (_, at) =>
          counts[(kept[Math.floor(at / width)] as number) * width + (at % width)] as number,
      );
    this.#list.keep(kept);
    this.#extremes?.rebuild(this.#valuesOf(this.#list.all())[0] as Column);
    this.#dead = this.#bits.reduce((dead, bits) => dead + Number(bits === 0), 0);
  }

  #valuesOf(entries: Int32Array): Column[] {
    return this.#index.keyColumns(entries).slice(1);
  }

  #countsOf(entries: Int32Array): Column[] {
    const counts = this.#counts;
    if (counts === null)
      return [
        int32Column(
          Int32Array.from(entries, (entry) => this.#bits[entry] as number),
          entries.length,
        ),
      ];
    return this.countTypes.map((_, member) =>
      countColumn(
        counts,
        entries.map((entry) => entry * this.#members + member),
      ),
    );
  }

  takeEntries(all: boolean): EntryChanges {
    const changed = this.#list.takeChanged();
    const whole = all || changed === null;
    const named = whole ? this.#list.all() : changed;
    const kept = named.filter((entry) => !this.#isSpent(entry));
    const gone = whole ? new Int32Array(0) : named.filter((entry) => this.#isSpent(entry));
    const owner = (entry: number): number => this.#list.owners[entry] as number;
    return {
      whole,
      groups: kept.map(owner),
      columns: [...this.#valuesOf(kept), ...this.#countsOf(kept)],
      removedGroups: gone.map(owner),
      removed: this.#valuesOf(gone),
    };
  }

  mergeEntries(groups: Int32Array, rows: number, columns: readonly Column[]): void {
    this.merge(groups, rows, columns);
  }

  /** Folds in entries as `takeEntries` gave them; of each row, the members for which its tuple came. */
  merge(groups: Int32Array, rows: number, columns: readonly Column[]): Flips {
    const width = this.valueTypes.length;
    const values = columns.slice(0, width);
    if (this.#counts === null)
      return this.update(groups, rows, values, (columns[width] as Int32Column).values, null);
    const counts = columns.slice(width) as Int64Column[];
    const everyone = new Int32Array(rows).fill(-1);
    const entries = this.#entriesOf(groups, rows, values, everyone);
    const weights = new Float64Array(rows * this.#members);
    counts.forEach(({ words }, member) => {
      for (let row = 0; row < rows; row++)
        weights[row * this.#members + member] = int64AsNumber(words, row);
    });
    return this.#step(entries, rows, weights);
  }

  /**
   * The tuples of the given groups. They are sorted by the last `orders.length` columns, then by all.
   *
   * @param sorted  false: in no order, for answers that do not depend on one
   */
  bags(groups: Int32Array, orders: readonly SortOrder[] = [], sorted = true): Bags {
    const { entries, offsets } = this.#list.of(groups, (entry) => this.#bits[entry] !== 0);
    const columns = this.#valuesOf(entries);
    const order = allGroups(entries.length);
    if (sorted) {
      const compare = tupleOrder(columns, orders);
      for (let at = 0; at < groups.length; at++)
        order.subarray(offsets[at], offsets[at + 1]).sort(compare);
    }
    const counts = this.#counts;
    return {
      offsets,
      columns: sorted ? columns.map((column) => takeColumn(column, order, order.length)) : columns,
      counts: Float64Array.from(order, (at) =>
        counts === null ? 1 : (counts[(entries[at] as number) * this.#members] as number),
      ),
    };
  }

  /** The smallest or the largest value of each group; NULL for one without. */
  extreme(groups: Int32Array): Column {
    return must(this.#extremes ?? undefined, 'extremes').extreme(groups, this.#bits);
  }

  stateColumns(groups: Int32Array): Column[] {
    const { entries, offsets } = this.#list.of(groups, (entry) => !this.#isSpent(entry));
    const columns = [...this.#valuesOf(entries), ...this.#countsOf(entries)];
    const compare = tupleOrder(columns.slice(0, this.valueTypes.length), []);
    return listsOf(columns, offsets, compare);
  }

  /** The rows of lists as `stateColumns` gave them. */
  mergeLists(
    groups: Int32Array,
    rows: number,
    lists: readonly Column[],
  ): { rows: number; columns: readonly Column[]; owners: Int32Array; flips: Flips } {
    const { owners, columns } = rowsOfLists(groups, rows, lists as readonly ListColumn[]);
    return {
      rows: owners.length,
      columns,
      owners,
      flips: this.merge(owners, owners.length, columns),
    };
  }

  bytes(): number {
    return (
      this.#index.bytes() +
      this.#list.bytes() +
      this.#bits.byteLength +
      (this.#counts?.byteLength ?? 0) +
      (this.#extremes?.bytes() ?? 0)
    );
  }
}

/** The groups, with -1 for rows that no member sees. */
function seenRows(groups: Int32Array, rows: number, members: Int32Array): Int32Array {
  let row = 0;
  while (row < rows && (members[row] !== 0 || (groups[row] as number) < 0)) row++;
  if (row === rows) return groups;
  const seen = groups.slice(0, rows);
  for (; row < rows; row++) if (members[row] === 0) seen[row] = -1;
  return seen;
}
