/** What the README shows must exist and be accepted: a newcomer types exactly that. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { ROOT } from '../harness/project-files.ts';

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

const blocks = (language: string): string[] =>
  [...readme.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].flatMap(([, name, body]) =>
    name === language ? [body ?? ''] : [],
  );

/** Bodies of requests that the shell blocks send. */
const requests = blocks('sh')
  .flatMap((block) =>
    [...block.matchAll(/<<'END'\n([\s\S]*?)\nEND/g)].map((match) => match[1] ?? ''),
  )
  .filter((body) => body.includes('"query"'));

const commands = blocks('sh').join('\n');

describe('the README', () => {
  test('its SQL plans without a complaint', () => {
    const queries = [
      ...blocks('sql'),
      ...requests.map((body) => (JSON.parse(body) as { query: string }).query),
    ];
    expect(queries.length).toBe(3);
    for (const query of queries) {
      const { errors, warnings } = planSql(query, DECLARATIONS, { defaultSink: 'preview' });
      expect([...errors, ...warnings], query).toEqual([]);
    }
  });

  test('its npm scripts exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const named = [...readme.matchAll(/\bnpm run ([a-z][a-z:]*)/g)].map((match) => match[1] ?? '');
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  test('the files its commands name exist', () => {
    const named = [...commands.matchAll(/\b(?:examples|test|docs)\/[\w./-]+/g)].map(
      ([path]) => path,
    );
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test('it stays a page one reads', () => {
    expect(readme.split('\n').length).toBeLessThan(260);
  });
});
