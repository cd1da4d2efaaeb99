/**
 * What one source subtask has read and no canonical checkpoint has yet: ranges of its partitions, each with its rows and a
 * hash over its bytes.
 *
 * A range ends at every cut. Those of an attempt that was given up stay open and are named again by the next cut, as
 * staged output is (`sink-node.ts`), so that along the canonical line ranges have neither gap nor overlap, whatever
 * attempts, fences and rescales lie between. Only `settle` lets ranges go.
 */
import type { BarrierId } from '../checkpoint/barrier-aligner.ts';
import type { InputRange, JsonValue } from '../lineage/types.ts';
import { StreamHash } from '../lineage/stream-hash.ts';

type Offsets = Readonly<Record<string, JsonValue>>;

/** Since the last cut; `hash` is null as long as there were no bytes. */
type Tally = { rows: number; hash: StreamHash | null };

export class SourceInputs {
  readonly #operator: string;
  #from: Offsets = {};
  readonly #tallies = new Map<number, Tally>();
  #open: InputRange[] = [];
  #cuts: { barrier: BarrierId; ranges: readonly InputRange[] }[] = [];

  constructor(operator: string) {
    this.#operator = operator;
  }

  /** Sets where the next range of each partition begins: before the first row, and after a restore. */
  startAt(offsets: Offsets): void {
    this.#from = offsets;
  }

  /** Takes in bytes of the range that is open. */
  hashOf(partition: number): StreamHash {
    const tally = this.#tallyOf(partition);
    tally.hash ??= new StreamHash();
    return tally.hash;
  }

  #tallyOf(partition: number): Tally {
    let tally = this.#tallies.get(partition);
    if (tally === undefined) {
      tally = { rows: 0, hash: null };
      this.#tallies.set(partition, tally);
    }
    return tally;
  }

  /** `bytes`: those that the rows were decoded from, in the order of the partition; null when they were generated, or are in. */
  add(partition: number, rows: number, bytes: Uint8Array | null): void {
    this.#tallyOf(partition).rows += rows;
    if (bytes !== null) this.hashOf(partition).update(bytes);
  }

  #used(partition: number): Tally | undefined {
    const tally = this.#tallies.get(partition);
    if (tally === undefined || tally.hash === null || tally.hash.bytes > 0) return tally;
    // Nothing came to be hashed.
    return tally.rows === 0 ? undefined : { ...tally, hash: null };
  }

  /** Ends the ranges at `offsets`; gives every range that is still open. */
  cut(barrier: BarrierId, offsets: Offsets): readonly InputRange[] {
    for (const [name, to] of Object.entries(offsets)) {
      const from = this.#from[name] ?? to;
      const tally = this.#used(Number(name));
      if (tally === undefined && JSON.stringify(from) === JSON.stringify(to)) continue;
      this.#open.push({
        operator: this.#operator,
        partition: Number(name),
        from,
        to,
        rows: tally?.rows ?? 0,
        bytes: tally?.hash?.bytes ?? 0,
        hash: tally?.hash?.digest() ?? null,
      });
    }
    this.#tallies.clear();
    this.#from = offsets;
    const ranges = [...this.#open];
    this.#cuts.push({ barrier, ranges });
    return ranges;
  }

  /** The checkpoint `barrier` is canonical: its ranges are told. */
  settle(barrier: BarrierId): void {
    const settled = this.#cuts.find(
      (cut) => cut.barrier.epoch === barrier.epoch && cut.barrier.attempt === barrier.attempt,
    );
    if (settled === undefined) return;
    const gone = new Set(settled.ranges);
    this.#open = this.#open.filter((range) => !gone.has(range));
    this.#cuts = this.#cuts
      .filter((cut) => cut.barrier.epoch > barrier.epoch)
      .map((cut) => ({ ...cut, ranges: cut.ranges.filter((range) => !gone.has(range)) }));
  }
}
