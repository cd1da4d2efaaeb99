/**
 * Casts to TEXT: numbers as Postgres writes them, timestamps as everywhere in Thalweg
 * (2024-01-31T23:59:59.999), intervals as [-]hours:minutes:seconds.
 */
import type { Column, TextColumn } from '../../batch/column.ts';
import { bitAt } from '../../batch/column.ts';
import { DECIMAL_TEXT_BYTES_MAX, writeDecimal } from '../../batch/decimal-text.ts';
import { INT64_TEXT_BYTES_MAX, writeInt32, writeInt64 } from '../../batch/int-text.ts';
import { TIMESTAMP_TEXT_BYTES_MAX, writeTimestamp } from '../../batch/timestamp-text.ts';
import type { Casting } from '../cast.ts';
import { TextSink } from '../text-sink.ts';
import { readInt64 } from '../wide.ts';

const scratch = new Uint8Array(
  Math.max(DECIMAL_TEXT_BYTES_MAX, INT64_TEXT_BYTES_MAX, TIMESTAMP_TEXT_BYTES_MAX),
);

/**
 * The shortest digits that read back as the same DOUBLE, laid out as Postgres does: plain between
 * 1e-4 and 1e15, otherwise with an exponent of at least two digits.
 */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '', written = '0'] = Math.abs(value).toExponential().split('e');
  const sign = value < 0 ? '-' : '';
  const exponent = Number(written);
  if (exponent < -4 || exponent >= 15) {
    const power = String(Math.abs(exponent)).padStart(2, '0');
    return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${power}`;
  }
  const digits = mantissa.replace('.', '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  if (digits.length <= exponent + 1) return sign + digits.padEnd(exponent + 1, '0');
  return `${sign}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}

/** Microseconds as [-]hh:mm:ss[.ffffff], hours without bound. */
export function intervalText(micros: bigint): string {
  const negative = micros < 0n;
  const size = negative ? -micros : micros;
  const two = (value: bigint): string => value.toString().padStart(2, '0');
  const fraction = size % 1000000n;
  const seconds = size / 1000000n;
  const clock = `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}`;
  const tail = fraction === 0n ? '' : `.${fraction.toString().padStart(6, '0').replace(/0+$/, '')}`;
  return `${negative ? '-' : ''}${clock}${tail}`;
}

/** Writes value `row` into `scratch`; the end position. */
function writeValue(column: Column, row: number, isInterval: boolean): number | string {
  switch (column.tag) {
    case 'boolean':
      return bitAt(column.bits, row) ? 'true' : 'false';
    case 'int32':
      return writeInt32(scratch, 0, column.values[row] as number);
    case 'int64':
      if (isInterval) return intervalText(readInt64(column.words, row));
      return writeInt64(
        scratch,
        0,
        column.words[2 * row] as number,
        column.words[2 * row + 1] as number,
      );
    case 'timestamp':
      return writeTimestamp(
        scratch,
        0,
        column.words[2 * row] as number,
        column.words[2 * row + 1] as number,
      );
    case 'float64':
      return floatText(column.values[row] as number);
    case 'decimal':
      return writeDecimal(scratch, 0, column.words, 4 * row, column.type.scale);
    case 'text':
    case 'struct':
      throw new TypeError(`no conversion of ${column.tag} to text`);
  }
}

export function toText(column: Column, { outcome }: Casting): TextColumn {
  const sink = new TextSink(column.length, column.length * 8);
  const isInterval = column.type.tag === 'interval';
  for (let row = 0; row < column.length; row++) {
    if (outcome.has(row)) {
      const written = writeValue(column, row, isInterval);
      if (typeof written === 'string') sink.appendString(written);
      else sink.append(scratch, 0, written);
    }
    sink.endRow();
  }
  return sink.finish(outcome.validity);
}
