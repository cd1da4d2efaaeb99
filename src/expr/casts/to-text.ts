/**
 * Casts to TEXT and JSON: numbers as Postgres writes them, moments as everywhere in Thalweg
 * (2024-01-31T23:59:59.999), BYTEA as `\x0aff`, lists and structs as JSON.
 */
import type { Column, TextColumn } from '../../batch/column.ts';
import { hexText } from '../../batch/bytes-text.ts';
import { compactJsonText } from '../../batch/json-text.ts';
import { SCALAR_TEXT_BYTES_MAX, writeScalar } from '../../batch/scalar-text.ts';
import { JSON_TYPE } from '../../batch/types.ts';
import { valueJson } from '../../batch/value-json.ts';
import type { Casting } from '../cast.ts';
import { TextSink, textAt } from '../text-sink.ts';
import { quoted } from './trimmed.ts';

const scratch = new Uint8Array(SCALAR_TEXT_BYTES_MAX);

function appendText(sink: TextSink, column: Column, row: number): void {
  if (column.tag === 'list' || column.tag === 'struct') {
    sink.appendString(valueJson(column, row));
  } else if (column.tag === 'text') {
    const from = column.offsets[row] as number;
    const to = column.offsets[row + 1] as number;
    if (column.type.tag === 'bytea') sink.appendString(hexText(column.bytes, from, to));
    else sink.append(column.bytes, from, to);
  } else {
    sink.append(scratch, 0, writeScalar(scratch, 0, column, row));
  }
}

export function toText(column: Column, { outcome }: Casting): TextColumn {
  const sink = new TextSink(column.length, column.length * 8);
  for (let row = 0; row < column.length; row++) {
    if (outcome.has(row)) appendText(sink, column, row);
    sink.endRow();
  }
  return sink.finish(outcome.validity);
}

/** Text must be JSON and loses the space between its tokens; every other value becomes its JSON. */
export function toJson(column: Column, { outcome, fail }: Casting): TextColumn {
  const sink = new TextSink(column.length, column.length * 8);
  for (let row = 0; row < column.length; row++) {
    if (outcome.has(row)) {
      const json =
        column.tag === 'text' ? compactJsonText(textAt(column, row)) : valueJson(column, row);
      if (json === null)
        fail(row, 'INVALID_CAST', () => `${quoted(column as TextColumn, row)} is no JSON`);
      else sink.appendString(json);
    }
    sink.endRow();
  }
  return { ...sink.finish(outcome.validity), type: JSON_TYPE };
}
