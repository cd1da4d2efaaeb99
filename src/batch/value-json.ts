/** One value as JSON text, all digits kept: for casts, messages and people; sinks have their own encoder. */
import { base64Size, writeBase64 } from './bytes-text.ts';
import { isValid } from './column.ts';
import type { Column } from './column.ts';
import { float32Digits } from './float-text.ts';
import { scalarText } from './scalar-text.ts';
import type { Field } from './types.ts';

const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

function base64(bytes: Uint8Array, from: number, to: number): string {
  const target = new Uint8Array(base64Size(to - from));
  return decoder.decode(target.subarray(0, writeBase64(target, 0, bytes, from, to)));
}

/** Fields as one JSON object. */
export const fieldsJson = (
  fields: readonly Field[],
  columns: readonly Column[],
  row: number,
): string =>
  `{${fields
    .map(
      (field, index) => `${JSON.stringify(field.name)}:${valueJson(columns[index] as Column, row)}`,
    )
    .join(',')}}`;

/** The JSON of value `row`; NaN and the infinities, which JSON does not have, are null. */
export function valueJson(column: Column, row: number): string {
  if (!isValid(column, row)) return 'null';
  if (column.tag === 'struct') return fieldsJson(column.type.fields, column.children, row);
  if (column.tag === 'list') {
    const elements: string[] = [];
    const end = column.offsets[row + 1] as number;
    for (let at = column.offsets[row] as number; at < end; at++)
      elements.push(valueJson(column.child, at));
    return `[${elements.join(',')}]`;
  }
  switch (column.type.tag) {
    case 'float32':
    case 'float64': {
      const value = column.tag === 'float64' ? (column.values[row] as number) : NaN;
      if (!Number.isFinite(value)) return 'null';
      if (Object.is(value, -0)) return '-0';
      return column.type.tag === 'float32' ? float32Digits(value) : String(value);
    }
    case 'boolean':
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
    case 'uint8':
    case 'uint16':
    case 'uint32':
    case 'uint64':
    case 'decimal':
    case 'json':
      return scalarText(column, row);
    case 'bytea':
      if (column.tag !== 'text') return 'null';
      return `"${base64(column.bytes, column.offsets[row] as number, column.offsets[row + 1] as number)}"`;
    default:
      return JSON.stringify(scalarText(column, row));
  }
}
