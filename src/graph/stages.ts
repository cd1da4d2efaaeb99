/**
 * Stages: operators that run as one chain of calls in every subtask.
 *
 * Invariant: INV-23 the shuffle edges between stages have no cycle, so that a stage may wait for the
 * barriers of all its inputs; `cutCycles` makes it so and `stagesOf` relies on it.
 */
import { assert, must } from '../base/assert.ts';
import type { Schema } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { GraphEdge, GraphOperator, OperatorId, PhysicalGraph, Stage } from './graph.ts';

/** The stages of a graph in dataflow order; with one subtask nothing needs to be shuffled and every edge fuses. */
export function stagesOf(graph: PhysicalGraph, parallelism: number): Stage[] {
  assert(parallelism >= 1, 'there is a subtask');
  const fused = (edge: GraphEdge): boolean => parallelism === 1 || edge.kind === 'forward';
  const component = componentsOf(graph.operators, graph.edges.filter(fused));
  const between = graph.edges.filter((edge) => !fused(edge));
  // Operators come in dataflow order, but a stage may start late and feed an early one: stages are sorted themselves.
  const order = sortComponents(
    [...new Set(graph.operators.map((operator) => must(component.get(operator.id), 'component')))],
    between,
    component,
  );
  return order.map((name, index): Stage => {
    const operators = graph.operators.filter((operator) => component.get(operator.id) === name);
    return {
      index,
      operators: operators.map((operator) => operator.id),
      sources: operators
        .filter((operator) => operator.spec.tag === 'source')
        .map((operator) => operator.id),
      inputs: between.filter((edge) => component.get(edge.to) === name),
      outputs: between.filter((edge) => component.get(edge.from) === name),
    };
  });
}

/**
 * Turns forward edges into shuffles where a stage would otherwise wait for itself: rows that go straight
 * on and rows that take the way over another stage meet in one union. Independent of parallelism.
 */
export function cutCycles(
  operators: readonly GraphOperator[],
  edges: readonly GraphEdge[],
): GraphEdge[] {
  let current = [...edges];
  for (;;) {
    const component = componentsOf(
      operators,
      current.filter((edge) => edge.kind === 'forward'),
    );
    const shuffles = current.filter((edge) => edge.kind === 'shuffle');
    const cyclic = cyclicComponents(new Set(component.values()), shuffles, component);
    if (cyclic.size === 0) return current;
    const depth = depthsOf(operators, current);
    const isCut = (edge: GraphEdge): boolean =>
      edge.kind === 'forward' &&
      cyclic.has(must(component.get(edge.from), 'component')) &&
      must(depth.get(edge.from), 'depth') < must(depth.get(edge.to), 'depth');
    assert(current.some(isCut), 'a cycle of stages has an edge to cut');
    current = current.map((edge) =>
      isCut(edge)
        ? {
            ...edge,
            kind: 'shuffle',
            keys: wholeRow(
              must(
                operators.find((operator) => operator.id === edge.from),
                'operator',
              ).schema,
            ),
          }
        : edge,
    );
  }
}

/** Every column that can be hashed: equal rows meet, and a row follows the one it takes back. */
function wholeRow(schema: Schema): Expr[] {
  return schema.flatMap((field, index): Expr[] =>
    field.type.tag === 'struct' ? [] : [{ tag: 'column', index, type: field.type }],
  );
}

/** Operator → name of its component: the first operator in it. */
function componentsOf(
  operators: readonly GraphOperator[],
  edges: readonly GraphEdge[],
): Map<OperatorId, OperatorId> {
  const component = new Map<OperatorId, OperatorId>();
  for (const { id } of operators) {
    if (component.has(id)) continue;
    const open = [id];
    component.set(id, id);
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for (const edge of edges) {
        const other = edge.from === next ? edge.to : edge.to === next ? edge.from : null;
        if (other === null || component.has(other)) continue;
        component.set(other, id);
        open.push(other);
      }
    }
  }
  return component;
}

/** The most shuffles on any way from a source. */
function depthsOf(
  operators: readonly GraphOperator[],
  edges: readonly GraphEdge[],
): Map<OperatorId, number> {
  const depth = new Map<OperatorId, number>();
  for (const { id } of operators) {
    const incoming = edges.filter((edge) => edge.to === id);
    depth.set(
      id,
      Math.max(
        0,
        ...incoming.map(
          (edge) =>
            must(depth.get(edge.from), 'depth of an input') + (edge.kind === 'shuffle' ? 1 : 0),
        ),
      ),
    );
  }
  return depth;
}

/** Components that take part in a cycle, or lie between two. */
function cyclicComponents(
  names: ReadonlySet<OperatorId>,
  shuffles: readonly GraphEdge[],
  component: ReadonlyMap<OperatorId, OperatorId>,
): Set<OperatorId> {
  const left = new Set(names);
  const inside = (edge: GraphEdge): boolean =>
    left.has(component.get(edge.from) ?? '') && left.has(component.get(edge.to) ?? '');
  for (let changed = true; changed;) {
    changed = false;
    for (const name of left) {
      const edges = shuffles.filter(inside);
      const entered = edges.some((edge) => component.get(edge.to) === name);
      const departed = edges.some((edge) => component.get(edge.from) === name);
      if (entered && departed) continue;
      left.delete(name);
      changed = true;
    }
  }
  return left;
}

function sortComponents(
  names: readonly OperatorId[],
  edges: readonly GraphEdge[],
  component: ReadonlyMap<OperatorId, OperatorId>,
): OperatorId[] {
  const sorted: OperatorId[] = [];
  const waiting = new Set(names);
  while (waiting.size > 0) {
    const ready = [...waiting].find((name) =>
      edges.every(
        (edge) => component.get(edge.to) !== name || !waiting.has(component.get(edge.from) ?? ''),
      ),
    );
    const next = must(ready, 'a stage whose inputs are all placed (INV-23)');
    sorted.push(next);
    waiting.delete(next);
  }
  return sorted;
}
