/** The graph of a query that runs only to be looked at: every sink shows its rows. */
import { JSON_FORMAT } from '../formats/format.ts';
import type { GraphEdge, GraphOperator, PhysicalGraph } from './graph.ts';
import { hashPlan } from './physical-planner.ts';

/**
 * @param keepSinks  what they are written to gets its rows too: each sink has one beside it that shows them; otherwise
 *   they are shown in its place
 */
export function previewGraph(graph: PhysicalGraph, keepSinks: boolean): PhysicalGraph {
  const operators: GraphOperator[] = [];
  const edges: GraphEdge[] = [...graph.edges];
  for (const operator of graph.operators) {
    const shown = previewSink(operator);
    if (shown === null) {
      operators.push(operator);
      continue;
    }
    if (!keepSinks) {
      operators.push(shown);
      continue;
    }
    const id = `${operator.id}-preview`;
    operators.push(operator, { ...shown, id });
    for (const edge of graph.edges)
      if (edge.to === operator.id)
        edges.push({ ...edge, id: `${edge.from}>${id}:${edge.port}`, to: id });
  }
  return { ...graph, operators, edges, planHash: hashPlan(operators, edges) };
}

/** Null of what is no sink, or shows its rows already. */
function previewSink(operator: GraphOperator): GraphOperator | null {
  const { spec } = operator;
  if (spec.tag !== 'sink' || spec.connector.connector === 'preview') return null;
  return {
    ...operator,
    description: `preview of ${spec.table}`,
    spec: {
      ...spec,
      connector: { connector: 'preview', options: {} },
      format: spec.format.tag === 'json' ? spec.format : JSON_FORMAT,
      twoPhase: false,
    },
  };
}
