import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { SqlRow } from '../../src/connectors/http/log-store.ts';
import { ProblemStore } from '../../src/platform/problem-store.ts';
import type { JobError } from '../../src/protocol/messages.ts';

const database = (): ConstructorParameters<typeof ProblemStore>[0] => {
  const sqlite = new DatabaseSync(':memory:');
  return {
    exec: (query, ...bindings) => sqlite.prepare(query).all(...bindings) as SqlRow[],
    transaction: (work) => work(),
  };
};

const problem = (message: string): JobError => ({
  atMs: 1,
  operator: 'o',
  subtask: 0,
  message,
  detail: '',
  code: 'INVALID_CAST',
  domain: 'user',
});

test('keeps the newest thousand, numbered without gaps, also over a reset of the object', () => {
  const storage = database();
  const before = new ProblemStore(storage);
  expect(before.read(0, 10)).toEqual({ rows: [], last: 0 });
  for (let at = 0; at < 15; at++)
    before.add(Array.from({ length: 100 }, (_, index) => problem(`m${at * 100 + index + 1}`)));
  const after = new ProblemStore(storage);
  after.add([problem('m1501')]);
  const { rows, last } = after.read(0, 5_000);
  expect(last).toBe(1501);
  expect(rows.map(({ number, message }) => [number, message])).toEqual(
    Array.from({ length: 1_000 }, (_, index) => [502 + index, `m${502 + index}`]),
  );
  expect(after.read(1_499, 10).rows.map(({ number }) => number)).toEqual([1500, 1501]);
  expect(after.read(0, 2).rows.map(({ number }) => number)).toEqual([1500, 1501]);
  expect(after.read(1_501, 10)).toEqual({ rows: [], last: 1501 });
});
