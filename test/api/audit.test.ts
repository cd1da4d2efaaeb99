/** The audit and the lineage of a real run of the step machines, as the API tells them. */
import { createHash } from 'node:crypto';
import { beforeEach, expect, test, vi } from 'vitest';
import { driveSync } from '../../src/lineage/drive.ts';
import { readLineage } from '../../src/lineage/read.ts';
import { bucketOf, clusterOf, FILES, verdictOn } from '../audit/world.ts';
import { PATHS } from '../harness/cluster/bucket.ts';
import { EVENTS, World, type Json } from './world.ts';

// Whole runs of a cluster: a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

let world: World;
let id: string;

beforeEach(async () => {
  world = new World();
  id = (await world.create(EVENTS)).id;
});

function run(seed: string, checkpointsKept = 1_000): ReturnType<typeof bucketOf> {
  const cluster = clusterOf(FILES, seed, { settings: { checkpointsKept } });
  cluster.startGeneration('created');
  cluster.runFor(700);
  cluster.splitBrain();
  expect(cluster.runToOutcome()).toMatchObject({ tag: 'finished' });
  const store = bucketOf(cluster);
  world.lineage = driveSync(readLineage(PATHS), (op) => store.answer(op));
  return store;
}

test('before the first checkpoint there is nothing to audit', async () => {
  const { body } = await world.call('GET', `/api/v1/pipelines/${id}/audit`);
  expect(body).toEqual({ floor: 0, head: null, data: [], unreadable: [] });
});

test('whoever gets the entries can check the chain with SHA-256 alone, and its head is what verification says', async () => {
  const store = run('chain');
  const { body } = await world.call('GET', `/api/v1/pipelines/${id}/audit`);
  let previous = sha256('null');
  for (const { hash, ...content } of body.data as Json[]) {
    expect(content.previous).toBe(previous);
    expect(hash, `epoch ${content.epoch}`).toBe(sha256(JSON.stringify(content)));
    previous = hash;
  }
  expect(body.head).toBe(previous);
  expect(body.head).toBe(verdictOn(store).chain);
  const data = (body.data as Json[]).filter(({ kind }) => kind === 'data');
  const rows = data
    .flatMap(({ inputs }) => inputs)
    .reduce((sum, range: Json) => sum + range.rows, 0);
  expect(rows).toBe(1_500);
  const read = data.reduce((sum, { counters }) => sum + counters['source-1'].rowsIn, 0);
  expect(read).toBe(1_500);
  expect(data.some(({ outputs }) => outputs.length > 0)).toBe(true);
});

test('a part of the entries has the same hashes as all of them', async () => {
  run('part');
  const all = (await world.call('GET', `/api/v1/pipelines/${id}/audit`)).body;
  const part = (await world.call('GET', `/api/v1/pipelines/${id}/audit?from=2&to=3`)).body;
  expect(part.data).toEqual(all.data.slice(1, 3));
  expect(part.head).toBe(all.head);
  expect((await world.call('GET', `/api/v1/pipelines/${id}/audit?from=x`)).status).toBe(400);
});

test('after collection the chain begins with the name of the history before', async () => {
  run('kept', 1);
  const { body } = await world.call('GET', `/api/v1/pipelines/${id}/audit`);
  const [first] = body.data;
  expect(first.epoch).toBe(body.floor);
  expect(first.epoch).toBeGreaterThan(1);
  expect(first.previous).toBe(sha256(JSON.stringify(first.parent)));
});

test('the lineage of the run is a tree: who won what, and what it read and wrote', async () => {
  run('tree');
  const { body } = await world.call('GET', `/api/v1/pipelines/${id}/lineage`);
  const won = body.generations.flatMap(({ epochs }: Json) => epochs);
  expect(won.sort((left: number, right: number) => left - right)).toEqual(
    body.epochs.map(({ epoch }: Json) => epoch).reverse(),
  );
  const total = (name: string): number =>
    body.epochs.reduce((sum: number, epoch: Json) => sum + epoch[name], 0);
  expect(total('input_rows')).toBe(1_500);
  expect(total('output_rows')).toBeGreaterThan(1_000);
  expect(new Set(body.epochs.map(({ commit }: Json) => commit))).toEqual(
    new Set(['none', 'marked']),
  );
});

test('the proof of the run: every row was read once, and nothing of a split brain is lost or doubled', async () => {
  const before = (await world.call('GET', `/api/v1/pipelines/${id}/proof`)).body;
  expect(before).toMatchObject({ committed_epoch: 0, from_epoch: null, lost: 0, flaws: [] });
  run('proof');
  const { body } = await world.call('GET', `/api/v1/pipelines/${id}/proof`);
  expect(body).toMatchObject({
    rows_in: 1_500,
    lost: 0,
    doubled: 0,
    flaws: [],
    row_for_row: false,
  });
  expect(body.ranges).toBeGreaterThan(2);
  expect(body.committed_epoch).toBe(body.to_epoch);
});
