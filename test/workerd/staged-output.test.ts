/**
 * What sinks have staged, in real workerd: rows are in the file once, parts that were appended are collected behind the
 * floor, and so is what a killed host left behind.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stagedEpoch, stagedPrefix } from '../../src/connectors/two-phase-sink.ts';
import { patiently, pause, Thalweg } from '../harness/thalweg.ts';

const QUERY = `
CREATE TABLE events (i BIGINT NOT NULL) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE whole WITH (connector = 'single_file', path = 'made/whole.ndjson', format = 'json', type = 'sink');
INSERT INTO whole SELECT i FROM events;
`;

let thalweg: Thalweg;
beforeEach(async () => {
  thalweg = await Thalweg.start();
});
afterEach(async () => {
  await thalweg.close();
});

test('27: parts that were appended, and those of a killed host, are collected; rows are in the file once', async () => {
  const { id } = await thalweg.create(QUERY);
  await thalweg.waitForJob(id, (job) => job.state === 'Running');
  const stagedKeys = async (): Promise<string[]> =>
    (await patiently(() => thalweg.api.objects(stagedPrefix(id)))).map(({ key }) => key);
  const wanted: string[] = [];
  let sawParts = false;
  for (let batch = 0; batch < 12; batch++) {
    const rows = Array.from({ length: 5 }, (_, index) => ({ i: batch * 5 + index }));
    wanted.push(...rows.map((row) => JSON.stringify(row)));
    await thalweg.send(id, 'events', rows, `batch-${batch}`);
    // The host dies when rows are staged and no manifest names them.
    if (batch === 4) await thalweg.crash(id, 'host', 'report:checkpointed');
    await pause(500);
    sawParts ||= (await stagedKeys()).length > 0;
  }
  expect(sawParts).toBe(true);
  const lines = await thalweg.waitForLines('made/whole.ndjson', wanted.length);
  expect(lines.sort()).toEqual(wanted.sort());
  // Nothing more is staged; the floor passes all that was.
  const { committed_epoch: epoch } = await thalweg.api.job(id);
  await thalweg.waitForJob(id, (job) => job.committed_epoch >= epoch + 7);
  const deadline = Date.now() + 15_000;
  let left = await stagedKeys();
  while (left.length > 0 && Date.now() < deadline) {
    await pause(200);
    left = await stagedKeys();
  }
  expect(left.map((key) => [key, stagedEpoch(key)])).toEqual([]);
  expect((await thalweg.lines('made/whole.ndjson')).sort()).toEqual(wanted.sort());
});
