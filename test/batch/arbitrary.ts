/** Random schemas, values and batches for property tests. */
import fc from 'fast-check';
import { makeBuilder } from '../../src/batch/column-builder.ts';
import type { Int64Column } from '../../src/batch/column.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import {
  BOOLEAN,
  FLOAT64,
  INT32,
  INT64,
  TEXT,
  TIMESTAMP,
  decimalType,
} from '../../src/batch/types.ts';
import type { Field, Schema, SqlType } from '../../src/batch/types.ts';
import { batchFromRows } from '../../src/batch/values.ts';
import type { Row, Value } from '../../src/batch/values.ts';

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

const flatTypes: fc.Arbitrary<SqlType> = fc.oneof(
  fc.constantFrom<SqlType>(BOOLEAN, INT32, INT64, FLOAT64, TEXT, TIMESTAMP),
  fc
    .integer({ min: 1, max: 38 })
    .chain((precision) =>
      fc.integer({ min: 0, max: precision }).map((scale) => decimalType(precision, scale)),
    ),
);

const fieldsOf = (types: readonly SqlType[]): Field[] =>
  types.map((type, index) => ({ name: `c${index}`, type, nullable: true }));

export const anyType: fc.Arbitrary<SqlType> = fc.oneof(
  { weight: 5, arbitrary: flatTypes },
  {
    weight: 1,
    arbitrary: fc
      .array(flatTypes, { minLength: 1, maxLength: 3 })
      .map((types): SqlType => ({ tag: 'struct', fields: fieldsOf(types) })),
  },
);

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

export function anyValue(type: SqlType): fc.Arbitrary<Value> {
  const present = (): fc.Arbitrary<Value> => {
    switch (type.tag) {
      case 'boolean':
        return fc.boolean();
      case 'int32':
        return fc.integer();
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
