/** The graph in the shape of Arroyo's API, so that its clients can draw it. */
import { must } from '../base/assert.ts';
import { describeSchema, printOver } from '../plan/describe.ts';
import type { PhysicalGraph } from './graph.ts';

export type GraphView = {
  nodes: { node_id: number; operator: string; description: string; parallelism: number }[];
  edges: {
    src_id: number;
    dest_id: number;
    key_type: string;
    value_type: string;
    edge_type: string;
  }[];
};

export function viewGraph(graph: PhysicalGraph, parallelism: number): GraphView {
  const numbers = new Map(graph.operators.map((operator, index) => [operator.id, index + 1]));
  const nodes = graph.operators.map((operator, index) => ({
    node_id: index + 1,
    operator: operator.id,
    description: operator.description,
    parallelism: operator.parallelism ?? parallelism,
  }));
  const edges = graph.edges.map((edge) => {
    const schema = must(
      graph.operators.find((operator) => operator.id === edge.from),
      'operator of an edge',
    ).schema;
    return {
      src_id: must(numbers.get(edge.from), 'operator of an edge'),
      dest_id: must(numbers.get(edge.to), 'operator of an edge'),
      key_type:
        edge.keys.length === 0 ? '()' : edge.keys.map((key) => printOver(key, schema)).join(', '),
      value_type: describeSchema(schema),
      edge_type: edge.kind === 'forward' ? 'Forward' : 'Shuffle',
    };
  });
  return { nodes, edges };
}
