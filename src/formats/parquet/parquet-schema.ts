/**
 * SQL types as Parquet has them: the tree of a file's schema, and its leaves, which are the columns that are written.
 *
 * | SQL | physical | logical |
 * |---|---|---|
 * | BOOLEAN | BOOLEAN | |
 * | TINYINT … INT, UNSIGNED too | INT32 | INTEGER(8, 16, 32; signed or not) |
 * | BIGINT, BIGINT UNSIGNED | INT64 | INTEGER(64) |
 * | FLOAT, DOUBLE | FLOAT, DOUBLE | |
 * | DECIMAL(p, s) | INT32 to 9 digits, INT64 to 18, else as many bytes as p digits need | DECIMAL |
 * | TEXT, JSON, BYTEA | BYTE_ARRAY | STRING, JSON, none |
 * | TIMESTAMP, TIMESTAMP(9), TIMESTAMPTZ | INT64 | TIMESTAMP(micros, nanos; of TIMESTAMPTZ adjusted to UTC) |
 * | DATE, TIME | INT32, INT64 | DATE, TIME(micros) |
 * | INTERVAL | a group of months INT32, days INT32, micros INT64 | |
 * | T[] | optional group, repeated group `list`, `element` | LIST |
 * | STRUCT | group | |
 *
 * Parquet's own INTERVAL has neither a sign nor microseconds, and few readers know it: so it is not used.
 * Source: github.com/apache/parquet-format, LogicalTypes.md and src/main/thrift/parquet.thrift.
 */
import type { Field, Schema, SqlType } from '../../batch/types.ts';
import {
  flag,
  i32,
  i8,
  struct,
  text,
  type ThriftStruct,
  type ThriftValue,
  fieldsOf,
} from './thrift.ts';

export const PHYSICAL = {
  boolean: 0,
  int32: 1,
  int64: 2,
  float: 4,
  double: 5,
  bytes: 6,
  fixed: 7,
} as const;
export type Physical = keyof typeof PHYSICAL;

export type Leaf = {
  /** Names from the root to here. */
  path: readonly string[];
  type: SqlType;
  physical: Physical;
  /** Bytes of a `fixed` value, else 0. */
  width: number;
  /** The definition level of a value that is there; the repetition level of one that continues the innermost list. */
  definition: number;
  repetition: number;
};

/** What a batch's column is taken apart by. */
export type Shape =
  | { tag: 'leaf'; optional: boolean; leaf: number; part: 'all' | 'months' | 'days' | 'micros' }
  | { tag: 'struct'; optional: boolean; children: readonly Shape[] }
  | { tag: 'list'; optional: boolean; element: Shape };

export type ParquetSchema = {
  /** The elements of the schema, depth first. */
  elements: readonly ThriftStruct[];
  leaves: readonly Leaf[];
  shapes: readonly Shape[];
};

const OPTIONAL = 1;
const REPEATED = 2;
const CONVERTED = { utf8: 0, list: 3, decimal: 5, date: 6, timestampMicros: 9, json: 19 } as const;
const UNSIGNED = { 8: 11, 16: 12, 32: 13, 64: 14 } as const;
const SIGNED = { 8: 15, 16: 16, 32: 17, 64: 18 } as const;
const INT32_DIGITS = 9;
const INT64_DIGITS = 18;

const EMPTY = struct();
const MICROS = struct([2, EMPTY]);
const NANOS = struct([3, EMPTY]);
const logical = (id: number, value: ThriftValue): ThriftValue => struct([id, value]);

/** How the values of a type that is not made of others are written. */
type Written = {
  physical: Physical;
  width?: number;
  converted?: number;
  scale?: number;
  precision?: number;
  logical?: ThriftValue;
};

const INT = (bits: 8 | 16 | 32 | 64, signed: boolean): Written => ({
  physical: bits === 64 ? 'int64' : 'int32',
  converted: (signed ? SIGNED : UNSIGNED)[bits],
  logical: logical(10, struct([1, i8(bits)], [2, flag(signed)])),
});

const moment = (unit: ThriftValue, utc: boolean): Written => ({
  physical: 'int64',
  logical: logical(8, struct([1, flag(utc)], [2, unit])),
  // The older word for it means a moment in UTC, so it must not stand with the others.
  ...(utc ? { converted: CONVERTED.timestampMicros } : {}),
});

/** Bytes that the two's complement of so many digits needs. */
export const decimalWidth = (precision: number): number =>
  Math.ceil((precision * Math.log2(10) + 1) / 8);

function writtenDecimal(precision: number, scale: number): Written {
  const physical =
    precision <= INT32_DIGITS ? 'int32' : precision <= INT64_DIGITS ? 'int64' : 'fixed';
  return {
    physical,
    ...(physical === 'fixed' ? { width: decimalWidth(precision) } : {}),
    converted: CONVERTED.decimal,
    scale,
    precision,
    logical: logical(5, struct([1, i32(scale)], [2, i32(precision)])),
  };
}

type LeafType = Exclude<SqlType, { tag: 'list' | 'struct' | 'interval' | 'decimal' }>;

const WRITTEN: Readonly<Record<LeafType['tag'], Written>> = {
  boolean: { physical: 'boolean' },
  int8: INT(8, true),
  int16: INT(16, true),
  int32: INT(32, true),
  int64: INT(64, true),
  uint8: INT(8, false),
  uint16: INT(16, false),
  uint32: INT(32, false),
  uint64: INT(64, false),
  float32: { physical: 'float' },
  float64: { physical: 'double' },
  text: { physical: 'bytes', converted: CONVERTED.utf8, logical: logical(1, EMPTY) },
  json: { physical: 'bytes', converted: CONVERTED.json, logical: logical(12, EMPTY) },
  bytea: { physical: 'bytes' },
  date: { physical: 'int32', converted: CONVERTED.date, logical: logical(6, EMPTY) },
  time: { physical: 'int64', logical: logical(7, struct([1, flag(false)], [2, MICROS])) },
  timestamp: moment(MICROS, false),
  timestamptz: moment(MICROS, true),
  timestamp_ns: moment(NANOS, false),
};

const INTERVAL_PARTS: readonly { name: 'months' | 'days' | 'micros'; type: SqlType }[] = [
  { name: 'months', type: { tag: 'int32' } },
  { name: 'days', type: { tag: 'int32' } },
  { name: 'micros', type: { tag: 'int64' } },
];

/** Where a field stands: names and levels of what is around it. */
type Place = { path: readonly string[]; definition: number; repetition: number };

class SchemaBuilder {
  readonly elements: ThriftStruct[] = [];
  readonly leaves: Leaf[] = [];

  group(name: string, repetition: number | null, children: number, more: Partial<Written>): void {
    this.elements.push(
      fieldsOf(
        [3, repetition === null ? null : i32(repetition)],
        [4, text(name)],
        [5, i32(children)],
        [6, more.converted === undefined ? null : i32(more.converted)],
        [10, more.logical ?? null],
      ),
    );
  }

  field({ name, type, nullable }: Field, around: Place): Shape {
    const place = {
      path: [...around.path, name],
      definition: around.definition + Number(nullable),
      repetition: around.repetition,
    };
    const repetition = nullable ? OPTIONAL : 0;
    switch (type.tag) {
      case 'struct': {
        this.group(name, repetition, type.fields.length, {});
        const children = type.fields.map((field) => this.field(field, place));
        return { tag: 'struct', optional: nullable, children };
      }
      case 'list': {
        const more = { converted: CONVERTED.list, logical: logical(3, EMPTY) };
        this.group(name, repetition, 1, more);
        this.group('list', REPEATED, 1, {});
        const inner = {
          path: [...place.path, 'list'],
          definition: place.definition + 1,
          repetition: place.repetition + 1,
        };
        const element = this.field({ name: 'element', type: type.element, nullable: true }, inner);
        return { tag: 'list', optional: nullable, element };
      }
      case 'interval': {
        this.group(name, repetition, INTERVAL_PARTS.length, {});
        const children = INTERVAL_PARTS.map((part): Shape => {
          const own = { ...part, nullable: false };
          return { ...(this.field(own, place) as Shape & { tag: 'leaf' }), part: part.name };
        });
        return { tag: 'struct', optional: nullable, children };
      }
      default:
        return this.leaf(name, type, nullable, place);
    }
  }

  leaf(
    name: string,
    type: LeafType | (SqlType & { tag: 'decimal' }),
    optional: boolean,
    place: Place,
  ): Shape {
    const written =
      type.tag === 'decimal' ? writtenDecimal(type.precision, type.scale) : WRITTEN[type.tag];
    this.elements.push(
      fieldsOf(
        [1, i32(PHYSICAL[written.physical])],
        [2, written.width === undefined ? null : i32(written.width)],
        [3, i32(optional ? OPTIONAL : 0)],
        [4, text(name)],
        [6, written.converted === undefined ? null : i32(written.converted)],
        [7, written.scale === undefined ? null : i32(written.scale)],
        [8, written.precision === undefined ? null : i32(written.precision)],
        [10, written.logical ?? null],
      ),
    );
    this.leaves.push({ ...place, type, physical: written.physical, width: written.width ?? 0 });
    return { tag: 'leaf', optional, leaf: this.leaves.length - 1, part: 'all' };
  }
}

export function parquetSchema(schema: Schema): ParquetSchema {
  const builder = new SchemaBuilder();
  builder.group('schema', null, schema.length, {});
  const root = { path: [], definition: 0, repetition: 0 };
  const shapes = schema.map((field) => builder.field(field, root));
  return { elements: builder.elements, leaves: builder.leaves, shapes };
}
