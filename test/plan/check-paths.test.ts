/** Where tables may lie in the bucket, as far as the text tells. */
import { expect, test } from 'vitest';
import { OUTPUT_FOLDER, STAGED_FOLDER } from '../../src/base/bucket-folders.ts';
import { makeId } from '../../src/base/ids.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { outputPrefix, stagedPrefix } from '../../src/connectors/two-phase-sink.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { LineagePaths } from '../../src/lineage/paths.ts';

const PIPELINE = makeId(
  'pl',
  Uint8Array.from({ length: 10 }, (_, at) => at * 13),
);
const JOB = makeId(
  'job',
  Uint8Array.from({ length: 10 }, (_, at) => at * 29),
);

const plan = (text: string) =>
  planSql(
    `CREATE TABLE t (ts TIMESTAMP NOT NULL, k TEXT, WATERMARK FOR ts AS ts)
  WITH (connector = 'http', format = 'json', type = 'source');\n${text}`,
    DECLARATIONS,
    { defaultSink: 'preview' },
  );

const sink = (name: string, path: string, more = '', connector = 'r2'): string =>
  `CREATE TABLE ${name} WITH (connector = '${connector}', path = '${path}', format = 'json', type = 'sink'${more});
   INSERT INTO ${name} SELECT ts, k FROM t;`;
const source = (path: string, connector = 'r2'): string =>
  `CREATE TABLE s (k TEXT) WITH (connector = '${connector}', path = '${path}', format = 'json', type = 'source');
   SELECT k FROM s;`;

const codes = (text: string): string[] => plan(text).errors.map(({ code }) => code);
const warnings = (text: string): string[] => plan(text).warnings.map(({ code }) => code);

const RESERVED = [
  new LineagePaths(PIPELINE, JOB).prefix,
  new LineagePaths(PIPELINE, JOB).current,
  new LineagePaths(PIPELINE, JOB).epochs,
  new LineagePaths(PIPELINE, JOB).manifest(1, 'n', 3),
  stagedPrefix(PIPELINE),
  outputPrefix(PIPELINE),
  STAGED_FOLDER,
  `/${OUTPUT_FOLDER}/mine`,
  `${PIPELINE}/${JOB}`,
];

test('no table may lie where the state, the staged rows or the output of pipelines lie', () => {
  for (const path of RESERVED) {
    for (const connector of ['r2', 'single_file']) {
      expect([path, codes(sink('o', path, '', connector))]).toEqual([path, ['RESERVED_PATH']]);
      expect([path, codes(source(path, connector))]).toEqual([path, ['RESERVED_PATH']]);
    }
  }
});

test('the refusal tells the place, the cause and the way out', () => {
  const [error] = plan(sink('o', `${PIPELINE}/${JOB}/x`)).errors;
  expect(error).toMatchObject({
    code: 'RESERVED_PATH',
    domain: 'user',
    retry: 'never',
    message: `"o" can not have the path '${PIPELINE}/${JOB}/x': Thalweg keeps the checkpoints and the lineage of pipeline ${PIPELINE} there`,
    hint: "choose a folder of your own, such as 'output/orders'",
  });
  expect(error?.span?.start.line).toBe(3);
  expect(error?.detail).toMatch(/deleted/);
});

test('words that folders by time begin with lead there just as well', () => {
  const pattern = (text: string): string => `, partitioning.time_pattern = '${text}'`;
  expect(codes(sink('o', PIPELINE, pattern(`${JOB}/%Y`)))).toEqual(['RESERVED_PATH']);
  expect(codes(sink('o', '/', pattern(`/${STAGED_FOLDER}/%Y`)))).toEqual(['RESERVED_PATH']);
  expect(codes(sink('o', `${PIPELINE}/`, pattern('job_%Y%m%d%H')))).toEqual([]);
});

test('a path that only resembles them is free', () => {
  for (const path of [
    'orders',
    '/',
    `${PIPELINE}/out`,
    `jobs/job_aggregates`,
    `${PIPELINE}x/${JOB}`,
    `out/${PIPELINE}/${JOB}`,
    `${STAGED_FOLDER}-mine/a`,
    `out/${OUTPUT_FOLDER}`,
  ])
    expect([path, codes(sink('o', path)), codes(source(path))]).toEqual([path, [], []]);
});

test('a table that nobody uses is refused there too', () => {
  const unused = `CREATE TABLE o (k TEXT) WITH (connector = 'r2', path = '${STAGED_FOLDER}/x', format = 'json', type = 'sink');`;
  expect(codes(`${unused}\nSELECT k FROM t;`)).toEqual(['RESERVED_PATH']);
});

test('two sinks of one pipeline with one path are an error, however it is written', () => {
  expect(codes(sink('a', 'out') + sink('b', '/./out/'))).toEqual(['INVALID_SINK']);
  expect(codes(sink('a', 'out', '', 'single_file') + sink('b', 'out', '', 'single_file'))).toEqual([
    'INVALID_SINK',
  ]);
  const dealt = (text: string): string => `, partitioning.time_pattern = '${text}'`;
  expect(codes(sink('a', 'out', dealt('x%Y')) + sink('b', 'out', dealt('y%Y')))).toEqual([
    'INVALID_SINK',
  ]);
});

test('a sink in a folder of another is warned of, beside it is fine', () => {
  expect(warnings(sink('a', 'out') + sink('b', 'out/b'))).toEqual(['SHARED_PATH']);
  expect(warnings(sink('a', 'out/a') + sink('b', '/'))).toEqual(['SHARED_PATH']);
  expect(warnings(sink('a', 'out') + sink('b', 'out/b.ndjson', '', 'single_file'))).toEqual([
    'SHARED_PATH',
  ]);
  expect(warnings(sink('a', 'out/a') + sink('b', 'out/ab') + sink('c', 'o'))).toEqual([]);
  expect(warnings(sink('a', 'out') + sink('b', 'out', '', 'single_file'))).toEqual([]);
  expect(codes(sink('a', 'out') + sink('b', 'out/b'))).toEqual([]);
});

test('a single_file sink over what is read is refused, also when changes are read', () => {
  const changes = `CREATE TABLE c (id BIGINT PRIMARY KEY) WITH (connector = 'single_file', path = 'in', format = 'debezium_json', type = 'source');
  CREATE TABLE o WITH (connector = 'single_file', path = './in', format = 'debezium_json', type = 'sink');
  INSERT INTO o SELECT id FROM c;`;
  expect(codes(changes)).toEqual(['INVALID_SINK']);
});

test('a single_file sink is held against what is read by a path, not against sources without one', () => {
  for (const path of ['/', '.'])
    expect([path, codes(sink('o', path, '', 'single_file'))]).toEqual([path, []]);
});

test('a path that goes up again is the one it leads to', () => {
  const read = (path: string): string =>
    `CREATE TABLE s (k TEXT) WITH (connector = 'single_file', path = '${path}', format = 'json', type = 'source');
     CREATE TABLE o (k TEXT) WITH (connector = 'single_file', path = 'a/../in', format = 'json', type = 'sink');
     INSERT INTO o SELECT k FROM s;`;
  expect(codes(read('in'))).toEqual(['INVALID_SINK']);
  expect(codes(read('b/c/../../in'))).toEqual(['INVALID_SINK']);
  expect(codes(read('../in'))).toEqual([]);
  expect(codes(read('../../in'))).toEqual([]);
  expect(codes(sink('a', 'out') + sink('b', 'out/x/..'))).toEqual(['INVALID_SINK']);
});
