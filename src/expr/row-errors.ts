/**
 * Collects the rows of one batch that an expression could not compute. Such a row is an error of its
 * own: it is counted, reported with its reason, and dropped by the operator; other rows go on.
 */
import type { ErrorCode } from '../base/errors.ts';

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

  get failed(): boolean {
    return this.#mask !== null;
  }

  hasFailed(row: number): boolean {
    return this.#mask !== null && this.#mask[row] === 1;
  }
}
