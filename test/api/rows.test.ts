import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/base/limits.ts';
import { EVENTS, World } from './world.ts';

let world: World;
let id: string;
const post = (body: unknown, headers: Record<string, string> = {}, table = 'ev') =>
  world.call('POST', `/api/v1/pipelines/${id}/tables/${table}/rows`, body, headers);

beforeEach(async () => {
  world = new World();
  id = (await world.create(EVENTS)).id;
});

async function table(columns: string): Promise<void> {
  id = (
    await world.create(
      `CREATE TABLE ev (${columns}) WITH (connector = 'http', format = 'json', type = 'source'); SELECT * FROM ev;`,
    )
  ).id;
}

describe('rows in by HTTP', () => {
  test('an acknowledged row is a stored row, and every other one is told with its reason (U01)', async () => {
    const body =
      '[{"netuid":1,"observed_at":10,"note":"a"},{"observed_at":11},{"netuid":"x","observed_at":12},{"netuid":4,"observed_at":13,"extra":true}]';
    const answer = await post(body);
    expect(answer.status).toBe(207);
    expect(answer.body).toMatchObject({
      accepted: 2,
      rejected: 2,
      first_offset: 0,
      partition: 0,
      replayed: false,
      errors: [
        { index: 1, code: 'MISSING_REQUIRED', column: 'netuid' },
        { index: 2, code: 'TYPE_MISMATCH', column: 'netuid', expected: 'INT' },
      ],
      warnings: [{ index: 3, code: 'UNKNOWN_FIELD', column: 'extra' }],
    });
    expect(await world.rows(id, 'ev')).toBe(
      '{"netuid":1,"observed_at":10,"note":"a"}\n{"netuid":4,"observed_at":13,"extra":true}\n',
    );
    const errors = await world.call('GET', `/api/v1/pipelines/${id}/tables/ev/errors`);
    expect(errors.body.data).toMatchObject([
      { index: 2, code: 'TYPE_MISMATCH', column: 'netuid', raw: '{"netuid":"x","observed_at":12}' },
      { index: 1, code: 'MISSING_REQUIRED', column: 'netuid', raw: '{"observed_at":11}' },
    ]);
  });

  test('every digit of a number is stored as it was sent, and what does not fit is no row (U02)', async () => {
    await table('id BIGINT NOT NULL, rel BIGINT');
    const lines = [
      '{"id":9007199254740993,"rel":-9223372036854775808}',
      '{"id":2033735037361704962,"rel":null}',
      '{"id":"9007199254740995","rel":1}',
    ];
    const answer = await post(`${lines.join('\n')}\n{"id":9223372036854775808}\n{"id":1.5}\n`);
    expect(answer.body).toMatchObject({
      accepted: 3,
      rejected: 2,
      errors: [
        { index: 3, column: 'id' },
        { index: 4, column: 'id' },
      ],
    });
    expect(await world.rows(id, 'ev')).toBe(`${lines.join('\n')}\n`);
  });

  test('lines end at line feeds only, however the body is cut and framed (U13)', async () => {
    await table('id INT, msg TEXT');
    const rows = ['{"id":1,"msg":"a\u2028b"}', '{"id":2,"msg":"c"}'];
    const bytes = new TextEncoder().encode(rows.join('\n'));
    const dribble = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    for (const body of [
      `${rows.join('\r\n')}\r\n`,
      rows.join('\n'),
      dribble,
      `\u{feff}${rows.join('\n\n')}\n\n`,
    ]) {
      expect((await post(body)).body).toMatchObject({ accepted: 2, rejected: 0 });
    }
    expect(await world.rows(id, 'ev')).toBe(`${rows.join('\n')}\n`.repeat(4));
  });

  test('missing, null and empty are different things, and a default is for the missing (U19)', async () => {
    await table("id INT NOT NULL, name TEXT NOT NULL DEFAULT 'anon', q INT DEFAULT 1");
    const answer = await post('{"id":1}\n{"id":2,"name":null}\n{"id":3,"name":"","q":null}');
    expect(answer.body).toMatchObject({
      accepted: 2,
      rejected: 1,
      errors: [{ index: 1, code: 'NULL_VIOLATION', column: 'name' }],
    });
  });

  test('a poisoned row costs only itself (U20)', async () => {
    await table('id INT NOT NULL');
    const answer = await post('{"id":1}\n{"id":\n{"id":"abc"}\n{"id":4}');
    expect(answer.body).toMatchObject({
      accepted: 2,
      rejected: 2,
      errors: [
        { index: 1, code: 'PARSE_ERROR' },
        { index: 2, code: 'TYPE_MISMATCH' },
      ],
    });
    const raw = (await world.call('GET', `/api/v1/pipelines/${id}/tables/ev/errors`)).body.data.map(
      (row: { raw: string }) => row.raw,
    );
    expect(raw).toEqual(['{"id":"abc"}', '{"id":']);
  });

  test('a client that retries does not count twice (U21)', async () => {
    await table('i BIGINT');
    const rows = '[{"i":1},{"i":2},{"i":"x"}]';
    const first = await post(rows, { 'idempotency-key': 'b1' });
    const again = await post(rows, { 'idempotency-key': 'b1' });
    expect(first).toMatchObject({
      status: 207,
      body: { replayed: false, accepted: 2, first_offset: 0 },
    });
    expect(again.body).toEqual({ ...first.body, replayed: true });
    expect((await post(rows, { 'idempotency-key': 'b2' })).body).toMatchObject({
      replayed: false,
      first_offset: 2,
    });
    const mismatch = await post('[{"i":3}]', { 'idempotency-key': 'b1' });
    expect(mismatch).toMatchObject({
      status: 422,
      body: { code: 'IDEMPOTENCY_MISMATCH', domain: 'user' },
    });
    expect(await world.rows(id, 'ev')).toBe('{"i":1}\n{"i":2}\n'.repeat(2));
  });

  test('a key chooses the partition, so that its retry finds the first answer', async () => {
    id = (
      await world.create(
        "CREATE TABLE ev (i INT) WITH (connector = 'http', format = 'json', type = 'source', partitions = 8); SELECT i FROM ev;",
      )
    ).id;
    const partitions = new Set<number>();
    for (let key = 0; key < 40; key++) {
      const { body } = await post('{"i":1}', { 'idempotency-key': `k${key}` });
      expect((await post('{"i":1}', { 'idempotency-key': `k${key}` })).body).toEqual({
        ...body,
        replayed: true,
      });
      partitions.add(body.partition);
    }
    expect(partitions.size).toBeGreaterThan(4);
  });

  test('an array over many lines is stored one row a line', async () => {
    const rows = [
      { netuid: 1, observed_at: 2, note: 'a\nb "c" \\' },
      { netuid: 3, observed_at: 4, note: null },
    ];
    expect((await post(JSON.stringify(rows, null, 2))).body).toMatchObject({
      accepted: 2,
      rejected: 0,
    });
    const lines = (await world.rows(id, 'ev')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(rows);
  });

  test('arrays and lines of any rows are stored alike', async () => {
    const row = fc.record({
      netuid: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      observed_at: fc.maxSafeInteger(),
      note: fc.option(fc.string({ unit: 'binary' })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(row), fc.nat({ max: 4 }), async (rows, indent) => {
        world.stores.clear();
        const array = await post(JSON.stringify(rows, null, indent));
        expect(array.body).toMatchObject({ accepted: rows.length, rejected: 0 });
        const fromArray = rows.length === 0 ? '' : await world.rows(id, 'ev');
        expect(
          fromArray
            .split('\n')
            .slice(0, -1)
            .map((line) => JSON.parse(line) as unknown),
        ).toEqual(rows);
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    '[{"netuid":1,"observed_at":2},]',
    '[{"netuid":1',
    '[{"netuid":1}{"netuid":2}]',
    '[{"note":"a\nb"}]',
    '[] x',
    '[{"netuid":1}',
  ])('a broken array stores nothing and names the place: %j', async (body) => {
    const answer = await post(body);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'PARSE_ERROR', error: expect.stringMatching(/byte \d+/) as string },
    });
    expect(world.stores.size).toBe(0);
  });

  test('gzip is taken, and what only says so is refused', async () => {
    const rows = '{"netuid":1,"observed_at":2}\n';
    expect((await post(gzipSync(rows), { 'content-encoding': 'gzip' })).body).toMatchObject({
      accepted: 1,
    });
    expect(await post(rows, { 'content-encoding': 'gzip' })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST' },
    });
    expect(await post(rows, { 'content-encoding': 'br' })).toMatchObject({
      status: 400,
      body: { suggestion: 'gzip' },
    });
  });

  test('a body over the limit is refused, however small it was made', async () => {
    const bomb = gzipSync(Buffer.alloc(LIMITS.ingestBytesMax + 1, 32));
    expect(await post(bomb, { 'content-encoding': 'gzip' })).toMatchObject({
      status: 413,
      body: { code: 'BODY_TOO_LARGE' },
    });
    expect(await post(new Uint8Array(LIMITS.ingestBytesMax + 1))).toMatchObject({ status: 413 });
  });

  test('rows longer than what is decoded at once are taken, and too long ones cost only themselves', async () => {
    const long = (size: number): string =>
      `{"netuid":1,"observed_at":2,"note":"${'x'.repeat(size)}"}`;
    const answer = await post([long(600_000), long(LIMITS.ingestRowBytesMax), long(10)].join('\n'));
    expect(answer.body).toMatchObject({
      accepted: 2,
      rejected: 1,
      errors: [{ index: 1, code: 'ROW_TOO_LARGE' }],
    });
    expect(await world.rows(id, 'ev')).toBe(`${long(600_000)}\n${long(10)}\n`);
  });

  test('a body of rubbish is refused as a whole, and the errors of a bad one are bounded', async () => {
    expect(await post('x\n'.repeat(10_001))).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST' },
    });
    expect(world.stores.size).toBe(0);
    const answer = await post('x\n'.repeat(2_000));
    expect(answer.body).toMatchObject({ accepted: 0, rejected: 2_000, first_offset: null });
    expect(answer.body.errors).toHaveLength(LIMITS.errorRowsKept);
  });

  test('a full log says when to come again', async () => {
    world.logBytesMax = 10;
    const answer = await post('{"netuid":1,"observed_at":2}');
    expect(answer).toMatchObject({
      status: 429,
      body: { code: 'BACKPRESSURE', domain: 'external' },
    });
    expect(answer.headers.get('retry-after')).toBe('5');
  });

  test('an unknown table is answered with those there are', async () => {
    expect(await post('{}', {}, 'evv')).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND', suggestion: 'ev', hint: expect.stringContaining('ev') as string },
    });
    expect((await post('{"netuid":1,"observed_at":2}', {}, 'EV')).body).toMatchObject({
      accepted: 1,
    });
    expect(
      await world.call('POST', '/api/v1/pipelines/pl_none/tables/ev/rows', '{}'),
    ).toMatchObject({ status: 404 });
    const other = await world.create(
      "CREATE TABLE i WITH (connector = 'impulse', event_rate = 1); SELECT counter FROM i;",
    );
    const answer = await world.call('POST', `/api/v1/pipelines/${other.id}/tables/i/rows`, '{}');
    expect(answer).toMatchObject({
      status: 404,
      body: { hint: expect.stringContaining("connector = 'http'") as string },
    });
  });

  test('known tables take rows while the catalogue is down', async () => {
    const row = '{"netuid":1,"observed_at":2}';
    await post(row);
    world.catalogDown = true;
    world.nowMs += 3_600_000;
    expect((await post(row)).body).toMatchObject({ accepted: 1, first_offset: 1 });
  });

  test('a deleted pipeline takes no rows', async () => {
    const row = '{"netuid":1,"observed_at":2}';
    await post(row);
    await world.observe(id, { state: 'Failed' });
    expect((await world.call('DELETE', `/api/v1/pipelines/${id}`)).status).toBe(200);
    expect(world.stores.size).toBe(0);
    expect(await post(row)).toMatchObject({ status: 404 });
  });

  test('a key that is too long is refused', async () => {
    expect(await post('{}', { 'idempotency-key': 'x'.repeat(201) })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST' },
    });
  });
});
