/** The proof about rows over real runs: it holds after failures, and each row that is taken away or told twice is counted. */
import { expect, test, vi } from 'vitest';
import { must } from '../../src/base/assert.ts';
import { proveRows } from '../../src/audit/proof.ts';
import { driveSync } from '../../src/lineage/drive.ts';
import { readLineage, type LineageView } from '../../src/lineage/read.ts';
import type { InputRange } from '../../src/lineage/types.ts';
import { PATHS } from '../harness/cluster/bucket.ts';
import { bucketOf, clusterOf, FILES } from './world.ts';

vi.setConfig({ testTimeout: 60_000 });

const PROJECTED = `CREATE TABLE t (ts TIMESTAMP NOT NULL, k TEXT, v BIGINT)
  WITH (connector = 'single_file', path = 'in', format = 'json', type = 'source', bad_data = 'drop');
CREATE TABLE every WITH (connector = 'r2', path = 'every', format = 'json', type = 'sink');
INSERT INTO every SELECT k, v FROM t WHERE v > 0;`;

function run(sql: string, seed: string): LineageView {
  const cluster = clusterOf(sql, seed);
  cluster.startGeneration('created');
  cluster.runFor(700);
  cluster.splitBrain();
  expect(cluster.runToOutcome()).toMatchObject({ tag: 'finished' });
  const outcome = driveSync(readLineage(PATHS), (op) => bucketOf(cluster).answer(op));
  if (outcome.tag !== 'read') throw new Error(outcome.tag);
  return outcome.view;
}

/** A range in the middle of the line that holds bytes. */
function someRange(view: LineageView): InputRange {
  const later = view.checkpoints.filter(({ epoch }) => epoch > 2);
  const ranges = later.flatMap(({ manifest }) => manifest.inputs ?? []);
  return must(
    ranges.find(({ rows }) => rows > 1),
    'a range',
  );
}

test('before the first epoch nothing is proved and nothing is wrong', () => {
  expect(proveRows(null)).toMatchObject({ from: null, committed: 0, lost: 0, flaws: [] });
});

test('where each row gives at most one row, rows in are rows out, filtered and wrong, across a split brain', () => {
  const proof = proveRows(run(PROJECTED, 'each'));
  expect(proof).toMatchObject({ rowForRow: true, lost: 0, doubled: 0, flaws: [], rowsIn: 1_500 });
  expect(proof.generations).toBeGreaterThan(1);
  expect(proof.filtered).toBeGreaterThan(100);
  expect(proof.errors).toBeGreaterThan(0);
  expect(proof.rowsOut + proof.filtered + proof.errors).toBe(proof.rowsIn);
});

test('of a query that aggregates it says so, and still that each row was read once', () => {
  const proof = proveRows(run(FILES, 'made'));
  expect(proof).toMatchObject({ rowForRow: false, lost: 0, doubled: 0, flaws: [], sinks: 2 });
  expect(proof.rowsIn).toBe(1_500);
});

test('a range that begins later than the one before ended is loss, one that begins earlier is doubling', () => {
  for (const [shift, name] of [
    [7, 'lost'],
    [-7, 'doubled'],
  ] as const) {
    const view = run(PROJECTED, 'shifted');
    const range = someRange(view);
    const from = range.from as { offset: number };
    range.from = { ...from, offset: from.offset + shift };
    const proof = proveRows(view);
    expect(proof[name], name).toBe(7);
    expect(proof.flaws.length).toBeGreaterThan(0);
  }
});

test('a row that vanished between two operators is a flaw', () => {
  const view = run(PROJECTED, 'vanished');
  const { manifest } = must(view.checkpoints.at(-1), 'a tip');
  const counted = manifest.broadcast.find(({ table }) => table === 'counters');
  const counters = must(counted, 'counters').value as Record<string, number>;
  counters['rowsOut'] = (counters['rowsOut'] ?? 0) - 1;
  expect(proveRows(view).flaws.join()).toMatch(/rows in, but/);
});

test('output that two epochs name is doubled', () => {
  const view = run(PROJECTED, 'twice');
  const withItems = view.checkpoints.filter(({ manifest }) => manifest.items.length > 0);
  const first = must(withItems[0], 'output').manifest;
  const second = must(withItems[1], 'more output').manifest;
  second.items = [...second.items, ...first.items];
  const proof = proveRows(view);
  expect(proof.doubled).toBeGreaterThan(0);
  expect(proof.flaws.join()).toMatch(/both commit/);
});
