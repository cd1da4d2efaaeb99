import { describe, expect, test } from 'vitest';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { previewGraph } from '../../src/graph/preview-graph.ts';
import { stagesOf } from '../../src/graph/stages.ts';

const { graph } = planSql(
  `CREATE TABLE b WITH (connector = 'nexmark', "table" = 'bid', event_rate = 10);
   CREATE TABLE files WITH (connector = 'r2', path = 'x', format = 'parquet', type = 'sink');
   CREATE TABLE one WITH (connector = 'single_file', path = 'y', format = 'debezium_json', type = 'sink');
   INSERT INTO files SELECT auction, price FROM b;
   INSERT INTO one SELECT auction, count(*) AS n FROM b GROUP BY auction;
   SELECT bidder FROM b;`,
  DECLARATIONS,
  { defaultSink: 'preview' },
);
if (graph === null) throw new Error('no graph');
const sinksOf = (of: typeof graph) =>
  of.operators.flatMap(({ id, spec }) =>
    spec.tag === 'sink' ? [[id, spec.table, spec.connector.connector, spec.twoPhase]] : [],
  );

describe('the graph of a preview', () => {
  test('shows the rows of every sink in its place', () => {
    const shown = previewGraph(graph, false);
    expect(
      sinksOf(shown).every(
        ([, , connector, twoPhase]) => connector === 'preview' && twoPhase === false,
      ),
    ).toBe(true);
    expect(shown.edges).toEqual(graph.edges);
    expect(shown.operators.map(({ id }) => id)).toEqual(graph.operators.map(({ id }) => id));
    expect(shown.planHash).not.toBe(graph.planHash);
    const updating = shown.operators.flatMap(({ spec }) =>
      spec.tag === 'sink' ? [spec.updating] : [],
    );
    expect(updating).toEqual([false, true, false]);
  });

  test('may keep the sinks and shows their rows beside them', () => {
    const both = previewGraph(graph, true);
    expect(sinksOf(both)).toHaveLength(5);
    for (const { id, spec } of both.operators) {
      const inputs = both.edges.filter(({ to }) => to === id);
      expect(inputs.map(({ port }) => port)).toEqual(inputs.map((_, port) => port));
      if (spec.tag === 'sink') expect(inputs).toHaveLength(1);
    }
    expect(new Set(both.edges.map(({ id }) => id)).size).toBe(both.edges.length);
    for (const parallelism of [1, 3]) {
      const placed = stagesOf(both, parallelism).flatMap(({ operators }) => operators);
      expect(placed.toSorted()).toEqual(both.operators.map(({ id }) => id).toSorted());
    }
  });
});
