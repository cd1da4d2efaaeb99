/**
 * How many rows a stage takes before others have their turn.
 *
 * A row may make many: it meets all rows of its key, or is a list of a hundred thousand elements. Taken by the batch, such rows
 * would hold the host for minutes, in which nothing is answered, no barrier passes and no memory is given back. So what rows
 * have made lately says how many are taken next.
 *
 * Invariant: at least one row is taken; what one row makes is bounded by the state that it meets and by the length of lists.
 */
import { LIMITS } from '../base/limits.ts';
import type { Node } from './node.ts';
import { SinkNode } from './sink-node.ts';
import { OperatorBody } from './operator-body.ts';

/** Work of a stage, in parts of a unit: rows and bytes that its nodes made, the busiest of them. */
export class WorkMeter {
  readonly #nodes: readonly Node[];
  readonly #efforts: readonly (() => number)[];
  readonly #rows: Float64Array;
  readonly #bytes: Float64Array;

  constructor(nodes: readonly Node[]) {
    this.#nodes = nodes;
    this.#efforts = nodes.map(({ body }) => {
      if (body instanceof SinkNode) return () => body.effort();
      return body instanceof OperatorBody ? () => body.operator.effort?.() ?? 0 : () => 0;
    });
    this.#rows = new Float64Array(nodes.length);
    this.#bytes = new Float64Array(nodes.length);
    this.take();
  }

  /** Units of work since the last call. */
  take(): number {
    let units = 0;
    for (let at = 0; at < this.#nodes.length; at++) {
      const { rowsOut, bytesOut } = (this.#nodes[at] as Node).counters;
      const rows = rowsOut + (this.#efforts[at] as () => number)();
      units = Math.max(
        units,
        (rows - (this.#rows[at] as number)) / LIMITS.unitRowsMax,
        (bytesOut - (this.#bytes[at] as number)) / LIMITS.unitBytesMax,
      );
      this.#rows[at] = rows;
      this.#bytes[at] = bytesOut;
    }
    return units;
  }
}

export class Pace {
  readonly #most: number;
  #rows: number;

  constructor(most: number) {
    this.#most = most;
    this.#rows = most;
  }

  /** Rows to take next, at most. */
  get rows(): number {
    return this.#rows;
  }

  /** So many rows were so much work: a unit is what should not be exceeded. */
  note(taken: number, units: number): void {
    if (taken === 0) return;
    this.#rows =
      units > 1
        ? Math.max(1, Math.floor(Math.min(taken, this.#rows) / units))
        : Math.min(this.#most, units > 0.5 ? this.#rows : this.#rows * 2);
  }
}
