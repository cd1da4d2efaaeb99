/** Random tables: which columns they have, and rows that arrive out of order but never late. */
import type { Prng } from '../../src/base/prng.ts';
import type { Row as EngineRow, Value as EngineValue } from '../../src/batch/values.ts';
import { changesText, type Deed, drawDeed, replay } from './changes.ts';
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
  /** A TIMESTAMPTZ, near a change of the clocks. */
  | 'instant'
  | 'date'
  | 'window';

export type TableColumn = { readonly name: string; readonly type: ColumnType };

/**
 * Of a table: rows in time; rows that come behind the watermark, by less than its lateness; a table that is read as a whole
 * before anything is joined with it; a table of changes, with event times or without.
 */
export type TableKind = 'stream' | 'behind' | 'temporary' | 'changes' | 'timed changes';

export type Table = {
  readonly name: string;
  readonly kind: TableKind;
  readonly columns: readonly TableColumn[];
  /** In the order of arrival; of a table of changes, the row that each tells. */
  readonly rows: readonly (readonly Value[])[];
  /** What a table of changes does with each row; else empty. */
  readonly deeds: readonly Deed[];
};

export const isChanges = ({ kind }: Pick<Table, 'kind'>): boolean => kind.endsWith('changes');

const SPELLED: Readonly<Record<ColumnType, string>> = {
  int: 'INT',
  bigint: 'BIGINT',
  huge: 'BIGINT',
  decimal: 'DECIMAL(10, 2)',
  double: 'DOUBLE',
  text: 'TEXT',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMP',
  instant: 'TIMESTAMPTZ',
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
  { name: 'z', type: 'instant' },
];

const BASE_MICROS = 1_704_067_200_000_000n;
const BOUND_MICROS = 5_000_000;

/** Tables of every kind; the same names in all, so that USING and NATURAL say something. */
export function drawTables(prng: Prng, rowsMax: number): Table[] {
  const kinds: readonly (readonly [string, TableKind])[] = [
    ['a', 'stream'],
    ['b', 'stream'],
    ['c', 'stream'],
    ['l', 'behind'],
    ['r', 'temporary'],
    ['u', prng.pick(['changes', 'timed changes'])],
  ];
  return kinds.map(([name, kind]) => {
    const columns: TableColumn[] = [
      { name: 'id', type: 'int' },
      { name: 'k', type: 'int' },
      ...OPTIONAL.filter(() => prng.chance(0.6)),
      { name: 'ts', type: 'timestamp' },
    ];
    const count = prng.chance(0.05) ? 0 : 1 + prng.below(rowsMax);
    if (!isChanges({ kind }))
      return { name, kind, columns, rows: drawRows(prng, columns, count, count), deeds: [] };
    // Few keys, so that most records meet a row.
    const keys = 1 + Math.floor(count / 3);
    const rows = drawRows(prng, columns, count * 2, keys);
    return {
      name,
      kind,
      columns,
      rows,
      deeds: rows.map(() => drawDeed(prng, kind === 'changes' ? keys : 0)),
    };
  });
}

/** With at most so many keys: where there are fewer than rows, the times of a key lie close to each other. */
function drawRows(
  prng: Prng,
  columns: readonly TableColumn[],
  count: number,
  keys: number,
): Value[][] {
  const step = prng.pick([100_000, 1_000_000, 4_000_000]);
  const fine = prng.pick([1, 1_000, 1_000_000]);
  let clock = 0;
  const clocks = Array.from({ length: count }, () => (clock += prng.below(3) * step));
  const rows = Array.from({ length: count }, (_, at) => {
    const key = keys < count ? prng.below(keys) : at;
    const ofKey = BigInt(clocks[key] as number);
    const micros =
      BASE_MICROS + ofKey + BigInt(prng.below(1_000_000 / fine) * fine * prng.below(2));
    const row = columns.map(({ name, type }) => {
      if (name === 'id') return new Whole(BigInt(key + 1), 32);
      return name === 'ts' ? new Moment(micros) : drawValue(prng, name, type);
    });
    const since = keys < count ? ofKey : micros - BASE_MICROS;
    return { row, arrival: Number(since) + prng.below(BOUND_MICROS) };
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
    case 'instant':
      return drawInstant(prng);
    default:
      return new Moment(BASE_MICROS + BigInt(prng.below(100)) * 1_000_000n);
  }
}

/** When clocks change: in Paris, New York and on Lord Howe, in spring and in autumn. */
const CHANGES: readonly string[] = [
  '2024-03-31T01:00Z',
  '2024-10-27T01:00Z',
  '2024-03-10T07:00Z',
  '2024-11-03T06:00Z',
  '2024-04-06T15:00Z',
  '2024-10-05T15:30Z',
];

/** As much before or after a change as makes a difference. */
export function drawInstant(prng: Prng): Moment {
  const change = BigInt(Date.parse(prng.pick(CHANGES))) * 1000n;
  const quarters = BigInt(prng.below(40) - 20) * 900_000_000n;
  return new Moment(change + quarters + BigInt(prng.pick([0, 0, 0, 1, -1, 500_000])), true);
}

/** CREATE TABLE in our words. */
export function declarationOf({ name, kind, columns }: Table): string {
  const list = columns.map(
    (column) =>
      `${column.name} ${SPELLED[column.type]}${['id', 'ts'].includes(column.name) ? ' NOT NULL' : ''}`,
  );
  if (kind === 'temporary' || isChanges({ kind })) list.push('PRIMARY KEY (id)');
  if (kind === 'behind') list.push('WATERMARK FOR ts AS ts');
  if (kind === 'stream' || kind === 'timed changes')
    list.push("WATERMARK FOR ts AS ts - interval '5 seconds'");
  const temporary = kind === 'temporary' ? 'TEMPORARY ' : '';
  const type = kind === 'temporary' ? '' : ", type = 'source'";
  const format = isChanges({ kind }) ? 'debezium_json' : 'json';
  return `CREATE ${temporary}TABLE ${name} (${list.join(', ')}) WITH (connector = 'single_file', path = '${name}.json', format = '${format}'${type});`;
}

export const duckDeclaration = ({ name, columns }: Table): string =>
  `CREATE OR REPLACE TABLE ${name} (${columns.map((each) => `${each.name} ${SPELLED[each.type]}`).join(', ')})`;

/** What the table is in the end. */
export const heldRows = (table: Table): readonly (readonly Value[])[] =>
  isChanges(table) ? replay(table.rows, table.deeds).held : table.rows;

export function relationOf(table: Table): Relation {
  const { columns, kind } = table;
  const ts = columns.findIndex((column) => column.name === 'ts');
  const timeless = kind === 'temporary' || kind === 'changes';
  return {
    columns: columns.map(({ name }) => ({ qualifier: null, name })),
    rows: heldRows(table).map((values) => ({
      values,
      time: timeless ? null : (values[ts] as Moment).micros,
    })),
  };
}

/** Rows as the engine's test sources take them; changes as their text. */
export const engineInput = (table: Table): EngineRow[] | string =>
  isChanges(table)
    ? fileText(table)
    : table.rows.map((row) =>
        Object.fromEntries(
          table.columns.map(({ name }, at) => [name, engineValue(row[at] as Value)]),
        ),
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
  if (value instanceof Moment) return `make_timestamp${value.zoned ? 'tz' : ''}(${value.micros})`;
  if (value instanceof Day) return `(DATE '1970-01-01' + ${value.days})`;
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  return String(value as number | boolean);
}

/** The table as a file of JSON lines. */
export function fileText({ kind, columns, rows, deeds }: Table): string {
  const object = (row: readonly Value[]): string =>
    `{${row.map((value, at) => `"${(columns[at] as TableColumn).name}":${jsonText(value)}`).join(',')}}`;
  if (isChanges({ kind })) return changesText(replay(rows, deeds).lines, object);
  return rows.map((row) => `${object(row)}\n`).join('');
}

function jsonText(value: Value): string {
  if (value instanceof Moment) return `"${momentText(value)}"`;
  if (value instanceof Day) return `"${dayText(value)}"`;
  if (value instanceof Whole || value instanceof Decimal) return duckValue(value);
  return JSON.stringify(value);
}
