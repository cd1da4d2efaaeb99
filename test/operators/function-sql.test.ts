/** Functions and forms that the planner turns into other expressions, from SQL to rows. */
import { describe, expect, test } from 'vitest';
import { planSql } from '../../src/graph/plan-sql.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { runSql } from './run-graph.ts';

const TABLE = `CREATE TABLE impulse (WATERMARK FOR datetime)
  WITH (connector = 'nexmark', table = 'bid', events = '60');`;

/** The values of one row of a SELECT list. */
const values = (list: string): unknown[] => {
  const { rows, failed } = runSql(`${TABLE} SELECT ${list} FROM impulse;`);
  expect(failed).toEqual([]);
  return Object.values(rows[0] as object);
};

const problemsOf = (list: string): string[] =>
  planSql(`${TABLE} SELECT ${list} FROM impulse;`, DECLARATIONS, {
    defaultSink: 'stdout',
  }).errors.map(({ code, message }) => `${code} ${message}`);

describe('forms', () => {
  test('conditions take the branch they need only', () => {
    expect(
      values(`iff(price >= 0, 'a', CAST('x' AS TEXT)), if(price < 0, 1 / 0, 2), nvl2(NULL, 1, 2), nvl2(price, 1, 2.5),
        zeroifnull(nullif(price, price)), nullifzero(0), nvl(NULL, 'b'), ifnull('c', 'd')`),
    ).toEqual(['a', 2, 2, '1.0', 0n, null, 'b', 'c']);
  });

  test('types have names', () => {
    expect(
      values(`typeof(price), arrow_typeof(price), arrow_typeof('a'), pg_typeof(1.50), arrow_typeof([1]),
        arrow_typeof(arrow_cast(1, 'Decimal128(5, 2)')), version()`),
    ).toEqual([
      'BIGINT',
      'Int64',
      'Utf8',
      'decimal(3, 2)',
      'List(Int32)',
      'Decimal128(5, 2)',
      'Thalweg',
    ]);
  });

  test('structs are made and read by name', () => {
    expect(
      values(`get_field(named_struct('a', 7, 'b b', 'x'), 'b b'), struct_pack('n', 1)`),
    ).toEqual(['x', { n: 1 }]);
  });

  test('the time is that of the row', () => {
    const [now, bare, time, date, clock] = values(
      'now(), current_timestamp, row_time(), current_date, current_time',
    );
    expect([now, bare]).toEqual([time, time]);
    expect(String(date)).toMatch(/^\d/);
    expect(clock).not.toBeNull();
  });

  test.each([
    [
      'uuid()',
      'UNSUPPORTED uuid() would give another value when rows are read again after a failure',
    ],
    [
      'random()',
      'UNSUPPORTED random() would give another value when rows are read again after a failure',
    ],
    ['iff(1, 2, 3)', 'TYPE_ERROR iff() needs a condition, and this is INT'],
    ['iff(true, 2, channel)', 'TYPE_ERROR the results of iff() have no common type: INT and TEXT'],
    ['nvl2(1)', 'TYPE_ERROR nvl2() takes three values'],
    ["arrow_cast(1, 'Int65')", "UNKNOWN_TYPE there is no Arrow type 'Int65' here"],
    [
      "to_char(datetime, '%K')",
      'TYPE_ERROR to_char: %K is no part of a time pattern; the year is %Y, the month %m, the day %d',
    ],
    [
      "digest(channel, 'sha1')",
      'TYPE_ERROR digest: there is no digest sha1; there are md5, sha224, sha256, sha384, sha512',
    ],
  ])('%s is refused', (list, problem) => {
    expect(problemsOf(list)[0]).toBe(problem);
  });
});

test('Nexmark q21 and q22: what a URL tells', () => {
  const { rows } = runSql(`${TABLE}
    SELECT url, regexp_extract(url, '(&|^)channel_id=([^&]*)', 2) AS id,
      split_part(url, '/', 4) AS a, split_part(url, '/', 5) AS b, split_part(url, '/', 6) AS c FROM impulse;`);
  for (const { url, id, a, b, c } of rows) {
    expect([a, b, c]).toEqual(String(url).split('/').slice(3, 6));
    expect(id).toBe(/(&|^)channel_id=([^&]*)/.exec(String(url))?.[2] ?? null);
  }
});
