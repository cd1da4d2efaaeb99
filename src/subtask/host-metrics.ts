/** What a host tells its leader about itself: counters, watermarks, and the latest problems. */
import type { RowProblem } from '../operators/operator.ts';
import type { HostReport, JobError, OperatorMetrics } from '../protocol/messages.ts';
import type { Node, NodeBody } from './node.ts';
import { OperatorBody } from './operator-body.ts';
import { problemRecord } from './problem-record.ts';
import { SinkNode } from './sink-node.ts';
import { SourceNode } from './source-node.ts';
import type { Subtasks } from './subtasks.ts';

/** Problems of one heartbeat; more are counted but not shown. */
const PROBLEMS_MAX = 100;

/** What only some kinds of operators have to tell. */
function detailsOf(
  body: NodeBody,
): Pick<OperatorMetrics, 'partitions' | 'windows' | 'uncommittedRows'> {
  if (body instanceof SourceNode) return { partitions: body.partitionMetrics() };
  if (body instanceof SinkNode) return { uncommittedRows: body.uncommittedRows };
  if (!(body instanceof OperatorBody)) return {};
  const windows = body.operator.openWindows?.();
  return windows === undefined ? {} : { windows };
}

export class HostMetrics {
  #problems: JobError[] = [];
  #lastHeartbeatMs = -Infinity;

  note(
    node: Node,
    kind: 'error' | 'late',
    problems: readonly RowProblem[],
    subtask: number,
    nowMs: number,
    redact: boolean,
  ): void {
    for (const problem of problems) {
      if (this.#problems.length >= PROBLEMS_MAX) return;
      this.#problems.push(problemRecord(node.operator.id, subtask, kind, problem, nowMs, redact));
    }
  }

  /** The next heartbeat is due at once. */
  hasten(): void {
    this.#lastHeartbeatMs = -Infinity;
  }

  /** The heartbeat when it is due, else null. */
  heartbeat(
    subtasks: Subtasks,
    subtask: number,
    nowMs: number,
    intervalMs: number,
  ): HostReport | null {
    // A clock that is set back must not silence the host.
    if (Math.abs(nowMs - this.#lastHeartbeatMs) < intervalMs) return null;
    this.#lastHeartbeatMs = nowMs;
    const problems = this.#problems;
    this.#problems = [];
    return { tag: 'heartbeat', metrics: this.#metrics(subtasks, subtask), problems };
  }

  #metrics(subtasks: Subtasks, subtask: number): OperatorMetrics[] {
    const metrics: OperatorMetrics[] = [];
    for (const stage of subtasks.stages) {
      for (const node of stage.nodes) {
        const { body } = node;
        const inputs = stage.inputs.filter((input) => input.node === node);
        metrics.push({
          ...node.counters,
          operator: node.operator.id,
          subtask,
          watermark: node.watermark === Infinity ? 'end' : node.watermark,
          stateBytes:
            body instanceof OperatorBody
              ? body.operator.stateBytes()
              : body instanceof SinkNode
                ? body.sink.bufferedBytes()
                : 0,
          stateRows: body instanceof OperatorBody ? body.operator.stateRows() : 0,
          backpressure: Math.max(0, ...inputs.map((input) => input.channel.fill)),
          ...detailsOf(body),
        });
      }
    }
    return metrics;
  }
}
