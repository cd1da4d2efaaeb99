import { beforeEach, describe, expect, test } from 'vitest';
import { type Answer, World } from './world.ts';

const COUNT =
  'CREATE FUNCTION count_char(s TEXT, c TEXT) RETURNS BIGINT LANGUAGE javascript AS $$ return s.split(c).length - 1; $$';
const QUERY = `CREATE TABLE ev (note TEXT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT Count_Char(note, 'a') AS n FROM ev;`;

let world: World;
beforeEach(() => {
  world = new World();
});

const post = (definition: string, more: object = {}): Promise<Answer> =>
  world.call('POST', '/api/v1/udfs', { definition, ...more });
const validate = (query: string, more: object = {}): Promise<Answer> =>
  world.call('POST', '/api/v1/pipelines/validate_query', { query, ...more });

describe('a stored function', () => {
  test('is listed, called by any pipeline, and deleted', async () => {
    const { status, body } = await post(COUNT, { prefix: 'text', description: 'counts' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^udf_/) as string,
      prefix: 'text',
      name: 'count_char',
      language: 'javascript',
      definition: COUNT,
      description: 'counts',
      dylib_url: null,
      created_at: world.nowMs * 1000,
    });
    expect((await world.call('GET', '/api/v1/udfs')).body).toEqual({ data: [body] });
    const pipeline = await world.create(QUERY);
    expect(
      pipeline.graph.nodes.map(({ description }: { description: string }) => description),
    ).toContain("call count_char(note, 'a')");
    expect((await world.call('DELETE', `/api/v1/udfs/${body.id}`)).status).toBe(200);
    expect((await world.call('DELETE', `/api/v1/udfs/${body.id}`)).body.code).toBe('NOT_FOUND');
    expect((await validate(QUERY)).body.errors[0]).toMatchObject({ code: 'UNKNOWN_FUNCTION' });
  });

  test('has a name of its own, which a program may give another meaning', async () => {
    await post(COUNT);
    expect(await post(COUNT.replace('s TEXT', 'x TEXT'))).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT' },
    });
    const own =
      'CREATE FUNCTION count_char(a TEXT, b TEXT) RETURNS TEXT LANGUAGE javascript AS $$ return a; $$;';
    expect((await validate(own + QUERY)).body).toMatchObject({ errors: [] });
    const sent = { udfs: [{ definition: own, language: 'javascript' }] };
    const { graph } = (await validate(QUERY, sent)).body;
    expect(JSON.stringify(graph)).toContain('TEXT');
  });

  test('is refused with what is wrong with it', async () => {
    const wrong: [string, object, string][] = [
      ['SELECT 1', {}, 'INVALID_REQUEST'],
      [`${COUNT}; ${COUNT}`, {}, 'INVALID_REQUEST'],
      ['CREATE FUNCTION f(', {}, 'SYNTAX'],
      [COUNT.replace('count_char', 'lower'), {}, 'DUPLICATE_NAME'],
      [COUNT.replace('return', 'syntax error'), {}, 'INVALID_FUNCTION'],
      [COUNT, { language: 'typescript' }, 'INVALID_REQUEST'],
      [COUNT, { languag: 'javascript' }, 'INVALID_REQUEST'],
    ];
    for (const [definition, more, code] of wrong)
      expect(await post(definition, more), definition).toMatchObject({
        status: 400,
        body: { code },
      });
    expect((await world.call('GET', '/api/v1/udfs')).body).toEqual({ data: [] });
  });

  test('can be checked without storing it', async () => {
    const check = async (definition: string): Promise<unknown> =>
      (await world.call('POST', '/api/v1/udfs/validate', { definition })).body as unknown;
    expect(await check(COUNT)).toEqual({ udf_name: 'count_char', errors: [], reports: [] });
    expect(await check(COUNT.replace('BIGINT', 'BIGGISH'))).toMatchObject({
      udf_name: null,
      errors: [expect.stringContaining('BIGGISH')],
      reports: [{ code: 'UNKNOWN_TYPE', span: { start: { line: 1 } } }],
    });
  });
});

describe('a function of one pipeline', () => {
  test('is sent with it, and shown with it', async () => {
    const pipeline = await world.create(QUERY, { udfs: [{ definition: COUNT }] });
    expect(pipeline).toMatchObject({ udfs: [{ definition: COUNT }] });
    expect(pipeline).not.toHaveProperty('warnings');
  });

  test('is loaded before the pipeline is made', async () => {
    const definition = COUNT.replace('return', 'syntax error');
    const refused = await world.call('POST', '/api/v1/pipelines', {
      name: 'x',
      query: QUERY,
      udfs: [{ definition }],
    });
    expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_FUNCTION' } });
    expect((await validate(`${definition};${QUERY}`)).body).toMatchObject({
      errors: [{ code: 'INVALID_FUNCTION' }],
    });
    expect(
      (await validate(QUERY, { udfs: [{ definition: 'fn f() {}' }] })).body.errors[0].code,
    ).toBe('SYNTAX');
  });
});
