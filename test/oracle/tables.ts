/** Random tables: which columns they have, and rows that arrive out of order but never late. */
import type { Prng } from '../../src/base/prng.ts';
import type { Row as EngineRow, Value as EngineValue } from '../../src/batch/values.ts';
import type { Relation } from './scope.ts';
import { dayText, momentText } from './time.ts';
import { Day, Decimal, Moment, type Value, Whole } from './value.ts';

export type ColumnType =
  | 'int'
  | 'bigint'
  /** A BIGINT up to the ends of its range: compared, never computed with. */
  | 'huge'
  | 'decimal'
  | 'double'
  | 'text'
  | 'boolean'
  | 'timestamp'
  | 'date'
  | 'window';

export type TableColumn = { readonly name: string; readonly type: ColumnType };

export type Table = {
  readonly name: string;
  /** Read as a whole before anything is joined with it; without event time. */
  readonly temporary: boolean;
  readonly columns: readonly TableColumn[];
  /** In the order of arrival. */
  readonly rows: readonly (readonly Value[])[];
};

const SPELLED: Readonly<Record<ColumnType, string>> = {
  int: 'INT',
  bigint: 'BIGINT',
  huge: 'BIGINT',
  decimal: 'DECIMAL(10, 2)',
  double: 'DOUBLE',
  text: 'TEXT',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMP',
  date: 'DATE',
  window: 'TIMESTAMP',
};

const OPTIONAL: readonly TableColumn[] = [
  { name: 'g', type: 'text' },
  { name: 'j', type: 'int' },
  { name: 'x', type: 'bigint' },
  { name: 'n', type: 'huge' },
  { name: 'p', type: 'decimal' },
  { name: 'd', type: 'double' },
  { name: 's', type: 'text' },
  { name: 'f', type: 'boolean' },
  { name: 'day', type: 'date' },
];

export const BASE_MICROS = 1_704_067_200_000_000n;
const BOUND_MICROS = 5_000_000;

/** Three streams and a table that is read first; the same names in all, so that USING and NATURAL say something. */
export function drawTables(prng: Prng, rowsMax: number): Table[] {
  return ['a', 'b', 'c', 'r'].map((name) => {
    const columns: TableColumn[] = [
      { name: 'id', type: 'int' },
      { name: 'k', type: 'int' },
      ...OPTIONAL.filter(() => prng.chance(0.6)),
      { name: 'ts', type: 'timestamp' },
    ];
    const count = prng.chance(0.05) ? 0 : 1 + prng.below(rowsMax);
    return { name, temporary: name === 'r', columns, rows: drawRows(prng, columns, count) };
  });
}

function drawRows(prng: Prng, columns: readonly TableColumn[], count: number): Value[][] {
  const step = prng.pick([100_000, 1_000_000, 4_000_000]);
  const fine = prng.pick([1, 1_000, 1_000_000]);
  let clock = 0;
  const rows = Array.from({ length: count }, (_, at) => {
    clock += prng.below(3) * step;
    const micros =
      BASE_MICROS + BigInt(clock + prng.below(1_000_000 / fine) * fine * prng.below(2));
    const row = columns.map(({ name, type }) => {
      if (name === 'id') return new Whole(BigInt(at + 1), 32);
      return name === 'ts' ? new Moment(micros) : drawValue(prng, name, type);
    });
    return { row, arrival: Number(micros - BASE_MICROS) + prng.below(BOUND_MICROS) };
  });
  return rows.sort((left, right) => left.arrival - right.arrival).map(({ row }) => row);
}

const WORDS = [
  '',
  'a',
  'b',
  'Ab',
  'abc',
  'äöü',
  'x_y',
  '10',
  'b,c',
  '😀',
  'A b',
  '%',
  'aab',
  'ababa',
  'ä😀ö',
];

/** At the ends of the range, of a word, of what a DOUBLE holds, and two that a DOUBLE does not tell apart. */
export const HUGE: readonly bigint[] = [
  2n ** 63n - 1n,
  2n ** 63n - 2n,
  -(2n ** 63n),
  1n - 2n ** 63n,
  2n ** 53n,
  2n ** 53n + 1n,
  2n ** 32n,
  2n ** 32n - 1n,
  2n ** 31n,
  -(2n ** 31n) - 1n,
  -(2n ** 32n),
  -1n,
  0n,
  1n,
];

function drawValue(prng: Prng, name: string, type: ColumnType): Value {
  if (prng.chance(0.12)) return null;
  switch (type) {
    case 'int':
      if (name === 'j') return new Whole(BigInt(prng.below(12) - prng.pick([3, 3, 3, 200])), 32);
      return new Whole(BigInt(prng.below(name === 'k' ? 4 : 100)), 32);
    case 'huge':
      return new Whole(prng.pick(HUGE), 64);
    case 'bigint':
      return new Whole(
        BigInt(prng.below(7) - 2) * BigInt(prng.pick([1, 1, 1, 1000, 1_000_000])),
        64,
      );
    case 'decimal':
      return new Decimal(BigInt(prng.below(prng.pick([10, 1000, 100_000]))) - 50n, 2);
    case 'double':
      return (prng.below(200) - 60) / 8;
    case 'text':
      return name === 'g' ? prng.pick(['u', 'v', 'w']) : prng.pick(WORDS);
    case 'boolean':
      return prng.chance(0.5);
    case 'date':
      return new Day(19_723 + prng.below(40) - 20);
    default:
      return new Moment(BASE_MICROS + BigInt(prng.below(100)) * 1_000_000n);
  }
}

/** CREATE TABLE in our words. */
export function declarationOf({ name, temporary, columns }: Table): string {
  const list = columns.map(
    (column) =>
      `${column.name} ${SPELLED[column.type]}${['id', 'ts'].includes(column.name) ? ' NOT NULL' : ''}`,
  );
  if (temporary)
    return `CREATE TEMPORARY TABLE ${name} (${list.join(', ')}, PRIMARY KEY (id)) WITH (connector = 'single_file', path = '${name}.json', format = 'json');`;
  return `CREATE TABLE ${name} (${list.join(', ')}, WATERMARK FOR ts AS ts - interval '5 seconds') WITH (connector = 'single_file', path = '${name}.json', format = 'json', type = 'source');`;
}

export const duckDeclaration = ({ name, columns }: Table): string =>
  `CREATE OR REPLACE TABLE ${name} (${columns.map((each) => `${each.name} ${SPELLED[each.type]}`).join(', ')})`;

export function relationOf({ columns, temporary, rows }: Table): Relation {
  const ts = columns.findIndex((column) => column.name === 'ts');
  return {
    columns: columns.map(({ name }) => ({ qualifier: null, name })),
    rows: rows.map((values) => ({
      values,
      time: temporary ? null : (values[ts] as Moment).micros,
    })),
  };
}

/** Rows as the engine's test sources take them. */
export const engineRows = ({ columns, rows }: Table): EngineRow[] =>
  rows.map((row) =>
    Object.fromEntries(columns.map(({ name }, at) => [name, engineValue(row[at] as Value)])),
  );

export function engineValue(value: Value): EngineValue {
  if (value instanceof Whole) return value.value;
  if (value instanceof Decimal) return duckValue(value);
  if (value instanceof Moment) return value.micros;
  if (value instanceof Day) return value.days;
  return value as EngineValue;
}

/** A constant in DuckDB's words. */
export function duckValue(value: Value): string {
  if (value === null) return 'NULL';
  if (value instanceof Whole) return String(value.value);
  if (value instanceof Decimal) {
    const sign = value.units < 0n ? '-' : '';
    const digits = String(value.units < 0n ? -value.units : value.units).padStart(3, '0');
    return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`;
  }
  if (value instanceof Moment) return `make_timestamp(${value.micros})`;
  if (value instanceof Day) return `(DATE '1970-01-01' + ${value.days})`;
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  return String(value as number | boolean);
}

/** The table as a file of JSON lines. */
export const fileText = ({ columns, rows }: Table): string =>
  rows
    .map(
      (row) =>
        `{${columns.map(({ name }, at) => `"${name}":${jsonText(row[at] as Value)}`).join(',')}}\n`,
    )
    .join('');

function jsonText(value: Value): string {
  if (value instanceof Moment) return `"${momentText(value)}"`;
  if (value instanceof Day) return `"${dayText(value)}"`;
  if (value instanceof Whole || value instanceof Decimal) return duckValue(value);
  return JSON.stringify(value);
}
