import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PhysicalGraph, Stage } from '../../src/graph/graph.ts';
import { assignSubtasks, subtaskCount } from '../../src/graph/assignment.ts';
import { viewGraph } from '../../src/graph/graph-view.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { stagesOf } from '../../src/graph/stages.ts';
import { CONNECTORS } from '../plan/catalog.ts';
import { TABLES, statements } from '../plan/programs.ts';

function graphOf(text: string): PhysicalGraph {
  const { graph, errors } = planSql(text, CONNECTORS, { defaultSink: 'preview' });
  expect(errors, text).toEqual([]);
  return graph as PhysicalGraph;
}

const T =
  "CREATE TABLE t (ts TIMESTAMP, k TEXT, v INT, WATERMARK FOR ts) WITH (connector = 'http');\n";
const OUT = "CREATE TABLE o WITH (connector = 'r2', path = 'o');\n";

const stageOf = (stages: readonly Stage[], id: string): number =>
  stages.findIndex((stage) => stage.operators.includes(id));

describe('any graph', { timeout: 60_000 }, () => {
  test('is acyclic, with ports in a row and every operator reached from a source', () => {
    fc.assert(
      fc.property(statements, (text) => {
        const { operators, edges } = graphOf(TABLES + text);
        const order = new Map(operators.map((operator, index) => [operator.id, index]));
        expect(order.size).toBe(operators.length);
        for (const edge of edges)
          expect(order.get(edge.from) as number).toBeLessThan(order.get(edge.to) as number);
        for (const { id, spec } of operators) {
          const ports = edges.filter((edge) => edge.to === id).map((edge) => edge.port);
          const count = spec.tag === 'source' ? 0 : spec.tag === 'union' ? spec.inputs : 1;
          expect(ports.sort()).toEqual([...Array(count).keys()]);
          if (spec.tag !== 'sink') expect(edges.some((edge) => edge.from === id)).toBe(true);
        }
        expect(new Set(edges.map((edge) => edge.id)).size).toBe(edges.length);
      }),
      { numRuns: 40 },
    );
  });

  test('falls into stages that never wait for themselves', () => {
    fc.assert(
      fc.property(statements, fc.integer({ min: 2, max: 5 }), (text, parallelism) => {
        const graph = graphOf(TABLES + text);
        const stages = stagesOf(graph, parallelism);
        expect(stages.flatMap((stage) => stage.operators).sort()).toEqual(
          graph.operators.map((operator) => operator.id).sort(),
        );
        stages.forEach((stage, index) => expect(stage.index).toBe(index));
        for (const edge of graph.edges) {
          const [from, to] = [stageOf(stages, edge.from), stageOf(stages, edge.to)];
          if (edge.kind === 'forward') expect(from).toBe(to);
          else {
            expect(from).toBeLessThan(to);
            expect(stages[to]?.inputs).toContain(edge);
            expect(stages[from]?.outputs).toContain(edge);
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  test('runs without a shuffle in one subtask', () => {
    fc.assert(
      fc.property(statements, (text) => {
        const graph = graphOf(TABLES + text);
        const stages = stagesOf(graph, 1);
        for (const stage of stages) {
          expect([...stage.inputs, ...stage.outputs]).toEqual([]);
          expect(stage.sources.length).toBeGreaterThan(0);
          const place = (id: string): number => stage.operators.indexOf(id);
          for (const edge of graph.edges)
            if (place(edge.from) >= 0) expect(place(edge.from)).toBeLessThan(place(edge.to));
        }
      }),
      { numRuns: 40 },
    );
  });

  test('is plain JSON, and the same for the same program', () => {
    fc.assert(
      fc.property(statements, (text) => {
        const graph = graphOf(TABLES + text);
        expect(JSON.parse(JSON.stringify(graph))).toEqual(graph);
        expect(graphOf(`${TABLES}-- a comment\n${text.replaceAll(' FROM ', '\n  from ')}`)).toEqual(
          graph,
        );
      }),
      { numRuns: 20 },
    );
  });
});

describe('planning', () => {
  test('rows meet by key before an aggregate, and without a key in subtask 0', () => {
    const keyed = graphOf(`${T}SELECT upper(k) AS u, count(*) AS n FROM t GROUP BY u;`);
    const edge = keyed.edges.find((candidate) => candidate.to.startsWith('updating-aggregate'));
    expect(edge).toMatchObject({
      kind: 'shuffle',
      keys: [{ tag: 'call', fn: expect.stringContaining('upper') as unknown }],
    });
    const whole = graphOf(`${T}SELECT count(*) AS n FROM t;`);
    expect(
      whole.edges.find((candidate) => candidate.to.startsWith('updating-aggregate')),
    ).toMatchObject({ kind: 'shuffle', keys: [] });
  });

  test('a sink that one subtask writes is pinned, another runs everywhere', () => {
    const graph = graphOf(`${T}${OUT}SELECT v FROM t; INSERT INTO o SELECT v FROM t;`);
    const [preview, files] = graph.operators.filter((operator) => operator.spec.tag === 'sink');
    expect(preview?.parallelism).toBe(1);
    expect(files?.parallelism).toBeNull();
    const hosts = assignSubtasks(graph, 3);
    expect(hosts.map(({ host }) => host)).toEqual([0, 1, 2]);
    expect(hosts.map(({ operators }) => operators.includes(preview?.id ?? ''))).toEqual([
      true,
      false,
      false,
    ]);
    expect(hosts.map(({ operators }) => operators.includes(files?.id ?? ''))).toEqual([
      true,
      true,
      true,
    ]);
    expect(subtaskCount(graph, preview?.id ?? '', 3)).toBe(1);
    expect(subtaskCount(graph, files?.id ?? '', 3)).toBe(3);
  });

  test('rows that go straight on and rows that take the way over an aggregate meet behind a shuffle', () => {
    const graph = graphOf(`${T}${OUT}
      INSERT INTO o SELECT k, CAST(v AS BIGINT) AS n FROM t;
      INSERT INTO o SELECT k, n FROM (SELECT k, count(*) AS n, tumble(interval '1 minute') AS w FROM t GROUP BY k, w);`);
    const union = graph.operators.find((operator) => operator.spec.tag === 'union')?.id;
    const kinds = graph.edges
      .filter((edge) => edge.to === union)
      .map((edge) => [edge.kind, edge.keys.length]);
    expect(kinds).toEqual([
      ['shuffle', 2],
      ['forward', 0],
    ]);
  });

  test('inputs that never meet again stay in their subtask', () => {
    const graph = graphOf(`${T}CREATE TABLE u (k TEXT) WITH (connector = 'http');\n${OUT}
      INSERT INTO o SELECT k FROM u;
      INSERT INTO o SELECT k FROM (SELECT k, tumble(interval '1 minute') AS w, count(*) AS n FROM t GROUP BY k, w);`);
    const union = graph.operators.find((operator) => operator.spec.tag === 'union')?.id;
    expect(graph.edges.filter((edge) => edge.to === union).map((edge) => edge.kind)).toEqual([
      'forward',
      'forward',
    ]);
  });

  test('the hash tells programs apart that keep other state, and not others', () => {
    const hash = (text: string): string => graphOf(T + text).planHash;
    const base = hash('SELECT k, count(*) AS n FROM t GROUP BY k;');
    expect(base).toMatch(/^[0-9a-f]{16}$/);
    expect(hash('select k , COUNT(*) n from t group by 1')).toBe(base);
    expect(hash('SELECT k, sum(v) AS n FROM t GROUP BY k;')).not.toBe(base);
    expect(hash('SELECT k, count(*) AS n FROM t WHERE v > 1 GROUP BY k;')).not.toBe(base);
    expect(hash('SELECT k, count(*) AS n FROM t WHERE v > 2 GROUP BY k;')).not.toBe(
      hash('SELECT k, count(*) AS n FROM t WHERE v > 1 GROUP BY k;'),
    );
  });

  test('the view for the API numbers operators and names edges', () => {
    const view = viewGraph(graphOf(`${T}SELECT k, count(*) AS n FROM t GROUP BY k;`), 4);
    expect(
      view.nodes.map(({ node_id, operator, parallelism }) => [node_id, operator, parallelism]),
    ).toEqual([
      [1, 'source-1', 4],
      [2, 'updating-aggregate-2', 4],
      [3, 'sink-3', 1],
    ]);
    expect(view.edges).toEqual([
      {
        src_id: 1,
        dest_id: 2,
        key_type: 'k',
        value_type: 'ts TIMESTAMP, k TEXT',
        edge_type: 'Shuffle',
      },
      {
        src_id: 2,
        dest_id: 3,
        key_type: '()',
        value_type: 'k TEXT, count(*) BIGINT NOT NULL',
        edge_type: 'Shuffle',
      },
    ]);
  });
});
