/**
 * Casts of TEXT and JSON to lists and structs: a JSON array or object, whose values are read as the JSON of
 * each type is. Fields that an object lacks are NULL; those that the struct lacks are left out.
 */
import { assert } from '../../base/assert.ts';
import { bitmapBytes, setBit } from '../../batch/column.ts';
import type { Column, ListColumn, StructColumn, TextColumn } from '../../batch/column.ts';
import { hexText, readBase64 } from '../../batch/bytes-text.ts';
import { jsonParts, jsonScalar } from '../../batch/json-text.ts';
import { JSON_TYPE, TEXT, isNested, typeName } from '../../batch/types.ts';
import type { ListType, SqlType, StructType } from '../../batch/types.ts';
import type { CastColumn, Casting } from '../cast.ts';
import { RowErrors } from '../row-errors.ts';
import { TextSink, encodeText, textAt } from '../text-sink.ts';
import { quoted } from './trimmed.ts';

/** JSON texts as a column that casts to `type`; null is NULL. */
function readable(values: readonly (string | null)[], type: SqlType): TextColumn {
  const sink = new TextSink(values.length, values.length * 8);
  const validity = new Uint8Array(bitmapBytes(values.length));
  const asJson = isNested(type) || type.tag === 'json';
  values.forEach((value, index) => {
    const scalar = value === null ? null : jsonScalar(value);
    if (scalar !== null) {
      setBit(validity, index);
      if (asJson) sink.appendString(value as string);
      else sink.appendString(type.tag === 'bytea' ? hexOfBase64(scalar) : scalar);
    }
    sink.endRow();
  });
  return { ...sink.finish(validity), type: asJson ? JSON_TYPE : TEXT };
}

/** What is no base64 becomes what is no hex either, and so fails as BYTEA. */
function hexOfBase64(text: string): string {
  const bytes = encodeText(text);
  const target = new Uint8Array(bytes.length);
  const end = readBase64(bytes, 0, bytes.length, target, 0);
  return end < 0 ? '\\x?' : hexText(target, 0, end);
}

export function listOfJson(
  column: Column,
  type: ListType,
  casting: Casting,
  castColumn: CastColumn,
): ListColumn {
  assert(column.tag === 'text', 'text that holds a list');
  const offsets = new Int32Array(column.length + 1);
  const items: string[] = [];
  const rowOf: number[] = [];
  for (let row = 0; row < column.length; row++) {
    if (casting.outcome.has(row)) {
      const parts = jsonParts(textAt(column, row));
      if (parts?.tag === 'array')
        for (const item of parts.items) {
          items.push(item);
          rowOf.push(row);
        }
      else refuse(column, row, casting, '[1, 2]');
    }
    offsets[row + 1] = items.length;
  }
  const inner = new RowErrors(items.length);
  const child = castColumn(readable(items, type.element), type.element, casting.orNull, inner);
  for (const { row, code, message } of inner.list)
    casting.fail(rowOf[row] as number, code, () => message);
  const { validity } = casting.outcome;
  return { tag: 'list', type, length: column.length, validity, offsets, child };
}

export function structOfJson(
  column: Column,
  type: StructType,
  casting: Casting,
  castColumn: CastColumn,
): StructColumn {
  assert(column.tag === 'text', 'text that holds a struct');
  const { length } = column;
  const objects = Array.from({ length }, (_, row) => {
    if (!casting.outcome.has(row)) return null;
    const parts = jsonParts(textAt(column, row));
    if (parts?.tag === 'object') return new Map(parts.entries);
    refuse(column, row, casting, '{"a": 1}');
    return null;
  });
  const children = type.fields.map((field) => {
    const values = objects.map((object) => object?.get(field.name) ?? null);
    const inner = new RowErrors(length);
    const child = castColumn(readable(values, field.type), field.type, casting.orNull, inner);
    for (const { row, code, message } of inner.list) casting.fail(row, code, () => message);
    return child;
  });
  return { tag: 'struct', type, length, validity: casting.outcome.validity, children };
}

function refuse(column: TextColumn, row: number, { fail, type }: Casting, form: string): void {
  fail(
    row,
    'INVALID_CAST',
    () => `${quoted(column, row)} is no ${typeName(type)}; write it as ${form}`,
  );
}
