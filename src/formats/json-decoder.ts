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
import type { DecodeColumn, FormatSpec, TimestampFormat } from './format.ts';
import type { ByteHash } from '../kernels/hash-blocks.ts';
import { readFast } from './json-fast.ts';
import { CLOSE_BRACE, COMMA, LF, OPEN_BRACE, skipSpace, skipValue } from './json-grammar.ts';
import { KeyReader } from './json-keys.ts';
import { DONE, JsonScanner, SLOW, WINDOW_BYTES } from './json-scanner.ts';
import type { Token } from './json-keys.ts';
import { Slot, SlotNames } from './json-slots.ts';
import { failure } from './json-strings.ts';
import { ValueReader } from './json-values.ts';
import { forgetWords, matchesWords } from './json-words.ts';

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
  /** Fields of accepted rows that no column has, sorted by name. */
  warnings: DecodeWarning[];
  /** The same by row, in order; empty unless asked for. */
  unknownFields: { rowIndex: number; column: string }[];
  /** Start and end of each accepted row's object in the input, in turn. */
  lineRanges: Int32Array;
};

export type DecodeOptions = {
  /** List unknown fields row by row. */
  unknownByRow?: boolean;
  /** Bytes of input from which on the kernel is worth its setting up. */
  kernelBytesMin?: number;
};

const KERNEL_BYTES_MIN = 4096;

const EMPTY_RANGES = new Int32Array(0);

export class JsonDecoder {
  readonly hashes = true;
  readonly #slots: readonly Slot[];
  readonly #textSlots: readonly Slot[];
  readonly #keys: KeyReader;
  readonly #values: ValueReader;
  readonly #unstructured: boolean;
  readonly #unknownByRow: boolean;
  readonly #timestampFormat: TimestampFormat | null;
  readonly #kernelBytesMin: number;
  #scanner: JsonScanner | null = null;
  #lends = false;
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
  #ranges: Int32Array = EMPTY_RANGES;
  #rowsSeen = 0;
  #rows = 0;
  #position = 0;
  /** Of the running row: where it starts, where its line ends, and whether room was made for all of it. */
  #rowStart = 0;
  #lineEnd = 0;
  #isPrepared = false;
  /** Bytes up to here have been hashed. */
  #hashedTo = 0;

  constructor(columns: readonly DecodeColumn[], spec: FormatSpec, options: DecodeOptions = {}) {
    this.#slots = columns.map((column) => new Slot(column, ''));
    this.#textSlots = withChildren(this.#slots).filter((slot) => slot.layout === 'text');
    this.#keys = new KeyReader(new SlotNames(this.#slots));
    this.#values = new ValueReader(spec.timestampFormat);
    this.#unstructured = spec.unstructured;
    this.#unknownByRow = options.unknownByRow === true;
    this.#timestampFormat = spec.timestampFormat;
    this.#kernelBytesMin = options.kernelBytesMin ?? KERNEL_BYTES_MIN;
    assert(
      !spec.unstructured || (columns.length === 1 && columns[0]?.type.tag === 'text'),
      'unstructured is one TEXT column',
    );
  }

  /** From now on what a call gives may be views of memory that the next call writes over. */
  lend(): void {
    this.#lends = true;
    for (const slot of this.#slots) slot.lend();
  }

  /**
   * Decodes rows of bytes `[from, to)` until `rowsMax` are accepted or no complete row is left.
   *
   * @param final  whether the input ends at `to`: a last row then needs no LF
   * @param hash   takes in the bytes up to `consumed`
   */
  decode(
    bytes: Uint8Array,
    from: number,
    to: number,
    rowsMax: number,
    final = false,
    hash: ByteHash | null = null,
  ): DecodeResult {
    this.#hashedTo = from;
    const scanner = to - from < this.#kernelBytesMin ? null : this.#findScanner();
    this.#start(to - from, rowsMax, scanner);
    if (scanner !== null) this.#scanLines(scanner, bytes, from, to, rowsMax, hash);
    else this.#readLines(bytes, from, to, rowsMax);
    let position = this.#position;
    let rows = this.#rows;
    if (final && position < to && rows < rowsMax) {
      // The scanner needs its sentinel behind the row.
      const last = new Uint8Array(to - position + 1);
      last.set(bytes.subarray(position, to));
      last[to - position] = LF;
      if (scanner !== null) this.#makeRoom(scanner, rows, last.length);
      if (this.#takeLine(last, 0, to - position, position, rows)) rows++;
      position = to;
    }
    if (hash !== null && this.#hashedTo < position)
      hash.update(bytes.subarray(this.#hashedTo, position));
    if (this.#rowsSeen > 0) this.#rowBytes = Math.max(16, (position - from) / this.#rowsSeen);
    forgetWords();
    const result = this.#finish(rows, position, scanner);
    scanner?.finish();
    return result;
  }

  /** The kernel, when it is there and knows all columns. */
  #findScanner(): JsonScanner | null {
    if (this.#unstructured) return null;
    if (this.#scanner === null || !this.#scanner.isCurrent)
      this.#scanner = JsonScanner.make(
        this.#slots,
        this.#keys,
        this.#timestampFormat,
        this.#unknownByRow,
      );
    return this.#scanner;
  }

  /** Reads lines one by one. */
  #readLines(bytes: Uint8Array, from: number, to: number, rowsMax: number): void {
    let position = from;
    let rows = 0;
    // Behind the last line end there is no whole row; before it each row ends by itself.
    const last = to > from ? bytes.lastIndexOf(LF, to - 1) : -1;
    while (position <= last && rows < rowsMax) {
      if (this.#takeLine(bytes, position, -1, 0, rows)) rows++;
      position = this.#lineEnd + 1;
    }
    this.#position = position;
    this.#rows = rows;
  }

  /** The same by the kernel; lines it does not take are read here one by one. */
  #scanLines(
    scanner: JsonScanner,
    bytes: Uint8Array,
    from: number,
    to: number,
    rowsMax: number,
    hash: ByteHash | null,
  ): void {
    this.#position = from;
    this.#rows = 0;
    let open: ByteHash | null = null;
    while (this.#position < to && this.#rows < rowsMax) {
      const start = this.#position;
      // The last rows of a batch are not worth a whole window.
      const wanted = Math.ceil((rowsMax - this.#rows) * this.#rowBytes * 1.02) + 1024;
      const size = Math.min(to - start, wanted, WINDOW_BYTES);
      if (open !== null) scanner.carryHash(start);
      scanner.load(bytes, start, size, this.#rows);
      if (open === null && hash !== null && this.#hashedTo === start) {
        scanner.openHash(hash);
        open = hash;
      }
      this.#scanWindow(scanner, bytes, start + size, rowsMax);
      if (this.#position > start) continue;
      // No line ends in the window: a long one, or the beginning of one.
      const lineEnd = bytes.indexOf(LF, start);
      if (lineEnd < 0 || lineEnd >= to) break;
      if (open !== null) this.#closeHash(scanner, open);
      open = null;
      this.#takeSlowly(scanner, bytes, lineEnd);
    }
    if (open !== null) this.#closeHash(scanner, open);
  }

  /** What is read next is no longer hashed on the way. */
  #closeHash(scanner: JsonScanner, hash: ByteHash): void {
    scanner.closeHash(hash, this.#position);
    this.#hashedTo = this.#position;
  }

  #scanWindow(scanner: JsonScanner, bytes: Uint8Array, end: number, rowsMax: number): void {
    while (this.#position < end && this.#rows < rowsMax) {
      this.#makeRoom(scanner, this.#rows, 0);
      const rows = scanner.scan(this.#position, this.#rows, rowsMax);
      this.#rowsSeen += rows - this.#rows;
      this.#rows = rows;
      this.#position = scanner.position;
      const { status } = scanner;
      if (status === DONE) return;
      if (status === SLOW) this.#takeSlowly(scanner, bytes, bytes.indexOf(LF, this.#position));
    }
  }

  /** Takes the line from the position to `lineEnd` as the next row, if it is one. */
  #takeSlowly(scanner: JsonScanner, bytes: Uint8Array, lineEnd: number): void {
    this.#makeRoom(scanner, this.#rows, lineEnd - this.#position);
    if (this.#takeLine(bytes, this.#position, lineEnd, 0, this.#rows)) this.#rows++;
    this.#position = lineEnd + 1;
    scanner.learn();
  }

  #makeRoom(scanner: JsonScanner, row: number, size: number): void {
    scanner.makeRoom(row, size);
    this.#capacity = scanner.capacity;
    this.#ranges = scanner.ranges;
  }

  #start(size: number, rowsMax: number, scanner: JsonScanner | null): void {
    const rows = Math.min(rowsMax, Math.ceil((size / this.#rowBytes) * 1.1) + 8);
    this.#capacity = Math.max(1, rows);
    if (scanner === null) {
      for (const slot of this.#slots) slot.start(this.#capacity, this.#rowBytes);
      // Buffers that were lent are kept, and may be larger.
      this.#capacity = this.#slots[0]?.capacity ?? this.#capacity;
      this.#ranges = new Int32Array(this.#capacity * 2);
    } else scanner.start(this.#capacity, this.#rowBytes);
    this.#errors = [];
    this.#unknownCounts = new Map();
    this.#unknownFields = [];
    this.#rowsSeen = 0;
  }

  #finish(rows: number, consumed: number, scanner: JsonScanner | null): DecodeResult {
    scanner?.takeUnknown((name, count) => this.#addUnknown(name, count));
    for (const token of this.#keys.tokens) {
      if (token.count > 0) this.#addUnknown(token.name, token.count);
      token.count = 0;
    }
    const ranges = this.#ranges;
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
      warnings: [...this.#unknownCounts]
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
        .map(([column, count]) => ({ code: 'UNKNOWN_FIELD', column, count })),
      unknownFields: this.#unknownFields,
      lineRanges:
        scanner === null || this.#lends ? ranges.subarray(0, rows * 2) : ranges.slice(0, rows * 2),
    };
  }

  /**
   * Takes the line `[start, end)`, behind which an LF stands, as row `row`; whether it was accepted. An `end` below 0 is
   * not known yet and looked for only when it matters; afterwards it is in `#lineEnd`.
   */
  #takeLine(bytes: Uint8Array, start: number, end: number, shift: number, row: number): boolean {
    const first = skipSpace(bytes, start);
    this.#lineEnd = end;
    if (bytes[first] === LF) {
      this.#lineEnd = first;
      return false;
    }
    const rowIndex = this.#rowsSeen++;
    if (row === this.#capacity) this.#grow();
    this.#rowStart = first;
    this.#isPrepared = false;
    const objectEnd = this.#unstructured
      ? this.#readWhole(bytes, first, row)
      : this.#readRow(bytes, first, row);
    if (this.#lineEnd < 0) this.#lineEnd = bytes.indexOf(LF, first);
    const size = this.#lineEnd - first;
    const { faults } = this.#values;
    if (objectEnd >= 0 && faults.length === 0 && size <= LIMITS.ingestRowBytesMax) {
      this.#ranges[row * 2] = first + shift;
      this.#ranges[row * 2 + 1] = objectEnd + shift;
      if (this.#unknownOfRow.length > 0) this.#countUnknown(rowIndex);
      return true;
    }
    this.#unknownOfRow.length = 0;
    for (const slot of this.#slots) slot.clearNull(row);
    this.#refuse(bytes, rowIndex, start, shift, size, objectEnd < 0);
    this.#values.faults = [];
    return false;
  }

  /** Reports the row of the line that was read last. */
  #refuse(
    bytes: Uint8Array,
    rowIndex: number,
    start: number,
    shift: number,
    size: number,
    isMalformed: boolean,
  ): void {
    const end = this.#lineEnd;
    if (size > LIMITS.ingestRowBytesMax) {
      const message = `a row of ${size} bytes is longer than ${LIMITS.ingestRowBytesMax}`;
      this.#reject(rowIndex, start + shift, end + shift, 'ROW_TOO_LARGE', null, message);
      return;
    }
    const lineEnd = bytes[end - 1] === 13 ? end - 1 : end;
    if (isMalformed) {
      const message = `${failure.message} (byte ${failure.at - start + 1} of the row)`;
      this.#reject(rowIndex, start + shift, lineEnd + shift, 'PARSE_ERROR', null, message);
      return;
    }
    const fault = this.#values.faults[0];
    assert(fault !== undefined, 'a rejected row has a fault');
    this.#reject(rowIndex, start + shift, lineEnd + shift, fault.code, fault.slot, fault.message);
  }

  /** Makes room for whatever the row holds: the complete reader relies on it; the fast ones look for themselves. */
  #prepare(bytes: Uint8Array, row: number): void {
    this.#isPrepared = true;
    if (this.#lineEnd < 0) this.#lineEnd = bytes.indexOf(LF, this.#rowStart);
    const size = this.#lineEnd - this.#rowStart;
    for (const slot of this.#textSlots) {
      if (slot.heap.length - (slot.offsets[row] as number) < size) slot.growHeap(row, size);
    }
    this.#values.start(size);
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

  #addUnknown(name: string, count: number): void {
    this.#unknownCounts.set(name, (this.#unknownCounts.get(name) ?? 0) + count);
  }

  #countUnknown(rowIndex: number): void {
    for (const token of this.#unknownOfRow) {
      const { name } = token;
      // Those learned are counted at the end.
      if (token.end > 0) token.count++;
      else this.#addUnknown(name, 1);
      if (this.#unknownByRow) this.#unknownFields.push({ rowIndex, column: name });
    }
    this.#unknownOfRow.length = 0;
  }

  /** Reads the row that starts at `start`; the position after its object, or −1. */
  #readRow(bytes: Uint8Array, start: number, row: number): number {
    let pool = this.#keys.poolWords;
    const serial = ++this.#serial;
    let previous = this.#keys.root;
    let position = start;
    let seen = 0;
    for (;;) {
      let token = previous.next;
      let at = position;
      if (token !== null) {
        if (matchesWords(bytes, at, pool, token.start, token.end)) at += token.end - token.start;
        else token = null;
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
        pool = this.#keys.poolWords;
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
        if (end === 0) {
          if (!this.#isPrepared) this.#prepare(bytes, row);
          end = this.#values.read(bytes, at, slot, row);
        }
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
    if (bytes[rest] === LF) {
      this.#lineEnd = rest;
      return end;
    }
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
    this.#prepare(bytes, row);
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
