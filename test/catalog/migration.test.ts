/** What the migrations make of a catalogue that has pipelines already. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';

const MIGRATIONS = resolve(import.meta.dirname, '../../migrations');

test('0003 reads the connectors of stored pipelines from their graphs, and lists each as changed once', () => {
  const database = new DatabaseSync(':memory:');
  const apply = (name: string): void => database.exec(readFileSync(join(MIGRATIONS, name), 'utf8'));
  apply('0001_pipelines.sql');
  apply('0002_functions.sql');
  const operator = (tag: string, connector: string): object => ({
    id: tag,
    spec: { tag, connector: { connector, options: {} } },
  });
  const graph = JSON.stringify({
    operators: [
      operator('source', 'http'),
      operator('source', 'nexmark'),
      operator('source', 'http'),
      { id: 'p', spec: { tag: 'project' } },
      operator('sink', 'r2'),
    ],
  });
  database
    .prepare(
      `INSERT INTO pipelines (id, name, query, parallelism, checkpoint_interval_ms, graph, plan_hash, settings, tags,
        desired_state, created_ms, updated_ms, version) VALUES ('pl', 'n', '', 1, 1, ?, 'p', '{}', '{}', 'running', 1, 1, 1)`,
    )
    .run(graph);
  apply('0003_changes.sql');
  const row = database.prepare('SELECT connectors, watched_ms FROM pipelines').get();
  expect(JSON.parse(String(row?.['connectors']))).toEqual({
    sources: ['http', 'nexmark'],
    sinks: ['r2'],
  });
  expect(row?.['watched_ms']).toBeNull();
  expect(database.prepare('SELECT pipeline_id FROM changes').all()).toEqual([
    { pipeline_id: 'pl' },
  ]);
});
