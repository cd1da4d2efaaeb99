import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkAgainst, inferFrom } from '../../src/api/authoring/samples.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';

const inferred = (rows: string) => {
  const { columns, ...rest } = inferFrom(rows, 'orders');
  return {
    ...rest,
    types: columns.map(({ name, type, required }) => `${name} ${type}${required ? '!' : ''}`),
    notes: Object.fromEntries(
      columns.flatMap(({ name, note }) => (note === null ? [] : [[name, note]])),
    ),
  };
};

const errorsOf = (sql: string): string[] =>
  planSql(`${sql}\nSELECT * FROM orders;`, DECLARATIONS, { defaultSink: 'preview' }).errors.map(
    ({ message }) => message,
  );

describe('a schema guessed from rows', () => {
  test('has the columns in the order of their first appearance, required if always there', () => {
    const {
      types,
      sql,
      event_time: time,
    } = inferred(
      '{"id": 1, "name": "a", "created_at": "2026-01-01T00:00:00Z"}\n{"id": 2, "flag": true, "name": null, "created_at": "2026-01-02 10:00"}',
    );
    expect(types).toEqual(['id BIGINT!', 'name TEXT', 'created_at TIMESTAMP!', 'flag BOOLEAN']);
    expect(time).toBe('created_at');
    expect(sql).toBe(`CREATE TABLE orders (
  id BIGINT NOT NULL,
  name TEXT,
  created_at TIMESTAMP NOT NULL,
  flag BOOLEAN,
  WATERMARK FOR created_at AS created_at - INTERVAL '5 seconds'
) WITH (
  connector = 'http',
  format = 'json',
  type = 'source'
);
`);
  });

  test('requires nothing of a single row', () => {
    expect(inferred('{"id": 1}').types).toEqual(['id BIGINT']);
  });

  test.each([
    ['9007199254740993', 'BIGINT'],
    ['-9223372036854775808', 'BIGINT'],
    ['9223372036854775808', 'BIGINT UNSIGNED'],
    ['-9223372036854775809', 'DECIMAL(38, 0)'],
    ['18446744073709551616', 'DECIMAL(38, 0)'],
    ['1.5', 'DOUBLE'],
    ['1e300', 'DOUBLE'],
    ['1234567890.123456789', 'DECIMAL(19, 9)'],
    ['0.1234567890123456789', 'DECIMAL(20, 19)'],
    ['1e400', 'JSON'],
    [`1${'0'.repeat(60)}`, 'JSON'],
    ['"2026-01-01"', 'DATE'],
    ['"2026-02-30"', 'TEXT'],
    ['"2026-01-01T00:00:00.123456+02:00"', 'TIMESTAMP'],
    ['"2026-01-01T25:00:00"', 'TEXT'],
    ['"12"', 'TEXT'],
    ['true', 'BOOLEAN'],
    ['null', 'TEXT'],
    ['[]', 'JSON'],
    ['[1, 2]', 'ARRAY<BIGINT>'],
    ['[1, 2.5, null]', 'ARRAY<DOUBLE>'],
    ['[1, "a"]', 'JSON'],
    ['[{"a": 1}, {"b": "x"}]', 'ARRAY<STRUCT<a BIGINT, b TEXT>>'],
    ['{}', 'JSON'],
    ['{"a": {"b": [true]}}', 'STRUCT<a STRUCT<b ARRAY<BOOLEAN>>>'],
  ])('takes %s for %s', (value, type) => {
    const { types, rows, sql } = inferred(`{"c": ${value}}`);
    expect(types).toEqual([`c ${type}`]);
    expect(errorsOf(sql)).toEqual([]);
    expect(rows[0]).toMatchObject({ accepted: true, errors: [] });
  });

  test('widens whole numbers and fractions, and takes several kinds for JSON', () => {
    const { types, notes } = inferred(
      '{"a": 1, "b": 1, "c": "x"}\n{"a": 2.5, "b": "two", "c": {}}',
    );
    expect(types).toEqual(['a DOUBLE!', 'b JSON!', 'c JSON!']);
    expect(notes).toEqual({
      b: 'of several kinds: numbers and texts',
      c: 'of several kinds: texts and objects',
    });
  });

  test('quotes names that are words of SQL or that folding would change', () => {
    const { sql, rows } = inferred(
      '{"group": 1, "userId": 2, "a b": 3, "watermark": 4, "q\\"q": 5}',
    );
    expect(sql).toContain(
      '"group" BIGINT,\n  "userId" BIGINT,\n  "a b" BIGINT,\n  "watermark" BIGINT,\n  "q""q" BIGINT',
    );
    expect(errorsOf(sql)).toEqual([]);
    expect(rows[0]?.accepted).toBe(true);
  });

  test('finds moments that are counted from 1970', () => {
    const {
      types,
      sql,
      notes,
      event_time: time,
    } = inferred('{"n": 5, "ts": 1700000000000}\n{"n": 6, "ts": 1700000000001}');
    expect(types).toEqual(['n BIGINT!', 'ts TIMESTAMP!']);
    expect(sql).toContain("timestamp_format = 'unix_millis'");
    expect(notes).toEqual({ ts: 'millis since 1970' });
    expect(time).toBe('ts');
    // Beside moments as text they stay numbers: a table has one format.
    const both = inferred('{"ts": "2026-01-01T00:00:00Z", "created_at": 1700000000}');
    expect(both.types).toEqual(['ts TIMESTAMP', 'created_at BIGINT']);
    expect(both.notes['created_at']).toContain('seconds since 1970');
  });

  test('chooses the event time by its name', () => {
    const moment = '"2026-01-01T00:00:00Z"';
    const row = (...names: string[]) =>
      `{${names.map((name) => `"${name}": ${moment}`).join(', ')}}`;
    expect(inferred(row('updated', 'created_at', 'ts')).event_time).toBe('ts');
    expect(inferred(row('shipped_at', 'event_time')).event_time).toBe('event_time');
    expect(inferred(row('when')).event_time).toBe('when');
    expect(inferred('{"day": "2026-01-01"}').event_time).toBe(null);
  });
});

describe('pasted text', () => {
  test('is read as lines, an array, or objects over several lines, whatever stands around them', () => {
    const rows = (text: string) =>
      inferFrom(text, 't').rows.map(({ line, accepted }) => [line, accepted]);
    expect(rows('{"a":1}\n\n{"a":2}\n')).toEqual([
      [1, true],
      [3, true],
    ]);
    expect(rows('[{"a":1},\n {"a":2}]')).toEqual([
      [1, true],
      [2, true],
    ]);
    expect(rows('{"a":1},\n{"a":2},\n')).toEqual([
      [1, true],
      [2, true],
    ]);
    expect(rows('{\n  "a": {\n    "b": 1\n  }\n}\n{"a": {"b": 2}}')).toEqual([
      [1, true],
      [6, true],
    ]);
    expect(rows('\uFEFF{"a":1}\r\n{"a":2}\r\n')).toEqual([
      [1, true],
      [2, true],
    ]);
    expect(rows('{"a":1}{"a":2}')).toEqual([
      [1, true],
      [1, true],
    ]);
  });

  test('has rows that cost only themselves', () => {
    const { rows, columns } = inferFrom(
      'data: {"a":1}\n{"a":2,}\n{"a":3}\n{\n  "a": 4,\n  oops\n}\n{"a":5}\nnothing',
      't',
    );
    expect(columns.map(({ name, type }) => [name, type])).toEqual([['a', 'BIGINT']]);
    expect(rows.map(({ line, accepted, raw }) => [line, accepted, raw])).toEqual([
      [1, false, 'data: {"a":1}'],
      [2, false, '{"a":2,}'],
      [3, true, '{"a":3}'],
      [4, false, '{\n  "a": 4,\n  oops\n}'],
      [8, true, '{"a":5}'],
      [9, false, 'nothing'],
    ]);
    for (const { accepted, errors } of rows) expect(errors.length).toBe(accepted ? 0 : 1);
  });

  test('is shown as it was pasted, also where it is an array of plain values', () => {
    const raws = (text: string) =>
      inferFrom(text, 't').rows.map(({ line, accepted, raw }) => [line, accepted, raw]);
    expect(raws('{"a":1}\n[1,2]\n[ "x", {"a":2} ]\n[]\n{"a":3}')).toEqual([
      [1, true, '{"a":1}'],
      [2, false, '[1,2]'],
      [3, false, '[ "x", {"a":2} ]'],
      [5, true, '{"a":3}'],
    ]);
    expect(raws('[[1, 2], [3]]').map(([, , raw]) => raw)).toEqual(['[1, 2]', '[3]']);
    expect(raws('[1,\n 2]')).toEqual([[1, false, '[1,\n 2]']]);
    expect(raws('[1,2').map(([, , raw]) => raw)).toEqual(['[1,2']);
    expect(raws('\n[ \n {"a":1}\n]').map(([, , raw]) => raw)).toEqual(['{"a":1}']);
  });

  test('without any object has no schema, and says so of each row', () => {
    expect(inferFrom('hello\n7', 't')).toMatchObject({
      sql: '',
      columns: [],
      rows: [{ accepted: false }, { accepted: false }],
    });
    expect(inferFrom('', 't')).toMatchObject({ sql: '', columns: [], rows: [] });
  });

  test('tells the true reason where no row gives a column', () => {
    const reason = (text: string): string | undefined =>
      inferFrom(text, 't').rows[0]?.errors[0]?.message;
    expect(reason('{}')).toMatch(/^the object has no key/);
    expect(reason('[{"":1}]')).toMatch(/^the object has no key/);
    expect(reason('a,b')).toMatch(/^a row must be a JSON object/);
    expect(reason(`{"a":${'['.repeat(600)}1${']'.repeat(600)}}`)).toMatch(/^values nest deeper/);
  });

  test('counts the keys that became no column, and all rows beyond those it tells of', () => {
    const wide = Array.from({ length: 1_200 }, (_, at) => `{"k${at % 600}":1,"":2}`).join('\n');
    const { left_out, columns, rows, accepted, rejected } = inferFrom(`${wide}\nx`, 't');
    expect([columns.length, left_out]).toEqual([500, 101]);
    expect([rows.length, accepted, rejected]).toEqual([1_000, 1_200, 1]);
    expect(inferFrom('{"a":1}', 't').left_out).toBe(0);
  });

  test('of any size takes a bounded time', () => {
    const texts = [
      '{"a":'.repeat(100_000),
      '{"a":[\n'.repeat(50_000),
      '{"a":1}\n'.repeat(60_000),
      '{\n'.repeat(200_000),
      `{"a":"${'x'.repeat(900_000)}"}`,
    ];
    for (const text of texts) {
      const before = performance.now();
      inferFrom(text, 't');
      expect(performance.now() - before, text.slice(0, 20)).toBeLessThan(5000);
    }
  });
});

const scalar = fc.oneof(
  fc.integer().map(String),
  fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }).map(String),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.constantFrom(
    'true',
    'false',
    'null',
    '""',
    '"2026-01-01"',
    '"2026-01-01T10:00:00Z"',
    '"2026-01-01 10:00:00.5"',
    '1700000000',
    '1700000000000',
    '0.10',
    '1e5',
  ),
  fc.string().map((text) => JSON.stringify(text)),
);
const value = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('any'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    fc
      .dictionary(fc.constantFrom('a', 'b', 'C', 'end'), tie('any'), { maxKeys: 3 })
      .map((fields) => objectText(fields)),
  ),
})).any;
const objectText = (fields: Record<string, string>): string =>
  `{${Object.entries(fields)
    .map(([name, text]) => `${JSON.stringify(name)}: ${text}`)
    .join(', ')}}`;
const row = fc
  .dictionary(fc.constantFrom('id', 'ts', 'group', 'userId', 'UserId', 'at', 'x y'), value, {
    minKeys: 1,
    maxKeys: 5,
  })
  .map((fields) => objectText(fields));

test(
  'whatever rows are pasted, the table that is guessed plans and takes them all',
  { timeout: 60_000 },
  () => {
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 6 }), (rows) => {
        const { sql, rows: told, columns } = inferFrom(rows.join('\n'), 'orders');
        expect(errorsOf(sql), sql).toEqual([]);
        expect(
          told.filter(({ accepted }) => !accepted),
          `${sql}\n${rows.join('\n')}`,
        ).toEqual([]);
        expect(told.length).toBe(rows.length);
        // The same by the route that checks rows against a table, with values that keep every digit.
        const checked = checkAgainst(sql, `[${rows.join(',\n')}]`);
        expect(checked).toMatchObject({ accepted: rows.length, rejected: 0, reports: [] });
        for (const { value: text, warnings } of checked.rows) {
          expect(Object.keys(JSON.parse(text ?? '') as object).sort()).toEqual(
            columns.map(({ name }) => name).sort(),
          );
          expect(warnings).toEqual([]);
        }
      }),
      { numRuns: 300, seed: 11 },
    );
  },
);

describe('rows against a table', () => {
  const TABLE =
    "CREATE TABLE t (id BIGINT NOT NULL, price DECIMAL(5, 2), ts TIMESTAMP, g BIGINT GENERATED ALWAYS AS (id + 1), WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source')";

  test('are accepted as they are understood, or refused with the reason', () => {
    const { rows, accepted, rejected, reports } = checkAgainst(
      TABLE,
      '{"id": 9007199254740993, "price": 1.5, "ts": "2026-01-01T01:00:00+01:00", "more": 1}\n{"id": "x"}\n{"price": 1}\n{"id": 1, "price": 12345.678}',
    );
    expect(reports).toEqual([]);
    expect([accepted, rejected]).toEqual([1, 3]);
    expect(rows[0]).toMatchObject({
      accepted: true,
      value: '{"id":9007199254740993,"price":1.50,"ts":"2026-01-01T00:00:00"}',
      warnings: [{ code: 'UNKNOWN_FIELD', column: 'more' }],
    });
    expect(rows.slice(1).map(({ errors }) => [errors[0]?.code, errors[0]?.column])).toEqual([
      ['TYPE_MISMATCH', 'id'],
      ['MISSING_REQUIRED', 'id'],
      ['NUMERIC_OUT_OF_RANGE', 'price'],
    ]);
  });

  test('need a CREATE TABLE that is right, and one only', () => {
    expect(checkAgainst(TABLE.replace('BIGINT', 'BIGIT'), '{}').reports[0]).toMatchObject({
      code: 'UNKNOWN_TYPE',
      fixes: [{ edits: [{ text: 'BIGINT' }] }],
    });
    for (const sql of ['SELECT 1', '', `${TABLE}; ${TABLE}`])
      expect(checkAgainst(sql, '{}').reports[0]?.code, sql).toBe('INVALID_REQUEST');
    expect(checkAgainst(`${TABLE};`, '{"id":1}').accepted).toBe(1);
  });

  test('are changes where the table is one of changes', () => {
    const sql =
      "CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT) WITH (connector = 'http', format = 'debezium_json', type = 'source')";
    const { rows } = checkAgainst(
      sql,
      '{"op": "c", "after": {"id": 1, "name": "a"}}\n{"op": "zz"}',
    );
    expect(rows.map(({ accepted }) => accepted)).toEqual([true, false]);
  });
});
