/**
 * `thalweg run` as a user calls it: a process of its own, started with the Node that is found on PATH, which may
 * be too old and hand over. Rows are on stdout to the last digit, everything else is on stderr.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Prng } from '../../src/base/prng.ts';

const BIN = join(import.meta.dirname, '../../bin/thalweg.mjs');
/** What npm puts in front of PATH is not there when a user types `node`. */
const PATH = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);

const directory = mkdtempSync(join(tmpdir(), 'thalweg-run-cli-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

type Outcome = { code: number | null; stdout: string; stderr: string };

type Running = { child: ChildProcess; lines(): string[]; ended: Promise<Outcome> };

function begin(args: readonly string[], env: Record<string, string> = {}): Running {
  // A group of its own, as a terminal gives one to each command: Ctrl-C reaches all of it.
  const child = spawn('node', [BIN, 'run', ...args], {
    cwd: directory,
    env: { ...process.env, PATH, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, lines: () => linesOf(stdout), ended };
}

const run = async (...args: string[]): Promise<Outcome> => await begin(args).ended;

const linesOf = (text: string): string[] => text.split('\n').slice(0, -1);

function write(name: string, text: string): string {
  writeFileSync(join(directory, name), text);
  return name;
}

const source = (table: string, columns: string, path: string): string =>
  `CREATE TABLE ${table} (${columns}) WITH (connector = 'single_file', path = '${path}', format = 'json', type = 'source');\n`;

/** The rows of a run that ended well. */
function rowsOf({ code, stdout, stderr }: Outcome): string[] {
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return linesOf(stdout);
}

describe('rows', () => {
  test('are on stdout with every digit, in the order of the file', async () => {
    write(
      'exact.ndjson',
      [
        '{"id":9007199254740993,"price":1234567890123456.7890,"name":"ü \\"quoted\\"","at":"2026-01-01T00:00:00.123456"}',
        '{"id":-9223372036854775808,"price":0.1,"name":null,"at":"1969-12-31T23:59:59.999999"}',
        '{"id":9223372036854775807,"price":"-99999999999999999999.9999","name":"","at":null}',
      ].join('\n'),
    );
    const sql = write(
      'exact.sql',
      `${source('t', 'id BIGINT, price DECIMAL(24, 4), name TEXT, at TIMESTAMP', 'exact.ndjson')}SELECT id, price, price + 0.0001 AS more, name, at FROM t;`,
    );
    expect(rowsOf(await run(sql))).toEqual([
      '{"id":9007199254740993,"price":1234567890123456.7890,"more":1234567890123456.7891,"name":"ü \\"quoted\\"","at":"2026-01-01T00:00:00.123456"}',
      '{"id":-9223372036854775808,"price":0.1000,"more":0.1001,"name":null,"at":"1969-12-31T23:59:59.999999"}',
      '{"id":9223372036854775807,"price":-99999999999999999999.9999,"more":-99999999999999999999.9998,"name":"","at":null}',
    ]);
  });

  test('of an updating result are changes, each taking back what stood, or with --final what remains', async () => {
    const prng = new Prng('updating');
    const rows = Array.from({ length: 500 }, () => ({
      k: `k${prng.below(7)}`,
      v: prng.below(100),
    }));
    write('updating.ndjson', rows.map((row) => JSON.stringify(row)).join('\n'));
    const sql = write(
      'updating.sql',
      `${source('t', 'k TEXT NOT NULL, v BIGINT NOT NULL', 'updating.ndjson')}SELECT k, count(*) AS n, sum(v) AS total FROM t GROUP BY k;`,
    );
    const groups = new Map<string, { k: string; n: number; total: number }>();
    for (const { k, v } of rows) {
      const { n, total } = groups.get(k) ?? { n: 0, total: 0 };
      groups.set(k, { k, n: n + 1, total: total + v });
    }
    const want = [...groups.values()].map((group) => JSON.stringify(group)).sort();

    const standing = new Map<string, string>();
    for (const line of rowsOf(await run(sql, '--batch-size', '16', '--parallelism', '2'))) {
      const { before, after, op } = JSON.parse(line) as {
        before: { k: string } | null;
        after: { k: string } | null;
        op: string;
      };
      const k = (before ?? after)?.k ?? '';
      expect(before === null ? undefined : JSON.stringify(before), line).toBe(standing.get(k));
      expect(op).toBe(before === null ? 'c' : after === null ? 'd' : 'u');
      if (after === null) standing.delete(k);
      else standing.set(k, JSON.stringify(after));
    }
    expect([...standing.values()].sort()).toEqual(want);
    expect(rowsOf(await run(sql, '--final')).sort()).toEqual(want);
  });
});

describe('a run that cannot succeed', () => {
  test('ends with 1, the code and the place of a mistake in the SQL', async () => {
    const sql = write(
      'mistake.sql',
      `${source('t', 'price BIGINT', 'nowhere.ndjson')}SELECT pricee\nFROM t;`,
    );
    const { code, stdout, stderr } = await run(sql);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('mistake.sql:2:8: error:');
    expect(stderr).toContain('UNKNOWN_COLUMN');
    expect(stderr).toContain('price');
  });

  test('ends with 1 and the path of a source file that is not there', async () => {
    const sql = write(
      'absent.sql',
      `${source('t', 'i BIGINT', 'data/absent.ndjson')}SELECT i FROM t;`,
    );
    const { code, stdout, stderr } = await run(sql);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('absent.sql:1:');
    expect(stderr).toContain('SOURCE_MISSING');
    expect(stderr).toContain(join(directory, 'data/absent.ndjson'));
    expect(stderr).toContain('relative paths');
  });

  const SINK = (path: string): string =>
    `CREATE TABLE o WITH (connector = 'single_file', path = '${path}', format = 'json', type = 'sink');\nINSERT INTO o SELECT i FROM t;`;

  test.each([
    ['a directory as a source', source('t', 'i BIGINT', '.'), 'SELECT i FROM t;', 'is a directory'],
    [
      'an http source',
      "CREATE TABLE t (i BIGINT) WITH (connector = 'http', format = 'json');\n",
      'SELECT i FROM t;',
      'npm run dev',
    ],
    [
      'an r2 source without its file',
      "CREATE TABLE t (i BIGINT) WITH (connector = 'r2', path = 'nothing.json', format = 'json', type = 'source');\n",
      'SELECT i FROM t;',
      'there is no such file',
    ],
    [
      'a sink over its source',
      source('t', 'i BIGINT', 'kept.ndjson'),
      SINK('./kept.ndjson'),
      'INVALID_SINK',
    ],
    [
      'a sink over a link to its source',
      source('t', 'i BIGINT', 'kept.ndjson'),
      SINK('link.ndjson'),
      'which "t" reads',
    ],
    [
      'a sink over another file',
      source('t', 'i BIGINT', 'kept.ndjson'),
      SINK('other.ndjson'),
      '--overwrite',
    ],
    [
      'a sink over a directory',
      source('t', 'i BIGINT', 'kept.ndjson'),
      SINK('.'),
      'is a directory',
    ],
  ])('is refused at once: %s', async (name, create, query, said) => {
    write('kept.ndjson', '{"i":1}\n');
    write('other.ndjson', 'mine');
    rmSync(join(directory, 'link.ndjson'), { force: true });
    symlinkSync('kept.ndjson', join(directory, 'link.ndjson'));
    const sql = write(`${name.replaceAll(' ', '-')}.sql`, create + query);
    const { code, stdout, stderr } = await run(sql);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(said);
    expect(stderr).toMatch(/\.sql:\d+:\d+: error: /);
    expect(readFileSync(join(directory, 'kept.ndjson'), 'utf8')).toBe('{"i":1}\n');
    expect(readFileSync(join(directory, 'other.ndjson'), 'utf8')).toBe('mine');
  });

  test('only checks with --check, and prints the plan', async () => {
    const sql = write('check.sql', `${source('t', 'i BIGINT', 'nowhere.ndjson')}SELECT i FROM t;`);
    const [first] = rowsOf(await run(sql, '--check'));
    expect(first).toContain('sink select_1 (stdout)');
  });

  test('ends with 1 when a source is a directory, and when a sink or the state cannot be written', async () => {
    write('file', '{"i":1}\n');
    mkdirSync(join(directory, 'folder'), { recursive: true });
    const fromFolder = write('folder.sql', `${source('t', 'i BIGINT', 'folder')}SELECT i FROM t;`);
    const toNowhere = write(
      'nowhere.sql',
      `${source('t', 'i BIGINT', 'file')}CREATE TABLE o WITH (connector = 'single_file', path = 'file/o', type = 'sink');\nINSERT INTO o SELECT i FROM t;`,
    );
    const unread = await run(fromFolder);
    expect(unread.code).toBe(1);
    expect(unread.stderr).toContain('SOURCE_MISSING');
    const unwritten = await run(toNowhere);
    expect(unwritten.code).toBe(1);
    expect(unwritten.stderr).toContain('SINK_FAILED: cannot write');
    const stateless = await run(toNowhere, '--state', 'file');
    expect(stateless.code).toBe(1);
    expect(stateless.stderr).toContain('INVALID_OPTION: cannot keep state in');
    for (const { stderr } of [unread, unwritten, stateless])
      expect(stderr).not.toContain('    at ');
  });

  test.each([
    [['--paralelism', '2', 'a.sql'], '--paralelism'],
    [['a.sql', '--parallelism', '0'], '--parallelism 0'],
    [['a.sql', '--checkpoint-interval', 'soon'], 'soon'],
    [['a.sql', 'b.sql'], 'one SQL file'],
    [[], 'one SQL file'],
  ])('ends with 1 before it starts anything when called as run %j', async (args, named) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('INVALID_OPTION');
    expect(stderr).toContain(named);
  });

  test('ends with 1 and the path of a SQL file that is not there', async () => {
    const { code, stderr } = await run('absent-file.sql');
    expect(code).toBe(1);
    expect(stderr).toContain('cannot read absent-file.sql');
  });
});

const COUNT = 20_000;
const prng = new Prng('readings');
/** Twenty thousand rows over 100 s of event time, each up to 200 ms late. */
const READINGS = Array.from({ length: COUNT }, (_, index) => ({
  at: new Date(Date.UTC(2026, 0, 1) + index * 5 - prng.below(200)).toISOString().slice(0, -1),
  k: `k${prng.below(5)}`,
  v: prng.below(1_000),
}));
const READINGS_SQL = `${source('t', "at TIMESTAMP NOT NULL, k TEXT NOT NULL, v BIGINT, WATERMARK FOR at AS at - interval '1 second'", 'readings.ndjson')}
SELECT k, window.start AS s, n, total, least FROM (
  SELECT k, tumble(interval '1 second') AS window, count(*) AS n, sum(v) AS total, min(v) AS least FROM t GROUP BY k, window);`;

function windowsOf(): string[] {
  const groups = new Map<
    string,
    { k: string; s: string; n: number; total: number; least: number }
  >();
  for (const { at, k, v } of READINGS) {
    const s = at.slice(0, 19);
    const group = groups.get(`${k} ${s}`) ?? { k, s, n: 0, total: 0, least: Infinity };
    groups.set(`${k} ${s}`, {
      ...group,
      n: group.n + 1,
      total: group.total + v,
      least: Math.min(group.least, v),
    });
  }
  return [...groups.values()].map((group) => JSON.stringify(group)).sort();
}

describe('twenty thousand rows in windows', () => {
  write('readings.ndjson', READINGS.map((row) => JSON.stringify(row)).join('\n'));
  const sql = write('readings.sql', READINGS_SQL);
  const want = windowsOf();

  test.each(
    [
      ['--batch-size', '1'],
      ['--batch-size', '8192'],
      ['--parallelism', '3', '--batch-size', '100', '--checkpoint-interval', '1s'],
    ].map((options) => ({ options })),
  )('give the same rows with $options', async ({ options }) => {
    expect(rowsOf(await run(sql, ...options)).sort()).toEqual(want);
  });

  test.each(['1', '2', '3'])('give the same rows under --chaos %s', async (seed) => {
    const { code, stdout, stderr } = await run(
      sql,
      '--chaos',
      seed,
      '--parallelism',
      '2',
      '--checkpoint-interval',
      '1s',
    );
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('fault 1');
    expect(linesOf(stdout).sort(), stderr).toEqual(want);
  });

  test('are written to the file of a single_file sink', async () => {
    const toFile = READINGS_SQL.replace(
      'SELECT k, window.start',
      "CREATE TABLE o WITH (connector = 'single_file', path = 'made/windows.ndjson', format = 'json', type = 'sink');\nINSERT INTO o SELECT k, window.start",
    );
    const outcome = await run(write('to-file.sql', toFile), '--parallelism', '2');
    expect(rowsOf(outcome)).toEqual([]);
    expect(linesOf(readFileSync(join(directory, 'made/windows.ndjson'), 'utf8')).sort()).toEqual(
      want,
    );
    expect(existsSync(join(directory, 'made/windows.ndjson.thalweg-partial'))).toBe(false);
  });
});

test('what an r2 sink writes is said to be gone when no state is kept', async () => {
  const text =
    "CREATE TABLE o WITH (connector = 'r2', path = 'o', type = 'sink'); INSERT INTO o VALUES (1);";
  const { code, stdout, stderr } = await run(write('to-bucket.sql', text));
  expect(stderr).toMatch(/^thalweg: what o writes is in the bucket of this run.*--state DIR.*\n$/);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
});

test('a single_file sink that gets no rows is an empty file, not the result of an earlier run', async () => {
  write('some.ndjson', '{"i":1}\n');
  write('result.ndjson', '{"old":1}\n');
  const sql = write(
    'no-rows.sql',
    `${source('t', 'i BIGINT', 'some.ndjson')}CREATE TABLE o WITH (connector = 'single_file', path = 'result.ndjson', type = 'sink');\nINSERT INTO o SELECT i FROM t WHERE i > 1;`,
  );
  expect(rowsOf(await run(sql, '--overwrite'))).toEqual([]);
  expect(readFileSync(join(directory, 'result.ndjson'), 'utf8')).toBe('');
});

test('a reader that has seen enough, as head has, ends the run without a word', async () => {
  write('many.ndjson', Array.from({ length: 20_000 }, (_, index) => `{"i":${index}}\n`).join(''));
  const sql = write('many.sql', `${source('t', 'i BIGINT', 'many.ndjson')}SELECT i FROM t;`);
  const running = begin([sql]);
  running.child.stdout?.once('data', () => running.child.stdout?.destroy());
  expect((await running.ended).stderr).toBe('');
});

describe('with --state', () => {
  const TICKS = write(
    'ticks.sql',
    "CREATE TABLE ticks WITH (connector = 'impulse', event_rate = 1000);\nSELECT counter FROM ticks;",
  );

  /** Runs until it has printed `count` rows more, then presses Ctrl-C. */
  async function interrupted(count: number, ...options: string[]): Promise<number[]> {
    const running = begin([TICKS, '--state', 'state', '--checkpoint-interval', '1s', ...options]);
    await expect
      .poll(() => running.lines().length, { timeout: 20_000, interval: 50 })
      .toBeGreaterThanOrEqual(count);
    process.kill(-(running.child.pid ?? 0), 'SIGINT');
    const { code, stdout, stderr } = await running.ended;
    expect(code, stderr).toBe(130);
    expect(stderr.split('\n').sort()).toEqual([
      '',
      'thalweg: stopping with a checkpoint; interrupt again to end at once',
      'thalweg: ticks never ends: stop with Ctrl-C',
    ]);
    return linesOf(stdout).map((line) => (JSON.parse(line) as { counter: number }).counter);
  }

  test('Ctrl-C stops with a checkpoint, and the next run goes on where this one ended', async () => {
    const all: number[] = [];
    for (const options of [[], ['--parallelism', '2'], []]) {
      const counters = await interrupted(500, ...options);
      expect(counters.length).toBeGreaterThanOrEqual(500);
      all.push(...counters);
    }
    expect(all.findIndex((counter, index) => counter !== index)).toBe(-1);
  });

  test('other SQL is refused, unless it is forced', async () => {
    const other = write(
      'other.sql',
      "CREATE TABLE ticks WITH (connector = 'impulse', event_rate = 10);\nSELECT counter FROM ticks;",
    );
    const { code, stdout, stderr } = await run(other, '--state', 'state');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('CONFLICT');

    // Forced, it is the query of the state that goes on, and this is said.
    const forced = begin([other, '--state', 'state', '--force', '--checkpoint-interval', '1s']);
    await expect
      .poll(() => forced.lines().length, { timeout: 20_000, interval: 50 })
      .toBeGreaterThanOrEqual(100);
    process.kill(-(forced.child.pid ?? 0), 'SIGINT');
    expect((await forced.ended).stderr).toContain('other.sql is ignored');
  });

  test('a file that the same state has written is replaced', async () => {
    write('copied.ndjson', '{"i":1}\n');
    const sql = write(
      'copy.sql',
      `${source('t', 'i BIGINT', 'copied.ndjson')}CREATE TABLE o WITH (connector = 'single_file', path = 'copy.ndjson', format = 'json', type = 'sink');\nINSERT INTO o SELECT i FROM t;`,
    );
    expect(rowsOf(await run(sql, '--state', 'copy'))).toEqual([]);
    expect(rowsOf(await run(sql, '--state', 'copy'))).toEqual([]);
    expect((await run(sql)).stderr).toContain('--overwrite');
    expect(rowsOf(await run(sql, '--overwrite'))).toEqual([]);
    expect(readFileSync(join(directory, 'copy.ndjson'), 'utf8')).toBe('{"i":1}\n');
  });

  test('a run that has reached its end prints nothing twice', async () => {
    write('five.ndjson', Array.from({ length: 5 }, (_, i) => JSON.stringify({ i })).join('\n'));
    const sql = write('five.sql', `${source('t', 'i BIGINT', 'five.ndjson')}SELECT i FROM t;`);
    expect(rowsOf(await run(sql, '--state', 'five'))).toHaveLength(5);
    expect(rowsOf(await run(sql, '--state', 'five'))).toEqual([]);
  });

  test('a run whose source file was missing goes on when it is there', async () => {
    const sql = write('later.sql', `${source('t', 'i BIGINT', 'later.ndjson')}SELECT i FROM t;`);
    expect((await run(sql, '--state', 'later')).stderr).toContain('SOURCE_MISSING');
    write('later.ndjson', '{"i":1}\n{"i":2}');
    expect(rowsOf(await run(sql, '--state', 'later'))).toEqual(['{"i":1}', '{"i":2}']);
  });
});

describe('rows that are left out', () => {
  test('are told of in the order of the file, and with --strict are a failure', async () => {
    write(
      'bad.ndjson',
      Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? `{"i":${i}}` : `{"i":"x${i}"}`)).join(
        '\n',
      ),
    );
    const sql = write('bad.sql', `${source('t', 'i BIGINT', 'bad.ndjson')}SELECT i FROM t;`);
    const lax = await run(sql);
    expect(lax.code).toBe(0);
    expect(linesOf(lax.stdout)).toHaveLength(6);
    expect(lax.stderr).toContain('6 bad of 12 rows were left out');
    expect(lax.stderr.match(/"x\d+" is/g)).toEqual(
      ['x1', 'x3', 'x5', 'x7', 'x9'].map((x) => `"${x}" is`),
    );
    expect(lax.stderr).toContain('… and 1 more');
    const strict = await run(sql, '--strict');
    expect(strict.code).toBe(1);
    expect(linesOf(strict.stdout)).toEqual(linesOf(lax.stdout));
  });
});

describe('a run without --state that is interrupted', () => {
  const sql = write(
    'endless.sql',
    "CREATE TABLE ticks WITH (connector = 'impulse', event_rate = 1000);\nSELECT counter FROM ticks;",
  );
  const temporary = join(directory, 'temporary');
  mkdirSync(temporary);

  test.each([
    ['while it starts', 0, 1],
    ['while it runs', 100, 1],
    ['twice', 100, 2],
  ])(
    '%s leaves nothing behind, also when only the started process gets the signal',
    async (_, rows, times) => {
      const running = begin([sql, '--checkpoint-interval', '1s'], { TMPDIR: temporary });
      await expect
        .poll(() => (rows === 0 ? readdirSync(temporary).length : running.lines().length), {
          timeout: 20_000,
          interval: 20,
        })
        .toBeGreaterThan(rows);
      for (let time = 0; time < times; time++) {
        if (time > 0) await new Promise((resolve) => setTimeout(resolve, 1_100));
        running.child.kill('SIGINT');
      }
      const { code, stderr } = await running.ended;
      expect(code, stderr).toBe(130);
      expect(stderr).not.toContain('FAILED');
      expect(readdirSync(temporary)).toEqual([]);
    },
  );
});
