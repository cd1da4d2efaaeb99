/**
 * One checkpoint of one host while it is made: which stages have been cut, which files are still on
 * their way, what will be reported.
 *
 * State is copied at the cut, encoded and uploaded while processing goes on. A task that is superseded by a
 * higher barrier is dropped; late uploads of it are ignored, their files are garbage for the lineage's collector.
 */
import type { BarrierId } from '../checkpoint/barrier-aligner.ts';
import type { BroadcastState, InputRange } from '../lineage/types.ts';

/** How far an http table has been read at the cut: rows before `offset` are in the state. */
export type LogPosition = { table: string; partition: number; offset: number };

export class CheckpointTask {
  readonly barrier: BarrierId;
  readonly startedMs: number;
  readonly broadcast: BroadcastState[] = [];
  readonly inputs: InputRange[] = [];
  readonly positions: LogPosition[] = [];
  readonly #stages: Set<number>;
  readonly #requests = new Set<number>();
  cutMs: number | null = null;
  /** How long processing stood still for the cuts, as far as the shell could measure it. */
  snapshotMs = 0;
  /** The sinks have been asked whether what they staged is there. */
  preCommitted = false;
  reported = false;

  constructor(barrier: BarrierId, startedMs: number, stages: Iterable<number>) {
    this.barrier = barrier;
    this.startedMs = startedMs;
    this.#stages = new Set(stages);
  }

  stageCut(stage: number, nowMs: number): void {
    this.#stages.delete(stage);
    if (this.#stages.size === 0) this.cutMs = nowMs;
  }

  /** The answer `requestId` must come before the report. */
  awaiting(requestId: number): void {
    this.#requests.add(requestId);
  }

  /** False when the request is not of this task. */
  answered(requestId: number): boolean {
    return this.#requests.delete(requestId);
  }

  /** Every stage is cut, and nothing that was asked for is still on its way. */
  get complete(): boolean {
    return this.#stages.size === 0 && this.#requests.size === 0;
  }
}
