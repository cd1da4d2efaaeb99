/**
 * Collects the rows of one batch that an expression could not compute. Such a row is an error of its
 * own: it is counted, reported with its reason, and dropped by the operator; other rows go on.
 *
 * It also bounds what functions make of the rows. A value that is too large is an error of its row, whatever else is in the
 * batch (`tooLarge`). A batch whose values are too many bytes together has no such row: where its caller can compute it in parts
 * (`divisible`), `BatchTooWide` is thrown, and the caller cuts the batch in two (`inParts`), so that the answer does not depend on it.
 */
import type { ErrorCode } from '../base/errors.ts';
import { LIMITS } from '../base/limits.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { sliceBatch } from '../batch/take.ts';

/** `column`: where it happened: a column, or the text of an expression; empty: not known. */
export type RowError = { row: number; code: ErrorCode; column: string; message: string };

/** Nothing of the batch has been computed: cut it and begin again. */
class BatchTooWide extends Error {}

/** Bytes that functions may still make of a batch. */
class Room {
  left: number = LIMITS.evaluationBytesMax;
}

export class RowErrors {
  /** 1 = the row failed; sized on first failure. */
  #mask: Uint8Array | null = null;
  readonly #rows: number;
  readonly #room: Room | null;
  readonly list: RowError[] = [];

  /** @param room  of the batch that these rows are some of; null: the batch cannot be cut */
  constructor(rows: number, room: Room | null = null) {
    this.#rows = rows;
    this.#room = room;
  }

  /** For a caller that computes in parts. A row by itself is bounded by its values. */
  static divisible(rows: number): RowErrors {
    return new RowErrors(rows, rows > 1 ? new Room() : null);
  }

  /** Whether it matters how much is spent. */
  get isDivisible(): boolean {
    return this.#room !== null;
  }

  /** For some of the rows. */
  some(rows: number): RowErrors {
    return new RowErrors(rows, this.#room);
  }

  /** Only the first failure of a row counts. */
  fail(row: number, code: ErrorCode, message: string, column = ''): void {
    this.#mask ??= new Uint8Array(this.#rows);
    if (this.#mask[row] === 1) return;
    this.#mask[row] = 1;
    this.list.push({ row, code, column, message });
  }

  /** Says where the failures from the `from`th on happened, unless they say so themselves. */
  nameSince(from: number, column: string): void {
    for (let at = from; at < this.list.length; at++) {
      const error = this.list[at];
      if (error?.column === '') error.column = column;
    }
  }

  tooLarge(row: number, what: 'text' | 'list'): void {
    this.fail(row, 'ROW_TOO_LARGE', tooLargeMessage(what));
  }

  /** So many bytes are about to be held. */
  expect(bytes: number): void {
    if (this.#room !== null && bytes > this.#room.left) throw new BatchTooWide();
  }

  /** So many bytes are held until the batch is computed. */
  spend(bytes: number): void {
    this.expect(bytes);
    if (this.#room !== null) this.#room.left -= bytes;
  }

  get failed(): boolean {
    return this.#mask !== null;
  }

  hasFailed(row: number): boolean {
    return this.#mask !== null && this.#mask[row] === 1;
  }
}

export const tooLargeMessage = (what: 'text' | 'list'): string =>
  `a ${what} would be larger than ${LIMITS.valueBytesMax} bytes`;

/**
 * Computes a batch, or its halves where it is too wide. `compute` must have no effect before all of its expressions are
 * computed, with errors that are `divisible`.
 */
export function inParts(batch: RecordBatch, compute: (part: RecordBatch) => void): void {
  try {
    compute(batch);
  } catch (thrown) {
    if (!(thrown instanceof BatchTooWide) || batch.rows < 2) throw thrown;
    const half = batch.rows >> 1;
    inParts(sliceBatch(batch, 0, half), compute);
    inParts(sliceBatch(batch, half, batch.rows), compute);
  }
}
