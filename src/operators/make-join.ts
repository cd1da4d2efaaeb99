/** The operator for a kind of join. */
import type { Schema } from '../batch/types.ts';
import type { JoinSpec } from '../graph/graph.ts';
import { HashJoin } from './hash-join.ts';
import type { Operator } from './operator.ts';

export function makeJoinOperator(spec: JoinSpec, schemas: readonly [Schema, Schema]): Operator {
  return new HashJoin(spec, schemas);
}
