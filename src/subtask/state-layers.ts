/**
 * The state files of one host across its checkpoints: which layers a table consists of, and what has yet to be encoded.
 *
 * Place in the walk: stage 7. An operator's first snapshot is whole; later ones hold what changed, as long as the one
 * before has been settled, for only then do the files it stands on belong to the canonical checkpoint before. A chain
 * whose changes outweigh what they change, or that grows long, begins anew: that is the compaction.
 *
 *     cut ──tables──▶ queue ──next part, between batches──▶ file of the newest layer
 *
 * Invariants: INV-71 the files of a table are layers 0..n without gap, each confirmed by the report that names them;
 * INV-72 a layer of changes follows only a settled snapshot of the same incarnation. Failure: none.
 */
import { keyRangeOf } from '../base/hash.ts';
import { LIMITS } from '../base/limits.ts';
import { type BarrierId, sameBarrier } from '../checkpoint/barrier-aligner.ts';
import type { StateFile } from '../lineage/types.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import { partsOf } from '../state/table-parts.ts';
import type { Subtasks } from './subtasks.ts';

/** When a chain goes on and when it begins anew. */
export type LayerPolicy = {
  /** Tables smaller than this are always written whole: a further file costs more than it saves. */
  wholeBytesMin: number;
  layersMax: number;
  partBytesMax: number;
};

export const LAYER_POLICY: LayerPolicy = {
  wholeBytesMin: LIMITS.stateLayerBytesMin,
  layersMax: LIMITS.stateLayersMax,
  partBytesMax: LIMITS.statePartBytesMax,
};

/** A part of a table that waits to be encoded. */
export type PendingPart = { operator: string; layer: number; table: StateTable };

type Chain = { layer: number; files: StateFile[] };

export class StateLayers {
  readonly #subtasks: Subtasks;
  readonly #subtask: number;
  readonly #policy: LayerPolicy;
  /** By operator and table. */
  readonly #chains = new Map<string, Map<string, Chain>>();
  readonly #lastCut = new Map<string, BarrierId>();
  #settled: BarrierId | null = null;
  #queue: PendingPart[] = [];

  constructor(subtasks: Subtasks, subtask: number, policy: LayerPolicy) {
    this.#subtasks = subtasks;
    this.#subtask = subtask;
    this.#policy = policy;
  }

  /** What the operator is to be asked for at the next cut. */
  kindFor(operator: string, keepsChanges: boolean): SnapshotKind {
    const last = this.#lastCut.get(operator);
    if (!keepsChanges || last === undefined || this.#settled === null) return 'whole';
    if (!sameBarrier(last, this.#settled)) return 'whole';
    const chains = [...(this.#chains.get(operator)?.values() ?? [])];
    return this.#mayGrow(chains) ? 'changes' : 'whole';
  }

  /** All tables of an operator are asked for alike, so that a small one beside a large one does not make it whole. */
  #mayGrow(chains: readonly Chain[]): boolean {
    let whole = 0;
    let changes = 0;
    for (const { files } of chains) {
      for (const file of files) {
        if (file.layer === 0) whole += file.size;
        else changes += file.size;
      }
    }
    const { wholeBytesMin, layersMax } = this.#policy;
    const isShallow = chains.every(({ layer }) => layer + 1 < layersMax);
    return whole >= wholeBytesMin && isShallow && changes <= whole;
  }

  /** Takes over a snapshot. Parts that still waited belonged to a checkpoint that has been given up. */
  cut(
    operator: string,
    barrier: BarrierId,
    kind: SnapshotKind,
    tables: readonly StateTable[],
  ): void {
    const last = this.#lastCut.get(operator);
    if (last !== undefined) this.#queue = this.#queue.filter((part) => part.operator !== operator);
    this.#lastCut.set(operator, barrier);
    let chains = this.#chains.get(operator);
    if (chains === undefined || kind === 'whole') {
      chains = new Map();
      this.#chains.set(operator, chains);
    }
    for (const table of tables) {
      if (isEmpty(table)) {
        if (table.changes === null) chains.delete(table.table);
        continue;
      }
      const before = chains.get(table.table);
      const chain: Chain =
        table.changes === null || before === undefined
          ? { layer: 0, files: [] }
          : { layer: before.layer + 1, files: before.files };
      chains.set(table.table, chain);
      for (const part of partsOf(table, this.#policy.partBytesMax))
        this.#queue.push({ operator, layer: chain.layer, table: part });
    }
  }

  /** The next part to encode; null when there is none. */
  next(): PendingPart | null {
    return this.#queue.shift() ?? null;
  }

  get waiting(): boolean {
    return this.#queue.length > 0;
  }

  /** A part has become a file, which is on its way to the store. */
  stored(part: PendingPart, file: Pick<StateFile, 'key' | 'size' | 'hash'>): void {
    const { operator, layer, table } = part;
    this.#chains
      .get(operator)
      ?.get(table.table)
      ?.files.push({
        operator,
        table: table.table,
        subtask: this.#subtask,
        key: file.key,
        size: file.size,
        hash: file.hash,
        rows: table.rows,
        keyRange: keyRangeOf(this.#subtask, this.#subtasks.parallelismOf(operator)),
        layer,
      });
  }

  /** Every file that the state consists of as of the last cuts. */
  files(): StateFile[] {
    return [...this.#chains.values()].flatMap((chains) =>
      [...chains.values()].flatMap((chain) => chain.files),
    );
  }

  settle(barrier: BarrierId): void {
    this.#settled = barrier;
  }
}

function isEmpty({ rows, changes }: StateTable): boolean {
  return (
    rows === 0 && (changes === null || (changes.removed === null && changes.droppedBelow === null))
  );
}
