/** Random schemas, values and batches for property tests. */
import fc from 'fast-check';
import { makeBuilder } from '../../src/batch/column-builder.ts';
import type { Int64Column } from '../../src/batch/column.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import {
  BOOLEAN,
  BYTEA,
  DATE,
  FLOAT32,
  FLOAT64,
  INT16,
  INT32,
  INT64,
  INT8,
  INTEGERS,
  INTERVAL,
  JSON_TYPE,
  TEXT,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  TIMESTAMP_NS,
  UINT16,
  UINT32,
  UINT64,
  UINT8,
  decimalType,
  listType,
} from '../../src/batch/types.ts';
import type { Field, Schema, SqlType } from '../../src/batch/types.ts';
import { intervalLiteral } from '../../src/batch/interval.ts';
import { batchFromRows } from '../../src/batch/values.ts';
import type { Row, Value } from '../../src/batch/values.ts';

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

const flatTypes: fc.Arbitrary<SqlType> = fc.oneof(
  fc.constantFrom<SqlType>(BOOLEAN, INT32, INT64, FLOAT64, TEXT, TIMESTAMP),
  fc.constantFrom<SqlType>(
    INT8,
    INT16,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    FLOAT32,
    BYTEA,
    JSON_TYPE,
    TIMESTAMPTZ,
    TIMESTAMP_NS,
    { tag: 'timestamp', precision: 0 },
    { tag: 'timestamptz', precision: 3 },
    DATE,
    TIME,
    INTERVAL,
  ),
  fc
    .integer({ min: 1, max: 38 })
    .chain((precision) =>
      fc.integer({ min: 0, max: precision }).map((scale) => decimalType(precision, scale)),
    ),
);

const fieldsOf = (types: readonly SqlType[]): Field[] =>
  types.map((type, index) => ({ name: `c${index}`, type, nullable: true }));

const nestedIn = (inner: fc.Arbitrary<SqlType>): fc.Arbitrary<SqlType> =>
  fc.oneof(
    { weight: 5, arbitrary: flatTypes },
    {
      weight: 1,
      arbitrary: fc
        .array(inner, { minLength: 1, maxLength: 3 })
        .map((types): SqlType => ({ tag: 'struct', fields: fieldsOf(types) })),
    },
    { weight: 1, arbitrary: inner.map(listType) },
  );

export const anyType: fc.Arbitrary<SqlType> = nestedIn(nestedIn(flatTypes));

/** Text of an unscaled integer with `scale` fraction digits. */
export function scaledText(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? '-' : '';
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

export const anyInt64: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
  fc.bigInt({ min: -1000n, max: 1000n }),
  fc.constantFrom(
    INT64_MIN,
    INT64_MAX,
    2n ** 53n,
    2n ** 53n + 1n,
    -(2n ** 53n),
    2n ** 32n,
    -(2n ** 31n),
    0n,
  ),
);

const DAY_MICROS = 86_400_000_000n;

const anyInterval = fc
  .tuple(fc.integer(), fc.integer(), anyInt64)
  .map(([months, days, micros]) => intervalLiteral({ months, days, micros }));

const anyBytes = fc
  .uint8Array({ maxLength: 40 })
  .map((bytes) => `\\x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`);

/** Microseconds that are whole steps of a precision. */
const anyMicros = (step: bigint): fc.Arbitrary<bigint> =>
  anyInt64.map((micros) => (micros / step) * step);

export function anyValue(type: SqlType): fc.Arbitrary<Value> {
  const present = (): fc.Arbitrary<Value> => {
    switch (type.tag) {
      case 'boolean':
        return fc.boolean();
      case 'int8':
      case 'int16':
      case 'int32':
      case 'uint8':
      case 'uint16':
        return fc.integer({
          min: Number(INTEGERS[type.tag].min),
          max: Number(INTEGERS[type.tag].max),
        });
      case 'uint32':
      case 'uint64':
        return fc.bigInt({ min: 0n, max: INTEGERS[type.tag].max });
      case 'date':
        return fc.integer();
      case 'time':
        return fc.bigInt({ min: 0n, max: DAY_MICROS - 1n });
      case 'interval':
        return anyInterval;
      case 'float32':
        return fc.float();
      case 'bytea':
        return anyBytes;
      case 'json':
        return fc.json().filter((text) => text !== 'null');
      case 'timestamp':
      case 'timestamptz':
        return anyMicros(
          type.precision === undefined ? 1n : type.precision === 0 ? 1_000_000n : 1000n,
        );
      case 'list':
        return fc.array(anyValue(type.element), { maxLength: 4 });
      case 'float64':
        return fc.double();
      case 'text':
        return fc.string({ unit: 'binary', maxLength: 60 });
      case 'decimal':
        return fc
          .bigInt({
            min: -(10n ** BigInt(type.precision)) + 1n,
            max: 10n ** BigInt(type.precision) - 1n,
          })
          .map((unscaled) => scaledText(unscaled, type.scale));
      case 'struct':
        return fc.record(
          Object.fromEntries(type.fields.map((field) => [field.name, anyValue(field.type)])),
          {
            noNullPrototype: true,
          },
        );
      default:
        return anyInt64;
    }
  };
  return fc.option(present(), { nil: null, freq: 4 });
}

export type Sample = { schema: Schema; rows: Row[]; batch: RecordBatch };

function eventTimes(count: number): Int64Column {
  const builder = makeBuilder(TIMESTAMP, count);
  for (let row = 0; row < count; row++)
    if (builder.tag === 'timestamp') builder.append(row * 7 + 1, row);
  return builder.finish() as Int64Column;
}

/** A batch with its rows as plain values; sometimes with event times and retractions. */
export const anySample: fc.Arbitrary<Sample> = fc
  .tuple(fc.array(anyType, { minLength: 1, maxLength: 4 }), fc.boolean(), fc.boolean())
  .chain(([types, timed, retracting]) => {
    const schema = fieldsOf(types);
    const row = fc.record(
      Object.fromEntries(schema.map((field) => [field.name, anyValue(field.type)])),
      {
        noNullPrototype: true,
      },
    );
    return fc.array(row, { maxLength: 40 }).map((rows): Sample => {
      const batch = batchFromRows(schema, rows);
      return {
        schema,
        rows,
        batch: {
          ...batch,
          eventTime: timed ? eventTimes(rows.length) : null,
          retract: retracting
            ? Uint8Array.from(rows, (_, index) => (index % 3 === 0 ? 1 : 0))
            : null,
        },
      };
    });
  });
