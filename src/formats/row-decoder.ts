/** From a table's format to what reads its rows. */
import { DebeziumDecoder } from './debezium-decoder.ts';
import type { DecodeColumn, FormatSpec } from './format.ts';
import { type DecodeOptions, JsonDecoder } from './json-decoder.ts';

export type { ByteHash } from '../kernels/hash-blocks.ts';

export type RowDecoder = Pick<JsonDecoder, 'decode'> &
  Partial<Pick<JsonDecoder, 'lend' | 'hashes'>>;

export function makeRowDecoder(
  columns: readonly DecodeColumn[],
  spec: FormatSpec,
  options: DecodeOptions = {},
): RowDecoder {
  return spec.changes === undefined
    ? new JsonDecoder(columns, spec, options)
    : new DebeziumDecoder(columns, spec, options);
}
