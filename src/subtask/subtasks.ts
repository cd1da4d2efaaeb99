/**
 * Builds what one host runs: the nodes of every stage that has a subtask here, and the channels
 * between them and other hosts.
 *
 * Subtask i of every operator lives on host i; an operator pinned to parallelism 1 lives on host 0, and
 * so does the stage it is part of.
 */
import { assert, must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import type { RowProblem } from '../operators/operator.ts';
import type { ErrorReport } from '../base/errors.ts';
import type { ReadRequest, Source, StageRequest } from '../connectors/connector.ts';
import { makeSink, makeSource } from '../connectors/registry.ts';
import type {
  ConnectorSpec,
  GraphEdge,
  GraphOperator,
  PhysicalGraph,
  SourceSpec,
  Stage,
} from '../graph/graph.ts';
import { stagesOf } from '../graph/stages.ts';
import { makeOperator } from '../operators/make-operator.ts';
import { combinerFor } from '../operators/window-combiner.ts';
import type { GenerationSpec } from '../protocol/messages.ts';
import { UserFunctions } from '../operators/user-functions.ts';
import { type CallPort, CallingBody } from './calling-body.ts';
import { InputChannel } from './input-channel.ts';
import { Node } from './node.ts';
import { OperatorBody } from './operator-body.ts';
import { Pace } from './pace.ts';
import { OutputChannel } from './output-channel.ts';
import { type Destination, ShuffleEdge } from './shuffle-edge.ts';
import { SinkNode } from './sink-node.ts';
import { SourceNode } from './source-node.ts';
import { type StageInput, StageRuntime } from './stage-runtime.ts';
import { WatermarkMerge } from './watermark-merge.ts';

/** What the subtasks ask of their host. */
export type SubtaskPort = {
  read(operator: string, partition: number, request: ReadRequest): void;
  fail(operator: string, report: ErrorReport): void;
  problems(node: Node, kind: 'error' | 'late', problems: readonly RowProblem[]): void;
  stage(sink: SinkNode, index: number, request: StageRequest): void;
  preview(sink: SinkNode, rows: Uint8Array, count: number): void;
} & CallPort;

export class Subtasks {
  readonly graph: PhysicalGraph;
  readonly stages: readonly StageRuntime[];
  readonly nodes: ReadonlyMap<string, Node>;
  readonly sources: ReadonlyMap<string, SourceNode>;
  readonly sinks: readonly SinkNode[];
  readonly channels: readonly InputChannel[];
  readonly remoteOutputs: readonly OutputChannel[];
  readonly #parallelism: ReadonlyMap<string, number>;

  constructor(
    graph: PhysicalGraph,
    stages: readonly StageRuntime[],
    parallelism: ReadonlyMap<string, number>,
  ) {
    this.graph = graph;
    this.stages = stages;
    this.#parallelism = parallelism;
    const nodes = stages.flatMap((stage) => stage.nodes);
    this.nodes = new Map(nodes.map((node) => [node.operator.id, node]));
    this.sources = new Map(
      stages.flatMap((stage) => stage.sources).map((source) => [source.operator, source]),
    );
    this.sinks = nodes.flatMap((node) => (node.body instanceof SinkNode ? [node.body] : []));
    this.channels = stages.flatMap((stage) => stage.inputs.map((input) => input.channel));
    this.remoteOutputs = stages.flatMap((stage) =>
      stage.outputs.flatMap((edge) =>
        edge.destinations.flatMap((to) => (to.tag === 'remote' ? [to.channel] : [])),
      ),
    );
  }

  /** Number of subtasks the operator has over all hosts. */
  parallelismOf(operator: string): number {
    return must(this.#parallelism.get(operator), `parallelism of ${operator}`);
  }

  /** Whether rows reach the operator over a shuffle edge, whatever the parallelism is now. */
  isBehindShuffle(operator: string): boolean {
    return this.graph.edges.some(
      (edge) =>
        edge.to === operator && (edge.kind === 'shuffle' || this.isBehindShuffle(edge.from)),
    );
  }

  connectorOf(operator: string): ConnectorSpec {
    const found = must(
      this.graph.operators.find((candidate) => candidate.id === operator),
      `operator ${operator}`,
    );
    assert(
      found.spec.tag === 'sink' || found.spec.tag === 'source',
      `${operator} has no connector`,
    );
    return found.spec.connector;
  }

  channelOf(edge: string, from: number): InputChannel | undefined {
    return this.channels.find((channel) => channel.edge === edge && channel.from === from);
  }

  outputOf(edge: string, to: number): OutputChannel | undefined {
    return this.remoteOutputs.find((channel) => channel.edge === edge && channel.to === to);
  }

  /** Nothing queued on this host, no function asked and nothing under way to another. */
  get quiet(): boolean {
    return (
      this.channels.every((channel) => channel.empty) &&
      this.stages.every((stage) => !stage.calling && !stage.unfinished) &&
      this.remoteOutputs.every((channel) => channel.drained)
    );
  }
}

/**
 * @param incarnation of this host: part of the names its sinks write
 * @param openEpoch   number the first data checkpoint will have, unless epochs are skipped
 */
export function buildSubtasks(
  spec: GenerationSpec,
  index: number,
  incarnation: string,
  openEpoch: number,
  port: SubtaskPort,
): Subtasks {
  const { graph } = spec;
  const operators = new Map(graph.operators.map((operator) => [operator.id, operator]));
  const stages = stagesOf(graph, spec.parallelism);
  const parallelism = parallelismByOperator(stages, operators, spec.parallelism);
  const mine = stages.filter(
    (stage) =>
      index <
      must(parallelism.get(must(stage.operators[0], 'operator of the stage')), 'parallelism'),
  );
  const nodes = new Map<string, Node>();
  for (const stage of mine) {
    for (const id of stage.operators) {
      const operator = must(operators.get(id), `operator ${id}`);
      nodes.set(
        id,
        makeNode(
          operator,
          graph,
          spec,
          index,
          must(parallelism.get(id), 'parallelism'),
          incarnation,
          openEpoch,
          port,
        ),
      );
    }
  }
  const inputs = new Map<string, StageInput[]>();
  const silent = (operator: string, sender: number): boolean =>
    readsNothing(operator, sender, spec, operators, parallelism);
  for (const stage of mine)
    inputs.set(String(stage.index), stageInputs(stage, nodes, operators, parallelism, silent));
  const channels = [...inputs.values()].flat().map((input) => input.channel);
  const runtimes = mine.map((stage) => {
    const own = stage.operators.map((id) => must(nodes.get(id), `node ${id}`));
    const shuffles = stage.outputs.map((edge) =>
      shuffleEdge(edge, index, operators, parallelism, channels),
    );
    wire(stage, graph, nodes, shuffles);
    const sources = own.flatMap((node) => (node.body instanceof SourceNode ? [node.body] : []));
    return new StageRuntime(
      stage,
      own,
      sources,
      must(inputs.get(String(stage.index)), 'inputs'),
      shuffles,
    );
  });
  return new Subtasks(graph, runtimes, parallelism);
}

/** A stage with a pinned operator has one subtask. */
function parallelismByOperator(
  stages: readonly Stage[],
  operators: ReadonlyMap<string, GraphOperator>,
  parallelism: number,
): Map<string, number> {
  const result = new Map<string, number>();
  for (const stage of stages) {
    const pinned = stage.operators.some((id) => operators.get(id)?.parallelism === 1);
    for (const id of stage.operators) result.set(id, pinned ? 1 : parallelism);
  }
  return result;
}

function makeNode(
  operator: GraphOperator,
  graph: PhysicalGraph,
  spec: GenerationSpec,
  subtask: number,
  parallelism: number,
  incarnation: string,
  openEpoch: number,
  port: SubtaskPort,
): Node {
  const ports = Math.max(1, graph.edges.filter((edge) => edge.to === operator.id).length);
  const { spec: what } = operator;
  if (what.tag === 'source') {
    const pace = new Pace(spec.settings.batchRows);
    const source = openSource(what, spec, subtask, parallelism, pace);
    const body = new SourceNode(operator.id, what, source, port, pace);
    const node = new Node(operator, body, ports, port.problems);
    body.attach(node);
    return node;
  }
  if (what.tag === 'sink') {
    const sink = makeSink(what.connector.connector, {
      table: what.table,
      options: what.connector.options,
      format: what.format,
      schema: operator.schema,
      updating: what.updating,
      keyColumns: what.keyColumns,
      subtask,
      parallelism,
      writerId: incarnation,
      pipelineId: spec.pipelineId,
    });
    return new Node(
      operator,
      new SinkNode(operator.id, subtask, sink, openEpoch, port),
      ports,
      port.problems,
    );
  }
  const made = makeOperator(operator, graph);
  if (made instanceof UserFunctions) {
    const body = new CallingBody(operator.id, made, port);
    const node = new Node(operator, body, ports, port.problems);
    body.attach(node);
    return node;
  }
  return new Node(operator, new OperatorBody(made), ports, port.problems);
}

function stageInputs(
  stage: Stage,
  nodes: ReadonlyMap<string, Node>,
  operators: ReadonlyMap<string, GraphOperator>,
  parallelism: ReadonlyMap<string, number>,
  silent: (operator: string, sender: number) => boolean,
): StageInput[] {
  return stage.inputs.flatMap((edge) => {
    const from = must(operators.get(edge.from), `operator ${edge.from}`);
    const senders = must(parallelism.get(edge.from), 'parallelism');
    const merge = new WatermarkMerge(senders);
    return Array.from({ length: senders }, (_, sender) => {
      const channel = new InputChannel(edge.id, sender, edge.port);
      if (silent(edge.from, sender)) merge.set(sender, 'idle');
      const node = must(nodes.get(edge.to), `node ${edge.to}`);
      const pace = new Pace(LIMITS.batchRowsMax);
      return { channel, node, schema: from.schema, merge, place: sender, pace };
    });
  });
}

/**
 * Whether subtask `sender` of the operator can never get a row, because all its sources have their
 * partitions elsewhere. Its channels hold nobody back from the start: were that left to the sender's first
 * message, what counts as late would depend on how soon that arrives.
 */
function readsNothing(
  operator: string,
  sender: number,
  spec: GenerationSpec,
  operators: ReadonlyMap<string, GraphOperator>,
  parallelism: ReadonlyMap<string, number>,
): boolean {
  const { spec: what } = must(operators.get(operator), `operator ${operator}`);
  if (what.tag === 'source') {
    return (
      openSource(
        what,
        spec,
        sender,
        must(parallelism.get(operator), 'parallelism'),
        new Pace(spec.settings.batchRows),
      ).partitions.length === 0
    );
  }
  return spec.graph.edges
    .filter((edge) => edge.to === operator)
    .every(
      (edge) =>
        edge.kind === 'forward' && readsNothing(edge.from, sender, spec, operators, parallelism),
    );
}

const openSource = (
  source: SourceSpec,
  spec: GenerationSpec,
  subtask: number,
  parallelism: number,
  pace: Pace,
): Source =>
  makeSource({
    spec: source,
    subtask,
    parallelism,
    get batchRows() {
      return pace.rows;
    },
    pipelineCreatedMs: spec.pipelineCreatedMs,
  });

function shuffleEdge(
  edge: GraphEdge,
  index: number,
  operators: ReadonlyMap<string, GraphOperator>,
  parallelism: ReadonlyMap<string, number>,
  channels: readonly InputChannel[],
): ShuffleEdge {
  const receivers = must(parallelism.get(edge.to), 'parallelism');
  const schema = must(operators.get(edge.from), `operator ${edge.from}`).schema;
  const combiner =
    receivers === 1
      ? null
      : combinerFor(must(operators.get(edge.to), `operator ${edge.to}`), schema);
  const destinations = Array.from({ length: receivers }, (_, to): Destination => {
    if (to !== index)
      return { tag: 'remote', channel: new OutputChannel(edge.id, to, schema, combiner?.schema) };
    const channel = channels.find(
      (candidate) => candidate.edge === edge.id && candidate.from === index,
    );
    return { tag: 'local', channel: must(channel, `local channel of ${edge.id}`) };
  });
  return new ShuffleEdge(edge, destinations, combiner);
}

/** Connects the nodes of a stage by its forward edges, and its ends to the shuffle edges. */
function wire(
  stage: Stage,
  graph: PhysicalGraph,
  nodes: ReadonlyMap<string, Node>,
  shuffles: readonly ShuffleEdge[],
): void {
  const inside = new Set(stage.operators);
  const leaving = new Set(stage.outputs.map((edge) => edge.id));
  for (const edge of graph.edges) {
    if (!inside.has(edge.from) || leaving.has(edge.id)) continue;
    must(nodes.get(edge.from), `node ${edge.from}`).downstream.push({
      node: must(nodes.get(edge.to), `node ${edge.to}`),
      port: edge.port,
    });
  }
  for (const shuffle of shuffles)
    must(nodes.get(shuffle.edge.from), `node ${shuffle.edge.from}`).shuffles.push(shuffle);
}
