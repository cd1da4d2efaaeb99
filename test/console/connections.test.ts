import { describe, expect, test } from 'vitest';
import type { Connector } from '../../src/api/meta/connector-shapes.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { parseProgram } from '../../src/sql/parser.ts';
import {
  type Draft,
  draftProblems,
  newDraft,
  optionsFor,
  sqlOf,
} from '../../src/console/pages/connections/draft.ts';
import { withAdded } from '../../src/console/pages/connections/add-to-draft.ts';
import { ingestSnippets, ingestUrl } from '../../src/console/lib/snippets.ts';
import { connectionType, storedTableOf } from '../../src/console/pages/connections/stored-table.ts';

const http: Connector = {
  id: 'http',
  name: 'http',
  description: '',
  enabled: true,
  source: true,
  sink: false,
  custom_schemas: true,
  testing: false,
  hidden: false,
  table_config: '{}',
  exactly_once: false,
  formats: ['json'],
  options: [
    {
      name: 'partitions',
      type: 'integer',
      min: 1,
      max: 64,
      required: false,
      default: 1,
      description: '',
      for: 'source',
    },
    { name: 'path', type: 'text', required: true, default: null, description: '', for: 'sink' },
    {
      name: 'watermark.idle',
      type: 'duration',
      required: false,
      default: null,
      description: '',
      for: 'both',
    },
  ],
} as Connector;

const draft: Draft = {
  ...newDraft(http, 'source'),
  table: 'orders',
  columns: [
    { name: 'id', type: 'BIGINT', required: true },
    { name: 'Group', type: 'TEXT', required: false },
    { name: 'order', type: 'TEXT[]', required: false },
    { name: 'at', type: 'TIMESTAMP', required: true },
  ],
  eventTime: 'at',
  options: { partitions: '4', 'watermark.idle': "1 'minute'" },
};

describe('a table in the wizard', () => {
  test('its SQL is read by the parser, whatever names and values hold', () => {
    const sql = sqlOf(draft, http);
    expect(sql).toBe(
      [
        'CREATE TABLE orders (',
        '  id BIGINT NOT NULL,',
        '  "Group" TEXT,',
        '  "order" TEXT[],',
        '  at TIMESTAMP NOT NULL,',
        "  WATERMARK FOR at AS at - INTERVAL '5 seconds'",
        ') WITH (',
        "  connector = 'http',",
        "  format = 'json',",
        "  type = 'source',",
        "  partitions = '4',",
        "  'watermark.idle' = '1 ''minute'''",
        ');',
      ].join('\n'),
    );
    expect(parseProgram(sql).errors).toEqual([]);
  });

  test('asks for the options of its direction, needed ones first, and not for those that it decides', () => {
    expect(optionsFor(http, 'source').map(({ name }) => name)).toEqual([
      'partitions',
      'watermark.idle',
    ]);
    expect(optionsFor(http, 'sink').map(({ name }) => name)).toEqual(['path', 'watermark.idle']);
    expect(DECLARATIONS.length).toBeGreaterThan(3);
  });

  test('says all that is missing', () => {
    const problems = draftProblems(
      { ...draft, table: '1x', columns: [], options: { partitions: '65' } },
      http,
    );
    expect(problems).toEqual([
      'the name lower-case letters, digits and _, no digit first',
      'partitions must be at most 64',
      'it has no columns yet: paste some rows',
    ]);
    expect(draftProblems(draft, http)).toEqual([]);
  });

  test('is stored in the words of the API, also what is nested', () => {
    expect(storedTableOf(draft, http)).toMatchObject({
      name: 'orders',
      table_type: 'source',
      config: { partitions: '4' },
      schema: {
        fields: [
          { name: 'id', type: 'int64', required: true },
          { name: 'Group', type: 'string', required: false },
          { name: 'order', type: 'list', items: { type: 'string' } },
          { name: 'at', type: 'timestamp' },
        ],
        event_time: { column: 'at', delay_micros: 5_000_000 },
      },
    });
    expect(connectionType('DECIMAL(38, 18)')).toEqual({
      type: 'decimal128',
      precision: 38,
      scale: 18,
    });
    expect(connectionType('STRUCT<a BIGINT, "B c" ARRAY<STRUCT<d DECIMAL(5, 1)>>>')).toEqual({
      type: 'struct',
      fields: [
        { name: 'a', type: 'int64', required: false },
        {
          name: 'B c',
          type: 'list',
          required: false,
          items: {
            type: 'struct',
            fields: [{ name: 'd', type: 'decimal128', precision: 5, scale: 1, required: false }],
          },
        },
      ],
    });
    const unknown = [{ name: 's', type: 'INTERVAL', required: false }];
    expect(storedTableOf({ ...draft, columns: unknown }, http)).toBeNull();
  });
});

test('SQL handed to the editor stands behind what is written there, once', () => {
  expect(withAdded(null, 'A;')).toEqual({ text: 'A;\n', origin: null });
  const draft = withAdded({ text: 'SELECT 1;\n\n', origin: null }, 'A;');
  expect(draft.text).toBe('SELECT 1;\n\nA;\n');
  expect(withAdded(draft, 'A;')).toBe(draft);
});

test('ready calls survive quotes in the row', () => {
  const url = ingestUrl('http://127.0.0.1:8787', null, 'a b');
  expect(url).toBe('http://127.0.0.1:8787/api/v1/pipelines/PIPELINE_ID/tables/a%20b/rows');
  const [curl, script, python] = ingestSnippets(url, `{"name": "O'Neil"}`);
  expect(curl?.code).toContain(`--data-binary '{"name": "O'\\''Neil"}'`);
  expect(script?.code).toContain(`body: "{\\"name\\": \\"O'Neil\\"}"`);
  expect(python?.code).toContain(`data="{\\"name\\": \\"O'Neil\\"}".encode()`);
});
