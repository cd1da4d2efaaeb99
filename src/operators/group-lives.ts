/**
 * The lives of groups that are forgotten when nothing has come for them for a while, in event time.
 *
 * Place in the walk: stage 6, under aggregates with a time to live. Rows of one key whose event times are no further apart
 * than the time to live, one to the next, are of one life; the next life begins from zero. A life is over once the
 * watermark has passed its last row by the time to live: no row that is not late can be of it any more. A row that comes
 * out of order may show that two lives are one; so which lives there are follows from the rows only.
 *
 * A life is named by its key and the time of the row it was first seen by. Rows without event time, as those of updating
 * results, count as of the watermark; before there is one they wait for it.
 * Retractions do not lengthen a life, and those of a life that is over mean nothing.
 * Invariants: lives of one key are further apart than the time to live.
 * Failure: none.
 */
import { assert } from '../base/assert.ts';
import type { Column, Int64Column } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { TIMESTAMP, type SqlType } from '../batch/types.ts';
import { allGroups, GroupIndex } from '../state/group-index.ts';
import { grown, wider } from '../state/growth.ts';
import { NO_TIME } from './change-log.ts';
import { ExpiryQueue } from './expiry-queue.ts';
import { timeAt } from './times.ts';

const NONE = -1;
/** What `assign` gives for a row that came too late for any life, and for a retraction of nothing. */
export const LATE = -2;
export const IGNORED = -3;

/** Keys without lives are swept when there are more of them than this and than the others. */
const DEAD_KEYS_MAX = 1024;

export class GroupLives {
  readonly #ttl: number;
  #watermark = -Infinity;
  #keys: GroupIndex;
  /** Per key: its first life of a list in no order. */
  #heads = new Int32Array(16).fill(NONE);
  /** Per life. */
  #next = new Int32Array(16);
  #keyOf = new Int32Array(16);
  #ids = new Float64Array(16);
  #firsts = new Float64Array(16);
  #lasts = new Float64Array(16);
  /** Tells a life from others that had its place before. */
  #serials = new Float64Array(16);
  /** The aggregate's group of each life, and the life of each group. */
  #groups = new Int32Array(16);
  #lifeOf = new Int32Array(16).fill(NONE);
  /** Of a life that turned out to be another one, which. */
  #became = new Int32Array(16).fill(NONE);
  #count = 0;
  #free: number[] = [];
  #nextSerial = 1;
  #unstamped: number[] = [];
  #queue = new ExpiryQueue();
  /** Lives that became others during the last `assign`. */
  #merged: number[] = [];

  constructor(keyTypes: readonly SqlType[], ttlMicros: number) {
    this.#ttl = ttlMicros;
    this.#keys = new GroupIndex(keyTypes);
  }

  get alive(): number {
    return this.#count - this.#free.length;
  }

  get watermark(): number {
    return this.#watermark;
  }

  idOf(life: number): number {
    return this.#ids[life] as number;
  }

  /** The life of each row, or `LATE` or `IGNORED`. */
  assign(keys: readonly Column[], batch: RecordBatch): Int32Array {
    const { rows, retract, eventTime } = batch;
    const lives = new Int32Array(rows);
    const places = new Int32Array(rows);
    this.#keys.lookupOrInsert(keys, 0, rows, places);
    this.#makeKeyRoom();
    const now = this.#watermark === -Infinity ? NO_TIME : this.#watermark;
    for (let row = 0; row < rows; row++) {
      const time = eventTime === null ? now : timeAt(eventTime.words, row);
      const place = places[row] as number;
      lives[row] =
        retract !== null && retract[row] === 1
          ? this.#find(place, time)
          : this.#liveAt(place, time);
    }
    if (this.#merged.length > 0)
      for (let row = 0; row < rows; row++) lives[row] = this.#settled(lives[row] as number);
    return lives;
  }

  #makeKeyRoom(): void {
    const { count } = this.#keys;
    const before = this.#heads.length;
    if (count <= before) return;
    this.#heads = wider(Int32Array, this.#heads, grown(before, count)).fill(NONE, before);
  }

  #reaches(life: number, time: number): boolean {
    return (
      time >= (this.#firsts[life] as number) - this.#ttl &&
      time <= (this.#lasts[life] as number) + this.#ttl
    );
  }

  #find(place: number, time: number): number {
    let life = this.#heads[place] as number;
    while (life !== NONE && !this.#reaches(life, time)) life = this.#next[life] as number;
    return life === NONE ? IGNORED : life;
  }

  /** The life that a row is of, which it may begin, lengthen or make of several. */
  #liveAt(place: number, time: number): number {
    let found = NONE;
    let before = NONE;
    for (let life = this.#heads[place] as number; life !== NONE;) {
      const next = this.#next[life] as number;
      if (!this.#reaches(life, time)) before = life;
      else if (found === NONE) {
        found = life;
        before = life;
      } else {
        this.#unlink(place, life, before);
        this.#merge(life, found);
      }
      life = next;
    }
    if (found === NONE)
      return time !== NO_TIME && time + this.#ttl < this.#watermark
        ? LATE
        : this.#begin(place, time, time, time);
    if (time < (this.#firsts[found] as number)) this.#firsts[found] = time;
    if (time > (this.#lasts[found] as number)) this.#lasts[found] = time;
    return found;
  }

  #unlink(place: number, life: number, before: number): void {
    const next = this.#next[life] as number;
    if (before === NONE) this.#heads[place] = next;
    else this.#next[before] = next;
  }

  #merge(from: number, into: number): void {
    this.#firsts[into] = Math.min(this.#firsts[into] as number, this.#firsts[from] as number);
    this.#lasts[into] = Math.max(this.#lasts[into] as number, this.#lasts[from] as number);
    this.#became[from] = into;
    this.#merged.push(from);
  }

  #settled(life: number): number {
    let now = life;
    while (now >= 0 && this.#became[now] !== NONE) now = this.#became[now] as number;
    return now;
  }

  #begin(place: number, id: number, first: number, last: number): number {
    const life = this.#free.pop() ?? this.#count++;
    this.#makeRoom();
    this.#next[life] = this.#heads[place] as number;
    this.#heads[place] = life;
    this.#keyOf[life] = place;
    this.#ids[life] = id;
    this.#firsts[life] = first;
    this.#lasts[life] = last;
    this.#groups[life] = NONE;
    this.#became[life] = NONE;
    this.#serials[life] = this.#nextSerial++;
    if (last === NO_TIME) this.#unstamped.push(life);
    else this.#queue.push(last, life, this.#serials[life] as number);
    return life;
  }

  #makeRoom(): void {
    const before = this.#next.length;
    if (this.#count <= before) return;
    const room = grown(before, this.#count);
    this.#next = wider(Int32Array, this.#next, room);
    this.#keyOf = wider(Int32Array, this.#keyOf, room);
    this.#ids = wider(Float64Array, this.#ids, room);
    this.#firsts = wider(Float64Array, this.#firsts, room);
    this.#lasts = wider(Float64Array, this.#lasts, room);
    this.#serials = wider(Float64Array, this.#serials, room);
    this.#groups = wider(Int32Array, this.#groups, room);
    this.#became = wider(Int32Array, this.#became, room).fill(NONE, before);
  }

  /** Tells of each life that became another during the last `assign`: their groups, of which one may not be made yet. */
  takeMerged(visit: (from: number, into: number) => void): void {
    for (const life of this.#merged) {
      const into = this.#settled(life);
      visit(this.#groups[life] as number, this.#groups[into] as number);
    }
    for (const life of this.#merged) {
      this.#became[life] = NONE;
      this.#forget(life);
    }
    this.#merged = [];
  }

  #forget(life: number): void {
    const group = this.#groups[life] as number;
    if (group !== NONE) this.#lifeOf[group] = NONE;
    this.#serials[life] = 0;
    this.#free.push(life);
  }

  /** Event time has come to here: lives without it begin now. */
  advance(watermark: number): void {
    this.#watermark = watermark;
    if (watermark === Infinity) return;
    for (const life of this.#unstamped) {
      if (this.#lasts[life] !== NO_TIME || this.#serials[life] === 0) continue;
      this.#firsts[life] = watermark;
      this.#lasts[life] = watermark;
      this.#queue.push(watermark, life, this.#serials[life] as number);
    }
    this.#unstamped = [];
  }

  /** The groups of lives that are over. */
  takeEnded(): number[] {
    const ended: number[] = [];
    const longer: number[] = [];
    const bound = this.#watermark - this.#ttl;
    if (this.#queue.first >= bound) return ended;
    this.#queue.takeBelow(bound, (life, serial) => {
      if (this.#serials[life] !== serial) return;
      if ((this.#lasts[life] as number) >= bound) longer.push(life);
      else ended.push(life);
    });
    for (const life of longer)
      this.#queue.push(this.#lasts[life] as number, life, this.#serials[life] as number);
    return ended.map((life) => {
      this.#dropFromKey(life);
      this.#forget(life);
      return this.#groups[life] as number;
    });
  }

  #dropFromKey(life: number): void {
    const place = this.#keyOf[life] as number;
    let before = NONE;
    for (let at = this.#heads[place] as number; at !== life; at = this.#next[at] as number)
      before = at;
    this.#unlink(place, life, before);
  }

  /** The group's rows are those of the life. */
  setGroup(life: number, group: number): void {
    const before = this.#lifeOf.length;
    if (group >= before)
      this.#lifeOf = wider(Int32Array, this.#lifeOf, grown(before, group + 1)).fill(NONE, before);
    this.#groups[life] = group;
    this.#lifeOf[group] = life;
  }

  isAlive(group: number): boolean {
    return group < this.#lifeOf.length && this.#lifeOf[group] !== NONE;
  }

  /** The first and the last event time of groups that are alive. */
  spansOf(groups: Int32Array): Column[] {
    const lives = groups.map((group) => this.#lifeOf[group] as number);
    return [this.#firsts, this.#lasts].map((times) =>
      timesColumn(Float64Array.from(lives, (life) => times[life] as number)),
    );
  }

  /** A life of a checkpoint, for each row. */
  restore(
    keys: readonly Column[],
    rows: number,
    times: { ids: Int64Column; firsts: Int64Column; lasts: Int64Column },
    groups: Int32Array,
  ): void {
    const places = new Int32Array(rows);
    this.#keys.lookupOrInsert(keys, 0, rows, places);
    this.#makeKeyRoom();
    for (let row = 0; row < rows; row++) {
      const life = this.#begin(
        places[row] as number,
        timeAt(times.ids.words, row),
        timeAt(times.firsts.words, row),
        timeAt(times.lasts.words, row),
      );
      this.setGroup(life, groups[row] as number);
    }
    if (this.#watermark !== -Infinity) this.advance(this.#watermark);
  }

  /** Groups were given new numbers: `kept[i]` is now group i. */
  renumber(kept: Int32Array): void {
    const lives = kept.map((group) => this.#lifeOf[group] as number);
    this.#lifeOf = new Int32Array(Math.max(16, kept.length)).fill(NONE);
    for (let group = 0; group < lives.length; group++) {
      const life = lives[group] as number;
      if (life !== NONE) this.setGroup(life, group);
    }
    this.#sweepKeys();
  }

  #sweepKeys(): void {
    const { count } = this.#keys;
    const kept = allGroups(count).filter((place) => this.#heads[place] !== NONE);
    if (count - kept.length <= Math.max(DEAD_KEYS_MAX, kept.length)) return;
    this.#keys = this.#keys.retain(kept);
    const heads = new Int32Array(Math.max(16, kept.length)).fill(NONE);
    kept.forEach((place, at) => {
      heads[at] = this.#heads[place] as number;
      for (let life = heads[at] as number; life !== NONE; life = this.#next[life] as number)
        this.#keyOf[life] = at;
    });
    this.#heads = heads;
  }

  bytes(): number {
    const perLife = this.#next.byteLength * 4 + this.#ids.byteLength * 4;
    return this.#keys.bytes() + this.#heads.byteLength + perLife + this.#queue.bytes();
  }
}

/** Times as a column; `NO_TIME` stands for one that is not known yet. */
export function timesColumn(times: ArrayLike<number>): Int64Column {
  const { length } = times;
  const words = new Int32Array(length * 2);
  for (let at = 0; at < length; at++) {
    const time = times[at] as number;
    words[at * 2] = time | 0;
    words[at * 2 + 1] = Math.floor(time / 4294967296);
  }
  return { tag: 'timestamp', type: TIMESTAMP, length, validity: null, words };
}

export function asTimes(column: Column | undefined): Int64Column {
  assert(column?.tag === 'timestamp', 'a column of times');
  return column;
}
