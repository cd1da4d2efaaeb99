/**
 * Logical plan → physical graph.
 *
 * Place in the walk: stage 3. Every node becomes one operator, every reading an edge. Rows meet by key
 * before an aggregate, and in subtask 0 before a sink that only one subtask may write.
 * Failure behaviour: a checked plan always has a graph; anything else is a bug.
 */
import { must } from '../base/assert.ts';
import { hashBytes } from '../base/hash.ts';
import type { Expr } from '../expr/expr.ts';
import { partitionKeys } from '../plan/bind-partitions.ts';
import { describeNode, describeSink } from '../plan/describe.ts';
import type {
  JoinNode,
  LogicalPlan,
  MatchNode,
  PlanNode,
  ScanNode,
  SinkPlan,
  TopNNode,
  WindowAggregateNode,
} from '../plan/logical.ts';
import { columnExpr, inputsOf } from '../plan/nodes.ts';
import { nodesOf } from '../plan/rewrite.ts';
import type {
  GraphEdge,
  GraphOperator,
  OperatorId,
  OperatorSpec,
  PhysicalGraph,
  SourceSpec,
} from './graph.ts';
import { cutCycles } from './stages.ts';

/** Results of an updating aggregate leave this often, and ahead of every barrier. */
const UPDATING_FLUSH_MS = 1_000;

export function planGraph(plan: LogicalPlan): PhysicalGraph {
  const ids = new Map<PlanNode, OperatorId>();
  const operators: GraphOperator[] = [];
  const edges: GraphEdge[] = [];
  for (const node of nodesOf(plan)) {
    const spec = specOf(node);
    const id = `${spec.tag}-${operators.length + 1}`;
    ids.set(node, id);
    operators.push({
      id,
      description: describeNode(node),
      spec,
      schema: node.schema,
      updating: node.updating,
      parallelism: null,
    });
    inputsOf(node).forEach((input, port) =>
      edges.push(edgeTo(must(ids.get(input), 'input'), id, port, keysBefore(node, port))),
    );
  }
  for (const sink of plan.sinks) {
    const id = `sink-${operators.length + 1}`;
    operators.push({
      id,
      description: describeSink(sink),
      spec: sinkSpec(sink),
      schema: sink.schema,
      updating: sink.input.updating,
      parallelism: sink.parallel ? null : 1,
    });
    edges.push(edgeTo(must(ids.get(sink.input), 'input'), id, 0, partitionKeys(sink)));
  }
  const acyclic = cutCycles(operators, edges);
  return { version: 1, operators, edges: acyclic, planHash: hashPlan(operators, acyclic) };
}

/** Keys that rows must meet by before a node; null: they stay where they are. */
function keysBefore(node: PlanNode, port: number): readonly Expr[] | null {
  if (node.tag === 'join') return port === 0 ? node.leftKeys : node.rightKeys;
  switch (node.tag) {
    case 'window-aggregate':
    case 'updating-aggregate':
      return node.groupBy;
    case 'over':
    case 'top-n':
    case 'match':
      return node.partitionBy;
    case 'window-best':
      if (node.local) return null;
      return node.windowColumn === null ? [] : [columnExpr(node.input.schema, node.windowColumn)];
    case 'set-operation':
      return node.schema.map((_, index) => columnExpr(node.schema, index));
    case 'newest-by-key':
      return node.keyColumns.map((key) => columnExpr(node.input.schema, key));
    default:
      return null;
  }
}

function edgeTo(
  from: OperatorId,
  to: OperatorId,
  port: number,
  keys: readonly Expr[] | null,
): GraphEdge {
  return {
    id: `${from}>${to}:${port}`,
    from,
    to,
    port,
    kind: keys === null ? 'forward' : 'shuffle',
    keys: keys ?? [],
  };
}

function specOf(node: PlanNode): OperatorSpec {
  switch (node.tag) {
    case 'scan':
      return sourceSpec(node);
    case 'project':
      return { tag: 'project', exprs: node.exprs };
    case 'filter':
      return { tag: 'filter', predicate: node.predicate };
    case 'window-aggregate':
      return windowAggregateSpec(node);
    case 'window-best':
      return {
        tag: 'window-best',
        window: node.window,
        ...(node.windowColumn === null ? {} : { windowColumn: node.windowColumn }),
        column: node.column,
        greatest: node.greatest,
        ...(node.local ? { local: true as const } : {}),
      };
    case 'updating-aggregate':
      return {
        tag: 'updating-aggregate',
        ...(node.ttlMicros === null ? {} : { ttlMicros: node.ttlMicros }),
        keys: node.groupBy,
        aggregates: node.aggregates,
        flushMs: UPDATING_FLUSH_MS,
      };
    case 'newest-by-key':
      return { tag: 'newest-by-key', keyColumns: node.keyColumns };
    case 'join':
      return joinSpec(node);
    case 'unnest': {
      const { kept, lists, ordinality, outer } = node;
      return { tag: 'unnest', kept, lists, ordinality, outer };
    }
    case 'union':
      return {
        tag: 'union',
        inputs: node.inputs.length,
        ...(node.eventTime ? {} : { untimed: true }),
      };
    case 'over': {
      const { form, partitionBy, orderBy, calls } = node;
      return { tag: 'over', form, partitionBy, orderBy, calls, flushMs: UPDATING_FLUSH_MS };
    }
    case 'top-n':
      return topNSpec(node);
    case 'user-function':
      return { tag: 'user-function', calls: node.calls, rows: node.rows };
    case 'match':
      return matchSpec(node);
    case 'set-operation':
      return {
        tag: 'set-operation',
        operator: node.operator,
        all: node.all,
        flushMs: UPDATING_FLUSH_MS,
      };
  }
}

const windowAggregateSpec = (node: WindowAggregateNode): OperatorSpec => ({
  tag: 'window-aggregate',
  window: node.window,
  ...(node.windowColumn === null ? {} : { windowColumn: node.windowColumn }),
  ...(node.input.updating ? { updatingInput: true as const } : {}),
  keys: node.groupBy,
  aggregates: node.aggregates,
  outputs: node.outputs,
});

const topNSpec = (node: TopNNode): OperatorSpec => ({
  tag: 'top-n',
  partitionBy: node.partitionBy,
  orderBy: node.orderBy,
  limit: node.limit,
  offset: node.offset,
  ties: node.ties,
  ranked: node.rank !== null,
  retracting: node.input.updating,
  flushMs: UPDATING_FLUSH_MS,
});

const matchSpec = (node: MatchNode): OperatorSpec => ({
  tag: 'match',
  partitionBy: node.partitionBy,
  orderBy: node.orderBy,
  variables: node.variables,
  program: node.program,
  conditions: node.conditions,
  measures: node.measures,
  skip: node.skip,
  withinMicros: node.withinMicros,
});

const joinSpec = (node: JoinNode): OperatorSpec => ({
  tag: 'join',
  kind: node.kind,
  keys: [node.leftKeys, node.rightKeys],
  nullsMeet: node.nullsMeet,
  residual: node.residual,
  updating: [node.left.updating, node.right.updating],
  eventTime: [node.left.eventTime, node.right.eventTime],
  time: node.time,
});

function sourceSpec(scan: ScanNode): SourceSpec {
  const asDecoded =
    scan.computed.length === scan.physical.length &&
    scan.computed.every((expr, index) => expr.tag === 'column' && expr.index === index);
  return {
    tag: 'source',
    table: scan.table,
    connector: { connector: scan.connector, options: scan.options },
    format: scan.format,
    declared: scan.declared,
    physical: scan.physical,
    computed: asDecoded ? null : scan.computed,
    watermark: scan.watermark,
    lateRows: scan.lateRows,
  };
}

function sinkSpec(sink: SinkPlan): OperatorSpec {
  return {
    tag: 'sink',
    table: sink.table,
    connector: { connector: sink.connector, options: sink.options },
    format: sink.format,
    updating: sink.input.updating || sink.changes,
    keyColumns: sink.keyColumns,
    twoPhase: sink.twoPhase,
  };
}

/** 16 hex digits over what operators do and how rows reach them; wording for people is left out. */
export function hashPlan(operators: readonly GraphOperator[], edges: readonly GraphEdge[]): string {
  const text = canonicalJson({
    operators: operators.map((operator) => ({ ...operator, description: '' })),
    edges,
  });
  const bytes = new TextEncoder().encode(text);
  return [0, 1]
    .map((seed) => hashBytes(bytes, 0, bytes.length, seed).toString(16).padStart(8, '0'))
    .join('');
}

/** JSON with keys in order, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  entries.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${entries.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(',')}}`;
}
