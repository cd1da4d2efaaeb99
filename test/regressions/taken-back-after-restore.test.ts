/**
 * A row that passed a join with a table that is read first, and is taken back after a restore before the table has
 * ended once more, is taken back all the same. Found by the golden query `changes-joined`.
 */
import { expect, test } from 'vitest';
import { must } from '../../src/base/assert.ts';
import { batchFromRows, rowsOf, type Row } from '../../src/batch/values.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { makeOperator } from '../../src/operators/make-operator.ts';
import type { Operator } from '../../src/operators/operator.ts';
import { Collected } from '../operators/harness.ts';

const SQL = `
CREATE TABLE accounts (id INT PRIMARY KEY, owner TEXT) WITH (connector = 'single_file', path = 'a', format = 'debezium_json', type = 'source');
CREATE TEMPORARY TABLE people (name TEXT PRIMARY KEY, city TEXT) WITH (connector = 'single_file', path = 'p', format = 'json');
SELECT a.id, p.city FROM accounts a LEFT JOIN people p ON p.name = a.owner;`;

test('what was looked up before a restore is taken back after it', () => {
  const { graph } = planSql(SQL, DECLARATIONS, { defaultSink: 'stdout' });
  const planned = must(graph, 'a graph');
  const spec = must(
    planned.operators.find((each) => each.spec.tag === 'join'),
    'a join',
  );
  const inputs = planned.edges.filter((edge) => edge.to === spec.id);
  const schemas = [0, 1].map(
    (port) =>
      must(
        planned.operators.find(
          (each) => each.id === inputs.find((edge) => edge.port === port)?.from,
        ),
        'an input',
      ).schema,
  );
  const output = new Collected();
  const send = (join: Operator, port: 0 | 1, row: Row, takesBack: boolean): void =>
    join.onBatch(
      port,
      {
        ...batchFromRows(must(schemas[port], 'a schema'), [row]),
        retract: port === 0 ? Uint8Array.of(Number(takesBack)) : null,
      },
      output,
    );
  const before = makeOperator(spec, planned);
  send(before, 1, { name: 'Ada', city: 'Paris' }, false);
  before.onPortEnd?.(output);
  send(before, 0, { id: 1, owner: 'Ada' }, false);

  const between = makeOperator(spec, planned);
  between.restore(before.snapshot('whole'));
  send(between, 0, { id: 1, owner: 'Ada' }, true);
  send(between, 0, { id: 1, owner: 'Bo' }, false);
  const after = makeOperator(spec, planned);
  after.restore(between.snapshot('whole'));
  after.onPortEnd?.(output);

  const changes = output.batches.flatMap((batch) =>
    rowsOf(batch, spec.schema).map(
      (row, at) => `${batch.retract?.[at] === 1 ? '-' : '+'}${Object.values(row).join()}`,
    ),
  );
  expect(changes).toEqual(['+1,Ada,Ada,Paris', '-1,Ada,Ada,Paris', '+1,Bo,,']);
});
