/**
 * Rows of one or two batches by their keys, without state: which rows have equal keys, and which pairs of rows do.
 *
 * Place in the walk: stage 6, where both sides of a join lie there as a whole, or a batch is folded before it meets state.
 * The kernel `columns` numbers words and texts; its twin is `GroupIndex`, which also takes the keys the kernel does not know.
 *
 * Invariants: numbers count up in order of first appearance; equality is that of GROUP BY. In pairs NULL equals nothing.
 * Failure: none.
 */
import { bitAt, type Column } from '../batch/column.ts';
import {
  columnsKernel,
  putBytes,
  putWords,
  reserveWords,
  wordsOut,
  type ColumnsKernel,
} from '../kernels/columns-kernel.ts';
import { GroupIndex } from './group-index.ts';

export type KeyedRows = { columns: readonly Column[]; rows: number };

/** The number of each row, and the first row of each number. */
export type NumberedRows = { numbers: Int32Array; firsts: Int32Array };

/** Row `left[i]` of one batch and row `right[i]` of the other have equal keys; ordered by right row, then left row. */
export type RowPairs = { left: Int32Array; right: Int32Array };

/** Below this the copies cost more than the loop. */
const ROWS_MIN = 64;

const WIDTHS: Readonly<Record<string, number>> = { int32: 1, int64: 2, timestamp: 2, decimal: 4 };

/** Whether the kernel knows keys of these types: all but DOUBLE, BOOLEAN and what consists of parts. */
const knows = (columns: readonly Column[]): boolean =>
  columns.length > 0 &&
  columns.every((column) => column.tag === 'text' || WIDTHS[column.tag] !== undefined);

function kernelFor(...sides: readonly KeyedRows[]): ColumnsKernel | null {
  if (!sides.every(({ columns, rows }) => rows >= ROWS_MIN && knows(columns))) return null;
  return columnsKernel();
}

/** Numbers the rows of a batch by their keys. */
export function numberRows(side: KeyedRows): NumberedRows {
  const found = kernelFor(side);
  if (found === null) return numberRowsTwin(side);
  const table = new RowTable(found, side, false);
  return {
    numbers: wordsOut(found.memory, table.numbers, side.rows),
    firsts: wordsOut(found.memory, table.firsts, table.count),
  };
}

function numberRowsTwin({ columns, rows }: KeyedRows): NumberedRows {
  const index = new GroupIndex(columns.map((column) => column.type));
  const numbers = new Int32Array(rows);
  index.lookupOrInsert(columns, 0, rows, numbers);
  const firsts = new Int32Array(index.count);
  let met = 0;
  for (let row = 0; row < rows; row++) if (numbers[row] === met) firsts[met++] = row;
  return { numbers, firsts };
}

/** Every pair of rows whose keys are equal and without NULL. */
export function pairRows(left: KeyedRows, right: KeyedRows): RowPairs {
  const found = kernelFor(left, right);
  if (found === null) return pairRowsTwin(left, right);
  const { exports, memory } = found;
  const table = new RowTable(found, left, true);
  const numbers = table.probe(right);
  const heads = reserveWords(memory, table.count);
  const next = reserveWords(memory, left.rows);
  const sizes = reserveWords(memory, table.count);
  const count = exports.countPairs(
    numbers,
    right.rows,
    table.numbers,
    left.rows,
    sizes,
    table.count,
  );
  exports.chainRows(table.numbers, left.rows, table.count, heads, next);
  const outLeft = reserveWords(memory, count);
  const outRight = reserveWords(memory, count);
  exports.pairRows(numbers, right.rows, heads, next, outLeft, outRight);
  return { left: wordsOut(memory, outLeft, count), right: wordsOut(memory, outRight, count) };
}

function pairRowsTwin(left: KeyedRows, right: KeyedRows): RowPairs {
  const index = new GroupIndex(left.columns.map((column) => column.type));
  const built = numbersOf(index, left);
  const known = index.count;
  const probed = numbersOf(index, right);
  const heads = new Int32Array(known).fill(-1);
  const next = new Int32Array(left.rows);
  const sizes = new Int32Array(known);
  for (let row = left.rows - 1; row >= 0; row--) {
    const number = built[row] as number;
    if (number < 0) continue;
    next[row] = heads[number] as number;
    heads[number] = row;
    sizes[number] = (sizes[number] as number) + 1;
  }
  let count = 0;
  for (const number of probed) if (number >= 0 && number < known) count += sizes[number] as number;
  const pairs = { left: new Int32Array(count), right: new Int32Array(count) };
  for (let row = 0, at = 0; row < right.rows; row++) {
    const number = probed[row] as number;
    if (number < 0 || number >= known) continue;
    for (let other = heads[number] as number; other >= 0; other = next[other] as number) {
      pairs.left[at] = other;
      pairs.right[at++] = row;
    }
  }
  return pairs;
}

/** Numbers by an index; -1 where a key is NULL. */
function numbersOf(index: GroupIndex, { columns, rows }: KeyedRows): Int32Array {
  const numbers = new Int32Array(rows);
  index.lookupOrInsert(columns, 0, rows, numbers);
  for (const { validity } of columns) {
    if (validity === null) continue;
    for (let row = 0; row < rows; row++) if (!bitAt(validity, row)) numbers[row] = -1;
  }
  return numbers;
}

/** A column of texts in the kernel's memory. */
type TextPlace = {
  offsets: number;
  bytes: number;
  slots: number;
  slotCount: number;
  firsts: number;
};

/** The keys of one batch in the memory of the kernel. Whoever holds it uses nothing else of the kernel meanwhile. */
class RowTable {
  readonly numbers: number;
  readonly firsts: number;
  readonly count: number;
  readonly #kernel: ColumnsKernel;
  readonly #skipsNulls: boolean;
  readonly #texts: (TextPlace | null)[];
  readonly #isText: boolean;
  /** Words of a key. */
  readonly #width: number;
  readonly #slots: number;
  readonly #slotCount: number;
  readonly #keys: number;

  constructor(found: ColumnsKernel, { columns, rows }: KeyedRows, skipsNulls: boolean) {
    const { exports, memory } = found;
    this.#kernel = found;
    this.#skipsNulls = skipsNulls;
    this.numbers = reserveWords(memory, rows);
    this.firsts = reserveWords(memory, rows);
    this.#slotCount = slotsFor(rows);
    this.#slots = reserveWords(memory, 2 * this.#slotCount);
    const hasNulls = columns.some((column) => column.validity !== null);
    this.#isText = columns.length === 1 && columns[0]?.tag === 'text' && (skipsNulls || !hasNulls);
    this.#width =
      columns.reduce((sum, column) => sum + (WIDTHS[column.tag] ?? 1), 0) +
      (skipsNulls ? 0 : (columns.length + 31) >> 5);
    if (this.#isText) {
      const [column] = columns;
      const place = this.#placeText(
        column as Column,
        rows,
        this.#slots,
        this.#slotCount,
        this.firsts,
      );
      this.#texts = [place];
      this.#keys = 0;
      const nulls = this.#nulls(columns, rows);
      const { offsets, bytes } = place;
      this.count = exports.buildText(
        offsets,
        bytes,
        rows,
        nulls,
        this.#slots,
        this.#slotCount,
        this.firsts,
        this.numbers,
      );
      return;
    }
    this.#texts = columns.map((column) =>
      column.tag === 'text' ? this.#numberText(column, rows) : null,
    );
    this.#keys = this.#putKeys(columns, rows, (at) =>
      wordsOut(memory, this.#numbersOfText(at), rows),
    );
    const nulls = this.#nulls(columns, rows);
    this.count = exports.buildWords(
      this.#keys,
      this.#width,
      rows,
      nulls,
      this.#slots,
      this.#slotCount,
      this.firsts,
      this.numbers,
    );
  }

  /** Where the numbers of text column `at` were written last: behind its firsts. */
  readonly #textNumbers = new Map<number, number>();

  #numbersOfText(at: number): number {
    return this.#textNumbers.get(at) ?? 0;
  }

  #placeText(
    column: Column,
    rows: number,
    slots: number,
    slotCount: number,
    firsts: number,
  ): TextPlace {
    const { memory } = this.#kernel;
    if (column.tag !== 'text') throw new TypeError('a column of text');
    const bytes = putBytes(memory, column.bytes, column.offsets[rows] as number);
    return { offsets: putWords(memory, column.offsets, rows + 1), bytes, slots, slotCount, firsts };
  }

  #numberText(column: Column, rows: number): TextPlace {
    const { exports, memory } = this.#kernel;
    const slotCount = slotsFor(rows);
    const slots = reserveWords(memory, 2 * slotCount);
    const firsts = reserveWords(memory, rows);
    const place = this.#placeText(column, rows, slots, slotCount, firsts);
    const numbers = reserveWords(memory, rows);
    exports.buildText(place.offsets, place.bytes, rows, 0, slots, slotCount, firsts, numbers);
    this.#textNumbers.set(this.#textNumbers.size, numbers);
    return place;
  }

  /** Writes the words of all keys row by row; `textNumbers` gives the numbers of the next column of text. */
  #putKeys(
    columns: readonly Column[],
    rows: number,
    textNumbers: (text: number) => Int32Array,
  ): number {
    const { memory } = this.#kernel;
    const width = this.#width;
    const [only] = columns;
    if (
      columns.length === 1 &&
      only !== undefined &&
      width === WIDTHS[only.tag] &&
      only.validity === null
    )
      return putWords(memory, wordsOf(only), rows * width);
    const keys = new Int32Array(rows * width);
    let at = 0;
    let text = 0;
    columns.forEach((column, index) => {
      const own = WIDTHS[column.tag] ?? 1;
      const words = column.tag === 'text' ? textNumbers(text++) : wordsOf(column);
      for (let word = 0; word < own; word++)
        for (let row = 0; row < rows; row++)
          keys[row * width + at + word] = words[row * own + word] as number;
      if (column.validity !== null) this.#markNulls(keys, column.validity, rows, at, own, index);
      at += own;
    });
    return putWords(memory, keys, rows * width);
  }

  /** NULL has zeros for words, and a bit of its own unless rows with NULL are left out anyway. */
  #markNulls(
    keys: Int32Array,
    validity: Uint8Array,
    rows: number,
    at: number,
    own: number,
    index: number,
  ): void {
    const width = this.#width;
    const mask = width - ((index >> 5) + 1);
    for (let row = 0; row < rows; row++) {
      if (bitAt(validity, row)) continue;
      for (let word = 0; word < own; word++) keys[row * width + at + word] = 0;
      if (!this.#skipsNulls)
        keys[row * width + mask] = (keys[row * width + mask] as number) | (1 << (index & 31));
    }
  }

  /** A byte a row, 1 where a key is NULL; 0: none is left out. */
  #nulls(columns: readonly Column[], rows: number): number {
    if (!this.#skipsNulls || columns.every((column) => column.validity === null)) return 0;
    const nulls = new Uint8Array(rows);
    for (const { validity } of columns) {
      if (validity === null) continue;
      for (let row = 0; row < rows; row++) if (!bitAt(validity, row)) nulls[row] = 1;
    }
    return putBytes(this.#kernel.memory, nulls, rows);
  }

  /** Where the numbers of another batch's rows lie; -1 for keys that are not here. */
  probe({ columns, rows }: KeyedRows): number {
    const { exports, memory } = this.#kernel;
    const numbers = reserveWords(memory, rows);
    const nulls = this.#nulls(columns, rows);
    if (this.#isText) {
      this.#probeText(this.#texts[0] as TextPlace, columns[0] as Column, rows, nulls, numbers);
      return numbers;
    }
    const texts = columns.filter((column) => column.tag === 'text');
    const places = this.#texts.filter((place) => place !== null);
    const keys = this.#putKeys(columns, rows, (at) => {
      const own = reserveWords(memory, rows);
      this.#probeText(places[at] as TextPlace, texts[at] as Column, rows, 0, own);
      return wordsOut(memory, own, rows);
    });
    exports.probeWords(
      this.#keys,
      this.#width,
      this.#slots,
      this.#slotCount,
      this.firsts,
      keys,
      rows,
      nulls,
      numbers,
    );
    return numbers;
  }

  #probeText(place: TextPlace, column: Column, rows: number, nulls: number, numbers: number): void {
    const other = this.#placeText(column, rows, 0, 0, 0);
    this.#kernel.exports.probeText(
      place.offsets,
      place.bytes,
      place.slots,
      place.slotCount,
      place.firsts,
      other.offsets,
      other.bytes,
      rows,
      nulls,
      numbers,
    );
  }
}

function wordsOf(column: Column): Int32Array {
  if (column.tag === 'int32') return column.values;
  if (column.tag === 'int64' || column.tag === 'timestamp' || column.tag === 'decimal')
    return column.words;
  throw new TypeError('a column of words');
}

/** A power of two, at least twice as many. */
function slotsFor(rows: number): number {
  return 2 ** (33 - Math.clz32(rows));
}
