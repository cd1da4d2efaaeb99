/** The operator for a kind of join. */
import type { Schema } from '../batch/types.ts';
import type { JoinSpec } from '../graph/graph.ts';
import { AsOfJoin } from './as-of-join.ts';
import { HashJoin } from './hash-join.ts';
import { LookupJoin } from './lookup-join.ts';
import type { Operator } from './operator.ts';

export function makeJoinOperator(spec: JoinSpec, schemas: readonly [Schema, Schema]): Operator {
  if (spec.time.tag === 'lookup') return new LookupJoin(spec, schemas);
  if (spec.time.tag === 'as-of') return new AsOfJoin(spec, schemas);
  return new HashJoin(spec, schemas);
}
