/** Casts of text to TIMESTAMP: ISO 8601 with `T` or a space; an offset is shifted to UTC. */
import { assert } from '../../base/assert.ts';
import type { Column, Int64Column } from '../../batch/column.ts';
import type { Pair } from '../../batch/int-text.ts';
import { readTimestamp } from '../../batch/timestamp-text.ts';
import { TIMESTAMP } from '../../batch/types.ts';
import type { Casting } from '../cast.ts';
import { makeInt64 } from '../vector.ts';
import { quoted, range, trimText } from './trimmed.ts';

const pair: Pair = { low: 0, high: 0 };

export function toTimestamp(column: Column, { outcome, fail }: Casting): Int64Column {
  assert(column.tag === 'text', 'only text becomes a timestamp');
  const result = makeInt64(column.length, TIMESTAMP);
  for (let row = 0; row < column.length; row++) {
    if (!outcome.has(row)) continue;
    trimText(column, row);
    if (readTimestamp(column.bytes, range.from, range.to, pair)) {
      result.words[2 * row] = pair.low;
      result.words[2 * row + 1] = pair.high;
    } else {
      fail(
        row,
        'INVALID_CAST',
        () => `${quoted(column, row)} is no TIMESTAMP; write it as 2024-01-31 23:59:59.999`,
      );
    }
  }
  result.validity = outcome.validity;
  return result;
}
