/**
 * Record batches as Arrow IPC streams: between hosts, in state files and for any Arrow reader.
 *
 * One stream holds one schema and one batch. Event times and retractions travel behind the columns
 * of the schema as `_timestamp` and `_retract`. Only `makeData` of the library is used: its builders
 * compile code at run time, which Workers forbid. Decoded columns are views of the given bytes.
 * Columns may share buffers (an event time that is a column is the same array twice): each is written in full.
 *
 * Failure: bytes that are cut short, are no such stream or one of another schema throw INTERNAL. A
 * flipped bit inside is not noticed and may cost much time: who stores streams keeps a checksum.
 */
import {
  Bool,
  Decimal,
  Duration,
  Field as ArrowField,
  Float64,
  Int32,
  Int64,
  RecordBatch as ArrowBatch,
  RecordBatchReader,
  RecordBatchStreamWriter,
  Schema as ArrowSchema,
  Struct,
  TimestampMicrosecond,
  TimeUnit,
  Utf8,
  makeData,
} from 'apache-arrow';
import type { Data, DataType } from 'apache-arrow';
import { EngineError } from '../base/errors.ts';
import { bitAt, bitmapBytes, setBit } from './column.ts';
import type { Column, Int64Column } from './column.ts';
import type { RecordBatch } from './record-batch.ts';
import { BOOLEAN, TIMESTAMP } from './types.ts';
import type { Schema, SqlType } from './types.ts';

const EVENT_TIME_NAME = '_timestamp';
const RETRACT_NAME = '_retract';

function arrowType(type: SqlType): DataType {
  switch (type.tag) {
    case 'boolean':
      return new Bool();
    case 'int32':
      return new Int32();
    case 'int64':
      return new Int64();
    case 'float64':
      return new Float64();
    case 'decimal':
      return new Decimal(type.scale, type.precision, 128);
    case 'text':
      return new Utf8();
    case 'timestamp':
      return new TimestampMicrosecond();
    case 'interval':
      return new Duration(TimeUnit.MICROSECOND);
    case 'struct':
      return new Struct(
        type.fields.map((field) => arrowField(field.name, field.type, field.nullable)),
      );
  }
}

const arrowField = (name: string, type: SqlType, nullable: boolean): ArrowField =>
  new ArrowField(name, arrowType(type), nullable);

/**
 * The buffers of one stream so far. The library joins neighbours that lie in one ArrayBuffer to a single range, and so
 * writes bytes that both of them hold only once: a buffer that overlaps an earlier one has to be a copy.
 */
class DistinctBuffers {
  readonly #ranges = new Map<ArrayBufferLike, { from: number; to: number }[]>();

  take<T extends Uint8Array | Int32Array | Uint32Array | Float64Array | BigInt64Array>(
    array: T,
  ): T {
    const from = array.byteOffset;
    const to = from + array.byteLength;
    const ranges = this.#ranges.get(array.buffer);
    if (ranges === undefined) this.#ranges.set(array.buffer, [{ from, to }]);
    else if (ranges.some((range) => from < range.to && range.from < to)) return array.slice() as T;
    else ranges.push({ from, to });
    return array;
  }
}

function wideValues(words: Int32Array, length: number): BigInt64Array {
  const exact = words.subarray(0, length * 2);
  const aligned = exact.byteOffset % 8 === 0 ? exact : exact.slice();
  return new BigInt64Array(aligned.buffer, aligned.byteOffset, length);
}

function dataOf(column: Column, type: DataType, buffers: DistinctBuffers): Data {
  const { length } = column;
  const nullBitmap =
    column.validity === null
      ? null
      : buffers.take(column.validity.subarray(0, bitmapBytes(length)));
  switch (column.tag) {
    case 'boolean':
      return makeData({
        type: type as Bool,
        length,
        nullBitmap,
        data: buffers.take(column.bits.subarray(0, bitmapBytes(length))),
      });
    case 'int32':
      return makeData({
        type: type as Int32,
        length,
        nullBitmap,
        data: buffers.take(column.values.subarray(0, length)),
      });
    case 'int64':
    case 'timestamp':
      return makeData({
        type: type as Int64,
        length,
        nullBitmap,
        data: buffers.take(wideValues(column.words, length)),
      });
    case 'float64':
      return makeData({
        type: type as Float64,
        length,
        nullBitmap,
        data: buffers.take(column.values.subarray(0, length)),
      });
    case 'decimal': {
      const { words } = column;
      const data = buffers.take(new Uint32Array(words.buffer, words.byteOffset, length * 4));
      return makeData({ type: type as Decimal, length, nullBitmap, data });
    }
    case 'text': {
      const valueOffsets = buffers.take(column.offsets.subarray(0, length + 1));
      const data = buffers.take(column.bytes);
      return makeData({ type: type as Utf8, length, nullBitmap, valueOffsets, data });
    }
    case 'struct': {
      const fields = (type as Struct).children;
      const children = column.children.map((child, index) =>
        dataOf(child, (fields[index] as ArrowField).type, buffers),
      );
      return makeData({ type: type as Struct, length, nullBitmap, children });
    }
  }
}

function retractColumn(retract: Uint8Array, rows: number): Column {
  const bits = new Uint8Array(bitmapBytes(rows));
  for (let row = 0; row < rows; row++) if (retract[row] !== 0) setBit(bits, row);
  return { tag: 'boolean', type: BOOLEAN, length: rows, validity: null, bits };
}

/** The batch as one Arrow IPC stream; `schema` names its columns. */
export function encodeBatch(schema: Schema, batch: RecordBatch): Uint8Array {
  const fields = schema.map((field) => arrowField(field.name, field.type, field.nullable));
  const columns = [...batch.columns];
  if (batch.eventTime !== null) {
    fields.push(arrowField(EVENT_TIME_NAME, TIMESTAMP, false));
    columns.push(batch.eventTime);
  }
  if (batch.retract !== null) {
    fields.push(arrowField(RETRACT_NAME, BOOLEAN, false));
    columns.push(retractColumn(batch.retract, batch.rows));
  }
  const buffers = new DistinctBuffers();
  const children = columns.map((column, index) =>
    dataOf(column, (fields[index] as ArrowField).type, buffers),
  );
  const data = makeData({ type: new Struct(fields), length: batch.rows, nullCount: 0, children });
  const writer = new RecordBatchStreamWriter();
  writer.write(new ArrowBatch(new ArrowSchema(fields), data));
  writer.finish();
  return writer.toUint8Array(true);
}

function columnOf(data: Data, type: SqlType): Column {
  const { length } = data;
  const validity =
    data.nullCount === 0 ? null : (data.nullBitmap as Uint8Array).subarray(0, bitmapBytes(length));
  switch (type.tag) {
    case 'boolean':
      return { tag: 'boolean', type, length, validity, bits: data.values as Uint8Array };
    case 'int32':
      return {
        tag: 'int32',
        type,
        length,
        validity,
        values: (data.values as Int32Array).subarray(0, length),
      };
    case 'int64':
    case 'interval':
    case 'timestamp': {
      const values = data.values as BigInt64Array;
      const words = new Int32Array(values.buffer, values.byteOffset, length * 2);
      return {
        tag: type.tag === 'timestamp' ? 'timestamp' : 'int64',
        type,
        length,
        validity,
        words,
      };
    }
    case 'float64':
      return {
        tag: 'float64',
        type,
        length,
        validity,
        values: (data.values as Float64Array).subarray(0, length),
      };
    case 'decimal': {
      const values = data.values as Uint32Array;
      const words = new Int32Array(values.buffer, values.byteOffset, length * 4);
      return { tag: 'decimal', type, length, validity, words };
    }
    case 'text': {
      const read = data.valueOffsets as Int32Array;
      const offsets = read.length === 0 ? new Int32Array(1) : read.subarray(0, length + 1);
      const bytes = (data.values as Uint8Array).subarray(0, offsets[length] as number);
      return { tag: 'text', type, length, validity, offsets, bytes };
    }
    case 'struct':
      return {
        tag: 'struct',
        type,
        length,
        validity,
        children: type.fields.map((field, index) =>
          columnOf(data.children[index] as Data, field.type),
        ),
      };
  }
}

function retractBytes(column: Column): Uint8Array {
  const retract = new Uint8Array(column.length);
  if (column.tag === 'boolean') {
    for (let row = 0; row < column.length; row++) retract[row] = bitAt(column.bits, row) ? 1 : 0;
  }
  return retract;
}

const sameArrowType = (type: DataType, expected: SqlType): boolean =>
  type.toString() === arrowType(expected).toString();

const corrupt = (why: string, cause?: unknown): EngineError =>
  new EngineError('INTERNAL', `not an Arrow stream of this schema: ${why}`, {}, cause);

function readStream(bytes: Uint8Array): ArrowBatch {
  // Views of 64-bit values need an aligned start.
  const aligned = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
  const { value } = RecordBatchReader.from(aligned).next();
  if (value === null || value === undefined) throw corrupt('no batch in it');
  return value as ArrowBatch;
}

/** The batch of a stream that `encodeBatch` made with an equal schema; shares memory with `bytes`. */
export function decodeBatch(schema: Schema, bytes: Uint8Array): RecordBatch {
  try {
    return batchOfStream(schema, bytes);
  } catch (cause) {
    if (cause instanceof EngineError) throw cause;
    throw corrupt('unreadable', cause);
  }
}

function batchOfStream(schema: Schema, bytes: Uint8Array): RecordBatch {
  const read = readStream(bytes);
  const { fields } = read.schema;
  if (fields.length < schema.length)
    throw corrupt(`${fields.length} columns where ${schema.length} are due`);
  const columns = schema.map((field, index) => {
    const found = fields[index] as ArrowField;
    if (!sameArrowType(found.type, field.type)) {
      throw corrupt(
        `column ${field.name} is ${String(found.type)} where ${String(arrowType(field.type))} is due`,
      );
    }
    return columnOf(read.data.children[index] as Data, field.type);
  });
  let eventTime: Int64Column | null = null;
  let retract: Uint8Array | null = null;
  for (let index = schema.length; index < fields.length; index++) {
    const child = read.data.children[index] as Data;
    const { name } = fields[index] as ArrowField;
    if (name === EVENT_TIME_NAME) eventTime = columnOf(child, TIMESTAMP) as Int64Column;
    else if (name === RETRACT_NAME) retract = retractBytes(columnOf(child, BOOLEAN));
    else throw corrupt(`unexpected column ${name}`);
  }
  return { rows: read.numRows, columns, eventTime, retract };
}
