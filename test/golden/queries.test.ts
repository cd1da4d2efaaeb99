/**
 * Queries over small inputs, with the rows that they give whatever the timing: in one piece, in batches of one row, on
 * two hosts that are killed and restored as three, and with rows that arrive in another order within the watermark's
 * bound. Where the plain evaluator knows everything in a query it gives the same rows; a query that it does not know
 * says so in its first line. `REWRITE=1` writes the expected rows anew, for review with git diff.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Prng } from '../../src/base/prng.ts';
import { runRows } from '../operators/run-graph.ts';
import { engineLines } from '../oracle/canonical.ts';
import { committedLines, type Life, SINK } from '../oracle/distributed.ts';
import { answerOf } from '../oracle/program.ts';
import { type ColumnType, engineInput, relationOf, type Table } from '../oracle/tables.ts';
import { momentOf } from '../oracle/time.ts';
import { Decimal, type Value, Whole } from '../oracle/value.ts';

const FOLDER = path.join(import.meta.dirname, 'queries');
const read = (name: string): string => readFileSync(path.join(FOLDER, name), 'utf8');

const TABLES = read('tables.sql');
const BOUND_MS = 10_000;

const NAMES = readdirSync(path.join(FOLDER, 'inputs')).map((file) => path.basename(file, '.ndjson'));
const INPUTS: Readonly<Record<string, string>> = Object.fromEntries(
  NAMES.map((name) => [name, read(`inputs/${name}.ndjson`)]),
);
const CASES = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.sql') && file !== 'tables.sql')
  .map((file) => path.basename(file, '.sql'));

/** The program, and its last query as an INSERT into the sink. */
const programs = (query: string): { shown: string; stored: string } => {
  const statements = query
    .replace(/^--.*\n/gm, '')
    .split(';\n')
    .filter((statement) => statement.trim() !== '');
  const last = statements.pop() ?? '';
  const before = `${TABLES}${statements.map((statement) => `${statement};\n`).join('')}`;
  return { shown: `${before}${last};`, stored: `${before}${SINK}\nINSERT INTO out ${last};` };
};

/** Rows of tables with event times in another order, none behind the watermark; others as they are. */
function shuffled(name: string, prng: Prng): string {
  const lines = (INPUTS[name] as string).split('\n').filter((line) => line !== '');
  const timed = lines.map((line) => {
    const ts = /"ts":"([^"]+)"/.exec(line)?.[1];
    return ts === undefined ? null : { line, at: Date.parse(`${ts}Z`) + prng.below(BOUND_MS) };
  });
  if (timed.includes(null)) return INPUTS[name] as string;
  const sorted = timed.flatMap((each) => (each === null ? [] : [each]));
  sorted.sort((left, right) => left.at - right.at);
  return sorted.map(({ line }) => `${line}\n`).join('');
}

type Way = { readonly name: string; readonly life: Omit<Life, 'seed'>; readonly shuffle: boolean };

const WAYS: readonly Way[] = [
  { name: 'in one piece', life: { parallelism: 1, then: null, batchRows: 8_192 }, shuffle: false },
  { name: 'row by row', life: { parallelism: 1, then: null, batchRows: 1 }, shuffle: false },
  { name: 'killed as two, restored as three', life: { parallelism: 2, then: 3, batchRows: 7 }, shuffle: false },
  { name: 'in another order', life: { parallelism: 1, then: null, batchRows: 64 }, shuffle: true },
  { name: 'in another order, killed as two, restored as three', life: { parallelism: 2, then: 3, batchRows: 7 }, shuffle: true },
];

test.each(CASES)('%s gives the same rows in every way', (name) => {
  const { stored } = programs(read(`${name}.sql`));
  const file = path.join(FOLDER, `${name}.rows`);
  for (const { name: way, life, shuffle } of WAYS) {
    const seed = `${name}/${way}`;
    const prng = new Prng(`golden/${seed}`);
    const files = Object.fromEntries(
      NAMES.map((table) => [table, shuffle ? shuffled(table, prng) : (INPUTS[table] as string)]),
    );
    const lines = committedLines(stored, files, { seed, ...life });
    const text = lines.map((line) => `${line}\n`).join('');
    if (process.env['REWRITE'] !== undefined && way === WAYS[0]?.name) writeFileSync(file, text);
    expect(lines.length).toBeGreaterThan(0);
    expect(text, `${name}, ${way}, seed ${seed}`).toBe(existsSync(file) ? readFileSync(file, 'utf8') : '');
  }
}, 60_000);

const COLUMNS: Readonly<Record<string, Readonly<Record<string, ColumnType>>>> = {
  orders: { id: 'int', customer: 'int', product: 'text', amount: 'decimal', qty: 'bigint', ts: 'timestamp' },
  payments: { id: 'int', order_id: 'int', paid: 'decimal', method: 'text', ts: 'timestamp' },
  clicks: { id: 'int', customer: 'int', page: 'text', ts: 'timestamp' },
  prices: { id: 'int', product: 'text', price: 'decimal', ts: 'timestamp' },
  people: { id: 'int', name: 'text', city: 'text' },
};

function valueOf(value: string | number | null | undefined, type: ColumnType): Value {
  if (value === null || value === undefined) return null;
  if (type === 'decimal') return new Decimal(BigInt(Number(value).toFixed(2).replace('.', '')), 2);
  if (type === 'timestamp') return momentOf(String(value));
  if (type === 'text') return String(value);
  return new Whole(BigInt(value), type === 'int' ? 32 : 64);
}

const KNOWN: readonly Table[] = Object.entries(COLUMNS).map(([name, columns]) => ({
  name,
  kind: name === 'people' ? 'temporary' : 'stream',
  deeds: [],
  columns: Object.entries(columns).map(([column, type]) => ({ name: column, type })),
  rows: (INPUTS[name] as string)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const row = JSON.parse(line) as Record<string, string | number | null>;
      return Object.entries(columns).map(([column, type]) => valueOf(row[column], type));
    }),
}));

const evaluated = CASES.filter((name) => !read(`${name}.sql`).startsWith('-- not in the evaluator'));

test.each(evaluated)('%s is what the plain evaluator says', (name) => {
  const { shown } = programs(read(`${name}.sql`));
  const inputs = Object.fromEntries(KNOWN.map((table) => [table.name, engineInput(table)]));
  const relations = new Map(KNOWN.map((table) => [table.name, relationOf(table)]));
  const { rows, schema, failed } = runRows(shown, inputs);
  const wanted = answerOf(shown, relations);
  expect(engineLines(rows, schema)).toEqual(wanted.rows);
  expect(failed).toHaveLength(wanted.failed);
  const stored = readFileSync(path.join(FOLDER, `${name}.rows`), 'utf8').split('\n');
  expect(stored.length - 1).toBe(wanted.rows.length);
});
