/** split_part: one of the fields of a text between delimiters, counted from 1, or from -1 at the end. */
import type { Column, TextColumn } from '../../batch/column.ts';
import type { Evaluate } from '../function-types.ts';
import { TextSink, findBytes } from '../text-sink.ts';
import { Outcome, strideOf } from '../vector.ts';
import type { EachRow, Slice } from './text-rows.ts';
import { numberAt, perRow, sliceAt } from './text-rows.ts';

/** Start positions of the delimiters in a slice. */
function delimitersOf({ bytes, from, to }: Slice, delimiter: Slice): number[] {
  const found: number[] = [];
  const size = delimiter.to - delimiter.from;
  if (size === 0) return found;
  for (let at = from; ;) {
    const next = findBytes(bytes, at, to, delimiter.bytes, delimiter.from, delimiter.to);
    if (next < 0) return found;
    found.push(next);
    at = next + size;
  }
}

/** The field of a row, whatever the arguments are. */
const fieldOf: EachRow = (args, row, sink, outcome) => {
  const slice = sliceAt(args[0] as Column, row);
  const delimiter = sliceAt(args[1] as Column, row);
  const wanted = numberAt(args[2] as Column, row);
  if (wanted === 0) {
    outcome.fail(
      row,
      'NUMERIC_OUT_OF_RANGE',
      () => 'split_part counts its fields from 1, or from -1 at the end',
    );
    return;
  }
  const ends = delimitersOf(slice, delimiter);
  const index = wanted > 0 ? wanted - 1 : ends.length + 1 + wanted;
  if (index < 0 || index > ends.length) return;
  const start =
    index === 0 ? slice.from : (ends[index - 1] as number) + delimiter.to - delimiter.from;
  sink.append(slice.bytes, start, ends[index] ?? slice.to);
};

/** How far the texts of a column have been split, by delimiters that are these bytes. */
type Progress = {
  delimiter: Slice;
  fields: number;
  /** Where the field behind these begins in each row; -1: there is none. */
  starts: Int32Array;
};

/** Of each column the last split: a query that takes one field often takes the next one too. */
const PROGRESS = new WeakMap<TextColumn, Progress>();

/** Where to go on for a field, or the beginning of every text. */
function progressOf(text: TextColumn, delimiter: Slice, wanted: number): Progress {
  const known = PROGRESS.get(text);
  const goesOn =
    known !== undefined && known.fields < wanted && sameBytes(known.delimiter, delimiter);
  return goesOn ? known : { delimiter, fields: 0, starts: text.offsets };
}

function sameBytes(left: Slice, right: Slice): boolean {
  const size = left.to - left.from;
  if (right.to - right.from !== size) return false;
  return findBytes(left.bytes, left.from, left.to, right.bytes, right.from, right.to) === left.from;
}

/** Where the delimiter comes next in [from, to), or -1. */
function nextDelimiter(bytes: Uint8Array, from: number, to: number, delimiter: Slice): number {
  if (delimiter.to - delimiter.from > 1)
    return findBytes(bytes, from, to, delimiter.bytes, delimiter.from, delimiter.to);
  const wanted = delimiter.bytes[delimiter.from] as number;
  for (let at = from; at < to; at++) if (bytes[at] === wanted) return at;
  return -1;
}

/** A field counted from the start, by one delimiter for all rows. */
function fieldsFromStart(
  text: TextColumn,
  delimiter: Slice,
  wanted: number,
  rows: number,
  outcome: Outcome,
): Column {
  const { bytes, offsets } = text;
  const size = delimiter.to - delimiter.from;
  const before = progressOf(text, delimiter, wanted);
  const starts = new Int32Array(rows).fill(-1);
  const sink = new TextSink(rows, 8 * rows);
  for (let row = 0; row < rows; row++) {
    const to = offsets[row + 1] as number;
    let start = outcome.has(row) ? (before.starts[row] as number) : -1;
    for (let field = before.fields + 1; start >= 0; field++) {
      const end = nextDelimiter(bytes, start, to, delimiter);
      if (field === wanted) sink.append(bytes, start, end < 0 ? to : end);
      start = end < 0 ? -1 : end + size;
      if (field === wanted) break;
    }
    starts[row] = start;
    sink.endRow();
  }
  PROGRESS.set(text, { delimiter, fields: wanted, starts });
  return sink.finish(outcome.validity);
}

const eachRow = perRow(fieldOf);

export const splitPart: Evaluate = (args, rows, errors, type) => {
  const [text, delimiter, wanted] = args as readonly [TextColumn, TextColumn, Column];
  if (strideOf(text) === 1 && strideOf(delimiter) === 0 && strideOf(wanted) === 0) {
    const slice = sliceAt(delimiter, 0);
    const field = numberAt(wanted, 0);
    if (field > 0 && slice.to > slice.from)
      return fieldsFromStart(text, slice, field, rows, new Outcome(args, rows, errors));
  }
  return eachRow(args, rows, errors, type);
};
