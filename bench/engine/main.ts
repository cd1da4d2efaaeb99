/**
 * Rows a second through the engine alone, in Node: decoded batches of bids in, rows of results out.
 *
 *     npx node bench/engine/main.ts [--job NAME] [--rows N] [--runs N] [--twins]
 *
 * `--twins`: without the compiled kernels. One process runs the jobs one after another, each once to warm up.
 */
import { parsed, UsageError, wholeNumber } from '../options.ts';
import { EnginePipeline } from './pipeline.ts';
import { installKernels } from '../../src/cli/kernels.ts';
import { LIMITS } from '../../src/base/limits.ts';
import type { Column } from '../../src/batch/column.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import { FLOAT64, INT64, TEXT, TIMESTAMP } from '../../src/batch/types.ts';

const TABLE = `
CREATE TABLE bid (auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT NOT NULL, rate DOUBLE NOT NULL, channel TEXT NOT NULL,
  datetime TIMESTAMP NOT NULL, WATERMARK FOR datetime AS datetime - interval '4 seconds')
WITH (connector = 'single_file', path = 'unread.ndjson', format = 'json', type = 'source');
CREATE TABLE nothing WITH (connector = 'blackhole', type = 'sink');
INSERT INTO nothing `;

/** Twelve counts, four of rows and eight of different values, as Nexmark's q15 and q16 have. */
const COUNTS = ['*', 'DISTINCT bidder', 'DISTINCT auction']
  .flatMap((what) =>
    [
      '',
      ' FILTER (WHERE price < 10000)',
      ' FILTER (WHERE price >= 10000 AND price < 1000000)',
      ' FILTER (WHERE price >= 1000000)',
    ].map((range) => `count(${what})${range}`),
  )
  .join(', ');

/** What each job runs, and how many auctions its bids are spread over (null: as in Nexmark, a moving range). */
const JOBS: Record<string, { sql: string; keys: number | null }> = {
  tumble: {
    sql: `SELECT auction, w.start, n, mean FROM (SELECT auction, tumble(interval '10 seconds') AS w, count(*) AS n, avg(price) AS mean FROM bid GROUP BY auction, w)`,
    keys: null,
  },
  'tumble, 1 M keys': {
    sql: `SELECT auction, w.start, n, mean FROM (SELECT auction, tumble(interval '1 hour') AS w, count(*) AS n, avg(price) AS mean FROM bid GROUP BY auction, w)`,
    keys: 1_000_000,
  },
  'tumble by text': {
    sql: `SELECT channel, w.start, n, top FROM (SELECT channel, tumble(interval '10 seconds') AS w, count(*) AS n, max(price) AS top FROM bid GROUP BY channel, w)`,
    keys: null,
  },
  'tumble by two keys': {
    sql: `SELECT auction, bidder, w.start, n, s FROM (SELECT auction, bidder, tumble(interval '10 seconds') AS w, count(*) AS n, sum(price) AS s FROM bid GROUP BY auction, bidder, w)`,
    keys: null,
  },
  'hop-panes: 60, subtracted': {
    sql: `SELECT auction, w.start, x, y FROM (SELECT auction, hop(interval '10 milliseconds', interval '600 milliseconds') AS w, count(*) AS x, avg(price) AS y FROM bid GROUP BY auction, w)`,
    keys: 20,
  },
  'hop-panes: 3600, subtracted': {
    sql: `SELECT auction, w.start, x, y FROM (SELECT auction, hop(interval '10 milliseconds', interval '36000 milliseconds') AS w, count(*) AS x, avg(price) AS y FROM bid GROUP BY auction, w)`,
    keys: 20,
  },
  'hop-panes: 60, stacked': {
    sql: `SELECT auction, w.start, x, y FROM (SELECT auction, hop(interval '10 milliseconds', interval '600 milliseconds') AS w, min(price) AS x, sum(rate) AS y FROM bid GROUP BY auction, w)`,
    keys: 20,
  },
  'hop-panes: 3600, stacked': {
    sql: `SELECT auction, w.start, x, y FROM (SELECT auction, hop(interval '10 milliseconds', interval '36000 milliseconds') AS w, min(price) AS x, sum(rate) AS y FROM bid GROUP BY auction, w)`,
    keys: 20,
  },
  'hop-panes: 60 of 10 rows': {
    sql: `SELECT k, w.start, n, top FROM (SELECT auction % 5 AS k, hop(interval '1 millisecond', interval '60 milliseconds') AS w, count(*) AS n, max(price) AS top FROM bid GROUP BY 1, w)`,
    keys: 20,
  },
  session: {
    sql: `SELECT bidder, w.start, n FROM (SELECT bidder, session(interval '100 milliseconds') AS w, count(*) AS n FROM bid GROUP BY bidder, w)`,
    keys: null,
  },
  'updating aggregate': {
    sql: 'SELECT auction, count(*) AS n, avg(price) AS mean FROM bid GROUP BY auction',
    keys: null,
  },
  'mean of DOUBLE': {
    sql: 'SELECT auction, count(*) AS n, avg(rate) AS mean FROM bid GROUP BY auction',
    keys: null,
  },
  q15: {
    sql: `SELECT date_trunc('day', datetime) AS day, ${COUNTS} FROM bid GROUP BY date_trunc('day', datetime)`,
    keys: null,
  },
  q16: {
    sql: `SELECT channel, date_trunc('day', datetime) AS day, ${COUNTS} FROM bid GROUP BY channel, date_trunc('day', datetime)`,
    keys: null,
  },
  'q1 with DECIMAL': {
    sql: 'SELECT auction, bidder, 0.908 * price AS price, datetime FROM bid',
    keys: null,
  },
  'q1 with DOUBLE': {
    sql: 'SELECT auction, bidder, 0.908e0 * rate AS price, datetime FROM bid',
    keys: null,
  },
  'q1 with BIGINT': {
    sql: 'SELECT auction, bidder, price * 908 / 1000 AS price, datetime FROM bid',
    keys: null,
  },
  filter: { sql: 'SELECT auction, price FROM bid WHERE price > 9000000', keys: null },
  'q2 filter': { sql: 'SELECT auction, price FROM bid WHERE auction % 123 = 0', keys: null },
};

const BASE_MICROS = 1_767_225_600_000_000;
const MICROS_PER_BID = 100;

/** A xorshift, so that every run sees the same bids. */
function random(): () => number {
  let state = 0x9e3779b9;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

function putNumber(words: Int32Array, row: number, value: number): void {
  words[2 * row] = value | 0;
  words[2 * row + 1] = Math.floor(value / 4294967296);
}

/** Bids whose times grow; half of them on one auction in a hundred, as in Nexmark, unless `keys` says how many there are. */
function makeBids(rows: number, keys: number | null, wanted: readonly string[]): RecordBatch[] {
  const next = random();
  const encoder = new TextEncoder();
  const names = Array.from({ length: 10_000 }, (_, at) => encoder.encode(`channel-${at}`));
  const batches: RecordBatch[] = [];
  for (let from = 0; from < rows; from += LIMITS.batchRowsDefault) {
    const count = Math.min(LIMITS.batchRowsDefault, rows - from);
    const pairs = (): Int32Array => new Int32Array(2 * count);
    const [auction, bidder, price, datetime] = [pairs(), pairs(), pairs(), pairs()];
    const rate = new Float64Array(count);
    const offsets = new Int32Array(count + 1);
    const bytes = new Uint8Array(count * 16);
    for (let row = 0; row < count; row++) {
      const newest = Math.floor(((from + row) * 3) / 46);
      const hot = next() % 2 === 0;
      const key = hot ? newest - (newest % 100) : Math.max(0, newest - (next() % 100));
      putNumber(auction, row, 1000 + (keys === null ? key : next() % keys));
      putNumber(bidder, row, 1000 + (next() % 1000));
      putNumber(price, row, 100 + (next() % 10_000_000));
      rate[row] = (next() % 1_000_000) / 100;
      putNumber(datetime, row, BASE_MICROS + (from + row) * MICROS_PER_BID);
      const name = names[next() % 2 === 0 ? next() % 4 : next() % 10_000] as Uint8Array;
      bytes.set(name, offsets[row]);
      offsets[row + 1] = (offsets[row] as number) + name.length;
    }
    const int64 = (words: Int32Array): Column => ({
      tag: 'int64',
      type: INT64,
      length: count,
      validity: null,
      words,
    });
    const columns: Record<string, Column> = {
      auction: int64(auction),
      bidder: int64(bidder),
      price: int64(price),
      rate: { tag: 'float64', type: FLOAT64, length: count, validity: null, values: rate },
      channel: { tag: 'text', type: TEXT, length: count, validity: null, offsets, bytes },
      datetime: {
        tag: 'timestamp',
        type: TIMESTAMP,
        length: count,
        validity: null,
        words: datetime,
      },
    };
    batches.push({
      rows: count,
      columns: wanted.map((name) => columns[name] as Column),
      eventTime: null,
      retract: null,
    });
  }
  return batches;
}

function once(sql: string, batches: readonly RecordBatch[], rows: number): number {
  const pipeline = new EnginePipeline(sql);
  const began = performance.now();
  let sinceTick = 0;
  let nowMs = 0;
  for (const batch of batches) {
    pipeline.push(batch);
    // As if rows came at a million a second: operators that flush by the clock do so.
    sinceTick += batch.rows;
    if (sinceTick >= 100_000) {
      sinceTick = 0;
      pipeline.tick((nowMs += 100));
    }
  }
  pipeline.end();
  return rows / ((performance.now() - began) / 1000);
}

const USAGE = `npx node bench/engine/main.ts [--job NAME] [--rows N] [--runs N] [--twins]
jobs:
${Object.keys(JOBS)
  .map((name) => `  ${name}`)
  .join('\n')}`;

function main(): void {
  const declared = {
    job: { type: 'string' },
    rows: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '5' },
    twins: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  } as const;
  const values = parsed(process.argv.slice(2), declared, USAGE);
  if (values.help) return void process.stdout.write(`${USAGE}\n`);
  if (values.job !== undefined && !Object.hasOwn(JOBS, values.job))
    throw new UsageError(`there is no job "${values.job}"\n${USAGE}`);
  if (!values.twins) installKernels();
  const rows = wholeNumber('rows', values.rows, USAGE);
  const runs = wholeNumber('runs', values.runs, USAGE);
  for (const [name, { sql, keys }] of Object.entries(JOBS)) {
    if (values.job !== undefined && values.job !== name) continue;
    const text = TABLE + sql;
    const wanted = new EnginePipeline(text).spec.physical.map((field) => field.name);
    const batches = makeBids(rows, keys, wanted);
    once(text, batches, rows);
    const rates = Array.from({ length: runs }, () => once(text, batches, rows) / 1e6);
    const median = rates.sort((left, right) => left - right)[runs >> 1] as number;
    process.stdout.write(
      `${name.padEnd(20)}${median.toFixed(1).padStart(6)} M rows/s, best ${(rates.at(-1) as number).toFixed(1)}\n`,
    );
  }
}

try {
  main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
