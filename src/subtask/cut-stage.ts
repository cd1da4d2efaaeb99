/**
 * The snapshot of one stage at an aligned barrier: encoded state tables, small state that all
 * subtasks see on restore, what was read, and how far logs were read.
 *
 * Broadcast tables: `offsets` (sources: next row per partition), `partitions` (sources: watermark per
 * partition), `watermark` (every node), `counters` (every node). Only `offsets` outlives a restart
 * without state.
 */
import type { BarrierId } from '../checkpoint/barrier-aligner.ts';
import { keyRangeOf } from '../base/hash.ts';
import { contentHash } from '../lineage/content-hash.ts';
import type { BroadcastState, InputRange, JsonValue, StateFile } from '../lineage/types.ts';
import { encodeStateTable } from '../state/table-file.ts';
import type { LogPosition } from './checkpoint-task.ts';
import type { Node } from './node.ts';
import { OperatorBody } from './operator-body.ts';
import { SinkNode } from './sink-node.ts';
import { SourceNode } from './source-node.ts';
import type { StageRuntime } from './stage-runtime.ts';
import type { Subtasks } from './subtasks.ts';

/** A state file whose name the host has yet to give. */
export type CutFile = { file: Omit<StateFile, 'key'>; bytes: Uint8Array };

export type StageCut = {
  files: CutFile[];
  broadcast: BroadcastState[];
  inputs: InputRange[];
  positions: LogPosition[];
};

/** Flushes the stage's operators in dataflow order, then takes their state. */
export function cutStage(
  stage: StageRuntime,
  barrier: BarrierId,
  subtask: number,
  subtasks: Subtasks,
): StageCut {
  for (const node of stage.nodes) {
    if (node.body instanceof OperatorBody) node.body.operator.onBarrier(node);
  }
  const cut: StageCut = { files: [], broadcast: [], inputs: [], positions: [] };
  for (const node of stage.nodes)
    cutNode(node, barrier, subtask, subtasks.parallelismOf(node.operator.id), cut);
  return cut;
}

function cutNode(
  node: Node,
  barrier: BarrierId,
  subtask: number,
  parallelism: number,
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
    for (const table of body.operator.snapshot('whole')) {
      if (table.rows === 0) continue;
      const bytes = encodeStateTable(table);
      const keyRange = keyRangeOf(subtask, parallelism);
      cut.files.push({
        file: {
          operator,
          table: table.table,
          subtask,
          size: bytes.byteLength,
          hash: contentHash(bytes),
          rows: table.rows,
          keyRange,
        },
        bytes,
      });
    }
  }
}
