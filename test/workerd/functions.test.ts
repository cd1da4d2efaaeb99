/**
 * Functions of the user's own in real workerd, each in a Worker that the Worker Loader made: their values, what they may not do, and
 * what becomes of the rows they fail for.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Thalweg } from '../harness/thalweg.ts';

const QUERY = `
CREATE TABLE t (id BIGINT NOT NULL, s TEXT, d DECIMAL(20, 4), at TIMESTAMP)
  WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE out WITH (connector = 'single_file', path = 'made/functions.ndjson', format = 'json', type = 'sink');
CREATE TABLE parts WITH (connector = 'single_file', path = 'made/parts.ndjson', format = 'json', type = 'sink');
CREATE FUNCTION count_char(s TEXT, c TEXT) RETURNS BIGINT LANGUAGE typescript AS $$
  const parts: string[] = s.split(c);
  return (parts.length - 1) as number;
$$;
CREATE FUNCTION next(id BIGINT, d DECIMAL(20, 4), at TIMESTAMP)
  RETURNS STRUCT<id BIGINT, d DECIMAL(20, 4), at TIMESTAMP> LANGUAGE javascript AS $$
  return { id: id + 1n, d: '-' + d, at };
$$;
CREATE FUNCTION tried(s TEXT) RETURNS TEXT LANGUAGE javascript AS $$
  if (s === 'throw') throw new RangeError('as asked');
  if (s === 'type') return 5;
  if (s === 'large') return 'x'.repeat(2 ** 25);
  if (s === 'huge') return 'x'.repeat(2 ** 29).repeat(16);
  if (s === 'eval') return new Function('return 1')();
  return s;
$$;
CREATE ASYNC FUNCTION fetched(s TEXT) RETURNS TEXT LANGUAGE javascript
WITH (timeout = interval '300 milliseconds') AS $$
  if (s === 'fetch') return await (await fetch('http://127.0.0.1:1/')).text();
  if (s === 'hang') await new Promise((resolve) => setTimeout(resolve, 60_000));
  await new Promise((resolve) => setTimeout(resolve, s.length));
  return s;
$$;
CREATE ASYNC FUNCTION granted(s TEXT) RETURNS TEXT LANGUAGE javascript WITH (network = '127.0.0.1:1') AS $$
  if (s !== 'granted' && s !== 'refused') return s;
  await fetch(s === 'granted' ? 'http://127.0.0.1:1/' : 'http://127.0.0.1:2/');
$$;
CREATE FUNCTION letters(s TEXT) RETURNS TABLE (letter TEXT, place INT) LANGUAGE javascript AS $$
  for (const [place, letter] of [...s].entries()) yield { letter, place };
$$;
INSERT INTO out SELECT id, count_char(s, 'a') AS n, next(id, d, at) AS following, tried(s) AS t, fetched(s) AS f, granted(s) AS g FROM t;
INSERT INTO parts SELECT id, letter, place FROM t, LATERAL letters(t.s) AS l WHERE id < 3;
`;

const BAD = ['throw', 'type', 'large', 'huge', 'eval', 'fetch', 'hang', 'granted', 'refused'];

let thalweg: Thalweg;
beforeAll(async () => {
  thalweg = await Thalweg.start();
}, 60_000);
afterAll(async () => {
  await thalweg.close();
});

test('rows are computed, and one that fails is an error with its reason while the others go on', async () => {
  const { id } = await thalweg.create(QUERY);
  await thalweg.waitForJob(id, (job) => job.state === 'Running');
  const good = ['banana', 'Zoë', 'a'].map((s, index) => ({
    id: index === 0 ? 1 : 9_000_000_000_000_000 + index,
    s,
    d: '12.5000',
    at: '2026-01-01T00:00:00.123456',
  }));
  const bad = BAD.map((s, index) => ({ ...good[0], id: 100 + index, s }));
  await thalweg.send(id, 't', [...good.slice(0, 2), ...bad, ...good.slice(2)], 'rows');
  const lines = await thalweg.waitForLines('made/functions.ndjson', good.length);
  expect(lines).toEqual([
    '{"id":1,"n":3,"following":{"id":2,"d":-12.5000,"at":"2026-01-01T00:00:00.123456"},"t":"banana","f":"banana","g":"banana"}',
    '{"id":9000000000000001,"n":0,"following":{"id":9000000000000002,"d":-12.5000,"at":"2026-01-01T00:00:00.123456"},"t":"Zoë","f":"Zoë","g":"Zoë"}',
    '{"id":9000000000000002,"n":1,"following":{"id":9000000000000003,"d":-12.5000,"at":"2026-01-01T00:00:00.123456"},"t":"a","f":"a","g":"a"}',
  ]);
  const parts = await thalweg.waitForLines('made/parts.ndjson', 6);
  expect(parts.map((line) => (JSON.parse(line) as { letter: string }).letter).join('')).toBe(
    'bananaZoë'.slice(0, 6),
  );
  const job = await thalweg.waitForJob(id, ({ rows }) => rows?.errors === BAD.length);
  const errors = await thalweg.api.errors(id, job.id);
  const reasons = new Map(
    errors.map(({ message, details, code }) => {
      const row = /"id":(\d+)/.exec(message + details)?.[1];
      return [BAD[Number(row) - 100] ?? message, `${code} ${message}`];
    }),
  );
  expect(Object.fromEntries(reasons)).toEqual({
    throw: expect.stringContaining('tried(): as asked') as string,
    type: expect.stringContaining('it returned the number 5, which is no TEXT') as string,
    large: expect.stringContaining('the results of one call have more than') as string,
    huge: expect.stringContaining('Invalid string length') as string,
    eval: expect.stringContaining('Code generation from strings disallowed') as string,
    fetch: expect.stringContaining('not permitted to access the internet') as string,
    hang: expect.stringContaining('no answer within 300 ms') as string,
    granted: expect.stringContaining('granted(): ') as string,
    refused: expect.stringContaining(
      '127.0.0.1:2 is not among the hosts that were granted',
    ) as string,
  });
  expect(reasons.get('granted')).not.toContain('is not among');
  expect(job.restarts).toBe(0);
}, 120_000);

test('a function reaches the hosts it was granted, and none by a redirect', async () => {
  const serve = async (answer: (path: string) => string | null): Promise<Server> => {
    const server = createServer((incoming, response) => {
      const text = answer(incoming.url ?? '');
      if (text === null)
        response.writeHead(302, { location: `http://127.0.0.1:${portOf(other)}/` });
      response.end(text ?? '');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return server;
  };
  const portOf = (server: Server): number => (server.address() as AddressInfo).port;
  const other: Server = await serve(() => 'reached');
  const granted = await serve((path) => (path === '/here' ? 'hello' : null));
  try {
    const { id } = await thalweg.create(`
      CREATE TABLE p (id BIGINT, path TEXT) WITH (connector = 'http', format = 'json', type = 'source');
      CREATE TABLE got WITH (connector = 'single_file', path = 'made/got.ndjson', format = 'json', type = 'sink');
      CREATE ASYNC FUNCTION get(path TEXT) RETURNS TEXT LANGUAGE javascript WITH (network = '127.0.0.1:${portOf(granted)}') AS $$
        return await (await fetch('http://127.0.0.1:${portOf(granted)}' + path)).text();
      $$;
      INSERT INTO got SELECT id, get(path) AS text FROM p;`);
    const rows = ['/here', '/away', '/here'].map((path, at) => ({ id: at, path }));
    await thalweg.send(id, 'p', rows, 'paths');
    expect(await thalweg.waitForLines('made/got.ndjson', 2)).toEqual([
      '{"id":0,"text":"hello"}',
      '{"id":2,"text":"hello"}',
    ]);
    const job = await thalweg.waitForJob(id, ({ rows: counts }) => counts?.errors === 1);
    const [error] = await thalweg.api.errors(id, job.id);
    expect(error?.message).toContain('is not among the hosts that were granted');
  } finally {
    granted.close();
    other.close();
  }
}, 60_000);

test('code that does not load is refused when the query is checked', async () => {
  const check = async (definition: string): Promise<string[]> => {
    const response = await thalweg.fetch('/api/v1/udfs/validate', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ definition }),
    });
    return ((await response.json()) as { errors: string[] }).errors;
  };
  const fn = (body: string, language = 'javascript'): string =>
    `CREATE FUNCTION f(x INT) RETURNS INT LANGUAGE ${language} AS $$ ${body} $$`;
  expect(await check(fn('return x +;'))).toEqual([expect.stringContaining('Unexpected token')]);
  expect(await check(fn('const a: = 1; return x;', 'typescript'))).toEqual([
    expect.stringContaining('f() can not be loaded'),
  ]);
  expect(await check(fn('export const f = 1;'))).toEqual([
    expect.stringContaining('no function as its default export'),
  ]);
  expect(await check(fn("\nexport default () => 1;\nthrow new Error('at once');"))).toEqual([
    expect.stringContaining('at once'),
  ]);
  expect(
    await check(fn('\nconst k: number = 2;\nexport default (x: number): number => x * k;', 'ts')),
  ).toEqual([]);
}, 60_000);
