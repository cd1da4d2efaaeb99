/** Lists as text and text as lists. */
import type { ListColumn, TextColumn } from '../../batch/column.ts';
import { TEXT } from '../../batch/types.ts';
import { castColumn } from '../cast.ts';
import type { Evaluate } from '../function-types.ts';
import { RowErrors } from '../row-errors.ts';
import { TextSink, findBytes, sequenceBytes } from '../text-sink.ts';
import { Outcome, isPresent } from '../vector.ts';
import { endOf, isNullAt, startOf } from './list-rows.ts';
import { ListTextSink } from './list-text-sink.ts';
import { sliceAt } from './text-rows.ts';

export const toText: Evaluate = (args, rows, errors) => {
  const [list, separator, absent] = args as readonly [ListColumn, TextColumn, TextColumn?];
  const outcome = new Outcome([list, separator], rows, errors);
  const inner = list.child.length;
  const texts = castColumn(list.child, TEXT, true, new RowErrors(inner)) as TextColumn;
  const sink = new TextSink(rows, texts.bytes.length, errors);
  for (let row = 0; row < rows; row++) {
    let first = true;
    if (outcome.has(row))
      for (let index = startOf(list, row); index < endOf(list, row) && !sink.isFull; index++) {
        const isNull = isNullAt(list.child, index);
        if (isNull && (absent === undefined || !isPresent(absent, row))) continue;
        const between = sliceAt(separator, row);
        if (!first) sink.append(between.bytes, between.from, between.to);
        first = false;
        const part = isNull
          ? sliceAt(absent as TextColumn, row)
          : {
              bytes: texts.bytes,
              from: texts.offsets[index] as number,
              to: texts.offsets[index + 1] as number,
            };
        sink.append(part.bytes, part.from, part.to);
      }
    sink.endRow();
  }
  return sink.finish(outcome.validity);
};

/** Parts between separators; a NULL separator parts every character, a part equal to the third argument is NULL. */
export const fromText: Evaluate = (args, rows, errors, type) => {
  const [input, separator, absent] = args as readonly [TextColumn, TextColumn, TextColumn?];
  const sink = new ListTextSink(rows, errors);
  for (let row = 0; row < rows; row++) {
    const present = isPresent(input, row);
    if (present) {
      const { bytes, from, to } = sliceAt(input, row);
      const between = isPresent(separator, row) ? sliceAt(separator, row) : null;
      const none = absent !== undefined && isPresent(absent, row) ? sliceAt(absent, row) : null;
      let at = from;
      while (to > from && at <= to && !sink.isFull) {
        let end = to;
        let next = to + 1;
        if (between === null) {
          if (at === to) break;
          end = at + sequenceBytes(bytes[at] as number);
          next = end;
        } else if (between.to > between.from) {
          const found = findBytes(bytes, at, to, between.bytes, between.from, between.to);
          if (found >= 0) {
            end = found;
            next = found + between.to - between.from;
          }
        }
        const isNone =
          none !== null &&
          end - at === none.to - none.from &&
          findBytes(bytes, at, end, none.bytes, none.from, none.to) === at;
        sink.push(bytes, at, end, !isNone);
        at = next;
      }
    }
    sink.endRow(present);
  }
  return sink.finish(type);
};
