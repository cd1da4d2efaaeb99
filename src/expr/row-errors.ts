/**
 * Collects the rows of one batch that an expression could not compute. Such a row is an error of its
 * own: it is counted, reported with its reason, and dropped by the operator; other rows go on.
 */
import type { ErrorCode } from '../base/errors.ts';

/** `column`: where it happened: a column, or the text of an expression; empty: not known. */
export type RowError = { row: number; code: ErrorCode; column: string; message: string };

export class RowErrors {
  /** 1 = the row failed; sized on first failure. */
  #mask: Uint8Array | null = null;
  readonly #rows: number;
  readonly list: RowError[] = [];

  constructor(rows: number) {
    this.#rows = rows;
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

  get failed(): boolean {
    return this.#mask !== null;
  }

  hasFailed(row: number): boolean {
    return this.#mask !== null && this.#mask[row] === 1;
  }
}
