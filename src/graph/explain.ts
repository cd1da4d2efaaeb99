/** The physical graph as text: stages, operators, how rows reach them, and what state each keeps for how long. */
import { must } from '../base/assert.ts';
import { describeSchema, printOver } from '../plan/describe.ts';
import { formatInterval } from '../plan/interval.ts';
import { describeJoinState } from './explain-join.ts';
import { isUpdated } from '../plan/nodes.ts';
import type { GraphEdge, GraphOperator, OperatorSpec, PhysicalGraph, WindowSpec } from './graph.ts';
import { describeMatchState } from './explain-match.ts';
import { describeOverState, describeTopNState } from './explain-over.ts';
import { stagesOf } from './stages.ts';
import { paneMicros } from './window-panes.ts';

export function explainPhysical(graph: PhysicalGraph, parallelism: number): string {
  const operators = new Map(graph.operators.map((operator) => [operator.id, operator]));
  const lines: string[] = [];
  for (const stage of stagesOf(graph, parallelism)) {
    const members = stage.operators.map((id) => must(operators.get(id), 'operator of a stage'));
    const subtasks = Math.max(...members.map((operator) => operator.parallelism ?? parallelism));
    lines.push(`stage ${stage.index}, ${subtasks} subtask${subtasks === 1 ? '' : 's'}`);
    for (const operator of members)
      lines.push(...explainOperator(operator, graph, operators, stage.inputs));
  }
  return `${lines.join('\n')}\n`;
}

function explainOperator(
  operator: GraphOperator,
  graph: PhysicalGraph,
  operators: ReadonlyMap<string, GraphOperator>,
  shuffled: readonly GraphEdge[],
): string[] {
  const lines = [`  ${operator.id}: ${operator.description}`];
  for (const edge of graph.edges.filter((candidate) => candidate.to === operator.id)) {
    const schema = must(operators.get(edge.from), 'operator of an edge').schema;
    const keys = edge.keys.map((key) => printOver(key, schema)).join(', ');
    const way = !shuffled.includes(edge)
      ? ''
      : edge.keys.length === 0
        ? ', all to subtask 0'
        : `, by hash of ${keys}`;
    lines.push(`    from: ${edge.from}${way}`);
  }
  lines.push(
    `    rows: ${describeSchema(operator.schema)}${operator.updating ? ' (updating)' : ''}`,
  );
  const state = describeState(operator.spec);
  if (state !== null) lines.push(`    state: ${state}`);
  return lines;
}

function describeWindowState(window: WindowSpec, byColumn: boolean): string {
  if (window.tag === 'session') return byColumn ? 'open windows' : 'open sessions';
  const width = formatInterval(window.widthMicros);
  if (window.tag === 'tumble' || byColumn || isUpdated(window)) return `open windows of ${width}`;
  return `panes of ${formatInterval(paneMicros(window))} of the last ${width}`;
}

const afterLateness = (window: WindowSpec): string =>
  window.latenessMicros === undefined ? '' : ` by ${formatInterval(window.latenessMicros)}`;

function describeGroupState(spec: OperatorSpec & { tag: 'updating-aggregate' }): string {
  if (spec.keys.length === 0) return 'one row';
  if (spec.ttlMicros === undefined)
    return 'one row per key, never freed; SET updating_ttl bounds them';
  const ttl = formatInterval(spec.ttlMicros);
  return `one row per key, freed when the watermark passes its last row by ${ttl}; keys idle > ${ttl} restart from zero`;
}

/** What an operator keeps, and until when; null: nothing. */
export function describeState(spec: OperatorSpec): string | null {
  switch (spec.tag) {
    case 'source':
      return 'one offset and watermark per partition';
    case 'window-aggregate': {
      const per = spec.keys.length === 0 ? 'one row' : 'one row per key';
      return `${describeWindowState(spec.window, spec.windowColumn !== undefined)}, ${per}, freed when the watermark passes their end${afterLateness(spec.window)}`;
    }
    case 'window-best':
      return spec.local === true
        ? null
        : `${describeWindowState(spec.window, spec.windowColumn !== undefined)}, of each the rows that share its best value, freed when the watermark passes their end`;
    case 'updating-aggregate':
      return describeGroupState(spec);
    case 'newest-by-key':
      return 'one row per key, freed when it is deleted';
    case 'join':
      return describeJoinState(spec);
    case 'sink':
      return spec.twoPhase ? 'staged rows until their epoch is committed' : null;
    case 'over':
      return describeOverState(spec);
    case 'top-n':
      return describeTopNState(spec);
    case 'match':
      return describeMatchState(spec);
    case 'set-operation':
      return 'one row per different row, until neither side has it';
    case 'project':
    case 'unnest':
    case 'filter':
    case 'user-function':
    case 'union':
      return null;
  }
}
