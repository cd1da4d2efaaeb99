/**
 * The snapshot of one stage at an aligned barrier: state tables, small state that all subtasks see on
 * restore, what was read, and how far logs were read. Tables are only copied here; they are encoded while rows flow again.
 *
 * Broadcast tables: `offsets` (sources: next row per partition), `partitions` (sources: watermark per
 * partition), `watermark` (every node), `counters` (every node). Only `offsets` outlives a restart
 * without state.
 */
import type { BarrierId } from '../checkpoint/barrier-aligner.ts';
import type { BroadcastState, InputRange, JsonValue } from '../lineage/types.ts';
import type { LogPosition } from './checkpoint-task.ts';
import type { Node } from './node.ts';
import { OperatorBody } from './operator-body.ts';
import { SinkNode } from './sink-node.ts';
import { SourceNode } from './source-node.ts';
import type { StageRuntime } from './stage-runtime.ts';
import type { StateLayers } from './state-layers.ts';

export type StageCut = {
  broadcast: BroadcastState[];
  inputs: InputRange[];
  positions: LogPosition[];
};

/** Flushes the stage's operators in dataflow order, then takes their state. */
export function cutStage(
  stage: StageRuntime,
  barrier: BarrierId,
  subtask: number,
  layers: StateLayers,
): StageCut {
  for (const node of stage.nodes) {
    if (node.body instanceof OperatorBody) node.body.operator.onBarrier(node);
  }
  const cut: StageCut = { broadcast: [], inputs: [], positions: [] };
  for (const node of stage.nodes) cutNode(node, barrier, subtask, layers, cut);
  return cut;
}

function cutNode(
  node: Node,
  barrier: BarrierId,
  subtask: number,
  layers: StateLayers,
  cut: StageCut,
): void {
  const operator = node.operator.id;
  const broadcast = (table: string, value: JsonValue): void => {
    cut.broadcast.push({ operator, table, subtask, value });
  };
  broadcast('counters', { ...node.counters });
  if (node.watermark !== null)
    broadcast('watermark', node.watermark === Infinity ? 'end' : node.watermark);
  const { body } = node;
  if (body instanceof SinkNode) body.snapshot(barrier);
  if (body instanceof SourceNode) {
    broadcast('offsets', body.offsets());
    cut.inputs.push(...body.cutInputs(barrier));
    broadcast('partitions', body.partitionState());
    cut.positions.push(...body.positions());
  }
  if (body instanceof OperatorBody) {
    const kind = layers.kindFor(operator, body.operator.keepsChanges === true);
    layers.cut(operator, barrier, kind, body.operator.snapshot(kind));
  }
}
