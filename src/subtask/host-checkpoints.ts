/**
 * The checkpoints of one host: from the barrier over the cuts of its stages and their uploads to the
 * report, and on to what a settled checkpoint lets go.
 *
 * Place in the walk: stage 7. Invariants: INV-45 a checkpoint is reported only when every state file and
 * every staged sink object it names has been stored, and the sinks have found theirs (pre-commit); a higher barrier
 * supersedes the one under way. So what is missing fails the attempt, and never an epoch that was claimed.
 */
import { must } from '../base/assert.ts';
import { type BarrierId, isHigher } from '../checkpoint/barrier-aligner.ts';
import { contentHash } from '../lineage/content-hash.ts';
import { LineagePaths } from '../lineage/paths.ts';
import type { SinkItem } from '../lineage/types.ts';
import type { GenerationSpec, HostReport } from '../protocol/messages.ts';
import { encodeStateTable } from '../state/table-file.ts';
import { CheckpointTask, type LogPosition } from './checkpoint-task.ts';
import { cutStage } from './cut-stage.ts';
import type { StageRuntime } from './stage-runtime.ts';
import { type LayerPolicy, StateLayers } from './state-layers.ts';
import type { Subtasks } from './subtasks.ts';

export type CheckpointPort = {
  spec: GenerationSpec;
  index: number;
  incarnation: string;
  /** Nonce of the leader the host follows now: part of the names of state files. */
  leader(): string;
  /** Stores a state file; the answer comes as `answered` with the id returned. */
  upload(key: (requestId: number) => string, bytes: Uint8Array): { requestId: number; key: string };
  /** Looks whether what a sink has staged is there; the answer comes as `answered` with the id returned. */
  preCommit(sink: string, epoch: number, items: SinkItem[]): number;
};

export class HostCheckpoints {
  readonly #subtasks: Subtasks;
  readonly #port: CheckpointPort;
  readonly #layers: StateLayers;
  #task: CheckpointTask | null = null;
  /** Reported and not yet settled. */
  #reported: CheckpointTask[] = [];

  constructor(subtasks: Subtasks, port: CheckpointPort, policy: LayerPolicy) {
    this.#subtasks = subtasks;
    this.#port = port;
    this.#layers = new StateLayers(subtasks, port.index, policy);
  }

  /** The leader began `barrier`: cuts every stage that needs to wait for nothing; whether there was one. */
  begin(barrier: BarrierId, nowMs: number): boolean {
    if (!this.#open(barrier, nowMs)) return false;
    const aligned = this.#subtasks.stages.filter((stage) => stage.announce(barrier));
    for (const stage of aligned) this.cut(stage, nowMs);
    return aligned.length > 0;
  }

  /** Takes the snapshot of a stage whose inputs are aligned and lets it go on. */
  cut(stage: StageRuntime, nowMs: number): void {
    const barrier = must(stage.aligning, 'barrier under alignment');
    const wanted = this.#open(barrier, nowMs);
    const cut = cutStage(stage, barrier, this.#port.index, this.#layers);
    stage.finishBarrier();
    const task = this.#task;
    if (!wanted || task === null) return;
    task.broadcast.push(...cut.broadcast);
    task.inputs.push(...cut.inputs);
    task.positions.push(...cut.positions);
    task.stageCut(stage.stage.index, nowMs);
  }

  /** Turns one part of the state that was cut into a file on its way; false when none waits. */
  encodeNext(): boolean {
    const task = this.#task;
    const part = this.#layers.next();
    if (part === null || task === null) return false;
    const { spec, index, incarnation } = this.#port;
    const paths = new LineagePaths(spec.pipelineId, spec.jobId);
    const { epoch, attempt } = task.barrier;
    const bytes = encodeStateTable(part.table);
    const { requestId, key } = this.#port.upload(
      (id) =>
        paths.file(
          spec.generation,
          this.#port.leader(),
          epoch,
          part.operator,
          part.table.table,
          index,
          `${incarnation}-${attempt}-${id}`,
        ),
      bytes,
    );
    task.awaiting(requestId);
    this.#layers.stored(part, { key, size: bytes.byteLength, hash: contentHash(bytes) });
    return true;
  }

  answered(requestId: number): void {
    this.#task?.answered(requestId);
  }

  cutTook(ms: number): void {
    if (this.#task !== null) this.#task.snapshotMs += ms;
  }

  /** The report of the checkpoint under way, once everything it names is stored; null before and after. */
  report(drained: boolean, nowMs: number): HostReport | null {
    const task = this.#task;
    if (task === null || task.reported || !task.complete || this.#layers.waiting) return null;
    const { sinks } = this.#subtasks;
    if (!sinks.every((sink) => sink.ready(task.barrier))) return null;
    if (!task.preCommitted) {
      task.preCommitted = true;
      for (const sink of sinks) {
        const items = sink.items(task.barrier);
        if (items.length > 0)
          task.awaiting(this.#port.preCommit(sink.operator, task.barrier.epoch, items));
      }
      if (!task.complete) return null;
    }
    task.reported = true;
    this.#reported.push(task);
    const cutMs = task.cutMs ?? nowMs;
    return {
      tag: 'checkpointed',
      ...task.barrier,
      files: this.#layers.files(),
      broadcast: task.broadcast,
      inputs: task.inputs,
      items: sinks.flatMap((sink) => sink.items(task.barrier)),
      drained,
      alignMs: cutMs - task.startedMs,
      snapshotMs: task.snapshotMs,
      uploadMs: nowMs - cutMs,
    };
  }

  /** Forgets what the settled checkpoint held; its log positions, which will not be read before again. */
  settle(barrier: BarrierId): LogPosition[] {
    this.#layers.settle(barrier);
    for (const sink of this.#subtasks.sinks) sink.settle(barrier);
    for (const source of this.#subtasks.sources.values()) source.settle(barrier);
    const settled = this.#reported.filter(
      (task) => task.barrier.epoch === barrier.epoch && task.barrier.attempt === barrier.attempt,
    );
    this.#reported = this.#reported.filter((task) => task.barrier.epoch > barrier.epoch);
    return settled.flatMap((task) => task.positions);
  }

  /** Opens the task of `barrier`; false when a higher one is known or this one is done. */
  #open(barrier: BarrierId, nowMs: number): boolean {
    const current = this.#task;
    if (current !== null && isHigher(current.barrier, barrier)) return false;
    if (current !== null && !isHigher(barrier, current.barrier)) return !current.reported;
    const stages = this.#subtasks.stages.map((stage) => stage.stage.index);
    this.#task = new CheckpointTask(barrier, nowMs, stages);
    return true;
  }
}
