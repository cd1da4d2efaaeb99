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
  Binary,
  Bool,
  DateDay,
  Decimal,
  Field as ArrowField,
  FixedSizeBinary,
  Float64,
  Int32,
  Int64,
  List,
  RecordBatch as ArrowBatch,
  RecordBatchReader,
  RecordBatchStreamWriter,
  Schema as ArrowSchema,
  Struct,
  TimeMicrosecond,
  TimestampMicrosecond,
  TimestampNanosecond,
  Uint64,
  Utf8,
  makeData,
} from 'apache-arrow';
import type { Data, DataType } from 'apache-arrow';
import { unreachable } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { bitAt, bitmapBytes, setBit } from './column.ts';
import type { Column, Int64Column } from './column.ts';
import type { RecordBatch } from './record-batch.ts';
import { sliceColumn } from './take.ts';
import { BOOLEAN, TIMESTAMP, layoutOf, typeName } from './types.ts';
import type { DecimalType, ListType, Schema, SqlType, StructType } from './types.ts';

const EVENT_TIME_NAME = '_timestamp';
const RETRACT_NAME = '_retract';

/** The Arrow type that holds a column as it is. Where Arrow's own would need other bytes, a wider one. */
function arrowType(type: SqlType): DataType {
  switch (type.tag) {
    case 'boolean':
      return new Bool();
    case 'int8':
    case 'int16':
    case 'uint8':
    case 'uint16':
    case 'int32':
      return new Int32();
    case 'uint32':
    case 'int64':
      return new Int64();
    case 'uint64':
      return new Uint64();
    case 'float32':
    case 'float64':
      return new Float64();
    case 'decimal':
      return new Decimal(type.scale, type.precision, 128);
    case 'text':
    case 'json':
      return new Utf8();
    case 'bytea':
      return new Binary();
    case 'timestamp':
      return new TimestampMicrosecond();
    case 'timestamptz':
      return new TimestampMicrosecond('UTC');
    case 'timestamp_ns':
      return new TimestampNanosecond();
    case 'date':
      return new DateDay();
    case 'time':
      return new TimeMicrosecond();
    case 'interval':
      return new FixedSizeBinary(16);
    case 'list':
      return new List(arrowField('item', type.element, true));
    case 'struct':
      return new Struct(
        type.fields.map((field) => arrowField(field.name, field.type, field.nullable)),
      );
    default:
      return unreachable(type);
  }
}

/** Types that share the Arrow type of another: fields name them, so that none is taken for the other. */
const NAMED: readonly SqlType['tag'][] = [
  'int8',
  'int16',
  'uint8',
  'uint16',
  'uint32',
  'float32',
  'json',
  'interval',
];
const TYPE_KEY = 'thalweg.type';

const arrowField = (name: string, type: SqlType, nullable: boolean): ArrowField =>
  new ArrowField(
    name,
    arrowType(type),
    nullable,
    NAMED.includes(type.tag) ? new Map([[TYPE_KEY, typeName(type)]]) : null,
  );

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
    case 'interval': {
      const { words } = column;
      const data = buffers.take(new Uint8Array(words.buffer, words.byteOffset, length * 16));
      return makeData({ type: type as FixedSizeBinary, length, nullBitmap, data });
    }
    case 'text': {
      const valueOffsets = buffers.take(column.offsets.subarray(0, length + 1));
      const data = buffers.take(column.bytes);
      return makeData({ type: type as Utf8, length, nullBitmap, valueOffsets, data });
    }
    case 'list': {
      const { offsets } = column;
      const start = offsets[0] as number;
      const end = offsets[length] as number;
      const exact = offsets.subarray(0, length + 1);
      const valueOffsets = buffers.take(start === 0 ? exact : exact.map((at) => at - start));
      const item = (type as List).children[0] as ArrowField;
      const child = dataOf(sliceColumn(column.child, start, end), item.type, buffers);
      return makeData({ type: type as List, length, nullBitmap, valueOffsets, child });
    }
    case 'struct': {
      const fields = (type as Struct).children;
      const children = column.children.map((child, index) =>
        dataOf(child, (fields[index] as ArrowField).type, buffers),
      );
      return makeData({ type: type as Struct, length, nullBitmap, children });
    }
    default:
      return unreachable(column);
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
  const common = { type, length, validity };
  const layout = layoutOf(type);
  switch (layout) {
    case 'boolean':
      return { tag: layout, ...common, bits: data.values as Uint8Array };
    case 'int32':
      return { tag: layout, ...common, values: (data.values as Int32Array).subarray(0, length) };
    case 'int64':
    case 'timestamp':
      return { tag: layout, ...common, words: wordsOf(data.values as BigInt64Array, length * 2) };
    case 'float64':
      return { tag: layout, ...common, values: (data.values as Float64Array).subarray(0, length) };
    case 'decimal': {
      const words = wordsOf(data.values as Uint32Array, length * 4);
      return { tag: layout, ...common, type: type as DecimalType, words };
    }
    case 'interval':
      return { tag: layout, ...common, words: wordsOf(data.values as Uint8Array, length * 4) };
    case 'text': {
      const offsets = offsetsOf(data);
      const bytes = (data.values as Uint8Array).subarray(0, offsets[length] as number);
      return { tag: layout, ...common, offsets, bytes };
    }
    case 'list': {
      const list = type as ListType;
      const child = columnOf(data.children[0] as Data, list.element);
      return { tag: layout, ...common, type: list, offsets: offsetsOf(data), child };
    }
    case 'struct': {
      const struct = type as StructType;
      const children = struct.fields.map((field, index) =>
        columnOf(data.children[index] as Data, field.type),
      );
      return { tag: layout, ...common, type: struct, children };
    }
    default:
      return unreachable(layout);
  }
}

const wordsOf = (values: ArrayBufferView, words: number): Int32Array =>
  new Int32Array(values.buffer, values.byteOffset, words);

/** Without rows the library may leave the one offset out. */
function offsetsOf(data: Data): Int32Array {
  const read = data.valueOffsets as Int32Array;
  return read.length === 0 ? new Int32Array(1) : read.subarray(0, data.length + 1);
}

function retractBytes(column: Column): Uint8Array {
  const retract = new Uint8Array(column.length);
  if (column.tag === 'boolean') {
    for (let row = 0; row < column.length; row++) retract[row] = bitAt(column.bits, row) ? 1 : 0;
  }
  return retract;
}

/** The Arrow type with the names that tell types apart which share one. */
const fullType = ({ type, metadata }: ArrowField): string =>
  `${String(type)} ${metadata.get(TYPE_KEY) ?? ''}${(type.children ?? []).map(fullType).join()}`;

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
    const due = fullType(arrowField(field.name, field.type, field.nullable));
    if (fullType(found) !== due)
      throw corrupt(`column ${field.name} is ${fullType(found)} where ${due} is due`);
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
