/**
 * Nexmark from SQL to rows, against hashes that DuckDB computed over the same data:
 * the sum of the first 48 bits of each row's MD5, modulo 10^12, columns joined by `|`, times in milliseconds.
 */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Row } from '../../src/batch/values.ts';
import { runSql } from './run-graph.ts';

const EVENTS = 1_086_957;

function digest(rows: readonly Row[], times: readonly string[]): string {
  let sum = 0n;
  for (const row of rows) {
    const line = Object.entries(row)
      .map(([name, value]) => (times.includes(name) ? (value as bigint) / 1000n : value))
      .join('|');
    sum += BigInt(`0x${createHash('md5').update(line).digest('hex').slice(0, 12)}`);
  }
  return `${rows.length} | ${sum % 1_000_000_000_000n}`;
}

const bids = (watermark: string): string => `
  CREATE TABLE bid (WATERMARK FOR datetime AS ${watermark})
    WITH (connector = 'nexmark', table = 'bid', events = '${EVENTS}');`;

test('q12, bids of each bidder in every ten seconds, is what DuckDB says', () => {
  const { rows, late, failed } = runSql(`${bids("datetime - interval '4 seconds'")}
    SELECT bidder, n, w.start AS start
    FROM (SELECT bidder, count(*) AS n, tumble(interval '10 seconds') AS w FROM bid GROUP BY bidder, w);`);
  expect(digest(rows, ['start'])).toBe('30017 | 920894550341');
  expect([late, failed]).toEqual([[], []]);
}, 60_000);

test('q2, the bids on every 123rd auction, is what DuckDB says', () => {
  const { rows } = runSql(`${bids('datetime')}
    SELECT auction, price FROM bid WHERE auction % 123 = 0;`);
  expect(digest(rows, [])).toBe('7950 | 829035812287');
}, 60_000);
