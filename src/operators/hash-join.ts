/**
 * Joins two streams by key: each row meets the rows the other side has kept, and is kept itself for those to come.
 *
 * Place in the walk: stage 6, behind a shuffle of both sides by their keys. Two ways to treat a row without a match:
 * - joined by nothing but keys (`any`), it comes out at once with NULLs, is taken back when its first match comes and
 *   comes again when its last match is taken back; sides may take rows back;
 * - bounded by time (`interval`, `window`), it comes out once, when event time says that no match can come any more;
 *   its event time is then the last time at which one could have come. Nothing is ever taken back.
 *
 * Rows whose keys hold NULL meet nobody, except by IS NOT DISTINCT FROM, and are not kept.
 * State tables `left` and `right`, see `JoinSide`. A bounded row is dropped when no row of the other side that is not
 * late can meet it; with a time to live, rows further apart than that do not meet, whenever they come, and are dropped
 * without a word when event time has passed them by as much.
 * Invariants: INV-66 at any time, the rows emitted less those taken back are the join of the rows so far (bounded: of
 * those event time has passed); INV-67 that does not depend on batches, order between the sides, or subtasks.
 * Failure: rows that cannot be computed are errors; rows that come after what they could meet was dropped are late.
 */
import { LIMITS } from '../base/limits.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { sliceBatch } from '../batch/take.ts';
import type { Schema } from '../batch/types.ts';
import type { JoinSpec } from '../graph/graph.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import { must } from '../base/assert.ts';
import { RowLists, type RowTimes } from '../state/row-lists.ts';
import { type KeyedBatch, JoinInputs } from './join-inputs.ts';
import { JoinOutput } from './join-output.ts';
import { JoinPairs } from './join-pairs.ts';
import { JoinSide } from './join-side.ts';
import { withoutLateRows } from './late-rows.ts';
import type { Operator, Output, Watermark } from './operator.ts';
import { timeAt } from './times.ts';

/** Pairs are tested and emitted once there are so many; those of one row are never parted. */
const PAIRS_MAX = 8192;

/** What one side does with its rows. */
type Role = {
  schema: Schema;
  side: JoinSide;
  inputs: JoinInputs;
  /** A row without a match comes out. */
  emitsUnmatched: boolean;
  /** A row comes out once it has a match. */
  emitsMatched: boolean;
  /** Its rows need to know whether they had a match. */
  counts: boolean;
  /** Rows are dropped when event time is past theirs by more than this; null: never. */
  hold: number | null;
};

export class HashJoin implements Operator {
  readonly copiesRows = true;
  readonly keepsChanges = true;
  readonly #roles: readonly [Role, Role];
  readonly #lists: RowLists;
  readonly #pairs: JoinPairs;
  readonly #out: JoinOutput;
  /** Bounds of right time less left time. */
  readonly #low: number;
  readonly #high: number;
  readonly #bounded: boolean;
  /** Unmatched rows come out when they are sure. */
  readonly #deferred: boolean;
  readonly #emitsPairs: boolean;
  /** A left row is done with once it has a match. */
  readonly #dropsMatched: boolean;
  /** One right row per key tells everything. */
  readonly #onePerKey: boolean;
  #watermark: Watermark = -Infinity;
  /** Rows of the other side looked at. */
  #looked = 0;
  #rest: RecordBatch | null = null;
  /** Rows of the batch at hand that are kept once all have been looked at, and how many each has met. */
  #keepsLater = false;
  readonly #keptRows: number[] = [];
  readonly #keptMatches: number[] = [];
  /** State came back that was due already. */
  #overdue = false;

  constructor(spec: JoinSpec, schemas: readonly [Schema, Schema]) {
    const { kind, time, updating } = spec;
    const { low, high, bounded } = boundsOf(spec);
    this.#low = low;
    this.#high = high;
    this.#bounded = bounded;
    this.#deferred = time.tag !== 'any';
    this.#emitsPairs = kind !== 'semi' && kind !== 'anti';
    const append = !updating[0] && !updating[1];
    this.#dropsMatched = !this.#emitsPairs && append;
    this.#onePerKey =
      !this.#emitsPairs && !updating[1] && spec.residual === null && time.tag === 'any' && !bounded;
    const holds = holdsOf(spec, low, high);
    const lists = new RowLists(spec.keys[0].map((key) => key.type));
    this.#lists = lists;
    const role = (at: 0 | 1): Role => {
      const emitsUnmatched =
        at === 0
          ? kind === 'left' || kind === 'full' || kind === 'anti'
          : kind === 'right' || kind === 'full';
      const emitsMatched = at === 0 && kind === 'semi';
      return {
        schema: schemas[at],
        side: new JoinSide(
          at === 0 ? 'left' : 'right',
          schemas[at],
          spec.keys[at],
          lists,
          holds[at] !== null,
        ),
        inputs: new JoinInputs(spec.keys[at], spec.nullsMeet, schemas[at], lists),
        emitsUnmatched,
        emitsMatched,
        counts: emitsUnmatched || emitsMatched,
        hold: holds[at],
      };
    };
    this.#roles = [role(0), role(1)];
    this.#pairs = new JoinPairs(spec.residual, schemas);
    const timed = this.#emitsPairs ? spec.eventTime[0] && spec.eventTime[1] : spec.eventTime[0];
    this.#out = new JoinOutput(schemas, !this.#emitsPairs, timed, spec.keys);
  }

  #role(port: number): Role {
    return this.#roles[port === 0 ? 0 : 1];
  }

  onBatch(port: number, batch: RecordBatch, output: Output): void {
    if (this.#overdue) this.#expire(output);
    const own = this.#role(port);
    const other = this.#role(1 - port);
    const onTime = this.#withoutLate(own, batch, output);
    if (onTime.rows === 0) return;
    const evaluated = own.inputs.evaluate(onTime, output);
    const { rows } = evaluated.batch;
    if (rows === 0) return;
    const times = { words: evaluated.batch.eventTime?.words ?? null, all: this.#watermark };
    const enough = this.#looked + LIMITS.unitRowsMax;
    for (let from = 0; from < rows;) {
      if (this.#looked >= enough) {
        this.#rest = sliceBatch(evaluated.batch, from, rows);
        break;
      }
      const to = this.#collect(port, times, evaluated, from);
      this.#looked += this.#pairs.count;
      this.#pairs.test(port, evaluated.batch, other.side, output);
      if (this.#emitsPairs && !own.counts && !other.counts && evaluated.batch.retract === null)
        this.#meet(port, evaluated, times, from, to, output);
      else this.#account(port, evaluated, times, from, to);
      this.#out.flush(port, evaluated.batch, other.side, output);
      from = to;
    }
    this.#lists.tidy();
  }

  takeRest(): RecordBatch | null {
    const rest = this.#rest;
    this.#rest = null;
    return rest;
  }

  /** Reports rows that come after what they could meet was dropped; the batch itself when there are none. */
  #withoutLate(own: Role, batch: RecordBatch, output: Output): RecordBatch {
    const grace = this.#deferred ? 0 : own.hold;
    if (grace === null) return batch;
    return withoutLateRows(batch, own.schema, this.#watermark - grace, this.#watermark, output);
  }

  /** Gathers the candidate pairs of rows from `from` on; the row after the last one it did. */
  #collect(
    port: number,
    times: RowTimes,
    { batch: { rows }, keys, nulls }: KeyedBatch,
    from: number,
  ): number {
    const pairs = this.#pairs;
    const { side } = this.#role(1 - port);
    pairs.clear();
    if (!this.#bounded) return side.rows.meet(keys, nulls, from, rows, PAIRS_MAX, pairs);
    let row = from;
    for (; row < rows && pairs.count < PAIRS_MAX; row++) {
      if (nulls !== null && nulls[row] === 1) continue;
      const first = side.rows.first(keys[row] as number);
      const time = timeOf(times, row);
      for (let id = first; id >= 0; id = side.rows.next(id)) {
        this.#looked++;
        const apart = side.timeOf(id) - time;
        const difference = port === 0 ? apart : -apart;
        if (difference < this.#low || difference > this.#high) continue;
        pairs.push(row, id);
      }
    }
    return row;
  }

  /** An inner join of rows that stay: all pairs come out, all rows are kept. */
  #meet(
    port: number,
    evaluated: KeyedBatch,
    times: RowTimes,
    from: number,
    to: number,
    output: Output,
  ): void {
    const { side } = this.#role(1 - port);
    const { count } = this.#pairs;
    const rows = this.#pairs.rows.subarray(0, count);
    const ids = this.#pairs.ids.subarray(0, count);
    this.#out.emitPairs(port, evaluated.batch, side, rows, ids, times, output);
    const { nulls, batch, keys } = evaluated;
    const own = this.#role(port).side;
    if (nulls === null) {
      own.insertRows(batch.columns, keys, from, to, times);
      return;
    }
    const kept = new Int32Array(to - from);
    let keeps = 0;
    for (let row = from; row < to; row++) if (nulls[row] === 0) kept[keeps++] = row;
    own.insertAll(batch.columns, keys, kept.subarray(0, keeps), times, null);
  }

  #keep(own: Role, evaluated: KeyedBatch, row: number, time: number, matches: number): void {
    const { batch, keys } = evaluated;
    own.side.insert(batch.columns, row, keys[row] as number, time, matches);
  }

  /** Row by row, keeping count of who has met whom. */
  #account(port: number, evaluated: KeyedBatch, times: RowTimes, from: number, to: number): void {
    const { nulls } = evaluated;
    const { retract } = evaluated.batch;
    let pair = 0;
    // Rows of this batch need not find each other unless one takes another back.
    this.#keepsLater = retract === null && !(port === 1 && this.#onePerKey);
    for (let row = from; row < to; row++) {
      const first = pair;
      while (pair < this.#pairs.count && this.#pairs.rows[pair] === row) pair++;
      const isNull = nulls !== null && nulls[row] === 1;
      const time = timeOf(times, row);
      if (retract !== null && retract[row] === 1)
        this.#takeBack(port, evaluated, row, time, isNull, first, pair);
      else this.#add(port, evaluated, row, time, isNull, first, pair);
    }
    if (this.#keptRows.length === 0) return;
    const { batch, keys } = evaluated;
    const rows = Int32Array.from(this.#keptRows);
    const matches = Int32Array.from(this.#keptMatches);
    this.#role(port).side.insertAll(batch.columns, keys, rows, times, matches);
    this.#keptRows.length = 0;
    this.#keptMatches.length = 0;
  }

  #add(
    port: number,
    evaluated: KeyedBatch,
    row: number,
    time: number,
    isNull: boolean,
    first: number,
    end: number,
  ): void {
    const own = this.#role(port);
    const other = this.#role(1 - port);
    let met = 0;
    for (let at = first; at < end; at++) {
      const id = this.#pairs.ids[at] as number;
      if (!other.side.isAlive(id)) continue;
      met++;
      const later = Math.max(time, other.side.timeOf(id));
      if (other.counts && other.side.addMatch(id, 1) === 1) this.#metFirst(other, id, later);
      if (this.#emitsPairs) this.#out.push(row, id, 0, later);
      // Its values stay readable until its place is given away, which no row of this side does.
      if (port === 1 && this.#dropsMatched) other.side.remove(id);
    }
    const hold = own.hold ?? 0;
    if (met > 0 && own.emitsMatched)
      this.#out.push(row, -1, 0, this.#deferred ? time + hold : time);
    if (met === 0 && own.emitsUnmatched && (!this.#deferred || isNull))
      this.#out.push(row, -1, 0, this.#deferred ? time + hold : time);
    if (isNull || (port === 0 && this.#dropsMatched && met > 0)) return;
    if (port === 1 && this.#onePerKey && firstOf(own, evaluated, row) >= 0) return;
    if (this.#keepsLater) {
      this.#keptRows.push(row);
      this.#keptMatches.push(met);
    } else this.#keep(own, evaluated, row, time, met);
  }

  /** A row of the other side has its first match. */
  #metFirst(other: Role, id: number, later: number): void {
    const time = other.side.timeOf(id);
    if (other.emitsUnmatched && !this.#deferred) this.#out.push(-1, id, 1, time);
    if (other.emitsMatched)
      this.#out.push(-1, id, 0, this.#deferred ? time + (other.hold ?? 0) : later);
  }

  #takeBack(
    port: number,
    evaluated: KeyedBatch,
    row: number,
    time: number,
    isNull: boolean,
    first: number,
    end: number,
  ): void {
    const own = this.#role(port);
    const other = this.#role(1 - port);
    if (isNull) {
      if (own.emitsUnmatched) this.#out.push(row, -1, 1, time);
      return;
    }
    const head = firstOf(own, evaluated, row);
    const gone = own.side.locate(head, evaluated.batch.columns, row, time);
    // It was forgotten, and so is what became of it.
    if (gone < 0) return;
    for (let at = first; at < end; at++) {
      const id = this.#pairs.ids[at] as number;
      const otherTime = other.side.timeOf(id);
      if (this.#emitsPairs) this.#out.push(row, id, 1, Math.max(time, otherTime));
      if (!other.counts || other.side.matchesOf(id) === 0) continue;
      if (other.side.addMatch(id, -1) > 0) continue;
      if (other.emitsUnmatched) this.#out.push(-1, id, 0, otherTime);
      if (other.emitsMatched) this.#out.push(-1, id, 1, otherTime);
    }
    const met = own.side.matchesOf(gone) > 0;
    if (met ? own.emitsMatched : own.emitsUnmatched) this.#out.push(row, -1, 1, time);
    own.side.remove(gone);
  }

  onWatermark(watermark: Watermark, output: Output): void {
    if (watermark <= this.#watermark) return;
    const isFirst = this.#watermark === -Infinity;
    this.#watermark = watermark;
    if (isFirst) for (const { side } of this.#roles) side.stamp(watermark);
    this.#expire(output);
  }

  /** Drops the rows that event time has passed; those that had no match come out first, if they are to. */
  #expire(output: Output): void {
    this.#overdue = false;
    this.#roles.forEach(({ side, hold, emitsUnmatched }, at) => {
      if (hold === null) return;
      const bound = this.#watermark - hold;
      const emits = this.#deferred && emitsUnmatched;
      side.expire(bound, (id) => {
        if (emits && side.matchesOf(id) === 0) this.#out.push(-1, id, 0, side.timeOf(id) + hold);
      });
      this.#out.flush(1 - at, null, side, output);
    });
    this.#lists.tidy();
  }

  onTick(_nowMs: number, output: Output): void {
    if (this.#overdue) this.#expire(output);
  }

  onBarrier(_output: Output): void {}

  snapshot(kind: SnapshotKind): StateTable[] {
    return this.#roles.flatMap(({ side }) => side.snapshot(kind));
  }

  restore(tables: readonly StateTable[]): void {
    for (const table of tables) {
      const { side, hold } = must(
        this.#roles.find((role) => role.side.table === table.table),
        `state table ${table.table}`,
      );
      side.restore(table);
      if (this.#watermark > -Infinity) side.stamp(this.#watermark);
      if (hold !== null && side.hasBelow(this.#watermark - hold)) this.#overdue = true;
    }
  }

  stateBytes(): number {
    return this.#roles.reduce((sum, { side }) => sum + side.bytes(), this.#lists.bytes());
  }

  effort(): number {
    return this.#looked;
  }

  stateRows(): number {
    return this.#roles.reduce((sum, { side }) => sum + side.count, 0);
  }
}

/** The event time of a row of the batch; rows that have none count as of now. */
const timeOf = ({ words, all }: RowTimes, row: number): number =>
  words === null ? all : timeAt(words, row);

/** The first row that a side keeps with the key of a row of its own. */
const firstOf = (own: Role, { keys }: KeyedBatch, row: number): number =>
  own.side.rows.first(keys[row] as number);

/** How far apart two rows may be that meet. */
function boundsOf({ time, eventTime }: JoinSpec): { low: number; high: number; bounded: boolean } {
  switch (time.tag) {
    case 'interval':
      return {
        low: time.lowMicros ?? -Infinity,
        high: time.highMicros ?? Infinity,
        bounded: true,
      };
    case 'window':
      // Equal windows are equal times: those of windowed rows are their window's end less 1 µs.
      return { low: 0, high: 0, bounded: false };
    case 'any':
      return time.ttlMicros === null
        ? { low: -Infinity, high: Infinity, bounded: false }
        : { low: -time.ttlMicros, high: time.ttlMicros, bounded: eventTime[0] && eventTime[1] };
    default:
      return { low: -Infinity, high: Infinity, bounded: false };
  }
}

/** How long each side's rows are kept behind event time. */
function holdsOf({ time }: JoinSpec, low: number, high: number): [number | null, number | null] {
  if (time.tag === 'any') return [time.ttlMicros, time.ttlMicros];
  const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
  return [finite(Math.max(0, high)), finite(Math.max(0, -low))];
}
