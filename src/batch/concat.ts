/** Batches and columns joined end to end. */
import { assert, unreachable } from '../base/assert.ts';
import { bitAt, bitmapBytes, setBit } from './column.ts';
import type {
  BooleanColumn,
  Column,
  DecimalColumn,
  Float64Column,
  Int32Column,
  Int64Column,
  IntervalColumn,
  ListColumn,
  StructColumn,
  TextColumn,
} from './column.ts';
import type { RecordBatch } from './record-batch.ts';
import { sliceColumn } from './take.ts';

function copyBits(target: Uint8Array, at: number, source: Uint8Array, length: number): void {
  if ((at & 7) === 0) {
    target.set(source.subarray(0, length >> 3), at >> 3);
    for (let index = length & ~7; index < length; index++)
      if (bitAt(source, index)) setBit(target, at + index);
    return;
  }
  for (let index = 0; index < length; index++) if (bitAt(source, index)) setBit(target, at + index);
}

function joinValidity(columns: readonly Column[], length: number): Uint8Array | null {
  if (columns.every((column) => column.validity === null)) return null;
  const joined = new Uint8Array(bitmapBytes(length));
  let at = 0;
  for (const column of columns) {
    if (column.validity !== null) copyBits(joined, at, column.validity, column.length);
    else for (let index = at; index < at + column.length; index++) setBit(joined, index);
    at += column.length;
  }
  return joined;
}

function joinWords(
  columns: readonly (Int64Column | DecimalColumn | IntervalColumn)[],
  length: number,
  width: number,
): Int32Array {
  const words = new Int32Array(length * width);
  let at = 0;
  for (const column of columns) {
    words.set(column.words.subarray(0, column.length * width), at);
    at += column.length * width;
  }
  return words;
}

function joinText(
  columns: readonly TextColumn[],
  length: number,
): { offsets: Int32Array; bytes: Uint8Array } {
  let size = 0;
  for (const { offsets, length: rows } of columns)
    size += (offsets[rows] as number) - (offsets[0] as number);
  const offsets = new Int32Array(length + 1);
  const bytes = new Uint8Array(size);
  let row = 0;
  let at = 0;
  for (const column of columns) {
    const start = column.offsets[0] as number;
    const end = column.offsets[column.length] as number;
    bytes.set(column.bytes.subarray(start, end), at);
    for (let index = 1; index <= column.length; index++) {
      offsets[row + index] = (column.offsets[index] as number) - start + at;
    }
    row += column.length;
    at += end - start;
  }
  return { offsets, bytes };
}

function joinLists(
  columns: readonly ListColumn[],
  length: number,
): { offsets: Int32Array; child: Column } {
  const offsets = new Int32Array(length + 1);
  const children: Column[] = [];
  let row = 0;
  let at = 0;
  for (const column of columns) {
    const start = column.offsets[0] as number;
    const end = column.offsets[column.length] as number;
    for (let index = 1; index <= column.length; index++)
      offsets[row + index] = (column.offsets[index] as number) - start + at;
    children.push(sliceColumn(column.child, start, end));
    row += column.length;
    at += end - start;
  }
  return { offsets, child: concatColumns(children) };
}

/** One column with the values of all, in order; all must have one type and there must be one at least. */
export function concatColumns(columns: readonly Column[]): Column {
  const first = columns[0];
  assert(first !== undefined, 'a column to start from');
  if (columns.length === 1) return first;
  let length = 0;
  for (const column of columns) {
    assert(column.tag === first.tag, 'joined columns have one layout');
    length += column.length;
  }
  const validity = joinValidity(columns, length);
  switch (first.tag) {
    case 'boolean': {
      const bits = new Uint8Array(bitmapBytes(length));
      let at = 0;
      for (const column of columns as readonly BooleanColumn[]) {
        copyBits(bits, at, column.bits, column.length);
        at += column.length;
      }
      return { tag: 'boolean', type: first.type, length, validity, bits };
    }
    case 'int32': {
      const values = new Int32Array(length);
      let at = 0;
      for (const column of columns as readonly Int32Column[]) {
        values.set(column.values.subarray(0, column.length), at);
        at += column.length;
      }
      return { tag: 'int32', type: first.type, length, validity, values };
    }
    case 'float64': {
      const values = new Float64Array(length);
      let at = 0;
      for (const column of columns as readonly Float64Column[]) {
        values.set(column.values.subarray(0, column.length), at);
        at += column.length;
      }
      return { tag: 'float64', type: first.type, length, validity, values };
    }
    case 'int64':
    case 'timestamp': {
      const words = joinWords(columns as readonly Int64Column[], length, 2);
      return { tag: first.tag, type: first.type, length, validity, words };
    }
    case 'decimal': {
      const words = joinWords(columns as readonly DecimalColumn[], length, 4);
      return { tag: 'decimal', type: first.type, length, validity, words };
    }
    case 'interval': {
      const words = joinWords(columns as readonly IntervalColumn[], length, 4);
      return { tag: 'interval', type: first.type, length, validity, words };
    }
    case 'text':
      return {
        tag: 'text',
        type: first.type,
        length,
        validity,
        ...joinText(columns as readonly TextColumn[], length),
      };
    case 'list':
      return {
        tag: 'list',
        type: first.type,
        length,
        validity,
        ...joinLists(columns as readonly ListColumn[], length),
      };
    case 'struct': {
      const structs = columns as readonly StructColumn[];
      const children = first.children.map((_, child) =>
        concatColumns(structs.map((column) => column.children[child] as Column)),
      );
      return { tag: 'struct', type: first.type, length, validity, children };
    }
    default:
      return unreachable(first);
  }
}

/**
 * One batch with the rows of all, in order; there must be one at least, all of one schema. Either
 * all of them know their event times or none does; `retract` is kept when any batch has it.
 */
export function concatBatches(batches: readonly RecordBatch[]): RecordBatch {
  const first = batches[0];
  assert(first !== undefined, 'a batch to start from');
  if (batches.length === 1) return first;
  let rows = 0;
  for (const batch of batches) {
    assert(
      (batch.eventTime === null) === (first.eventTime === null),
      'all batches have event times or none',
    );
    rows += batch.rows;
  }
  let retract: Uint8Array | null = null;
  if (batches.some((batch) => batch.retract !== null)) {
    retract = new Uint8Array(rows);
    let at = 0;
    for (const batch of batches) {
      if (batch.retract !== null) retract.set(batch.retract.subarray(0, batch.rows), at);
      at += batch.rows;
    }
  }
  return {
    rows,
    columns: first.columns.map((_, index) =>
      concatColumns(batches.map((batch) => batch.columns[index] as Column)),
    ),
    eventTime:
      first.eventTime === null
        ? null
        : (concatColumns(batches.map((batch) => batch.eventTime as Int64Column)) as Int64Column),
    retract,
  };
}
