/**
 * Which subtask of which operator runs on which host.
 *
 * Host i runs subtask i of every operator; an operator that is pinned runs on host 0 only. The rule is so
 * simple on purpose: forward edges never leave a host, and the place of a key follows from its hash alone.
 */
import { assert } from '../base/assert.ts';
import type { OperatorId, PhysicalGraph } from './graph.ts';

export type HostAssignment = {
  /** 0-based. */
  host: number;
  /** Operators that have a subtask here, in dataflow order; its index is the host's. */
  operators: readonly OperatorId[];
};

export function assignSubtasks(graph: PhysicalGraph, parallelism: number): HostAssignment[] {
  assert(Number.isInteger(parallelism) && parallelism >= 1, 'there is a host');
  return Array.from({ length: parallelism }, (_, host) => ({
    host,
    operators: graph.operators
      .filter((operator) => operator.parallelism === null || host === 0)
      .map((operator) => operator.id),
  }));
}

/** Number of subtasks of an operator. */
export function subtaskCount(graph: PhysicalGraph, id: OperatorId, parallelism: number): number {
  const operator = graph.operators.find((candidate) => candidate.id === id);
  assert(operator !== undefined, `operator ${id} is in the graph`);
  return operator.parallelism ?? parallelism;
}
