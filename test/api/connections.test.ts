import { expect, test } from 'vitest';
import { getPipeline } from '../../src/catalog/pipelines.ts';
import { masked } from '../../src/api/connections/secrets.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { type Json, World } from './world.ts';

const PROFILES = '/api/v1/connection_profiles';
const TABLES = '/api/v1/connection_tables';

const ORDERS = {
  name: 'orders',
  connector: 'http',
  config: { partitions: 2 },
  schema: {
    format: { type: 'json' },
    fields: [
      { name: 'id', type: 'int64', required: true },
      { name: 'itemName', type: 'string' },
      { name: 'amount', type: 'decimal128', precision: 10, scale: 2 },
      { name: 'tags', type: 'list', items: { type: 'string' } },
      { name: 'at', type: 'struct', fields: [{ name: 'x', type: 'float64', required: true }] },
      { name: 'ts', type: 'timestamp', unit: 'millisecond', required: true },
      { name: 'log_offset', type: 'int64', metadata_key: 'offset_id' },
    ],
    event_time: { column: 'ts', delay_micros: 2_000_000 },
  },
};

const ORDERS_SQL = `CREATE TABLE orders (
  id BIGINT NOT NULL,
  "itemName" TEXT,
  amount DECIMAL(10, 2),
  tags TEXT[],
  at STRUCT<x DOUBLE NOT NULL>,
  ts TIMESTAMP(3) NOT NULL,
  log_offset BIGINT METADATA FROM 'offset_id',
  WATERMARK FOR ts AS ts - interval '2 seconds'
) WITH (
  connector = 'http',
  type = 'source',
  format = 'json',
  partitions = 2
);`;

async function made(world: World, path: string, body: unknown): Promise<Json> {
  const { status, body: answer } = await world.call('POST', path, body);
  expect(answer, JSON.stringify(answer)).not.toHaveProperty('code');
  expect(status).toBe(200);
  return answer;
}

async function refused(world: World, path: string, body: unknown): Promise<Json> {
  const { status, body: answer } = await world.call('POST', path, body);
  return { status, ...answer };
}

test('a stored table is what its CREATE TABLE says, and can be named by every query', async () => {
  const world = new World();
  const table = await made(world, TABLES, ORDERS);
  expect(table).toMatchObject({
    id: expect.stringMatching(/^ct_/),
    name: 'orders',
    created_at: world.nowMs * 1000,
    connector: 'http',
    connection_profile: null,
    table_type: 'source',
    config: { partitions: 2 },
    consumers: 0,
    sql: ORDERS_SQL,
  });
  expect(table.schema.fields).toEqual(
    ORDERS.schema.fields.map((field) => ({ required: false, ...field })),
  );
  const query = `SELECT id, "itemName", amount FROM orders WHERE amount > 5`;
  const validated = await made(world, '/api/v1/pipelines/validate_query', { query });
  const written = await made(world, '/api/v1/pipelines/validate_query', {
    query: `${ORDERS_SQL}\n${query}`,
  });
  expect(validated.errors).toEqual([]);
  expect(validated.graph).toEqual(written.graph);
  expect(validated.logical).toBe(written.logical);
});

test('a table that a pipeline uses is not deleted, and says by how many it is used', async () => {
  const world = new World();
  const { id } = await made(world, TABLES, ORDERS);
  const pipeline = await made(world, '/api/v1/pipelines', {
    name: 'p',
    query: 'SELECT id FROM orders',
    parallelism: 1,
  });
  await made(world, '/api/v1/pipelines/preview', { query: 'SELECT id FROM orders' });
  const consumers = async () => (await world.call('GET', TABLES)).body.data[0].consumers;
  expect(await consumers()).toBe(1);
  const answer = await world.call('DELETE', `${TABLES}/${id}`);
  expect(answer.status).toBe(400);
  expect(answer.body.error).toBe('the connection table is still being used by pipelines');
  await world.call('PATCH', `/api/v1/pipelines/${pipeline.id}`, { stop: 'immediate' });
  await world.observe(pipeline.id, { state: 'Stopped' });
  expect((await world.call('DELETE', `/api/v1/pipelines/${pipeline.id}`)).status).toBe(200);
  expect(await consumers()).toBe(0);
  expect((await world.call('DELETE', `${TABLES}/${id}`)).body).toEqual({ id });
  expect((await world.call('DELETE', `${TABLES}/${id}`)).status).toBe(404);
  const { body } = await world.call('POST', '/api/v1/pipelines/validate_query', {
    query: 'SELECT id FROM orders',
  });
  expect(body.errors[0].code).toBe('UNKNOWN_TABLE');
});

test('a profile holds options for several tables, and stays as long as one uses it', async () => {
  const world = new World();
  const profile = await made(world, PROFILES, {
    name: 'the bucket',
    connector: 'r2',
    config: { path: 'all', file_rows_max: 10 },
  });
  expect(profile).toEqual({
    id: expect.stringMatching(/^cp_/),
    name: 'the bucket',
    connector: 'r2',
    config: { path: 'all', file_rows_max: 10 },
    description: 'path = all, file_rows_max = 10',
  });
  const table = await made(world, TABLES, {
    name: 'bids',
    connector: 'r2',
    table_type: 'sink',
    connection_profile_id: profile.id,
    config: { path: 'bids' },
    schema: { format: { type: 'debezium_json' } },
  });
  expect(table.connection_profile).toEqual(profile);
  expect(table.sql).toBe(
    "CREATE TABLE bids WITH (\n  connector = 'r2',\n  type = 'sink',\n  format = 'debezium_json',\n  path = 'bids',\n  file_rows_max = 10\n);",
  );
  const query =
    "CREATE TABLE t (a INT) WITH (connector = 'http'); INSERT INTO bids SELECT a FROM t;";
  const pipeline = await made(world, '/api/v1/pipelines', { name: 'p', query, parallelism: 1 });
  expect(pipeline.sinks).toMatchObject([{ table: 'bids', connector: 'r2', path: 'bids' }]);
  const used = await world.call('DELETE', `${PROFILES}/${profile.id}`);
  expect(used.status).toBe(400);
  expect(used.body.error).toBe('the connection profile is still being used by connection tables');
  expect((await world.call('GET', PROFILES)).body.data).toEqual([profile]);
  const free = await made(world, PROFILES, { name: 'free', connector: 'r2' });
  expect((await world.call('DELETE', `${PROFILES}/${free.id}`)).body).toEqual({ id: free.id });
  expect((await world.call('DELETE', `${PROFILES}/${free.id}`)).status).toBe(404);
  const completed = await world.call('GET', `${PROFILES}/${profile.id}/autocomplete`);
  expect(completed.body).toEqual({ values: { path: [] } });
  world.objects.set('bids/1.ndjson', new Uint8Array());
  expect(
    (await world.call('GET', `${PROFILES}/${profile.id}/autocomplete`)).body.values.path,
  ).toEqual(['bids/1.ndjson']);
});

test('a query may name a profile in the options of its own tables', async () => {
  const world = new World();
  await made(world, PROFILES, {
    name: 'slow',
    connector: 'impulse',
    config: { event_rate: 3, partitions: 2 },
  });
  const validate = async (options: string): Promise<Json> =>
    await made(world, '/api/v1/pipelines/validate_query', {
      query: `CREATE TABLE t WITH (${options}); SELECT counter FROM t;`,
    });
  const same = async (options: string, written: string): Promise<void> => {
    const named = await validate(options);
    expect(named.errors).toEqual([]);
    const { graph, physical } = await validate(written);
    expect(named).toMatchObject({ graph, physical });
  };
  await same(
    "connector = 'impulse', connection_profile = 'slow'",
    "connector = 'impulse', event_rate = 3, partitions = 2",
  );
  await same(
    "connection_profile = 'slow', event_rate = 5",
    "connector = 'impulse', event_rate = 5, partitions = 2",
  );
  const said = async (options: string): Promise<Json> => (await validate(options)).errors[0];
  expect(
    await said("connector = 'impulse', connection_profile = 'slwo', event_rate = 1"),
  ).toMatchObject({
    code: 'INVALID_OPTION',
    message: 'there is no connection profile "slwo"',
    suggestion: 'slow',
  });
  expect(await said("connector = 'nexmark', connection_profile = 'slow'")).toMatchObject({
    code: 'INVALID_OPTION',
    message: 'the connection profile "slow" is one of impulse, and the table is one of nexmark',
  });
  const query = "CREATE TABLE t WITH (connection_profile = 'slow'); SELECT counter FROM t;";
  const { id } = await made(world, '/api/v1/pipelines', { name: 'p', query, parallelism: 1 });
  const graph = JSON.parse((await getPipeline(world.database, id))!.pipeline.graph);
  expect(graph.operators[0].spec.connector).toEqual({
    connector: 'impulse',
    options: { event_rate: 3, partitions: 2 },
  });
});

test('the columns of a connector that has its own, and those of a JSON schema, are filled in', async () => {
  const world = new World();
  const clicks = await made(world, TABLES, {
    name: 'clicks',
    connector: 'example',
    config: { dataset: 'clicks' },
  });
  expect(clicks.schema).toMatchObject({ inferred: true });
  expect(clicks.schema.fields.map(({ name, sql_name: type }: Json) => `${name} ${type}`)).toEqual([
    'user_id BIGINT',
    'page TEXT',
    'product TEXT',
    'country TEXT',
    'price DECIMAL(10, 2)',
    'ts TIMESTAMP',
  ]);
  expect(clicks.sql).not.toContain('user_id');
  const schema = {
    type: 'object',
    required: ['a', 'maybe'],
    properties: {
      a: { type: 'string' },
      b: { type: 'number' },
      c: { type: 'array', items: { type: 'string' } },
      when: { type: 'string', format: 'date-time' },
      maybe: { type: ['integer', 'null'] },
      either: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
      any: { type: ['string', 'number'] },
      place: { $ref: '#/$defs/place' },
    },
    $defs: { place: { type: 'object', properties: { x: { type: 'integer' } }, required: ['x'] } },
  };
  const tested = await made(world, `${TABLES}/schemas/test`, {
    definition: { json_schema: JSON.stringify(schema) },
  });
  const table = await made(world, TABLES, {
    name: 'rows',
    connector: 'http',
    schema: { definition: { json_schema: JSON.stringify(schema) } },
  });
  expect(table.schema.fields).toEqual(tested.fields);
  expect(table.sql).toContain(
    '(\n  a TEXT NOT NULL,\n  b DOUBLE,\n  c TEXT[],\n  "when" TIMESTAMP,\n  maybe BIGINT,\n  either BOOLEAN,\n  any JSON,\n  place STRUCT<x BIGINT NOT NULL>\n)',
  );
  const wrong = await refused(world, `${TABLES}/schemas/test`, {
    definition: { json_schema: '{"type": "string"}' },
  });
  expect(wrong).toMatchObject({
    status: 400,
    error: 'definition.json_schema: it has no properties',
  });
  expect(
    (await refused(world, `${TABLES}/schemas/test`, { definition: { json_schema: '{' } })).error,
  ).toMatch(/^definition.json_schema: it is no JSON/);
  const loop = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } };
  expect(
    (
      await refused(world, `${TABLES}/schemas/test`, {
        definition: { json_schema: JSON.stringify(loop) },
      })
    ).status,
  ).toBe(400);
});

test('a lookup table is read first, and changes are told by their key', async () => {
  const world = new World();
  const field = (name: string, type: string) => ({ name, type, required: true });
  const rates = await made(world, TABLES, {
    name: 'rates',
    connector: 'single_file',
    table_type: 'lookup',
    config: { path: 'rates.ndjson' },
    schema: {
      fields: [field('currency', 'string'), field('rate', 'float64')],
      primary_keys: ['currency'],
    },
  });
  expect(rates.sql).toMatch(/^CREATE TEMPORARY TABLE rates \(/);
  const customers = await made(world, TABLES, {
    name: 'customers',
    connector: 'example',
    config: { dataset: 'customers' },
    schema: {
      format: { type: 'debezium_json' },
      fields: [field('id', 'int64'), field('city', 'string')],
      primary_keys: ['id'],
    },
  });
  expect(customers.sql).toContain('PRIMARY KEY (id)');
  const query = 'SELECT c.city, r.rate FROM customers c JOIN rates r ON c.city = r.currency';
  const { errors } = await made(world, '/api/v1/pipelines/validate_query', { query });
  expect(errors).toEqual([]);
});

test('what is wrong is refused with words, and nothing is stored', async () => {
  const world = new World();
  const table = (change: object) => refused(world, TABLES, { ...ORDERS, ...change });
  expect(await table({ connector: 'htp' })).toMatchObject({
    status: 400,
    code: 'UNKNOWN_CONNECTOR',
    suggestion: 'http',
  });
  expect(await table({ config: { partition: 2 } })).toMatchObject({
    status: 400,
    code: 'UNKNOWN_OPTION',
    suggestion: 'partitions',
  });
  expect(await table({ config: { partitions: 0 } })).toMatchObject({
    status: 400,
    code: 'INVALID_OPTION',
  });
  expect(await table({ config: { "x = 1, path = 'y": 2 } })).toMatchObject({
    status: 400,
    code: 'UNKNOWN_OPTION',
  });
  expect(await table({ config: { format: 'json' } })).toMatchObject({
    status: 400,
    error: 'config.format: it is said by the field schema.format',
  });
  expect(await table({ name: 'No' })).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
  expect(await table({ connection_profile_id: 'cp_none' })).toMatchObject({ status: 404 });
  expect(await table({ connector: 'r2', config: { path: 'x' } })).toMatchObject({
    status: 400,
    error: 'table_type: is missing, and r2 is read and written',
  });
  expect(await table({ table_type: 'sink' })).toMatchObject({ status: 400 });
  expect(await table({ schema: { fields: [] } })).toMatchObject({
    status: 400,
    code: 'MISSING_OPTION',
    error: 'the stored table "orders": table "orders" has no columns to read',
  });
  expect(await table({ schema: { fields: [{ name: 'a', type: 'text' }] } })).toMatchObject({
    status: 400,
    code: 'INVALID_REQUEST',
  });
  expect(await table({ colour: 'red' })).toMatchObject({
    status: 400,
    error: expect.stringContaining('there is no field "colour"'),
  });
  const quote = await made(world, TABLES, {
    ...ORDERS,
    name: 'quoted',
    connector: 'r2',
    table_type: 'sink',
    config: { path: "it's" },
    schema: null,
  });
  expect(quote.sql).toContain("path = 'it''s'");
  await made(world, TABLES, ORDERS);
  expect(await table({})).toMatchObject({ status: 409, code: 'CONFLICT' });
  const profile = { name: 'p', connector: 'impulse', config: { event_rate: 3 } };
  const { id } = await made(world, PROFILES, profile);
  expect(await refused(world, PROFILES, profile)).toMatchObject({ status: 409 });
  expect(
    await refused(world, PROFILES, { ...profile, name: 'q', config: { event_rat: 3 } }),
  ).toMatchObject({ status: 400, suggestion: 'event_rate' });
  expect(await table({ connection_profile_id: id })).toMatchObject({
    status: 400,
    error: 'the connection profile "p" is one of impulse, and the table is one of http',
  });
  expect((await world.call('GET', TABLES)).body.data).toHaveLength(2);
});

test('tables come in pages, newest first', async () => {
  const world = new World();
  for (let index = 0; index < 7; index++) {
    world.nowMs += index % 3 === 0 ? 1 : 0;
    await made(world, TABLES, { ...ORDERS, name: `t${index}` });
  }
  const names: string[] = [];
  let after = '';
  for (let page = 0; page < 4; page++) {
    const { body } = await world.call('GET', `${TABLES}?limit=2${after}`);
    names.push(...body.data.map(({ name }: Json) => name));
    expect(body.hasMore).toBe(page < 3);
    after = `&starting_after=${body.data.at(-1).id}`;
  }
  expect(new Set(names).size).toBe(7);
  expect(names.slice(0, 1)).toEqual(['t6']);
});

const eventsOf = (text: string): Json[] =>
  text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => JSON.parse(event.replace(/^data: /, '')));

test('a test tells step by step what it tried, and stores nothing', async () => {
  const world = new World();
  const tried = async (body: unknown): Promise<Json[]> =>
    eventsOf((await world.call('POST', `${TABLES}/test`, body)).text);
  expect(await tried(ORDERS)).toEqual([
    { error: false, done: false, message: 'checking the options' },
    { error: false, done: false, message: 'planning a query over the table' },
    { error: false, done: true, message: 'the table can be used; it has 7 columns' },
  ]);
  const file = {
    ...ORDERS,
    connector: 'single_file',
    table_type: 'source',
    config: { path: 'orders.ndjson' },
    schema: { ...ORDERS.schema, fields: ORDERS.schema.fields.slice(0, 6) },
  };
  expect((await tried(file)).at(-1)).toEqual({
    error: true,
    done: true,
    message: 'there is no object "orders.ndjson" in the bucket',
  });
  world.objects.set('orders.ndjson', new Uint8Array([1]));
  expect((await tried(file)).at(-1)).toMatchObject({ error: false, done: true });
  expect((await tried({ ...ORDERS, config: { partitions: 'many' } })).at(-1)).toMatchObject({
    error: true,
    done: true,
    reports: [{ code: 'INVALID_OPTION' }],
  });
  expect((await tried({ ...ORDERS, schema: { fields: [] } })).at(-1)).toMatchObject({
    error: true,
    done: true,
    reports: [{ code: 'MISSING_OPTION' }],
  });
  expect((await world.call('GET', TABLES)).body).toEqual({ data: [], hasMore: false });
  const profile = await made(world, `${PROFILES}/test`, {
    name: 'p',
    connector: 'r2',
    config: { path: 'x' },
  });
  expect(profile).toEqual({
    error: false,
    done: true,
    message: 'the options are those of the connector',
  });
  const wrong = await made(world, `${PROFILES}/test`, {
    name: 'p',
    connector: 'r2',
    config: { pth: 'x' },
  });
  expect(wrong).toMatchObject({
    error: true,
    done: true,
    reports: [{ code: 'UNKNOWN_OPTION', suggestion: 'path' }],
  });
});

test('options that speak of a secret are shown to nobody', () => {
  const connector = DECLARATIONS.find(({ name }) => name === 'r2');
  const shown = masked(connector, {
    path: 'x',
    'auth.token': 's3cr3t',
    api_key: 'k',
    headers: 'Authorization: Bearer s3cr3t',
  });
  expect(shown).toEqual({ path: 'x', 'auth.token': '***', api_key: '***', headers: '***' });
  const declared = {
    ...connector!,
    options: [{ ...connector!.options[0]!, secret: true as const }],
  };
  expect(masked(declared, { path: 'x' })).toEqual({ path: '***' });
  // Nothing that a connector takes today is called like a secret by accident.
  for (const each of DECLARATIONS)
    for (const { name } of each.options)
      expect(masked(each, { [name]: 1 }), `${each.name} ${name}`).toEqual({ [name]: 1 });
});
