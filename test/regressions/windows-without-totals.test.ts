/** Windows of rows that may be taken back, of which nothing is read but that they are there: no column told how many there were, and all were lost. */
import { expect, test } from 'vitest';
import { runRows } from '../operators/run-graph.ts';

const TABLE = `CREATE TABLE u (id INT PRIMARY KEY, ts TIMESTAMP NOT NULL, WATERMARK FOR ts AS ts)
  WITH (connector = 'http', format = 'debezium_json', type = 'source');`;

const change = (op: string, id: number, second: number): string => {
  const row = `{"id":${id},"ts":"2024-01-01T00:00:0${second}"}`;
  return op === 'd'
    ? `{"before":${row},"after":null,"op":"d"}\n`
    : `{"before":null,"after":${row},"op":"c"}\n`;
};

test.each([
  ["tumble(interval '2 seconds')", 2n],
  ["hop(interval '1 second', interval '2 seconds')", 4n],
  ["cumulate(interval '1 second', interval '2 seconds')", 4n],
])('windows by %s are counted though nothing else of them is', (call, wanted) => {
  const u = [
    change('c', 1, 0),
    change('c', 2, 2),
    change('c', 3, 5),
    change('d', 3, 5),
    change('c', 4, 7),
    change('d', 4, 7),
  ].join('');
  const { rows } = runRows(
    `${TABLE} SELECT count(*) AS n FROM (SELECT ${call} AS w, count(*) AS c FROM u GROUP BY w) AS q;`,
    { u },
    1,
  );
  expect(rows).toEqual([{ n: wanted }]);
});
