/** How text functions go through rows: where a value's bytes lie, and one call a row that appends to the result. */
import type { Column, Int64Column, TextColumn } from '../../batch/column.ts';
import { TEXT } from '../../batch/types.ts';
import type {
  ArgumentPattern,
  Evaluate,
  FunctionExample,
  ScalarFunction,
} from '../function-types.ts';
import { always } from '../function-types.ts';
import { TextSink } from '../text-sink.ts';
import { Outcome, strideOf } from '../vector.ts';
import { int64AsNumber } from '../wide.ts';

/** Where a text value lies. */
export type Slice = { bytes: Uint8Array; from: number; to: number };

export const sliceAt = (column: Column, row: number): Slice => {
  const text = column as TextColumn;
  const at = row * strideOf(text);
  return {
    bytes: text.bytes,
    from: text.offsets[at] as number,
    to: text.offsets[at + 1] as number,
  };
};

/** A whole number as a double: rounding beyond ±2^53 does not matter to positions. */
export const numberAt = (column: Column, row: number): number =>
  int64AsNumber((column as Int64Column).words, row * strideOf(column));

export type EachRow = (
  args: readonly Column[],
  row: number,
  sink: TextSink,
  outcome: Outcome,
) => void;

/** Runs `each` on every row without NULL arguments; a row it fails must not have been written to. */
export const perRow = (each: EachRow): Evaluate => rowByRow(each, false);

/** The same of a text that may be longer than the arguments together: one that is too long is an error of its row. */
export const perGrowingRow = (each: EachRow): Evaluate => rowByRow(each, true);

const rowByRow =
  (each: EachRow, grows: boolean): Evaluate =>
  (args, rows, errors) => {
    const outcome = new Outcome(args, rows, errors);
    const first = args[0] as TextColumn;
    const sink = new TextSink(
      rows,
      first.tag === 'text' && strideOf(first) === 1 ? bytesOf(first) : 16,
      grows ? errors : null,
    );
    for (let row = 0; row < rows; row++) {
      if (outcome.has(row)) each(args, row, sink, outcome);
      sink.endRow();
    }
    return sink.finish(outcome.validity);
  };

/** Bytes of its values, which may be some of those in the buffer. */
const bytesOf = ({ offsets, length }: TextColumn): number =>
  (offsets[length] as number) - (offsets[0] as number);

export const SPACE: Slice = { bytes: new Uint8Array([32]), from: 0, to: 1 };

/** The record of a strict function that gives text. */
export function textFunction(
  id: string,
  name: string,
  args: readonly ArgumentPattern[],
  doc: string,
  example: FunctionExample,
  evaluate: Evaluate,
  canFail = false,
): ScalarFunction {
  return {
    id,
    name,
    args,
    result: always(TEXT),
    nullRule: 'strict',
    canFail,
    skipsNulls: true,
    doc,
    examples: [example],
    evaluate,
  };
}
