/** What happened to the rows a join side keeps since its last snapshot, and how rows are named in checkpoints. */
import type { Column, Int64Column } from '../batch/column.ts';
import { INT32, INT64, TIMESTAMP } from '../batch/types.ts';
import { grown, wider } from '../state/growth.ts';

/** So many leading columns of a state table name a row: time, key hash, serial. */
export const KEY_COLUMNS = 3;
/** Stands for the time of a row that came before event time was known. */
export const NO_TIME = -(2 ** 53);

/** What names `count` rows: flat lists, since there may be very many. */
type RowNames = { times: ArrayLike<number>; hashes: ArrayLike<number>; serials: ArrayLike<number> };

export function keyColumnsOf({ times, hashes, serials }: RowNames): {
  rows: number;
  columns: Column[];
  hashes: Uint32Array;
} {
  const rows = times.length;
  const unsigned = Uint32Array.from(hashes);
  const values = new Int32Array(unsigned.buffer.slice(0));
  return {
    rows,
    columns: [
      wideColumn(times, 'timestamp'),
      { tag: 'int32', type: INT32, length: rows, validity: null, values },
      wideColumn(serials, 'int64'),
    ],
    hashes: unsigned,
  };
}

function wideColumn(values: ArrayLike<number>, tag: 'int64' | 'timestamp'): Int64Column {
  const { length } = values;
  const words = new Int32Array(length * 2);
  for (let at = 0; at < length; at++) {
    const value = Math.max(NO_TIME, values[at] as number);
    words[at * 2] = value | 0;
    words[at * 2 + 1] = Math.floor(value / 4294967296);
  }
  const type = tag === 'timestamp' ? TIMESTAMP : INT64;
  return { tag, type, length, validity: null, words };
}

const noNames = (): { times: number[]; hashes: number[]; serials: number[] } => ({
  times: [],
  hashes: [],
  serials: [],
});

/** What happened to a side's rows since its last snapshot. */
export class ChangeLog {
  changedIds: number[] = [];
  #isChanged = new Uint8Array(0);
  removed: { times: number[]; hashes: number[]; serials: number[] } = noNames();
  droppedBelow: number | null = null;
  /** Rows with a lower serial were in the last snapshot; others are new, and not noted one by one. */
  firstNew = 1;

  changed(id: number): void {
    if (id >= this.#isChanged.length)
      this.#isChanged = wider(Uint8Array, this.#isChanged, grown(this.#isChanged.length, id + 1));
    if (this.#isChanged[id] === 1) return;
    this.#isChanged[id] = 1;
    this.changedIds.push(id);
  }

  /** Whether the last snapshot told of a row, so that the next one has to tell that it is gone. */
  wasTold(serial: number): boolean {
    return serial < this.firstNew;
  }

  /** A row that the last snapshot told of is gone. */
  removedRow(time: number, hash: number, serial: number): void {
    this.removed.times.push(time);
    this.removed.hashes.push(hash);
    this.removed.serials.push(serial);
  }

  dropBelow(bound: number): void {
    // A bound that no number can hold drops everything, and a whole table tells that better.
    this.droppedBelow = Math.max(this.droppedBelow ?? -Infinity, bound);
  }

  isEmpty(nextSerial: number): boolean {
    const { changedIds, removed, droppedBelow, firstNew } = this;
    return (
      nextSerial === firstNew &&
      changedIds.length === 0 &&
      removed.times.length === 0 &&
      droppedBelow === null
    );
  }

  /** Whether a whole table would be shorter. */
  isLong(live: number, nextSerial: number): boolean {
    if (this.droppedBelow === Infinity) return true;
    const added = nextSerial - this.firstNew;
    return live === 0 || added + this.changedIds.length + this.removed.times.length > live;
  }

  /** Forgets what a snapshot has told. */
  reset(nextSerial: number): void {
    for (const id of this.changedIds) this.#isChanged[id] = 0;
    this.changedIds = [];
    this.removed = noNames();
    this.droppedBelow = null;
    this.firstNew = nextSerial;
  }
}
