/** The tables of the data set in the words of each engine that knows SQL. */
import type { InputName } from './data.ts';

type ColumnKind = 'whole' | 'text' | 'time';
type TableShape = { table: string; columns: Readonly<Record<string, ColumnKind>>; time?: string };

const BID = {
  auction: 'whole',
  bidder: 'whole',
  price: 'whole',
  channel: 'text',
  url: 'text',
  datetime: 'time',
  extra: 'text',
} as const;

export const SHAPES: Readonly<Record<InputName, TableShape>> = {
  bids: { table: 'bid', columns: BID, time: 'datetime' },
  sparse_bids: { table: 'sparse_bid', columns: BID, time: 'datetime' },
  auctions: {
    table: 'auction',
    columns: {
      id: 'whole',
      item_name: 'text',
      description: 'text',
      initial_bid: 'whole',
      reserve: 'whole',
      datetime: 'time',
      expires: 'time',
      seller: 'whole',
      category: 'whole',
      extra: 'text',
    },
    time: 'datetime',
  },
  persons: {
    table: 'person',
    columns: {
      id: 'whole',
      name: 'text',
      email_address: 'text',
      credit_card: 'text',
      city: 'text',
      state: 'text',
      datetime: 'time',
      extra: 'text',
    },
    time: 'datetime',
  },
  side_input: { table: 'side_input', columns: { key: 'whole', value: 'text' } },
};

function columnList(
  { columns }: TableShape,
  types: Record<ColumnKind, string>,
  join: (name: string, type: string) => string,
): string {
  return Object.entries(columns)
    .map(([name, kind]) => join(name, types[kind]))
    .join(', ');
}

/** `CREATE TABLE` of each input; files are named as the data set names them. */
export function thalwegTables(inputs: readonly InputName[]): string {
  return inputs
    .map((input) => {
      const shape = SHAPES[input];
      const columns = columnList(
        shape,
        { whole: 'BIGINT', text: 'TEXT', time: 'TIMESTAMP' },
        (name, type) => `${name} ${type} NOT NULL`,
      );
      const { time } = shape;
      const watermark =
        time === undefined ? '' : `, WATERMARK FOR ${time} AS ${time} - interval '4 seconds'`;
      return `CREATE TABLE ${shape.table} (${columns}${watermark}) WITH (connector = 'single_file', path = '${input}.ndjson', format = 'json', type = 'source');\n`;
    })
    .join('');
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Views over the files: each query reads them anew. */
export function duckdbViews(inputs: readonly InputName[], directory: string): string[] {
  return inputs.map((input) => {
    const columns = columnList(
      SHAPES[input],
      { whole: 'BIGINT', text: 'VARCHAR', time: 'TIMESTAMP' },
      (name, type) => `${name}: '${type}'`,
    );
    return `CREATE OR REPLACE VIEW ${SHAPES[input].table} AS SELECT * FROM read_json(${quoted(`${directory}/${input}.ndjson`)}, format = 'newline_delimited', columns = {${columns}})`;
  });
}

/** Views over the files: each query reads them anew. */
export function clickhouseViews(inputs: readonly InputName[], directory: string): string[] {
  return inputs.map((input) => {
    const columns = columnList(
      SHAPES[input],
      { whole: 'Int64', text: 'String', time: "DateTime64(3, 'UTC')" },
      (name, type) => `${name} ${type}`,
    );
    return `CREATE OR REPLACE VIEW ${SHAPES[input].table} AS SELECT * FROM file(${quoted(`${directory}/${input}.ndjson`)}, 'JSONEachRow', ${quoted(columns)})`;
  });
}
