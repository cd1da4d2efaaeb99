/**
 * Brings the state of a checkpoint back into freshly built subtasks, whatever parallelism it was
 * written at: a subtask reads every file whose key range meets its own, keeps the rows it owns, and lays the layers of
 * each table over each other.
 *
 * Failure: a file that is not what the manifest says (size, hash) breaks the lineage: LINEAGE_BROKEN,
 * never an older or an empty state.
 */
import { must } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { keyRangeOf } from '../base/hash.ts';
import { contentHash } from '../lineage/content-hash.ts';
import type { BroadcastState, CheckpointManifest, JsonValue, StateFile } from '../lineage/types.ts';
import type { OperatorCounters } from '../protocol/messages.ts';
import { type LayerPart, mergeLayers } from '../state/merge-layers.ts';
import type { StateTable } from '../state/state-table.ts';
import { decodeStateTable } from '../state/table-file.ts';
import type { Node } from './node.ts';
import { OperatorBody } from './operator-body.ts';
import { SourceNode } from './source-node.ts';
import type { Subtasks } from './subtasks.ts';

export class RestoreTask {
  readonly #manifest: CheckpointManifest | null;
  readonly #subtasks: Subtasks;
  readonly #index: number;
  readonly #files = new Map<string, StateFile>();
  readonly #requests = new Map<number, StateFile>();
  /** By operator; then by table and former subtask. */
  readonly #parts = new Map<string, Map<string, LayerPart[]>>();
  #open = 0;

  constructor(manifest: CheckpointManifest | null, subtasks: Subtasks, index: number) {
    this.#manifest = manifest;
    this.#subtasks = subtasks;
    this.#index = index;
    for (const file of manifest?.files ?? []) {
      const node = subtasks.nodes.get(file.operator);
      if (node === undefined) continue;
      const own = keyRangeOf(index, subtasks.parallelismOf(file.operator));
      if (file.keyRange.lower < own.upper && own.lower < file.keyRange.upper)
        this.#files.set(file.key, file);
    }
    this.#open = this.#files.size;
  }

  get keys(): string[] {
    return [...this.#files.keys()];
  }

  get complete(): boolean {
    return this.#open === 0;
  }

  requested(requestId: number, key: string): void {
    this.#requests.set(requestId, must(this.#files.get(key), 'state file'));
  }

  onFile(requestId: number, bytes: Uint8Array): void {
    const file = must(this.#requests.get(requestId), 'requested state file');
    if (bytes.byteLength !== file.size || contentHash(bytes) !== file.hash) {
      throw new EngineError(
        'LINEAGE_BROKEN',
        `state file ${file.key} is not the one that was written`,
        {
          hint: 'restore the object from a backup, or restart the pipeline without state',
        },
      );
    }
    const own = keyRangeOf(this.#index, this.#subtasks.parallelismOf(file.operator));
    const table = decodeStateTable(bytes, own);
    const parts = this.#parts.get(file.operator) ?? new Map<string, LayerPart[]>();
    this.#parts.set(file.operator, parts);
    const chain = `${file.subtask}/${file.table}`;
    parts.set(chain, [...(parts.get(chain) ?? []), { layer: file.layer ?? 0, table }]);
    this.#open--;
  }

  #tablesOf(operator: string): StateTable[] {
    const chains = [...(this.#parts.get(operator)?.values() ?? [])];
    this.#parts.delete(operator);
    return chains.map(mergeLayers).filter((table) => table.rows > 0);
  }

  /** Hands everything to the operators; called once, when complete. */
  apply(): void {
    for (const node of this.#subtasks.nodes.values()) {
      const { body } = node;
      const watermark = this.#watermarkOf(node);
      if (watermark !== null && !(body instanceof SourceNode)) node.restoreWatermark(watermark);
      if (body instanceof OperatorBody) body.operator.restore(this.#tablesOf(node.operator.id));
      if (body instanceof SourceNode)
        body.restore(this.#merged(node, 'offsets'), this.#merged(node, 'partitions'));
      this.#restoreCounters(node);
    }
  }

  /** Entries of all former subtasks in one map: they are keyed by partition, so none collides. */
  #merged(node: Node, table: string): Record<string, JsonValue> {
    const merged: Record<string, JsonValue> = {};
    for (const { value } of this.#entries(node, table)) Object.assign(merged, value);
    return merged;
  }

  /** Counters of former subtask i go to the new subtask i modulo the parallelism: their sum is kept. */
  #restoreCounters(node: Node): void {
    const parallelism = this.#subtasks.parallelismOf(node.operator.id);
    for (const { subtask, value } of this.#entries(node, 'counters')) {
      if (subtask % parallelism !== this.#index) continue;
      for (const [name, count] of Object.entries(value as Record<keyof OperatorCounters, number>)) {
        node.counters[name as keyof OperatorCounters] += count;
      }
    }
  }

  /**
   * The watermark the subtask itself had, when it is the same one. Else, behind a shuffle, the highest of any former
   * subtask: they had heard the same, but idle inputs in another order, and what one of them has closed stays closed.
   * Ahead of it, the lowest: each had its own partitions, and one that had not reported yet has none.
   */
  #watermarkOf(node: Node): number | null {
    const operator = node.operator.id;
    const former = this.#entries(node, 'counters').length;
    const entries = this.#entries(node, 'watermark').map(({ subtask, value }) => ({
      subtask,
      watermark: value === 'end' ? Infinity : (value as number),
    }));
    if (former === this.#subtasks.parallelismOf(operator))
      return entries.find(({ subtask }) => subtask === this.#index)?.watermark ?? null;
    const watermarks = entries.map(({ watermark }) => watermark);
    if (watermarks.length === 0) return null;
    if (this.#subtasks.isBehindShuffle(operator)) return Math.max(...watermarks);
    return watermarks.length < former ? null : Math.min(...watermarks);
  }

  #entries(node: Node, table: string): BroadcastState[] {
    return (this.#manifest?.broadcast ?? []).filter(
      (entry) => entry.operator === node.operator.id && entry.table === table,
    );
  }
}
