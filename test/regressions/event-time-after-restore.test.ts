/**
 * Event time across idleness and restores. Found by reading and by the simulated cluster (chaos-297: windows that were
 * due stayed open for ever, because a restored subtask never told the next one the watermark it already had).
 */
import { expect, test } from 'vitest';
import { must } from '../../src/base/assert.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import type { BroadcastState, CheckpointManifest } from '../../src/lineage/types.ts';
import type { GenerationSpec } from '../../src/protocol/messages.ts';
import { Node } from '../../src/subtask/node.ts';
import { RestoreTask } from '../../src/subtask/restore-task.ts';
import { buildSubtasks } from '../../src/subtask/subtasks.ts';
import { WatermarkMerge } from '../../src/subtask/watermark-merge.ts';
import { TEST_SETTINGS } from '../harness/cluster.ts';

const SQL = `CREATE TABLE t (ts TIMESTAMP NOT NULL, k TEXT, v BIGINT, WATERMARK FOR ts AS ts)
  WITH (connector = 'http', partitions = 6, format = 'json', type = 'source');
CREATE TABLE s WITH (connector = 'r2', path = 'out', format = 'json', type = 'sink');
INSERT INTO s SELECT k, n FROM (
  SELECT k, tumble(interval '1 second') AS window, count(*) AS n FROM t WHERE v > 0 GROUP BY k, window);`;

const graph = must(planSql(SQL, DECLARATIONS, { defaultSink: 'preview' }).graph, 'graph');
const idOf = (tag: string): string =>
  must(
    graph.operators.find(({ spec }) => spec.tag === tag),
    tag,
  ).id;

/** Watermarks of the operator with this tag in subtask 0 of `parallelism`, after former subtasks had `watermarks`. */
function restored(tag: string, watermarks: (number | null)[], parallelism: number): number | null {
  const spec = {
    graph,
    parallelism,
    settings: TEST_SETTINGS,
    pipelineCreatedMs: 0,
    pipelineId: 'pl',
  };
  const unused = (): never => {
    throw new Error('nothing happens on restore');
  };
  const port = {
    read: unused,
    fail: unused,
    problems: unused,
    stage: unused,
    preview: unused,
    call: unused,
  };
  const subtasks = buildSubtasks(spec as unknown as GenerationSpec, 0, 'H', 1, port);
  const broadcast = watermarks.flatMap((watermark, subtask): BroadcastState[] => [
    { operator: idOf(tag), table: 'counters', subtask, value: {} },
    ...(watermark === null
      ? []
      : [{ operator: idOf(tag), table: 'watermark', subtask, value: watermark }]),
  ]);
  const manifest = { files: [], broadcast } as unknown as CheckpointManifest;
  new RestoreTask(manifest, subtasks, 0).apply();
  return must(subtasks.nodes.get(idOf(tag)), tag).watermark;
}

test('the same subtask takes up its own watermark', () => {
  expect(restored('filter', [10, 3], 2)).toBe(10);
  expect(restored('window-aggregate', [3, 10], 2)).toBe(3);
  expect(restored('window-aggregate', [null, 10], 2)).toBe(null);
});

test('at another parallelism, windows that a former subtask has closed stay closed', () => {
  expect(restored('window-aggregate', [3, 10], 3)).toBe(10);
  expect(restored('window-aggregate', [null, 10], 1)).toBe(10);
});

test('at another parallelism, a reader whose partition has reported nothing makes no row late', () => {
  expect(restored('filter', [10, 3], 3)).toBe(3);
  expect(restored('filter', [10, null], 3)).toBe(null);
});

test('a restored node tells the next one its watermark once more', () => {
  const quiet = { onBatch: (): void => {}, onWatermark: (): void => {}, onTick: (): void => {} };
  const operator = must(graph.operators[1], 'operator');
  const node = new Node(operator, quiet, 1, () => {});
  const told: unknown[] = [];
  node.shuffles.push({ emit: (): void => {}, watermark: (value): number => told.push(value) });
  node.restoreWatermark(5);
  expect(told).toEqual([]);
  node.receiveWatermark(0, 5);
  node.receiveWatermark(0, 5);
  expect(told).toEqual([5]);
});

test('an input that is merely idle keeps event time from ending with the others', () => {
  const merge = new WatermarkMerge(2);
  merge.set(0, 7);
  merge.set(1, 4);
  expect(merge.merged).toEqual({ watermark: 4, idle: false });
  merge.set(1, 'idle');
  expect(merge.merged).toEqual({ watermark: 7, idle: false });
  merge.set(0, Infinity);
  expect(merge.merged).toEqual({ watermark: 4, idle: true });
  merge.set(1, 5);
  expect(merge.merged).toEqual({ watermark: 5, idle: false });
  merge.set(1, Infinity);
  expect(merge.merged).toEqual({ watermark: Infinity, idle: false });
});

test('when all inputs are idle the largest watermark counts, whichever subtask read it', () => {
  const merge = new WatermarkMerge(3);
  merge.set(0, 7);
  merge.set(1, 4);
  merge.set(0, 'idle');
  merge.set(2, 'idle');
  expect(merge.merged).toEqual({ watermark: 4, idle: false });
  merge.set(1, 'idle');
  expect(merge.merged).toEqual({ watermark: 7, idle: true });
});
