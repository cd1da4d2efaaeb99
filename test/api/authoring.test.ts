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
