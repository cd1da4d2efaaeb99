import { expect, test } from 'vitest';
import { BOOLEAN, INT64, TEXT, type Schema } from '../../src/batch/types.ts';
import { columnFromValues } from '../../src/batch/values.ts';
import { TIMESTAMP } from '../../src/batch/types.ts';
import type { Int64Column } from '../../src/batch/column.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import type { GraphOperator, OperatorSpec, PhysicalGraph } from '../../src/graph/graph.ts';
import { makeOperator } from '../../src/operators/make-operator.ts';
import type { Operator } from '../../src/operators/operator.ts';
import { Collected, column, INPUT, inputBatch } from './harness.ts';

function operatorOf(spec: OperatorSpec, schema: Schema): Operator {
  const operator = (id: string, what: OperatorSpec, columns: Schema): GraphOperator => ({
    id,
    description: id,
    spec: what,
    schema: columns,
    updating: false,
    parallelism: null,
  });
  const graph: PhysicalGraph = {
    version: 1,
    operators: [operator('in', { tag: 'union', inputs: 0 }, INPUT), operator('it', spec, schema)],
    edges: [{ id: 'e', from: 'in', to: 'it', port: 0, kind: 'forward', keys: [] }],
    planHash: '',
  };
  return makeOperator(graph.operators[1] as GraphOperator, graph);
}

const rows = [
  { k: '1', v: 10n, flag: true, t: 1n, mark: 1n },
  { k: 'x', v: 20n, flag: null, t: 2n, mark: 2n },
  { k: '3', v: null, flag: false, t: 3n, mark: 3n },
  { k: '4', v: 40n, flag: true, t: 4n, mark: 4n },
];
const batch: RecordBatch = {
  ...inputBatch(rows),
  eventTime: columnFromValues(TIMESTAMP, [1n, 2n, 3n, 4n]) as Int64Column,
  retract: Uint8Array.from([0, 1, 0, 1]),
};
const times = (of: RecordBatch): number[] =>
  [...(of.eventTime as Int64Column).words.subarray(0, of.rows * 2)].filter((_, at) => at % 2 === 0);

test('a projection computes columns, keeps event times and retractions, and reports rows it cannot compute', () => {
  const schema: Schema = [
    { name: 'v', type: INT64, nullable: true },
    { name: 'n', type: INT64, nullable: true },
  ];
  const cast = { tag: 'cast' as const, input: column(0, TEXT), orNull: false, type: INT64 };
  const project = operatorOf({ tag: 'project', exprs: [column(1, INT64), cast] }, schema);
  const output = new Collected();
  project.onBatch(0, batch, output);
  expect(output.rows(schema)).toEqual([
    { v: 10n, n: 1n },
    { v: null, n: 3n },
    { v: 40n, n: 4n },
  ]);
  expect(times(output.batches[0] as RecordBatch)).toEqual([1, 3, 4]);
  expect([...(output.batches[0]?.retract ?? [])]).toEqual([0, 0, 1]);
  expect(output.failed).toMatchObject([{ row: 1, code: 'INVALID_CAST' }]);
  expect(output.failed[0]?.raw).toContain('"k":"x"');
});

test('a filter lets through what is true, neither false nor NULL', () => {
  const filter = operatorOf({ tag: 'filter', predicate: column(2, BOOLEAN) }, INPUT);
  const output = new Collected();
  filter.onBatch(0, batch, output);
  expect(output.rows(INPUT)).toEqual([rows[0], rows[3]]);
  expect(times(output.batches[0] as RecordBatch)).toEqual([1, 4]);
  expect([...(output.batches[0]?.retract ?? [])]).toEqual([0, 1]);
});

test('a filter that cannot decide on a row reports it', () => {
  const cast = { tag: 'cast' as const, input: column(0, TEXT), orNull: false, type: BOOLEAN };
  const output = new Collected();
  operatorOf({ tag: 'filter', predicate: cast }, INPUT).onBatch(0, batch, output);
  expect(output.rows(INPUT).length + output.failed.length).toBeLessThanOrEqual(4);
  expect(output.failed.map((problem) => problem.row)).toContain(1);
});

test('a union hands on what each input brings', () => {
  const union = operatorOf({ tag: 'union', inputs: 2 }, INPUT);
  const output = new Collected();
  union.onBatch(0, batch, output);
  union.onBatch(1, batch, output);
  expect(output.batches).toEqual([batch, batch]);
  expect([union.snapshot('whole'), union.stateBytes(), union.stateRows()]).toEqual([[], 0, 0]);
});
