/** AND and OR over the parts that decide a row. */
import type { BooleanColumn } from '../batch/column.ts';
import { bitAt, bitmapBytes, setBit } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { positionIn, type Node, type Part } from './parts.ts';
import type { RowErrors } from './row-errors.ts';
import { makeBoolean, strideOf } from './vector.ts';

/** How far AND or OR has come. */
type Junction = {
  /** Rows that hold the decisive value. */
  decided: Uint8Array;
  /** Rows that met a NULL; whether a decided row is among them does not matter. */
  unknown: Uint8Array;
};

/**
 * AND and OR. The decisive value, which ends the search in a row, is false for AND and true for OR.
 * Parts that cannot fail are combined a byte of rows at a time while many rows are undecided; from
 * the first other part on, each part sees the undecided rows only.
 */
export function junctionNode(parts: readonly Part[], isOr: boolean): Node {
  return (batch, errors) => {
    const { rows } = batch;
    const state: Junction = {
      decided: new Uint8Array(bitmapBytes(rows)),
      unknown: new Uint8Array(bitmapBytes(rows)),
    };
    let open: Int32Array | null = null;
    let undecided = rows;
    for (const part of parts) {
      if (open === null && !part.mayFail) {
        combineWhole(state, wholePart(part, batch, errors, state, undecided), rows, isOr);
        undecided = rows - countBits(state.decided, rows);
        if (undecided * 4 < rows) open = undecidedRows(state.decided, rows);
      } else {
        open ??= undecidedRows(state.decided, rows);
        open = combineRows(state, part, batch, open, errors, isOr);
      }
      if (open !== null && open.length === 0) break;
    }
    const { decided, unknown } = state;
    const validity = unknown.some((byte) => byte !== 0)
      ? unknown.map((byte, index) => ~byte | (decided[index] as number))
      : null;
    return {
      ...makeBoolean(0, validity),
      length: rows,
      bits: isOr ? decided : decided.map((byte) => ~byte),
    };
  };
}

/** A part on all rows, or where it is worth it on the undecided ones and anything on the others. */
function wholePart(
  { node, onShown }: Part,
  batch: RecordBatch,
  errors: RowErrors,
  { decided }: Junction,
  undecided: number,
): BooleanColumn {
  const column =
    onShown === null || undecided === batch.rows
      ? node(batch, errors)
      : onShown(
          batch,
          decided.map((byte) => ~byte),
          errors,
        );
  return column as BooleanColumn;
}

function countBits(bits: Uint8Array, rows: number): number {
  let count = 0;
  for (let row = 0; row < rows; row += 8) {
    let byte = bits[row >> 3] as number;
    if (row + 8 > rows) byte &= (1 << (rows - row)) - 1;
    byte -= (byte >> 1) & 0x55;
    byte = (byte & 0x33) + ((byte >> 2) & 0x33);
    count += (byte + (byte >> 4)) & 15;
  }
  return count;
}

function combineWhole(state: Junction, column: BooleanColumn, rows: number, isOr: boolean): void {
  const constant = strideOf(column) === 0 && rows !== 1;
  const flip = isOr ? 0 : 255;
  for (let byte = 0; byte < bitmapBytes(rows); byte++) {
    const values = constant ? (bitAt(column.bits, 0) ? 255 : 0) : (column.bits[byte] as number);
    const present =
      column.validity === null
        ? 255
        : constant
          ? bitAt(column.validity, 0)
            ? 255
            : 0
          : (column.validity[byte] as number);
    state.decided[byte] = (state.decided[byte] as number) | ((values ^ flip) & present);
    state.unknown[byte] = (state.unknown[byte] as number) | ~present;
  }
}

/** Evaluates a part on the open rows; the rows that are still open after it. */
function combineRows(
  state: Junction,
  part: Part,
  batch: RecordBatch,
  open: Int32Array,
  errors: RowErrors,
  isOr: boolean,
): Int32Array {
  const { column, gathered } = part.run(batch, open, open.length, errors);
  const { bits, validity } = column as BooleanColumn;
  const left = new Int32Array(open.length);
  let count = 0;
  for (let i = 0; i < open.length; i++) {
    const row = open[i] as number;
    if (errors.hasFailed(row)) continue;
    const at = positionIn(column, gathered, i, row);
    const present = validity === null || bitAt(validity, at);
    if (present && bitAt(bits, at) === isOr) {
      setBit(state.decided, row);
      continue;
    }
    if (!present) setBit(state.unknown, row);
    left[count++] = row;
  }
  return left.subarray(0, count);
}

function undecidedRows(decided: Uint8Array, rows: number): Int32Array {
  const open = new Int32Array(rows);
  let count = 0;
  for (let row = 0; row < rows; row++) if (!bitAt(decided, row)) open[count++] = row;
  return open.subarray(0, count);
}
