import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Int64Column } from '../../src/batch/column.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import type { Schema } from '../../src/batch/types.ts';
import { rowsOf } from '../../src/batch/values.ts';
import { NewestByKey } from '../../src/operators/newest-by-key.ts';
import { cutAt, INPUT, inputBatch, type InputRow, Subtasks, text } from './harness.ts';

const SCHEMA: Schema = INPUT.slice(0, 3);

/** Rows that are out: each retraction takes one equal row away, and one of nothing throws. */
function standing(batches: readonly RecordBatch[]): string[] {
  const out = new Map<string, number>();
  for (const batch of batches) {
    rowsOf(batch, SCHEMA).forEach((row, at) => {
      const key = text(row);
      const count = (out.get(key) ?? 0) + (batch.retract?.[at] === 1 ? -1 : 1);
      if (count < 0) throw new Error(`retracted what was never emitted: ${key}`);
      out.set(key, count);
    });
  }
  return [...out].flatMap(([key, count]) => Array.from({ length: count }, () => key)).sort();
}

/** Rows of the first three columns, with the event time that stands in the fourth. */
function timedBatch(rows: readonly InputRow[]): RecordBatch {
  const batch = inputBatch(rows);
  return {
    ...batch,
    columns: batch.columns.slice(0, 3),
    eventTime: batch.columns[3] as Int64Column,
  };
}

const change = fc.record({
  k: fc.constantFrom('a', 'b', 'c', 'd', ''),
  v: fc.option(fc.bigInt({ min: 0n, max: 2n })),
  gone: fc.boolean(),
});

test('what is out is the newest row of each key, whatever the batches, restarts and subtasks', () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 60 }),
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 3 }),
      fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 4 }),
      (changes, sizes, restarts) => {
        const rows = changes.map(({ k, v }, at): InputRow => ({
          k,
          v,
          flag: true,
          t: BigInt(at),
          mark: 0n,
        }));
        const batch: RecordBatch = {
          ...timedBatch(rows),
          retract: Uint8Array.from(changes, ({ gone }) => (gone ? 1 : 0)),
        };
        const subtasks = new Subtasks(() => new NewestByKey([0], SCHEMA), [0], 2);
        const pending = [...restarts];
        for (const part of cutAt(batch, sizes)) {
          subtasks.send(part);
          subtasks.checkpoint();
          const parallelism = pending.pop();
          if (parallelism !== undefined) subtasks.restart(parallelism);
        }
        const newest = new Map<string, unknown>();
        let unknown = 0;
        for (const { k, v, gone } of changes) {
          if (!gone) newest.set(k, { k, v, flag: true });
          else if (!newest.delete(k)) unknown++;
        }
        expect(standing(subtasks.output.batches)).toEqual([...newest.values()].map(text).sort());
        const codes = subtasks.output.failed.map(({ code }) => code);
        expect(codes).toEqual(Array.from({ length: unknown }, () => 'NOTHING_TO_RETRACT'));
        expect(subtasks.operators.reduce((sum, each) => sum + each.stateRows(), 0)).toBe(
          newest.size,
        );
      },
    ),
    { seed: 3, numRuns: 300 },
  );
});

test('a row that comes again leaves nothing, and the error of an unknown one names its key', () => {
  const subtasks = new Subtasks(() => new NewestByKey([0], SCHEMA), [0], 1);
  const row: InputRow = { k: 'a', v: 1n, flag: true, t: 1n, mark: 0n };
  subtasks.send(timedBatch([row, { ...row, t: 2n }]));
  expect(subtasks.output.batches.flatMap((batch) => rowsOf(batch, SCHEMA))).toHaveLength(1);
  subtasks.send({ ...timedBatch([{ ...row, k: 'z' }]), retract: Uint8Array.of(1) });
  expect(subtasks.output.failed).toMatchObject([
    { code: 'NOTHING_TO_RETRACT', column: 'k', raw: '{"k":"z"}' },
  ]);
});
