/**
 * NDJSON bytes to columns: a scanner that builds neither row objects nor a string per value.
 *
 * Rows are separated by LF alone; a CR before it is space, and a blank line is no row. Each row is
 * one JSON object. Keys match column names exactly, or else in any case; of a key given twice the
 * last value counts; keys of no column are skipped, after their grammar was checked, and counted.
 *
 * Invariants: a row is accepted whole or not at all, and a rejected one costs only itself; whatever
 * the bytes are, nothing is thrown and every position moves forward; cutting the input anywhere and
 * decoding the pieces with their leftovers gives the same rows.
 */
import { assert } from '../base/assert.ts';
import type { ErrorCode } from '../base/errors.ts';
import { LIMITS } from '../base/limits.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { typeName } from '../batch/types.ts';
import type { DecodeColumn, FormatSpec } from './format.ts';
import { readFast } from './json-fast.ts';
import { CLOSE_BRACE, COMMA, LF, OPEN_BRACE, skipSpace, skipValue } from './json-grammar.ts';
import { KeyReader } from './json-keys.ts';
import type { Token } from './json-keys.ts';
import { Slot, SlotNames, TEXT_KIND } from './json-slots.ts';
import { failure } from './json-strings.ts';
import { ValueReader } from './json-values.ts';

export type DecodeError = {
  /** Index among the rows seen by this call. */
  rowIndex: number;
  /** The row's bytes in the input, without its line end. */
  start: number;
  end: number;
  code: ErrorCode;
  column: string | null;
  /** The column's type as SQL spells it. */
  expected: string | null;
  message: string;
};

export type DecodeWarning = {
  code: 'UNKNOWN_FIELD';
  column: string;
  count: number;
};

export type DecodeResult = {
  /** The accepted rows, without event times. */
  batch: RecordBatch;
  /** Position in the input up to which rows were taken, at a row's start or at `to`. */
  consumed: number;
  /** Rows met, accepted or not; blank lines are none. */
  rowsSeen: number;
  errors: DecodeError[];
  /** Fields of accepted rows that no column has, by name. */
  warnings: DecodeWarning[];
  /** The same by row, in order; empty unless asked for. */
  unknownFields: { rowIndex: number; column: string }[];
  /** Start and end of each accepted row's object in the input, in turn. */
  lineRanges: Int32Array;
};

export type DecodeOptions = {
  /** List unknown fields row by row. */
  unknownByRow?: boolean;
};

const EMPTY_RANGES = new Int32Array(0);

export class JsonDecoder {
  readonly #slots: readonly Slot[];
  readonly #textSlots: readonly Slot[];
  readonly #keys: KeyReader;
  readonly #values: ValueReader;
  readonly #unstructured: boolean;
  readonly #unknownByRow: boolean;
  /** Grows with every row, so that no stamp is ever met twice. */
  #serial = 0;
  #capacity = 0;
  /** What the last call saw, for the size of the next buffers. */
  #rowBytes = 128;
  #unknownOfRow: Token[] = [];
  /** State of the running call. */
  #errors: DecodeError[] = [];
  #unknownCounts = new Map<string, number>();
  #unknownFields: { rowIndex: number; column: string }[] = [];
  #ranges = EMPTY_RANGES;
  #rowsSeen = 0;

  constructor(columns: readonly DecodeColumn[], spec: FormatSpec, options: DecodeOptions = {}) {
    this.#slots = columns.map((column) => new Slot(column, ''));
    this.#textSlots = withChildren(this.#slots).filter((slot) => slot.kind === TEXT_KIND);
    this.#keys = new KeyReader(new SlotNames(this.#slots));
    this.#values = new ValueReader(spec.timestampFormat);
    this.#unstructured = spec.unstructured;
    this.#unknownByRow = options.unknownByRow === true;
    assert(
      !spec.unstructured || (columns.length === 1 && columns[0]?.type.tag === 'text'),
      'unstructured is one TEXT column',
    );
  }

  /**
   * Decodes rows of bytes `[from, to)` until `rowsMax` are accepted or no complete row is left.
   *
   * @param final  whether the input ends at `to`: a last row then needs no LF
   */
  decode(
    bytes: Uint8Array,
    from: number,
    to: number,
    rowsMax: number,
    final = false,
  ): DecodeResult {
    this.#start(to - from, rowsMax);
    let position = from;
    let rows = 0;
    while (position < to && rows < rowsMax) {
      const lineEnd = bytes.indexOf(LF, position);
      if (lineEnd < 0 || lineEnd >= to) break;
      if (this.#takeLine(bytes, position, lineEnd, 0, rows)) rows++;
      position = lineEnd + 1;
    }
    if (final && position < to && rows < rowsMax) {
      // The scanner needs its sentinel behind the row.
      const last = new Uint8Array(to - position + 1);
      last.set(bytes.subarray(position, to));
      last[to - position] = LF;
      if (this.#takeLine(last, 0, to - position, position, rows)) rows++;
      position = to;
    }
    if (this.#rowsSeen > 0) this.#rowBytes = Math.max(16, (position - from) / this.#rowsSeen);
    return this.#finish(rows, position);
  }

  #start(size: number, rowsMax: number): void {
    const rows = Math.min(rowsMax, Math.ceil((size / this.#rowBytes) * 1.1) + 8);
    this.#capacity = Math.max(1, rows);
    for (const slot of this.#slots) slot.start(this.#capacity, this.#rowBytes);
    this.#errors = [];
    this.#unknownCounts = new Map();
    this.#unknownFields = [];
    this.#ranges = new Int32Array(this.#capacity * 2);
    this.#rowsSeen = 0;
  }

  #finish(rows: number, consumed: number): DecodeResult {
    return {
      batch: {
        rows,
        columns: this.#slots.map((slot) => slot.finish(rows)),
        eventTime: null,
        retract: null,
      },
      consumed,
      rowsSeen: this.#rowsSeen,
      errors: this.#errors,
      warnings: [...this.#unknownCounts].map(([column, count]) => ({
        code: 'UNKNOWN_FIELD',
        column,
        count,
      })),
      unknownFields: this.#unknownFields,
      lineRanges: this.#ranges.subarray(0, rows * 2),
    };
  }

  /** Takes the line `[start, end)`, behind which an LF stands, as row `row`; whether it was accepted. */
  #takeLine(bytes: Uint8Array, start: number, end: number, shift: number, row: number): boolean {
    const first = skipSpace(bytes, start);
    if (first >= end) return false;
    const rowIndex = this.#rowsSeen++;
    const size = end - first;
    if (size > LIMITS.ingestRowBytesMax) {
      const message = `a row of ${size} bytes is longer than ${LIMITS.ingestRowBytesMax}`;
      this.#reject(rowIndex, start + shift, end + shift, 'ROW_TOO_LARGE', null, message);
      return false;
    }
    if (row === this.#capacity) this.#grow();
    for (const slot of this.#textSlots) {
      if (slot.heap.length - (slot.offsets[row] as number) < size) slot.growHeap(row, size);
    }
    this.#values.start(size, this.#capacity);
    const objectEnd = this.#unstructured
      ? this.#readWhole(bytes, first, row)
      : this.#readRow(bytes, first, row);
    const { faults } = this.#values;
    if (objectEnd >= 0 && faults.length === 0) {
      this.#ranges[row * 2] = first + shift;
      this.#ranges[row * 2 + 1] = objectEnd + shift;
      if (this.#unknownOfRow.length > 0) this.#countUnknown(rowIndex);
      return true;
    }
    this.#unknownOfRow.length = 0;
    for (const slot of this.#slots) slot.clearNull(row);
    const lineEnd = bytes[end - 1] === 13 ? end - 1 : end;
    if (objectEnd < 0) {
      const message = `${failure.message} (byte ${failure.at - start + 1} of the row)`;
      this.#reject(rowIndex, start + shift, lineEnd + shift, 'PARSE_ERROR', null, message);
    } else {
      const fault = faults[0];
      assert(fault !== undefined, 'a rejected row has a fault');
      this.#reject(rowIndex, start + shift, lineEnd + shift, fault.code, fault.slot, fault.message);
    }
    this.#values.faults = [];
    return false;
  }

  #reject(
    rowIndex: number,
    start: number,
    end: number,
    code: ErrorCode,
    slot: Slot | null,
    message: string,
  ): void {
    const column = slot === null ? null : slot.path;
    const expected = slot === null ? null : typeName(slot.type);
    this.#errors.push({ rowIndex, start, end, code, column, expected, message });
  }

  #grow(): void {
    this.#capacity *= 2;
    for (const slot of this.#slots) slot.grow(this.#capacity);
    const ranges = new Int32Array(this.#capacity * 2);
    ranges.set(this.#ranges);
    this.#ranges = ranges;
  }

  #countUnknown(rowIndex: number): void {
    for (const { name } of this.#unknownOfRow) {
      this.#unknownCounts.set(name, (this.#unknownCounts.get(name) ?? 0) + 1);
      if (this.#unknownByRow) this.#unknownFields.push({ rowIndex, column: name });
    }
    this.#unknownOfRow.length = 0;
  }

  /** Reads the row that starts at `start`; the position after its object, or −1. */
  #readRow(bytes: Uint8Array, start: number, row: number): number {
    let { pool } = this.#keys;
    const serial = ++this.#serial;
    let previous = this.#keys.root;
    let position = start;
    let seen = 0;
    for (;;) {
      let token = previous.next;
      let at = position;
      if (token !== null) {
        const { end } = token;
        let index = token.start;
        while (index < end && bytes[at] === pool[index]) {
          at++;
          index++;
        }
        if (index < end) token = null;
      }
      if (token === null) {
        if (position === start && isEmptyObject(bytes, start)) {
          position = skipSpace(bytes, start + 1);
          break;
        }
        token = this.#keys.find(bytes, position, previous);
        if (token === null) return -1;
        at = this.#keys.end;
        // Learning may have moved the pool.
        pool = this.#keys.pool;
      }
      const { slot } = token;
      let end: number;
      if (slot !== null) {
        if (slot.stamp === serial) this.#values.forget(slot, row);
        else {
          slot.stamp = serial;
          seen++;
        }
        end = readFast(bytes, at, slot, row);
        if (end === 0) end = this.#values.read(bytes, at, slot, row);
      } else {
        this.#unknownOfRow.push(token);
        end = skipValue(bytes, skipSpace(bytes, at), 0);
      }
      if (end < 0) return -1;
      if (bytes[end] !== COMMA && bytes[end] !== CLOSE_BRACE) end = skipSpace(bytes, end);
      position = end;
      if (bytes[end] === CLOSE_BRACE) break;
      previous = token;
    }
    if (seen < this.#slots.length) this.#fillMissing(serial, row);
    return this.#endRow(bytes, position + 1);
  }

  #fillMissing(serial: number, row: number): void {
    for (const slot of this.#slots) if (slot.stamp !== serial) this.#values.setMissing(slot, row);
  }

  /** Whether only space is left behind the object that ends at `end`: then `end`, otherwise −1. */
  #endRow(bytes: Uint8Array, end: number): number {
    const rest = skipSpace(bytes, end);
    if (bytes[rest] === LF) return end;
    failure.at = rest;
    failure.message = 'something follows the row on its line';
    return -1;
  }

  /** An unstructured row: its own JSON text is the value. */
  #readWhole(bytes: Uint8Array, start: number, row: number): number {
    const slot = this.#slots[0] as Slot;
    const valueEnd = skipValue(bytes, start, 0);
    const end = valueEnd < 0 ? -1 : this.#endRow(bytes, valueEnd);
    if (end < 0) return -1;
    const offset = slot.offsets[row] as number;
    slot.heap.set(bytes.subarray(start, end), offset);
    slot.offsets[row + 1] = offset + end - start;
    return end;
  }
}

function isEmptyObject(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === OPEN_BRACE && bytes[skipSpace(bytes, at + 1)] === CLOSE_BRACE;
}

function withChildren(slots: readonly Slot[]): Slot[] {
  return slots.flatMap((slot) => [slot, ...withChildren(slot.children)]);
}
