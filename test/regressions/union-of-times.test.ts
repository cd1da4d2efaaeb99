/**
 * A union of rows with an event time and of rows without has rows without: batches of both would meet in one frame,
 * which has event times or has none. Found by `npm run oracle -- --seed 36 --rows 30 --lives`.
 */
import { expect, test } from 'vitest';
import { must } from '../../src/base/assert.ts';
import type { Int64Column } from '../../src/batch/column.ts';
import { INT64 } from '../../src/batch/types.ts';
import { batchFromRows, columnFromValues } from '../../src/batch/values.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { makeOperator } from '../../src/operators/make-operator.ts';
import { Collected } from '../operators/harness.ts';

const table = `CREATE TABLE t (id INT NOT NULL, k INT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts AS ts)
  WITH (connector = 'single_file', path = 't', format = 'json', type = 'source');`;
const counted = 'SELECT k AS v FROM t GROUP BY k';

test.each([
  ['only rows with a time', 'SELECT id AS v FROM t UNION ALL SELECT k AS v FROM t', true],
  ['a table and a grouped one', `SELECT id AS v FROM t UNION ALL ${counted}`, false],
])('a union of %s', (_, query, timed) => {
  const { graph } = planSql(`${table} ${query};`, DECLARATIONS, { defaultSink: 'stdout' });
  const planned = must(graph, 'a graph');
  const union = must(
    planned.operators.find(({ spec }) => spec.tag === 'union'),
    'a union',
  );
  const output = new Collected();
  const eventTime = columnFromValues(INT64, [5n]) as Int64Column;
  makeOperator(union, planned).onBatch(
    0,
    { ...batchFromRows(union.schema, [{ v: 1 }]), eventTime },
    output,
  );
  expect(output.batches.map((batch) => batch.eventTime !== null)).toEqual([timed]);
});
