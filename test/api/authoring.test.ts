import { beforeEach, describe, expect, test } from 'vitest';
import type { Completions } from '../../src/api/authoring/authoring-shapes.ts';
import { buildCompletions } from '../../src/api/authoring/completions.ts';
import { WRITTEN_EXAMPLES } from '../../src/api/authoring/function-docs.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { AGGREGATES } from '../../src/expr/aggregate-registry.ts';
import { AGGREGATE_ALIASES } from '../../src/expr/aggregates/declared.ts';
import { SCALAR_FUNCTIONS, functionNames } from '../../src/expr/registry.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { OVER_FUNCTIONS } from '../../src/plan/over-functions.ts';
import { World } from './world.ts';

let world: World;
beforeEach(() => {
  world = new World();
});

const TABLES = `CREATE TABLE orders (id BIGINT NOT NULL, customer TEXT, amount DECIMAL(10, 2), ts TIMESTAMP NOT NULL,
  WATERMARK FOR ts AS ts - INTERVAL '5 seconds') WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE payments (order_id BIGINT NOT NULL, amount DECIMAL(10, 2), ts TIMESTAMP NOT NULL,
  WATERMARK FOR ts AS ts - INTERVAL '5 seconds') WITH (connector = 'http', format = 'json', type = 'source');`;

const errorsOf = (query: string): string[] =>
  planSql(query, DECLARATIONS, { defaultSink: 'preview' }).errors.map(
    ({ code, message }) => `${code}: ${message}`,
  );

describe('the catalogue of completions', () => {
  const catalogue: Completions = buildCompletions();
  const names = new Set(
    catalogue.functions.flatMap(({ name, aliases = [] }) => [name, ...aliases]),
  );

  test('has every function, operator and aggregate, each with documentation and a signature', () => {
    const missing = [
      ...SCALAR_FUNCTIONS.map(({ name }) => name),
      ...functionNames(),
      ...AGGREGATES.map(({ name }) => name),
      ...Object.keys(AGGREGATE_ALIASES),
      ...OVER_FUNCTIONS.keys(),
      'tumble',
      'hop',
      'cumulate',
      'session',
      'unnest',
      'row_time',
      'grouping',
    ].filter((name) => !names.has(name) && !names.has(name.toUpperCase()));
    expect(missing).toEqual([]);
    for (const { name, doc, signatures, category } of catalogue.functions) {
      expect(doc, name).toMatch(/\S{2}/);
      expect(doc, name).not.toMatch(/^the same for/);
      expect(signatures, name).not.toEqual([]);
      expect(category, name).not.toBe('');
    }
  });

  test('gives an example of everything', () => {
    expect(catalogue.functions.filter(({ example }) => example === null)).toEqual([]);
  });

  test('names each function once', () => {
    const all = catalogue.functions.map(({ name, kind }) => `${kind} ${name}`);
    expect(all.length).toBe(new Set(all).size);
  });

  test('names types that the planner takes', () => {
    const columns = catalogue.types.map(({ name }, at) => `c${at} ${name}`);
    const query = `CREATE TABLE t (${columns.join(', ')}) WITH (connector = 'http', format = 'json', type = 'source'); SELECT c0 FROM t;`;
    // A map can be made but not read.
    expect(errorsOf(query).filter((error) => !/MAP/.test(error))).toEqual([]);
    for (const { name, doc } of catalogue.types) expect(doc, name).not.toBe('');
  });

  test('describes every connector with all options it takes', () => {
    expect(catalogue.connectors.map(({ name }) => name)).toEqual(
      DECLARATIONS.map(({ name }) => name),
    );
    for (const { name, doc, options, columns } of catalogue.connectors) {
      expect(doc, name).not.toBe('');
      const given = options.map((option) => option.name);
      expect(given.length).toBe(new Set(given).size);
      for (const option of options) expect(option.doc, option.name).not.toBe('');
      expect(columns === null).toBe(
        DECLARATIONS.find((declared) => declared.name === name)?.schema === null,
      );
    }
    const r2 = catalogue.connectors.find(({ name }) => name === 'r2');
    expect(r2?.options.find(({ name }) => name === 'format')?.choices).toContain('parquet');
    const http = catalogue.connectors.find(({ name }) => name === 'http');
    expect(http?.options.find(({ name }) => name === 'format')?.choices).not.toContain('parquet');
  });

  test('has snippets that plan as they are', () => {
    for (const { label, doc, template } of catalogue.snippets) {
      expect(doc, label).not.toBe('');
      const filled = template.replace(/\$\{([^}]*)\}/g, '$1');
      if (label === 'watermark') continue;
      const isTable = filled.startsWith('CREATE');
      const tables = /CREATE TABLE (orders)\b/.test(filled) ? '' : TABLES;
      const query = isTable && !/\bINSERT\b/.test(filled) ? '\nSELECT 1 AS one FROM orders;' : '';
      expect(errorsOf(`${tables}\n${filled}${query}`), label).toEqual([]);
    }
  });

  test('has the words of the grammar', () => {
    for (const word of ['SELECT', 'WATERMARK', 'MATCH_RECOGNIZE', 'QUALIFY', 'MINUTE', 'TEMPORARY'])
      expect(catalogue.keywords).toContain(word);
    expect(catalogue.keywords).toEqual([...new Set(catalogue.keywords)].sort());
  });

  test('is answered once and then found unchanged by its ETag', async () => {
    const ask = async (headers: Record<string, string> = {}): Promise<Response> =>
      await world.api.fetch(
        new Request('http://x/api/v1/sql/completions', { headers }),
        world.services,
      );
    const first = await ask();
    expect(first.status).toBe(200);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[0-9a-f]{16}"$/);
    expect(JSON.parse(await first.text())).toEqual(JSON.parse(JSON.stringify(catalogue)));
    const again = await ask({ 'if-none-match': `W/${etag}` });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe('');
  });
});

describe('formatting', () => {
  test('answers the text in the house style', async () => {
    const { status, body } = await world.call('POST', '/api/v1/sql/format', {
      query: 'select a -- why\nfrom t',
    });
    expect({ status, body }).toEqual({
      status: 200,
      body: { query: 'SELECT\n  a -- why\nFROM t\n' },
    });
  });

  test('refuses a text with errors with all of them', async () => {
    const { status, body } = await world.call('POST', '/api/v1/sql/format', {
      query: 'selec a; select b c d;',
    });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'SYNTAX' });
    expect(body.errors.length).toBe(2);
    expect(body.errors[1].span.start.line).toBe(1);
  });
});

test('examples that the registry does not have give what they say', () => {
  for (const [name, example] of Object.entries(WRITTEN_EXAMPLES)) {
    const [call = '', gives] = example.split(' → ');
    const condition = gives === undefined ? `${call} IS NOT NULL` : `(${call}) = ${gives}`;
    const query = `CREATE TABLE t (a INT) WITH (connector = 'http', format = 'json', type = 'source'); SELECT ${condition} AS holds FROM t;`;
    const plan = planSql(query, DECLARATIONS, { defaultSink: 'preview' });
    expect(plan.errors, name).toEqual([]);
    // Constants are folded: the plan has the answer in it.
    expect(plan.logical, name).toMatch(/true AS holds|holds: true|project.*true/i);
  }
});

describe('validate_query', () => {
  const validate = async (query: string) =>
    (await world.call('POST', '/api/v1/pipelines/validate_query', { query })).body;

  test('tells tables and outputs of a query', async () => {
    const { errors, tables, outputs } = await validate(
      `${TABLES}\nCREATE TABLE out WITH (connector = 'stdout');\nINSERT INTO out SELECT id, amount FROM orders;\nSELECT customer, count(*) AS n FROM orders GROUP BY customer;`,
    );
    expect(errors).toEqual([]);
    expect(tables[0]).toEqual({
      name: 'orders',
      kind: 'source',
      connector: 'http',
      columns: [
        { name: 'id', type: 'BIGINT', required: true },
        { name: 'customer', type: 'TEXT', required: false },
        { name: 'amount', type: 'DECIMAL(10, 2)', required: false },
        { name: 'ts', type: 'TIMESTAMP', required: true },
      ],
      span: { start: { line: 1, column: 14 }, end: { line: 1, column: 20 } },
    });
    expect(tables.map(({ name, kind }: { name: string; kind: string }) => [name, kind])).toEqual([
      ['orders', 'source'],
      ['payments', 'source'],
      ['out', 'sink'],
    ]);
    expect(outputs).toEqual([
      {
        table: 'out',
        connector: 'stdout',
        columns: [
          { name: 'id', type: 'BIGINT', required: true },
          { name: 'amount', type: 'DECIMAL(10, 2)', required: false },
        ],
        updating: false,
      },
      {
        table: 'select_1',
        connector: 'preview',
        columns: [
          { name: 'customer', type: 'TEXT', required: false },
          { name: 'n', type: 'BIGINT', required: true },
        ],
        updating: true,
      },
    ]);
  });

  test('tells of a text with errors the tables and what removes each error', async () => {
    const { errors, tables, outputs } = await validate(
      `${TABLES}\nSELECT custmer FROM orders; SELECT id, FROM orders;`,
    );
    expect(outputs).toEqual([]);
    expect(tables.length).toBe(2);
    expect(
      errors.map(({ code, fixes }: { code: string; fixes: { title: string }[] }) => [
        code,
        fixes[0]?.title,
      ]),
    ).toEqual([
      ['UNKNOWN_COLUMN', 'Change custmer to customer'],
      ['SYNTAX', 'Remove the comma'],
    ]);
  });

  test('tells 200 errors of a text of nonsense, and how many more there are', async () => {
    const query = `${TABLES}\n${'SELECT no FROM nowhere;\n'.repeat(3000)}`;
    const { errors, more } = await validate(query);
    expect([errors.length, more]).toEqual([200, 2800]);
    const refused = await world.call('POST', '/api/v1/pipelines', { name: 'x', query });
    expect(refused.status).toBe(400);
    expect([refused.body.errors.length, refused.body.more]).toEqual([200, 2800]);
    expect(await validate('SELEC 1')).not.toHaveProperty('more');
  });

  test('calls the functions that come with the query also while it tries fixes', async () => {
    const definition =
      'CREATE FUNCTION twice(n BIGINT) RETURNS BIGINT LANGUAGE javascript AS $$ return n * 2n; $$';
    const query = `${TABLES}\nSELECT twice(idd) AS n FROM orders;`;
    const { body } = await world.call('POST', '/api/v1/pipelines/validate_query', {
      query,
      udfs: [{ definition }],
    });
    expect(body.errors[0].fixes[0].edits[0].text).toBe('id');
  });
});

describe('a function tried out', () => {
  const evaluate = async (definition: string, calls: readonly string[]) =>
    (await world.call('POST', '/api/v1/udfs/evaluate', { definition, calls })).body;
  const declare = (head: string, body: string): string =>
    `CREATE FUNCTION ${head} LANGUAGE javascript AS $$ ${body} $$`;

  test('gives exact results and tells what is wrong with a call in its place', async () => {
    const {
      udf_name: name,
      reports,
      results,
    } = await evaluate(declare('twice(n BIGINT) RETURNS BIGINT', 'return n * 2n;'), [
      '[21]',
      ' [ 4503599627370497123 ]',
      '[null]',
      '["x"]',
      '[1, 2]',
      '7',
      '[1',
      '[9223372036854775807]',
    ]);
    expect([name, reports]).toEqual(['twice', []]);
    expect(
      results.map(({ value, error }: { value: string; error: string }) => value ?? error),
    ).toEqual([
      '42',
      '9007199254740994246',
      'null',
      '"x" is no BIGINT (argument n)',
      'twice(n BIGINT) takes 1 argument, and 2 are given',
      'the arguments are a JSON array, such as [n]',
      'the arguments are a JSON array, such as [n]',
      expect.stringContaining('which is no BIGINT'),
    ]);
    for (const { micros } of results) expect(micros).toBeGreaterThanOrEqual(0);
  });

  test('takes and gives values of every kind', async () => {
    const { results } = await evaluate(
      declare(
        'f(d DECIMAL(10, 2), at TIMESTAMP, doc JSON, xs INT[], s STRUCT<a INT, b TEXT>) RETURNS STRUCT<d DECIMAL(10, 2), at TIMESTAMP, n INT, b TEXT>',
        'return { d, at, n: doc.n + xs.length, b: s.b };',
      ),
      ['[1.5, "2026-01-01T00:00:00Z", {"n": 1}, [1, 2], {"a": 1, "b": "\\u00e9"}]'],
    );
    expect(results[0]).toMatchObject({
      value: '{"d":1.50,"at":"2026-01-01T00:00:00","n":3,"b":"é"}',
      error: null,
    });
  });

  test('gives the rows of a table function, and the result of a group', async () => {
    const table = await evaluate(
      declare(
        'words(s TEXT) RETURNS TABLE (word TEXT, place INT)',
        "for (const [place, word] of s.split(' ').entries()) yield { word, place };",
      ),
      ['["a b"]', '[""]'],
    );
    expect(table.results[0].value).toBe('[{"word":"a","place":0},{"word":"b","place":1}]');
    const group = await evaluate(
      declare(
        'total(n BIGINT, w BIGINT) RETURNS BIGINT',
        'return n.reduce((sum, each, at) => sum + each * w[at], 0n);',
      ).replace('CREATE', 'CREATE AGGREGATE'),
      ['[[1, 2], [3, 4]]', '[]', '[1]'],
    );
    expect(
      group.results.map(({ value, error }: { value: string; error: string }) => value ?? error),
    ).toEqual(['14', '0', expect.stringContaining('the arguments of each row')]);
  });

  test('needs a definition that is right, and at most 100 calls', async () => {
    expect(await evaluate('SELECT 1', ['[]'])).toMatchObject({
      udf_name: null,
      reports: [{ code: 'INVALID_REQUEST' }],
      results: [],
    });
    expect(await evaluate(declare('f(n INT) RETURNS INT', 'syntax error'), ['[1]'])).toMatchObject({
      udf_name: 'f',
      reports: [{ code: 'INVALID_FUNCTION' }],
      results: [],
    });
    const { status } = await world.call('POST', '/api/v1/udfs/evaluate', {
      definition: 'x',
      calls: Array.from({ length: 101 }, () => '[]'),
    });
    expect(status).toBe(400);
  });

  test('stops when the time for all calls is over', async () => {
    world.services.callFunction = async () => {
      world.nowMs += 15_000;
      throw new Error('it took too long');
    };
    const { results } = await evaluate(declare('f(n INT) RETURNS INT', 'return n;'), [
      '[1]',
      '[2]',
      '[3]',
      '[4]',
    ]);
    expect(results.map(({ error }: { error: string }) => error)).toEqual([
      'it took too long',
      'it took too long',
      expect.stringContaining('not called'),
      expect.stringContaining('not called'),
    ]);
    expect(results[0].micros).toBe(15_000_000);
  });
});
