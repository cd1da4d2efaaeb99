/**
 * The walk: every artifact between the text of one query and its commit, in order, printed and pinned.
 * Read `walk.txt` beside this file to see what each stage hands to the next. `REWRITE=1` writes it anew.
 */
import { test } from 'vitest';
import { must } from '../../src/base/assert.ts';
import { HASH_SPACE } from '../../src/base/hash.ts';
import { rowsOf } from '../../src/batch/values.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { assignSubtasks } from '../../src/graph/assignment.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { stagesOf } from '../../src/graph/stages.ts';
import type { CheckpointManifest } from '../../src/lineage/types.ts';
import { parseProgram } from '../../src/sql/parser.ts';
import { printProgram } from '../../src/sql/printer.ts';
import { decodeStateTable } from '../../src/state/table-file.ts';
import { SimulatedCluster } from '../harness/cluster.ts';
import { expectGolden } from '../plan/golden.ts';

const SQL = `CREATE TABLE bids (ts TIMESTAMP NOT NULL, item TEXT, price BIGINT, WATERMARK FOR ts AS ts - INTERVAL '1 second')
  WITH (connector = 'single_file', path = 'bids', format = 'json', type = 'source');
CREATE TABLE best WITH (connector = 'r2', path = 'best', format = 'json', type = 'sink');
INSERT INTO best SELECT item, window.start AS start, n, top FROM (
  SELECT item, tumble(INTERVAL '10 seconds') AS window, count(*) AS n, max(price) AS top
  FROM bids WHERE price > 0 GROUP BY item, window);`;

const ROWS = [
  { ts: '2026-01-01T00:00:01', item: 'boat', price: 7 },
  { ts: '2026-01-01T00:00:03', item: 'oar', price: 2 },
  { ts: '2026-01-01T00:00:05', item: 'boat', price: 9 },
  { ts: '2026-01-01T00:00:06', item: 'oar', price: -1 },
  { ts: '2026-01-01T00:00:12', item: 'boat', price: 8 },
  { ts: '2026-01-01T00:00:14', item: 'oar', price: 5 },
];

const show = (value: unknown): string =>
  JSON.stringify(
    value,
    (_, inner) => (typeof inner === 'bigint' ? String(inner) : (inner as unknown)),
    1,
  );

/** The text of a stored object. */
const stored = (cluster: SimulatedCluster, key: string): string =>
  new TextDecoder().decode(must(cluster.store.objects.get(key), key).body);

function stateOf(cluster: SimulatedCluster, manifest: CheckpointManifest): string {
  return manifest.files
    .map((file) => {
      const table = decodeStateTable(must(cluster.store.objects.get(file.key), file.key).body, {
        lower: 0,
        upper: HASH_SPACE,
      });
      const batch = { rows: table.rows, columns: table.columns, eventTime: null, retract: null };
      return `${file.operator} ${file.table} subtask ${file.subtask}\n${rowsOf(batch, table.schema).map(show).join('\n')}`;
    })
    .join('\n');
}

test('one query from SQL text to commit', () => {
  const parts: string[] = [];
  const part = (title: string, text: string): void => {
    parts.push(`== ${title}\n${text.trimEnd()}\n`);
  };
  part('1 SQL text', SQL);
  part('2 Program, printed back', printProgram(parseProgram(SQL).program));
  const plan = planSql(SQL, DECLARATIONS, { defaultSink: 'preview', parallelism: 2 });
  const graph = must(plan.graph, JSON.stringify(plan.errors));
  part('3 LogicalPlan', plan.logical);
  part('4 PhysicalGraph at parallelism 2', plan.physical);
  const stages = stagesOf(graph, 2).map(
    (stage) => `stage ${stage.index}: ${stage.operators.join(' → ')}`,
  );
  part(
    '5 stages and assignment',
    `${stages.join('\n')}\n${assignSubtasks(graph, 2).map(show).join('\n')}`,
  );

  const cluster = new SimulatedCluster({
    seed: 'walk',
    graph,
    parallelism: 2,
    files: { bids: ROWS.map((row) => `${JSON.stringify(row)}\n`).join('') },
    // One row a read, and checkpoints between the reads: state with an open window is seen.
    readBytesMax: 65,
    checkpointIntervalMs: 10,
    settings: { checkpointsKept: 100 },
  });
  cluster.startGeneration('created');
  cluster.runToOutcome();
  const records = cluster.store.keys().filter((key) => key.endsWith('.record'));
  const checkpoints = records.map((key) => {
    const record = JSON.parse(stored(cluster, key)) as { checkpoint: { ref: string } };
    return {
      key,
      ref: record.checkpoint.ref,
      manifest: JSON.parse(stored(cluster, record.checkpoint.ref)) as CheckpointManifest,
    };
  });
  const withState = must(
    checkpoints.find(({ manifest }) => manifest.files.length > 0),
    'a checkpoint with state',
  );
  part('6 input rows', ROWS.map((row) => JSON.stringify(row)).join('\n'));
  part('7 state in the first checkpoint that has some', stateOf(cluster, withState.manifest));
  part('8 its CheckpointManifest', show(withState.manifest));
  part('9 its EpochRecord', show(JSON.parse(stored(cluster, withState.key))));
  const markers = cluster.store.keys().filter((key) => key.endsWith('committed.json'));
  part('10 CommittedMarkers', markers.map((key) => `${key}\n${stored(cluster, key)}`).join('\n'));
  part(
    '11 committed output',
    cluster.committed.map(({ key, text }) => `${key}\n${text}`).join('\n'),
  );
  part('12 what happened', cluster.trace.join('\n'));
  expectGolden('../walk', 'walk.txt', parts.join('\n'));
});
