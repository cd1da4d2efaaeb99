/** Casts to BOOLEAN: whole numbers (0 is false) and the words Postgres takes, or an unambiguous start of them. */
import { assert } from '../../base/assert.ts';
import type { BooleanColumn, Column } from '../../batch/column.ts';
import { setBit } from '../../batch/column.ts';
import type { Casting } from '../cast.ts';
import { decodeBytes } from '../text-sink.ts';
import { makeBoolean } from '../vector.ts';
import { quoted, range, trimText } from './trimmed.ts';

const TRUE_WORDS: ReadonlySet<string> = new Set([
  't',
  'tr',
  'tru',
  'true',
  'y',
  'ye',
  'yes',
  'on',
  '1',
]);
const FALSE_WORDS: ReadonlySet<string> = new Set([
  'f',
  'fa',
  'fal',
  'fals',
  'false',
  'n',
  'no',
  'of',
  'off',
  '0',
]);

export function toBoolean(column: Column, { outcome, fail }: Casting): BooleanColumn {
  const result = makeBoolean(column.length, null);
  for (let row = 0; row < column.length; row++) {
    if (!outcome.has(row)) continue;
    if (column.tag === 'text') {
      trimText(column, row);
      const word =
        range.to - range.from > 5
          ? ''
          : decodeBytes(column.bytes, range.from, range.to).toLowerCase();
      if (TRUE_WORDS.has(word)) setBit(result.bits, row);
      else if (!FALSE_WORDS.has(word))
        fail(row, 'INVALID_CAST', () => `${quoted(column, row)} is no BOOLEAN`);
    } else if (column.tag === 'int32') {
      if (column.values[row] !== 0) setBit(result.bits, row);
    } else {
      assert(column.tag === 'int64', 'only whole numbers and text become booleans');
      if (column.words[2 * row] !== 0 || column.words[2 * row + 1] !== 0) setBit(result.bits, row);
    }
  }
  result.validity = outcome.validity;
  return result;
}
