/** From an operator of the graph to the object that does its work. */
import { assert, must } from '../base/assert.ts';
import type { Schema } from '../batch/types.ts';
import type { GraphOperator, PhysicalGraph } from '../graph/graph.ts';
import { BucketedWindowAggregate } from './bucketed-window-aggregate.ts';
import { Filter } from './filter.ts';
import { NewestByKey } from './newest-by-key.ts';
import type { Operator } from './operator.ts';
import { MatchRecognizer } from './match-recognizer.ts';
import { makeJoinOperator } from './make-join.ts';
import { OverTimed } from './over-timed.ts';
import { OverUpdating } from './over-updating.ts';
import { Project } from './project.ts';
import { SessionAggregate } from './session-aggregate.ts';
import { SetOperation } from './set-operation.ts';
import { TopN } from './top-n.ts';
import { Union } from './union.ts';
import { Unnest } from './unnest.ts';
import { UpdatingAggregate } from './updating-aggregate.ts';
import { UserFunctions } from './user-functions.ts';
import { WindowAggregate } from './window-aggregate.ts';
import { WindowBest } from './window-best.ts';
import type { WindowAggregateSpec } from './window-rows.ts';

/** A fresh operator without state; sources and sinks are made by the connectors instead. */
export function makeOperator(operator: GraphOperator, graph: PhysicalGraph): Operator {
  const { spec } = operator;
  switch (spec.tag) {
    case 'project':
      return new Project(spec.exprs, inputSchema(operator, graph), operator.schema);
    case 'filter':
      return new Filter(spec.predicate, inputSchema(operator, graph));
    case 'unnest':
      return new Unnest(spec, inputSchema(operator, graph));
    case 'union':
      return new Union(spec);
    case 'window-aggregate':
      return makeWindowAggregate(spec, inputSchema(operator, graph), operator.schema);
    case 'window-best':
      return new WindowBest(spec, inputSchema(operator, graph));
    case 'updating-aggregate':
      return new UpdatingAggregate(spec, inputSchema(operator, graph), operator.schema);
    case 'newest-by-key':
      return new NewestByKey(spec.keyColumns, operator.schema);
    case 'join':
      return makeJoinOperator(spec, [
        inputSchema(operator, graph, 0),
        inputSchema(operator, graph, 1),
      ]);
    case 'over':
      return spec.form === 'updating'
        ? new OverUpdating(spec, inputSchema(operator, graph))
        : new OverTimed(spec, inputSchema(operator, graph));
    case 'top-n':
      return new TopN(spec, inputSchema(operator, graph));
    case 'match':
      return new MatchRecognizer(spec, inputSchema(operator, graph));
    case 'set-operation':
      return new SetOperation(spec, operator.schema);
    case 'user-function':
      return new UserFunctions(spec, inputSchema(operator, graph));
    case 'source':
    case 'sink':
      return assert(false, `${spec.tag} is not an operator`) as never;
  }
}

function makeWindowAggregate(spec: WindowAggregateSpec, input: Schema, output: Schema): Operator {
  const { window, windowColumn, updatingInput } = spec;
  const updated = window.latenessMicros !== undefined || window.earlyMs !== undefined;
  if (windowColumn !== undefined || updatingInput === true || updated)
    return new BucketedWindowAggregate(spec, input, output);
  if (window.tag === 'session') return new SessionAggregate(spec, input, output);
  return new WindowAggregate(spec, input, output);
}

/** What arrives at a port. */
function inputSchema(operator: GraphOperator, graph: PhysicalGraph, port = 0): Schema {
  const edge = must(
    graph.edges.find((each) => each.to === operator.id && each.port === port),
    `an edge into ${operator.id}`,
  );
  return must(
    graph.operators.find((each) => each.id === edge.from),
    `operator ${edge.from}`,
  ).schema;
}
