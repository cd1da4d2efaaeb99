/** What a table's WITH options say about the bytes of its rows. All plain JSON: it travels in plans. */
import type { LiteralLike } from '../batch/constant-column.ts';
import type { Field } from '../batch/types.ts';

/** How timestamps are written. Numbers have no unit of their own, so a number needs one of the `unix` forms. */
export type TimestampFormat =
  | 'rfc3339'
  | 'unix_seconds'
  | 'unix_millis'
  | 'unix_micros'
  | 'unix_nanos';

export const TIMESTAMP_UNITS: readonly TimestampFormat[] = [
  'unix_seconds',
  'unix_millis',
  'unix_micros',
  'unix_nanos',
];

export type FormatSpec = {
  tag: 'json';
  /** null: not declared; text is read and written as RFC 3339, a number is refused. */
  timestampFormat: TimestampFormat | null;
  /** How DECIMAL is written; both forms are read. */
  decimalEncoding: 'number' | 'string';
  /** The one TEXT column of the table holds each row's JSON text. */
  unstructured: boolean;
  /** What the reader of a table does with rejected rows; decoding itself only reports them. */
  badData: 'fail' | 'drop' | 'dead_letter';
  /** Reading: what is told of a bad row must not show what it holds. */
  redactErrors?: true;
  /** Reading: rows come as changes in Debezium's shape, of the rows with these keys. */
  changes?: { keys: readonly string[] };
};

/** Files of columns: only sinks write them. */
export type ParquetSpec = {
  tag: 'parquet';
  compression: 'uncompressed' | 'snappy';
  /** A row group is closed when its pages have this size. */
  rowGroupBytes: number;
};

export type SinkFormat = FormatSpec | ParquetSpec;

export const JSON_FORMAT: FormatSpec = {
  tag: 'json',
  timestampFormat: null,
  decimalEncoding: 'number',
  unstructured: false,
  badData: 'fail',
};

/** A column to decode. `default` is what a missing key means; null: it means NULL or, for NOT NULL, a rejected row. */
export type DecodeColumn = Field & {
  default: LiteralLike;
  /** What the connector knows of the row by itself and the row's bytes do not say; such a column is not decoded. */
  metadata?: string;
  /** What a change tells beside its rows, in Debezium's envelope. */
  envelope?: EnvelopeTime;
  /** A TEXT column that is NOT NULL and whose texts nobody reads: they are checked, and each comes out empty. */
  unread?: true;
};

/** When a change was written by Debezium, or made in the database, in milliseconds. */
export type EnvelopeTime = 'ts_ms' | 'source.ts_ms';

export const ENVELOPE_TIMES: readonly EnvelopeTime[] = ['ts_ms', 'source.ts_ms'];
