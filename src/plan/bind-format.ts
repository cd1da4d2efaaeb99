/** Format options of a table → what decoding and encoding need. */
import type { FormatSpec, TimestampFormat } from '../formats/format.ts';
import type { CanonicalValue } from './options.ts';

/** @param common  canonical values of the common options */
export function bindFormat(common: ReadonlyMap<string, CanonicalValue>): FormatSpec {
  const text = (name: string): string | null => {
    const value = common.get(name);
    return typeof value === 'string' ? value : null;
  };
  return {
    tag: 'json',
    timestampFormat: text('timestamp_format') as TimestampFormat | null,
    decimalEncoding: text('json.decimal_encoding') === 'string' ? 'string' : 'number',
    unstructured: common.get('json.unstructured') === true,
    badData: (text('bad_data') ?? 'dead_letter') as FormatSpec['badData'],
  };
}
