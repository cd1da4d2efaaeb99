import { describe, expect, it } from 'vitest';
import type { Completions } from '../../src/api/authoring/authoring-shapes.ts';
import type { QueryTable } from '../../src/api/authoring/diagnostic-shapes.ts';
import {
  describe as described,
  NOTHING_KNOWN,
  propose,
} from '../../src/console/parts/editor/completion.ts';
import { offersMore } from '../../src/console/parts/editor/offer.ts';
import { functionsIn } from '../../src/console/parts/editor/statement.ts';

const catalogue: Completions = {
  keywords: ['SELECT', 'FROM', 'WHERE'],
  types: [{ name: 'BIGINT', doc: '64 bits' }],
  functions: [
    {
      name: 'upper',
      kind: 'scalar',
      category: 'text',
      signatures: ['upper(TEXT) → TEXT'],
      doc: 'Capitals.',
      example: null,
    },
    {
      name: 'now',
      kind: 'scalar',
      category: 'time',
      signatures: ['now() → TIMESTAMP'],
      doc: '',
      example: null,
    },
    {
      name: 'unnest',
      kind: 'table',
      category: 'lists',
      signatures: ['unnest(LIST)'],
      doc: '',
      example: null,
    },
  ],
  connectors: [
    {
      name: 'http',
      doc: 'Rows by HTTP.',
      source: true,
      sink: false,
      options: [
        {
          name: 'format',
          type: 'choice',
          doc: 'How.',
          required: true,
          default: 'json',
          choices: ['json', 'debezium_json'],
          for: 'both',
        },
        {
          name: 'log.partitions',
          type: 'integer',
          doc: '',
          required: false,
          default: 1,
          for: 'both',
        },
      ],
      columns: null,
    },
  ],
  snippets: [{ label: 'table', doc: 'A table', template: 'CREATE TABLE ${name} ();' }],
};

const column = (name: string, type: string) => ({ name, type, required: true });

const tables: QueryTable[] = [
  {
    name: 'orders',
    kind: 'source',
    connector: 'http',
    columns: [column('id', 'BIGINT'), column('userName', 'TEXT')],
    span: null,
  },
  {
    name: 'pays',
    kind: 'source',
    connector: 'http',
    columns: [column('amount', 'DOUBLE')],
    span: null,
  },
];

/** The cursor is where the bar stands. */
function at(text: string, explicit = false) {
  const place = text.indexOf('|');
  const found = propose(text.replace('|', ''), place, explicit, catalogue, tables);
  return found === null ? null : { ...found, labels: found.proposals.map(({ label }) => label) };
}

describe('completion', () => {
  it('offers tables and table functions behind FROM, JOIN and INTO', () => {
    for (const text of ['SELECT 1 FROM |', 'SELECT 1 FROM a JOIN o|', 'INSERT INTO |'])
      expect(at(text)?.labels).toEqual(['orders', 'pays', 'unnest']);
  });

  it('offers the columns of a table behind its alias, also before FROM is reached', () => {
    expect(at('SELECT o.| FROM orders AS o')?.labels).toEqual(['id', '"userName"']);
    expect(at('SELECT p.a| FROM orders o, pays p')?.labels).toEqual(['amount']);
    expect(at('SELECT window.| FROM orders')?.labels).toEqual(['start', 'end']);
  });

  it('offers columns of the tables of the statement first, and not those of others', () => {
    const found = at('SELECT u| FROM orders; SELECT amount FROM pays');
    const ranks = new Map(found?.proposals.map(({ label, rank }) => [label, rank]));
    expect(found?.labels).not.toContain('amount');
    expect(ranks.get('id')).toBeGreaterThan(ranks.get('upper') ?? 0);
    expect(ranks.get('upper')).toBeGreaterThan(ranks.get('WHERE') ?? 0);
    expect(found?.from).toBe(7);
  });

  it('offers snippets where a statement begins', () => {
    expect(at('CREATE TABLE a (x BIGINT);\n|', true)?.labels).toContain('table');
    expect(at('|', true)?.labels.slice(0, 2)).toEqual(['table', 'SELECT']);
  });

  it('puts the cursor between the parentheses, or behind them when nothing goes in', () => {
    const found = at('SELECT n| FROM orders')?.proposals ?? [];
    expect(found.find(({ label }) => label === 'upper')?.template).toBe('upper(${})');
    expect(found.find(({ label }) => label === 'now')?.template).toBe('now()');
  });

  it('offers types behind the name of a column', () => {
    expect(at('CREATE TABLE a (x |', true)?.labels).toEqual(['BIGINT']);
    expect(at('CREATE TABLE a (x BIGINT, y B|')?.labels).toEqual(['BIGINT']);
  });

  it('is silent in comments, texts and bodies of functions', () => {
    expect(at('SELECT 1 -- FROM |')).toBeNull();
    expect(at("SELECT 'a |")).toBeNull();
    expect(at('CREATE FUNCTION f(x TEXT) RETURNS TEXT LANGUAGE javascript AS $$ ret|')).toBeNull();
  });

  it('is silent between words until it is asked', () => {
    expect(at('SELECT id | FROM orders')).toBeNull();
    expect(at('SELECT id | FROM orders', true)).not.toBeNull();
  });

  it('finds the functions that the text defines', () => {
    const text = `CREATE FUNCTION shout(words TEXT) RETURNS TEXT LANGUAGE javascript AS $$ return words; $$;
      SELECT s| FROM orders`;
    expect(at(text)?.labels).toContain('shout');
    expect(functionsIn(text.replace('|', ''))).toEqual([
      { name: 'shout', signature: 'shout(words TEXT) RETURNS TEXT', from: 16 },
    ]);
  });
});

describe('completion of options', () => {
  const table = (options: string): string => `CREATE TABLE a (x BIGINT) WITH (${options})`;

  it('begins with the connector, and its names', () => {
    expect(at(table('|'), true)?.labels).toEqual(['connector']);
    expect(at(table('connector = |'))?.proposals[0]?.template).toBe("'http'");
    expect(at(table("connector = '|'"))?.labels).toEqual(['http']);
  });

  it('goes on with the options that are not given, also one with a point in its name', () => {
    expect(at(table("connector = 'http', |"), true)?.labels).toEqual(['format', 'log.partitions']);
    expect(at(table("|, connector = 'http', format = 'json'"), true)?.labels).toEqual([
      'log.partitions',
    ]);
    const dotted = at(table("connector = 'http', log.par|"));
    expect(dotted?.labels).toContain('log.partitions');
    expect(dotted?.from).toBe(table("connector = 'http', ").length - 1);
  });

  it('offers the choices of an option, inside and outside of quotes', () => {
    expect(at(table("connector = 'http', format = '|'"))?.proposals[1]).toMatchObject({
      label: 'debezium_json',
      template: null,
    });
    expect(at(table("connector = 'http', format = |"))?.proposals[1]?.template).toBe(
      "'debezium_json'",
    );
  });

  it('leaves WITH of a query alone', () => {
    expect(at('WITH a AS (SELECT u| FROM orders) SELECT 1 FROM a')?.labels).toContain('upper');
  });
});

describe('a name that is pointed at', () => {
  it('is explained: a function, a table, a column', () => {
    const text = 'SELECT upper(id) FROM orders';
    expect(described(text, 9, catalogue, tables)?.code).toEqual(['upper(TEXT) → TEXT']);
    expect(described(text, 14, catalogue, tables)?.detail).toBe('BIGINT NOT NULL');
    expect(described(text, 24, catalogue, tables)?.code).toEqual(['id BIGINT', 'userName TEXT']);
    expect(described(text, 18, catalogue, tables)).toBeNull();
  });
});

describe('an answer that comes after a word was typed', () => {
  const nothing = { catalogue: NOTHING_KNOWN, tables: [] };
  const functionsKnown = { catalogue, tables: [] };
  const all = { catalogue, tables };
  const more = (text: string, before: typeof all, now: typeof all): boolean =>
    offersMore(text, text.length, before, now);

  it('offers what fits the word and was not known', () => {
    expect(more('SELECT upp', nothing, functionsKnown)).toBe(true);
    expect(more('SELECT id FROM ord', functionsKnown, all)).toBe(true);
    expect(more('SELECT id FROM ', functionsKnown, all)).toBe(true);
    expect(offersMore('SELECT o. FROM orders o', 9, functionsKnown, all)).toBe(true);
  });

  it('does not where nothing fits, all was known, or the word is whole', () => {
    expect(more('SELECT xyz', nothing, functionsKnown)).toBe(false);
    expect(more('SELECT upp', functionsKnown, all)).toBe(false);
    expect(more('SELECT upper', nothing, functionsKnown)).toBe(false);
    expect(more('SELECT id FROM orders', functionsKnown, all)).toBe(false);
    expect(more("SELECT 'upp", nothing, functionsKnown)).toBe(false);
    expect(more('SELECT 1 ', nothing, all)).toBe(false);
    expect(offersMore('SELECT p. FROM orders o', 9, functionsKnown, all)).toBe(false);
    expect(more('SELECT upp', functionsKnown, nothing)).toBe(false);
  });
});
