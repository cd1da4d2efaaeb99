/**
 * Functions against DuckDB, where both mean the same. Where they do not, ours is Postgres' or DataFusion's meaning:
 * regexp_extract gives NULL without a match (DuckDB ''), round of DOUBLE goes to the even neighbour, to_hex of a negative number has
 * 64 bits, date_part gives DOUBLE, array_remove
 * takes one element, and date_diff counts weeks by their Mondays.
 */
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FLOAT64, INT64, TEXT, TIMESTAMP, type SqlType } from '../../src/batch/types.ts';
import type { Value } from '../../src/batch/values.ts';
import { apply } from './support.ts';

const SEED = 20261129;
const ROWS = 120;

let connection: Awaited<ReturnType<DuckDBInstance['connect']>>;
beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:')).connect();
});
afterAll(() => connection.closeSync());

const text = fc
  .array(fc.constantFrom('a', 'B', 'ab', ' ', '/', 'é', '😀', '1', '_', '%'), { maxLength: 7 })
  .map((parts) => parts.join(''));
const part = fc.constantFrom('a', '/', 'ab', '😀', 'é');
const small = fc.bigInt({ min: 1n, max: 5n });
const whole = fc.bigInt({ min: -(2n ** 40n), max: 2n ** 40n });
const moment = fc.bigInt({ min: -3_000_000_000_000_000n, max: 4_000_000_000_000_000n });
const float = fc.double({ min: -50, max: 50, noNaN: true });
const constant = (value: string) => fc.constant(value);

type Input = readonly [SqlType, fc.Arbitrary<Value>];
const T: Input = [TEXT, text];
const P: Input = [TEXT, part];
const N: Input = [INT64, small];
const I: Input = [INT64, whole];
const M: Input = [TIMESTAMP, moment];
const F: Input = [FLOAT64, float];

/** Our name, DuckDB's expression over a, b, c, and the inputs. */
type Row = readonly [name: string, duck: string, ...inputs: Input[]];
const CASES: readonly Row[] = [
  ['lower', 'lower(a)', T],
  ['reverse', 'reverse(a)', T],
  ['length', 'length(a)', T],
  ['octet_length', 'octet_length(encode(a))', T],
  ['left', 'left(a, b)', T, N],
  ['right', 'right(a, b)', T, N],
  ['substring', 'substring(a, b, c)', T, N, N],
  ['lpad', 'lpad(a, b::int, c)', T, N, P],
  ['rpad', 'rpad(a, b::int, c)', T, N, P],
  ['replace', 'replace(a, b, c)', T, P, T],
  ['split_part', 'split_part(a, b, c)', T, P, N],
  ['strpos', 'strpos(a, b)', T, P],
  ['translate', 'translate(a, b, c)', T, P, P],
  ['ascii', 'ascii(a)', T],
  ['repeat', 'repeat(a, b)', T, N],
  ['starts_with', 'starts_with(a, b)', T, P],
  ['md5', 'md5(a)', T],
  [
    'levenshtein',
    'levenshtein(decode(encode(a)), b)',
    [TEXT, fc.constantFrom('ab', 'ba', 'abc', '')],
    [TEXT, fc.constantFrom('a', 'abd', 'xyz', '')],
  ],
  ['regexp_like', "regexp_matches(a, '^[ab]+/?')", T, [TEXT, constant('^[ab]+/?')]],
  [
    'regexp_replace',
    "regexp_replace(a, '(a)(b)?', 'x', 'g')",
    T,
    [TEXT, constant('(a)(b)?')],
    [TEXT, constant('x')],
    [TEXT, constant('g')],
  ],
  ['gcd', 'gcd(a, b)', I, I],
  ['bit_count', 'bit_count(a)', I],
  ['trunc', 'trunc(a)', F],
  ['cbrt', 'cbrt(a)', F],
  ['atan2', 'atan2(a, b)', F, F],
  ['degrees', 'degrees(a)', F],
  ['year', 'year(a)', M],
  ['quarter', 'quarter(a)', M],
  ['dayofyear', 'dayofyear(a)', M],
  ['week', 'week(a)', M],
  ['isodow', 'isodow(a)', M],
  [
    'strftime',
    "strftime(a, '%Y-%m-%d %H:%M:%S.%f %j %A %B %p %I')",
    M,
    [TEXT, constant('%Y-%m-%d %H:%M:%S.%f %j %A %B %p %I')],
  ],
  ['date_diff', "date_diff('month', a, b)", [TEXT, constant('month')], M, M],
];

const sqlOf = (type: SqlType, value: Value): string => {
  if (value === null)
    return `NULL::${type.tag === 'text' ? 'VARCHAR' : type.tag === 'timestamp' ? 'TIMESTAMP' : type.tag === 'int64' ? 'BIGINT' : 'DOUBLE'}`;
  if (type.tag === 'timestamp') return `make_timestamp(${String(value)}::BIGINT)`;
  if (type.tag === 'int64') return `${String(value)}::BIGINT`;
  if (type.tag === 'float64') return `${String(value)}::DOUBLE`;
  return `'${String(value)}'`;
};

test.each(CASES.map((each) => [each[0], each[1], each] as const))(
  '%s is DuckDB’s %s',
  async (name, duck, each) => {
    const inputs = each.slice(2) as readonly Input[];
    const rows = fc.sample(
      fc.tuple(...inputs.map(([, arbitrary]) => fc.option(arbitrary, { nil: null, freq: 12 }))),
      { seed: SEED, numRuns: ROWS },
    );
    const found = apply(
      name,
      inputs.map(([type]) => type),
      rows,
    );
    expect(found.errors).toEqual([]);
    // Arguments that our call takes and DuckDB's expression names itself are left out.
    const columns = name === 'date_diff' ? [1, 2] : inputs.map((_, at) => at);
    const table = rows.map(
      (row, at) =>
        `(${[String(at), ...columns.map((column) => sqlOf((inputs[column] as Input)[0], row[column] as Value))].join(', ')})`,
    );
    const constants = rows.map((row) =>
      inputs.some((_, at) => !columns.includes(at) && row[at] === null),
    );
    const names = ['n', ...['a', 'b', 'c', 'd'].slice(0, columns.length)].join(', ');
    const reader = await connection.runAndReadAll(
      `SELECT ${duck} AS v FROM (VALUES ${table.join(', ')}) t(${names}) ORDER BY n`,
    );
    const wanted = reader.getRows().map(([value]) => value);
    for (const [at, value] of found.values.entries()) {
      const other = wanted[at];
      // A constant that is NULL makes ours NULL; DuckDB's has the constant in it.
      if (
        constants[at] === true ||
        inputs.some(([type], column) => type === TEXT && column > 0 && rows[at]?.[column] === null)
      )
        continue;
      if (typeof value === 'number' && typeof other === 'number')
        expect(value).toBeCloseTo(other, 12);
      else if (typeof value === 'bigint' || typeof other === 'bigint' || typeof value === 'number')
        expect(value === null ? null : String(value)).toBe(other === null ? null : String(other));
      else
        expect(
          value,
          JSON.stringify(rows[at], (_, each: unknown) =>
            typeof each === 'bigint' ? String(each) : each,
          ),
        ).toEqual(other);
    }
  },
);
