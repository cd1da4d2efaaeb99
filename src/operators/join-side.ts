/**
 * The rows that one side of a join keeps, found by key, by time and by value.
 *
 * Place in the walk: stage 6, under the joins. Row `id` is value `id` of every column store; places of rows that were
 * taken out are given to later ones. Rows may be equal: each has a serial number, which with the hash of its key names
 * it in checkpoints, whatever subtask holds it.
 *
 * State table: time, key hash, serial, number of matches, then the row's columns. The first three name a row.
 * Invariants: no two rows with one key hash have one serial; `#changed` and `#gone` tell everything that happened since
 * the last snapshot, except rows that were dropped because time had passed them, which `#droppedBelow` tells.
 */
import { assert, must } from '../base/assert.ts';
import { nullColumn } from '../batch/column-builder.ts';
import { bitmapBytes, clearBit, type Column } from '../batch/column.ts';
import { INT32, INT64, TIMESTAMP, type Schema } from '../batch/types.ts';
import { compileExpr, type CompiledExpr } from '../expr/compile.ts';
import type { Expr } from '../expr/expr.ts';
import { RowErrors } from '../expr/row-errors.ts';
import { makeColumnStore, type ColumnStore } from '../state/column-store.ts';
import { allGroups } from '../state/group-index.ts';
import { grown, wider } from '../state/growth.ts';
import type { RowList, RowLists, RowTimes } from '../state/row-lists.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import { ChangeLog, KEY_COLUMNS, NO_TIME, keyColumnsOf } from './change-log.ts';
import { ExpiryQueue } from './expiry-queue.ts';
import { timeAt } from './times.ts';

export class JoinSide {
  readonly table: string;
  readonly #schema: Schema;
  readonly #keyExprs: readonly CompiledExpr[];
  /** One store per column of the row. */
  readonly #columns: readonly ColumnStore[];
  readonly #lists: RowLists;
  /** Its rows by key with their event times, and which places hold one. */
  readonly rows: RowList;
  /** Places there is room for in `#matches` and `#serials`. */
  #room = 0;
  /** How many rows of the other side it has met; null while none has met any. */
  #matches: Int32Array | null = null;
  /** Null while rows have but been added, which have the serials 1, 2, 3 … in the order of their places. */
  #serials: Float64Array | null = null;
  #free: Int32Array = new Int32Array(0);
  #freeCount = 0;
  #size = 0;
  #nextSerial = 1;
  readonly #queue: ExpiryQueue | null;
  #unstamped: number[] = [];
  readonly #log = new ChangeLog();

  /**
   * @param lists  of this side and the other one
   * @param timed  whether rows are taken out when event time has passed them
   */
  constructor(
    table: 'left' | 'right',
    schema: Schema,
    keys: readonly Expr[],
    lists: RowLists,
    timed: boolean,
  ) {
    this.table = table;
    this.#schema = schema;
    this.#keyExprs = keys.map(compileExpr);
    this.#columns = schema.map((field) => makeColumnStore(field.type));
    this.#lists = lists;
    this.rows = lists[table];
    this.#queue = timed ? new ExpiryQueue() : null;
  }

  get count(): number {
    return this.rows.count;
  }

  isAlive(id: number): boolean {
    return this.rows.has(id);
  }

  /** Adds row `row` of a batch; its place. */
  insert(
    columns: readonly Column[],
    row: number,
    key: number,
    time: number,
    matches: number,
  ): number {
    const id = this.#place(columns, row);
    this.#number(id, this.#nextSerial++);
    this.rows.add(id, key, time);
    this.#note(id, time, matches);
    return id;
  }

  /**
   * Adds several rows of a batch.
   *
   * @param keys     the number of the key of each row of the batch
   * @param rows     which are added, in ascending order
   * @param times    of the rows of the batch
   * @param matches  of each row that is added; null: none has any
   */
  insertAll(
    columns: readonly Column[],
    keys: Int32Array,
    rows: Int32Array,
    times: RowTimes,
    matches: Int32Array | null,
  ): void {
    const count = rows.length;
    if (count === 0) return;
    const from = rows[0] as number;
    if (this.#freeCount === 0 && (rows[count - 1] as number) === from + count - 1) {
      this.#insertRun(columns, keys, from, count, times, matches);
      return;
    }
    const ids = this.#takePlaces(count);
    for (let at = 0; at < columns.length; at++)
      (this.#columns[at] as ColumnStore).put(ids, columns[at] as Column, rows, count);
    for (let at = 0; at < count; at++) {
      const id = ids[at] as number;
      const row = rows[at] as number;
      const time = times.words === null ? times.all : timeAt(times.words, row);
      this.#number(id, this.#nextSerial++);
      this.rows.add(id, keys[row] as number, time);
      this.#note(id, time, matches === null ? 0 : (matches[at] as number));
    }
  }

  /** As `insertAll`, of all rows in `[from, to)`, of which none has matches. */
  insertRows(
    columns: readonly Column[],
    keys: Int32Array,
    from: number,
    to: number,
    times: RowTimes,
  ): void {
    if (this.#freeCount === 0) this.#insertRun(columns, keys, from, to - from, times, null);
    else {
      const rows = Int32Array.from({ length: to - from }, (_, at) => from + at);
      this.insertAll(columns, keys, rows, times, null);
    }
  }

  /** Neighbours go to neighbouring places: nearly everything is a copy of a stretch. */
  #insertRun(
    columns: readonly Column[],
    keys: Int32Array,
    from: number,
    count: number,
    times: RowTimes,
    matches: Int32Array | null,
  ): void {
    const first = this.#size;
    this.#size += count;
    for (let at = 0; at < columns.length; at++)
      (this.#columns[at] as ColumnStore).appendRows(columns[at] as Column, from, count);
    this.rows.addRun(first, keys, times, from, count);
    if (this.#serials === null && this.#nextSerial === first + 1) this.#nextSerial += count;
    else for (let at = 0; at < count; at++) this.#number(first + at, this.#nextSerial++);
    if (matches !== null)
      for (let at = 0; at < count; at++) this.#setMatches(first + at, matches[at] as number);
    if (this.#queue !== null)
      for (let at = 0; at < count; at++) this.#await(first + at, this.timeOf(first + at));
  }

  /** Free places: given back ones first, then new ones. */
  #takePlaces(count: number): Int32Array {
    const ids = new Int32Array(count);
    const reused = Math.min(count, this.#freeCount);
    for (let at = 0; at < reused; at++) ids[at] = this.#free[--this.#freeCount] as number;
    for (let at = reused; at < count; at++) ids[at] = this.#size++;
    return ids;
  }

  /** Gives a row its serial, kept only once they do not follow from the places. */
  #number(id: number, serial: number): void {
    if (this.#serials === null) {
      if (serial === id + 1) return;
      this.#serials = new Float64Array(this.#makeRoom());
      for (let at = 0; at < this.#size; at++) this.#serials[at] = at + 1;
    }
    if (id >= this.#serials.length) this.#makeRoom();
    this.#serials[id] = serial;
  }

  #serialOf(id: number): number {
    return this.#serials === null ? id + 1 : (this.#serials[id] as number);
  }

  /** How many rows of the other side it has met. */
  matchesOf(id: number): number {
    return this.#matches?.[id] ?? 0;
  }

  #setMatches(id: number, matches: number): void {
    if (this.#matches === null) {
      if (matches === 0) return;
      this.#matches = new Int32Array(this.#makeRoom());
    }
    if (id >= this.#matches.length) this.#makeRoom();
    this.#matches[id] = matches;
  }

  #note(id: number, time: number, matches: number): void {
    this.#setMatches(id, matches);
    if (this.#queue !== null) this.#await(id, time);
  }

  /** Lets a row wait for event time to pass it. */
  #await(id: number, time: number): void {
    if (time === -Infinity) this.#unstamped.push(id);
    else this.#queue?.push(time, id, this.#serialOf(id));
  }

  /** Copies the values of a row to a free place. */
  #place(columns: readonly Column[], row: number): number {
    if (this.#freeCount > 0) {
      const id = this.#free[--this.#freeCount] as number;
      for (let at = 0; at < columns.length; at++)
        (this.#columns[at] as ColumnStore).set(id, columns[at] as Column, row);
      return id;
    }
    const id = this.#size++;
    for (let at = 0; at < columns.length; at++)
      (this.#columns[at] as ColumnStore).append(columns[at] as Column, row);
    return id;
  }

  /** Room in `#matches` and `#serials` for all places; how many that are. */
  #makeRoom(): number {
    if (this.#room < this.#size) this.#room = grown(this.#room, this.#size);
    if (this.#serials !== null) this.#serials = wider(Float64Array, this.#serials, this.#room);
    if (this.#matches !== null) this.#matches = wider(Int32Array, this.#matches, this.#room);
    return this.#room;
  }

  /** The event time of a row. */
  timeOf(id: number): number {
    return this.rows.timeOf(id);
  }

  /** Changes how many rows a row has met; the new number. */
  addMatch(id: number, step: 1 | -1): number {
    const count = Math.max(0, this.matchesOf(id) + step);
    this.#setMatches(id, count);
    this.#log.changed(id);
    return count;
  }

  /** A row among those from `first` on, which have its key, that equals a row of a batch; -1: none. */
  locate(first: number, columns: readonly Column[], row: number, time: number): number {
    let found = -1;
    for (let id = first; id >= 0; id = this.rows.next(id)) {
      if (!this.#equals(id, columns, row)) continue;
      if (this.timeOf(id) === time) return id;
      if (found < 0) found = id;
    }
    return found;
  }

  #equals(id: number, columns: readonly Column[], row: number): boolean {
    for (let at = 0; at < columns.length; at++) {
      if (!(this.#columns[at] as ColumnStore).equals(id, columns[at] as Column, row)) return false;
    }
    return true;
  }

  remove(id: number): void {
    const serial = this.#serialOf(id);
    if (this.#log.wasTold(serial))
      this.#log.removedRow(this.timeOf(id), this.rows.hashOf(id), serial);
    this.#vacate(id);
  }

  #vacate(id: number): void {
    this.rows.remove(id);
    if (this.#freeCount === this.#free.length)
      this.#free = wider(Int32Array, this.#free, grown(this.#free.length, this.#freeCount + 1));
    this.#free[this.#freeCount++] = id;
  }

  /** Whether a row's time lies below the bound. */
  hasBelow(bound: number): boolean {
    return this.#queue !== null && this.#queue.first < bound;
  }

  /** Takes out every row whose time lies below the bound; its values stay readable until the next one is added. */
  expire(bound: number, visit: (id: number) => void): void {
    if (this.#queue === null || bound === -Infinity) return;
    const before = this.count;
    this.#queue.takeBelow(bound, (id, serial) => {
      if (!this.rows.has(id) || this.#serialOf(id) !== serial) return;
      visit(id);
      this.#vacate(id);
    });
    if (this.count < before) this.#log.dropBelow(bound);
  }

  /** Tells of every row, once, when event time has passed it; it is kept. */
  passed(bound: number, visit: (id: number) => void): void {
    if (this.#queue === null || bound === -Infinity) return;
    this.#queue.takeBelow(bound, (id, serial) => {
      if (this.rows.has(id) && this.#serialOf(id) === serial) visit(id);
    });
  }

  /** Whether row `one` was added after row `other`. */
  isNewer(one: number, other: number): boolean {
    return this.#serialOf(one) > this.#serialOf(other);
  }

  /** Rows that came before event time was known count as of now. */
  stamp(time: number): void {
    if (this.#unstamped.length === 0) return;
    for (const id of this.#unstamped) {
      if (!this.rows.has(id) || this.timeOf(id) !== -Infinity) continue;
      const serial = this.#serialOf(id);
      if (this.#log.wasTold(serial)) this.#log.removedRow(-Infinity, this.rows.hashOf(id), serial);
      this.rows.setTime(id, time);
      this.#log.changed(id);
      this.#queue?.push(time, id, serial);
    }
    this.#unstamped = [];
  }

  /**
   * The rows at the given places.
   *
   * @param known  of columns that are known already, where they stand in `given`; -1: to be gathered
   */
  gatherRows(ids: Int32Array, known: Int32Array, given: readonly Column[]): Column[] {
    return this.#columns.map((store, at) => {
      const place = known[at] ?? -1;
      return place < 0 ? store.gather(ids) : must(given[place], 'a known column');
    });
  }

  /** The rows at the given places, NULLs where the place is negative. */
  gather(ids: Int32Array): Column[] {
    return this.#columns.map((store) => gatherPadded(store, ids));
  }

  /** Bytes of the texts and lists of the rows at the given places, of the columns in `used`; null: of all. */
  gatheredBytes(ids: Int32Array, used: ReadonlySet<number> | null = null, offset = 0): number {
    let bytes = 0;
    for (let at = 0; at < this.#columns.length; at++)
      if (used === null || used.has(at + offset))
        bytes += this.#columns[at]?.gatheredBytes?.(ids) ?? 0;
    return bytes;
  }

  /** As `gatherRows`, of the columns in `used` only; others are NULL. */
  gatherSome(ids: Int32Array, used: ReadonlySet<number>, offset: number): Column[] {
    return this.#columns.map((store, at) =>
      used.has(at + offset) ? store.gather(ids) : nullColumn(store.type, 0),
    );
  }

  snapshot(kind: SnapshotKind): StateTable[] {
    if (kind === 'whole' || this.#log.isLong(this.count, this.#nextSerial)) {
      const isUntouched = this.#log.isEmpty(this.#nextSerial);
      this.#log.reset(this.#nextSerial);
      if (this.count === 0 && (kind === 'whole' || isUntouched)) return [];
      return [this.#table(this.ids(), null)];
    }
    if (this.#log.isEmpty(this.#nextSerial)) return [];
    const ids = this.#changedIds();
    const { removed, droppedBelow } = this.#log;
    const gone = removed.times.length === 0 ? null : keyColumnsOf(removed);
    this.#log.reset(this.#nextSerial);
    return [this.#table(ids, { keyColumns: KEY_COLUMNS, removed: gone, droppedBelow })];
  }

  /** The places of rows that are new or have changed. */
  #changedIds(): Int32Array {
    const { firstNew, changedIds } = this.#log;
    const old = changedIds.filter((id) => this.rows.has(id) && this.#serialOf(id) < firstNew);
    // Without serials of their own, rows are new from a place on.
    const from = this.#serials === null ? firstNew - 1 : 0;
    const ids = new Int32Array(old.length + Math.max(0, this.#size - from));
    ids.set(old);
    let count = old.length;
    for (let id = from; id < this.#size; id++)
      if (this.rows.has(id) && this.#serialOf(id) >= firstNew) ids[count++] = id;
    return ids.subarray(0, count);
  }

  /** The places of all rows. */
  ids(): Int32Array {
    if (this.count === this.#size) return allGroups(this.#size);
    const ids = new Int32Array(this.count);
    let count = 0;
    for (let id = 0; id < this.#size; id++) if (this.rows.has(id)) ids[count++] = id;
    return ids;
  }

  #table(ids: Int32Array, changes: StateTable['changes']): StateTable {
    const { length } = ids;
    const { times, hashes } = this.rows.namesOf(ids);
    const common = { length, validity: null };
    const ofKeys = new Int32Array(hashes.buffer);
    return {
      table: this.table,
      schema: [
        { name: 'time', type: TIMESTAMP, nullable: false },
        { name: 'hash', type: INT32, nullable: false },
        { name: 'serial', type: INT64, nullable: false },
        { name: 'matches', type: INT32, nullable: false },
        ...this.#schema.map((field, at) => ({ ...field, name: `c${at}`, nullable: true })),
      ],
      rows: length,
      columns: [
        { tag: 'timestamp', type: TIMESTAMP, ...common, words: times },
        { tag: 'int32', type: INT32, ...common, values: ofKeys },
        { tag: 'int64', type: INT64, ...common, words: this.#serialWords(ids) },
        { tag: 'int32', type: INT32, ...common, values: this.#matchesAt(ids) },
        ...this.#columns.map((store) => store.gather(ids)),
      ],
      hashes,
      changes,
    };
  }

  #serialWords(ids: Int32Array): Int32Array {
    const words = new Int32Array(ids.length * 2);
    const serials = this.#serials;
    if (serials === null) {
      for (let at = 0; at < ids.length; at++) words[at * 2] = (ids[at] as number) + 1;
      return words;
    }
    for (let at = 0; at < ids.length; at++) {
      const serial = serials[ids[at] as number] as number;
      words[at * 2] = serial | 0;
      words[at * 2 + 1] = Math.floor(serial / 4294967296);
    }
    return words;
  }

  #matchesAt(ids: Int32Array): Int32Array {
    const found = new Int32Array(ids.length);
    const matches = this.#matches;
    if (matches !== null)
      for (let at = 0; at < ids.length; at++) found[at] = matches[ids[at] as number] ?? 0;
    return found;
  }

  restore(table: StateTable): void {
    const [times, , serials, matches, ...columns] = table.columns;
    assert(
      times?.tag === 'timestamp' && serials?.tag === 'int64' && matches?.tag === 'int32',
      'the columns of the table',
    );
    const batch = { rows: table.rows, columns, eventTime: null, retract: null };
    const errors = new RowErrors(table.rows);
    const keys = this.#keyExprs.map((key) => key(batch, errors));
    assert(!errors.failed, 'keys that could be computed can be computed again');
    const numbers = this.#lists.number(keys, table.rows);
    const rows = allGroups(table.rows);
    const ids = this.#takePlaces(table.rows);
    this.#columns.forEach((store, at) => store.put(ids, columns[at] as Column, rows, table.rows));
    for (let row = 0; row < table.rows; row++) {
      const id = ids[row] as number;
      const serial = timeAt(serials.words, row);
      this.#number(id, serial);
      if (serial >= this.#nextSerial) this.#nextSerial = serial + 1;
      const saved = timeAt(times.words, row);
      const time = saved <= NO_TIME ? -Infinity : saved;
      this.rows.add(id, numbers[row] as number, time);
      this.#note(id, time, matches.values[row] as number);
    }
    this.#log.reset(this.#nextSerial);
  }

  /** Bytes allocated, those of the lists aside. */
  bytes(): number {
    const flat =
      (this.#serials?.byteLength ?? 0) + (this.#matches?.byteLength ?? 0) + this.#free.byteLength;
    return this.#columns.reduce(
      (sum, store) => sum + store.bytes(),
      flat + (this.#queue?.bytes() ?? 0),
    );
  }
}

/** The values at `ids`, NULL where one is negative. */
function gatherPadded(store: ColumnStore, ids: Int32Array): Column {
  let padded = false;
  for (let at = 0; at < ids.length && !padded; at++) padded = (ids[at] as number) < 0;
  if (!padded) return store.gather(ids);
  if (store.length === 0) return nullColumn(store.type, ids.length);
  const column = store.gather(ids.map((id) => Math.max(0, id)));
  const validity =
    column.validity === null
      ? new Uint8Array(bitmapBytes(ids.length)).fill(255)
      : column.validity.slice();
  for (let at = 0; at < ids.length; at++) if ((ids[at] as number) < 0) clearBit(validity, at);
  return { ...column, validity };
}
