/** What all parts of the simulated cluster share: time, chance, the bucket, logs and the list of facts. */
import type { Prng } from '../../../src/base/prng.ts';
import type { PhysicalGraph } from '../../../src/graph/graph.ts';
import type { Lineage, StoreOp } from '../../../src/lineage/store.ts';
import type { RuntimeSettings } from '../../../src/protocol/messages.ts';
import { ClusterBucket } from './bucket.ts';
import { VirtualClock } from './clock.ts';
import { Dice, type Faults } from './faults.ts';
import type { SimulatedLogs } from './logs.ts';
import { Network } from './network.ts';

export type ClusterOptions = {
  seed: number | string;
  graph: PhysicalGraph;
  parallelism: number;
  /** Contents of the objects that sources read, by path. */
  files: Record<string, string>;
  /** Logs of `http` tables. */
  logs?: SimulatedLogs;
  checkpointIntervalMs: number;
  settings?: Partial<RuntimeSettings>;
  /** Bytes one read of a file gives at most: small ones make a run long enough for faults to hit it. */
  readBytesMax?: number;
  /** Longest delay of a message, in milliseconds. */
  delayMaxMs?: number;
  faults?: Faults;
  /** How often controllers look at what is due without being nudged. */
  pollMs?: number;
};

export class World {
  readonly clock = new VirtualClock();
  readonly prng: Prng;
  readonly dice: Dice;
  readonly network = new Network(this.clock);
  readonly bucket: ClusterBucket;
  readonly options: ClusterOptions;
  /** One line a fact; equal seeds give equal traces. */
  readonly trace: string[] = [];
  #unique = 0;

  constructor(options: ClusterOptions, prng: Prng) {
    this.options = options;
    this.prng = prng;
    this.dice = new Dice(prng, options.faults ?? {});
    this.bucket = new ClusterBucket(this.clock, this.dice);
  }

  unique(): number {
    return this.#unique++;
  }

  say(fact: string): void {
    this.trace.push(`${this.clock.nowMs - this.clock.startedMs} ${fact}`);
  }

  /** Does something after a drawn delay, unless its owner has crashed by then. */
  later(run: () => void, owner: { alive: boolean } | null, afterMs = 0): void {
    const delayMs = afterMs + this.prng.below((this.options.delayMaxMs ?? 20) + 1);
    this.clock.at(this.clock.nowMs + delayMs, () => {
      if (owner === null || owner.alive) run();
    });
  }

  /** One store operation after the other, each sent and answered with a delay of its own, while `owner` lives. */
  drive<T>(
    workflow: Lineage<T>,
    owner: { alive: boolean } | null,
    finish: (outcome: T) => void,
  ): void {
    const advance = (next: IteratorResult<StoreOp, T>): void => {
      if (next.done === true) return finish(next.value);
      const op = next.value;
      this.later(
        () => {
          const answer = this.bucket.answer(op);
          this.later(() => advance(workflow.next(answer)), owner);
        },
        null,
        op.op === 'pause' ? op.ms : 0,
      );
    };
    advance(workflow.next());
  }
}
