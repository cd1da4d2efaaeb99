/** Columns for the kernel that writes NDJSON and its twin, and what differs between the two. */
import { Prng } from '../../src/base/prng.ts';
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
import { JSON_FORMAT } from '../../src/formats/format.ts';
import type { FormatSpec } from '../../src/formats/format.ts';
import { JsonEncoder } from '../../src/formats/json-encoder.ts';

export const SPECS: readonly FormatSpec[] = [
  JSON_FORMAT,
  { ...JSON_FORMAT, decimalEncoding: 'string' },
  { ...JSON_FORMAT, timestampFormat: 'rfc3339' },
  { ...JSON_FORMAT, timestampFormat: 'unix_seconds' },
  { ...JSON_FORMAT, timestampFormat: 'unix_micros' },
];

/** Null when kernel and twin write the same, otherwise what each wrote. */
export function differenceOf(
  schema: Schema,
  batch: RecordBatch,
  spec: FormatSpec,
): { kernel: string; twin: string } | null {
  const kernel = new JsonEncoder(schema, spec, 0);
  const twin = new JsonEncoder(schema, spec, Infinity);
  const left = Buffer.from(kernel.encode(batch));
  const right = Buffer.from(twin.encode(batch));
  if (left.equals(right) && kernel.nonFinite === twin.nonFinite) return null;
  return { kernel: left.toString('latin1'), twin: right.toString('latin1') };
}

const around = (values: readonly bigint[]): bigint[] =>
  values.flatMap((value) => [value - 1n, value, value + 1n, -value - 1n, -value, -value + 1n]);

const inInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value;

function wholeNumbers(): bigint[] {
  const powers = Array.from({ length: 20 }, (_, exponent) => 10n ** BigInt(exponent));
  const bits = Array.from({ length: 64 }, (_, exponent) => 2n ** BigInt(exponent));
  return around([...powers, ...bits, 1234567890123456789n, 98765432n]).filter(inInt64);
}

function decimals(scale: number): Value[] {
  const prng = new Prng(`decimals ${scale}`);
  return Array.from({ length: 300 }, (_, index) => {
    const text = Array.from({ length: 1 + (index % 38) }, () => prng.below(10)).join('');
    const digits = text.replace(/^0+(?=.)/, '').padStart(scale + 1, '0');
    if (digits.length - (scale === 38 ? 1 : 0) > 38) return null;
    const sign = prng.chance(0.5) && /[1-9]/.test(digits) ? '-' : '';
    const point = digits.length - scale;
    return `${sign}${digits.slice(0, point)}${scale > 0 ? `.${digits.slice(point)}` : ''}`;
  });
}

/** Micros at which the year has more than four digits. */
const FAR = 253_402_300_800_000_000n;

function times(): bigint[] {
  const MINUTE = 60_000_000n;
  const days = [0n, 59n, 60n, 11_016n, -719_528n, -719_469n, 2_932_896n];
  const minutes = days.flatMap((day) =>
    [0n, 1n, 59n, 60n, 719n, 1439n].map((minute) => (day * 1440n + minute) * MINUTE),
  );
  const months = [1896, 1900, 1970, 1999, 2000, 2023, 2024, 9999, 0, 4].flatMap((year) =>
    Array.from({ length: 13 }, (_, month) => {
      const date = new Date(0);
      date.setUTCFullYear(year, month, 1);
      return BigInt(date.getTime()) * 1000n;
    }),
  );
  const fractions = [0n, 1n, 10n, 100_000n, 123_456n, 999_999n, 1_000_000n, 59_999_999n];
  return [...minutes, ...months]
    .flatMap((value) => fractions.map((each) => value + each))
    .filter((value) => value < FAR);
}

function texts(): Value[] {
  const special = ['"', '\\', '\u0000', '\u001f', '\n', ' ', '\u007f', 'é', '😀', '/', '""\\\\'];
  const placed = special.flatMap((each) =>
    Array.from(
      { length: 34 },
      (_, before) => `${'x'.repeat(before)}${each}${'y'.repeat(before % 19)}`,
    ),
  );
  const controls = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join('');
  const plain = Array.from({ length: 40 }, (_, size) => 'z'.repeat(size));
  return [...placed, controls, ...plain, null, ''];
}

/** Values of each type; those in one list make one batch. */
export function writerColumns(): [SqlType, readonly Value[]][] {
  const whole = wholeNumbers();
  const small = whole.map(Number).filter((value) => value === (value | 0));
  return [
    [INT64, whole],
    [INT32, small],
    ...[0, 1, 2, 8, 17, 37, 38].map((scale): [SqlType, Value[]] => [
      decimalType(38, scale),
      decimals(scale),
    ]),
    // The sign of 128 bits carries from one half to the other.
    [decimalType(38, 0), [1n, -1n, 3n, -3n].map((each) => String(each * 2n ** 64n))],
    // In both orders: a minute is remembered from whatever of it comes first.
    [TIMESTAMP, times()],
    [TIMESTAMP, times().toReversed()],
    [TIMESTAMP, [0n, FAR - 1n]],
    // Beyond them the kernel declines, and the twin writes the batch.
    [TIMESTAMP, [0n, FAR]],
    [TIMESTAMP, [0n, -62_167_219_200_000_001n]],
    [TIMESTAMP, [9_223_372_036_854_775_807n, -9_223_372_036_854_775_808n]],
    [TEXT, texts()],
    [BOOLEAN, Array.from({ length: 40 }, (_, row) => (row % 7 === 3 ? null : row % 3 === 0))],
    [FLOAT64, [0, -0, 1.5, 1e300, Number.NaN, Infinity, null, -3]],
  ];
}

/** The first difference over all columns and formats. */
export function firstWritten(): ReturnType<typeof differenceOf> {
  for (const [type, values] of writerColumns()) {
    const schema: Schema = [
      { name: 'x', type, nullable: true },
      { name: 'a "longer" name', type, nullable: true },
    ];
    const rows = values.map((value): Row => ({ x: value, 'a "longer" name': value }));
    // A fault may spoil what the kernel reads next, so that it declines and the twin writes: one value by itself shows it.
    const alone = values.filter((_, at) => at % 13 === 0).map((x) => [{ x }]);
    for (const spec of SPECS) {
      const found = differenceOf(schema, batchFromRows(schema, rows), spec);
      if (found !== null) return found;
      for (const one of alone) {
        const [x] = schema as [Field];
        const other = differenceOf([x], batchFromRows([x], one), spec);
        if (other !== null) return other;
      }
    }
  }
  return null;
}
