import { describe, expect, it } from 'vitest';
import type { QueryTable } from '../../src/api/authoring/diagnostic-shapes.ts';
import {
  curlFor,
  freeName,
  httpTables,
  statementOf,
  withTable,
} from '../../src/console/pages/edit/http-tables.ts';
import { operatorLines } from '../../src/console/pages/edit/plan-text.ts';
import { bodyOf, sampleRow } from '../../src/console/lib/rows-text.ts';
import { suggestedName } from '../../src/console/pages/edit/suggested-name.ts';

const table = (name: string, line: number, column: number): QueryTable => ({
  name,
  kind: 'source',
  connector: 'http',
  columns: [],
  span: { start: { line, column }, end: { line, column: column + name.length } },
});

describe('the statement of a table', () => {
  const text =
    "-- ; no end\nCREATE TABLE a (x TEXT DEFAULT ';');\nCREATE TABLE b (y INT);\nSELECT 1";

  it('is cut out of the text, whatever its texts and comments hold', () => {
    expect(statementOf(text, table('a', 2, 14))).toBe(
      "-- ; no end\nCREATE TABLE a (x TEXT DEFAULT ';');",
    );
    expect(statementOf(text, table('b', 3, 14))).toBe('CREATE TABLE b (y INT);');
  });

  it('is that of an http source only', () => {
    const other = { ...table('d', 1, 1), connector: 'impulse' };
    const sink = { ...table('e', 1, 1), kind: 'sink' as const };
    const all = [other, sink, table('a', 1, 1)];
    expect(httpTables(all, 'INSERT INTO e SELECT * FROM d, a').map(({ name }) => name)).toEqual([
      'a',
    ]);
  });

  it('of a stored table is made of its columns, and only one that the text names takes rows', () => {
    const column = (name: string, type: string, required: boolean) => ({ name, type, required });
    const stored = (name: string): QueryTable => ({
      ...table(name, 1, 1),
      kind: 'stored',
      columns: [column('id', 'BIGINT', true), column('My Name', 'STRUCT<a TEXT>', false)],
      span: null,
    });
    expect(statementOf('SELECT * FROM r', stored('r'))).toBe(
      `CREATE TABLE r (id BIGINT NOT NULL, "My Name" STRUCT<a TEXT>) WITH (connector = 'http', format = 'json', type = 'source');`,
    );
    const all = [stored('r'), stored('s'), stored('My T')];
    const named = httpTables(all, `SELECT 's' FROM R JOIN "My T" USING (id) -- s`);
    expect(named.map(({ name }) => name)).toEqual(['r', 'My T']);
  });
});

describe('a guessed table', () => {
  it('stands in front; an empty text reads from it at once', () => {
    expect(withTable(' ', 'CREATE TABLE t (x INT)', 't')).toBe(
      'CREATE TABLE t (x INT);\n\nSELECT * FROM t;\n',
    );
    expect(withTable('SELECT 1;', 'CREATE TABLE t (x INT);', 't')).toBe(
      'CREATE TABLE t (x INT);\n\nSELECT 1;\n',
    );
    expect(withTable('', 'CREATE TABLE "My T" (x INT);', 'My T')).toContain('FROM "My T"');
  });

  it('gets a name that is free', () => {
    expect(freeName('rows', [])).toBe('rows');
    expect(freeName('rows', [table('Rows', 1, 1), table('rows_2', 1, 1)])).toBe('rows_3');
  });
});

describe('pasted rows', () => {
  it('are sent as lines, as an array, or as the one object that they are', () => {
    expect(bodyOf('{"a":1}\n{"a":2}')).toEqual({
      body: '{"a":1}\n{"a":2}\n',
      type: 'application/x-ndjson',
    });
    expect(bodyOf(' [{"a":1}] ')).toEqual({ body: '[{"a":1}]', type: 'application/json' });
    expect(bodyOf('{\n  "a": 1\n}')).toEqual({
      body: '[{\n  "a": 1\n}]',
      type: 'application/json',
    });
  });

  it('may have a line that is wrong, and are nothing when all is', () => {
    expect(bodyOf('{"a":1}\n{"a":')?.type).toBe('application/x-ndjson');
    expect(bodyOf('hello\nworld')).toBeNull();
    expect(bodyOf('  ')).toBeNull();
  });

  it('become a command that a shell takes as they are', () => {
    expect(curlFor('http://x/rows', `{"a":"it's"}`)).toBe(
      `curl -X POST 'http://x/rows' \\\n  -H 'content-type: application/x-ndjson' \\\n  --data-binary '{"a":"it'\\''s"}'`,
    );
  });

  it('can begin with a sample that has a value of the right kind for every column', () => {
    const row = sampleRow(
      [
        { name: 'id', type: 'BIGINT' },
        { name: 'at', type: 'TIMESTAMP' },
        { name: 'tags', type: 'TEXT[]' },
        { name: 'price', type: 'DECIMAL(10, 2)' },
        { name: 'it "is"', type: 'TEXT' },
      ],
      '2026-01-01T00:00:00Z',
    );
    expect(JSON.parse(row)).toEqual({
      id: 1,
      at: '2026-01-01T00:00:00Z',
      tags: [],
      price: 1.5,
      'it "is"': 'a',
    });
  });
});

describe('the words of a plan about an operator', () => {
  const physical =
    'stage 0, 1 subtask\n  source-1: source a\n    rows: x INT\n    state: offsets\n  sink-10: sink b\n    rows: x INT\n';

  it('are those below its name', () => {
    expect(operatorLines(physical, 'source-1')).toEqual(['rows: x INT', 'state: offsets']);
    expect(operatorLines(physical, 'sink-10')).toEqual(['rows: x INT']);
    expect(operatorLines(physical, 'sink-1')).toEqual([]);
  });
});

describe('the suggested name of a pipeline', () => {
  it('is its first sentence, or what it reads', () => {
    expect(suggestedName('-- Which airports are late? Ask.\nSELECT 1')).toBe(
      'which airports are late',
    );
    expect(suggestedName('SELECT a FROM "Big T"')).toBe('rows of Big T');
    expect(suggestedName('SELECT a FROM (SELECT * FROM clicks)')).toBe('rows of clicks');
    expect(suggestedName('')).toBe('query');
  });
});
