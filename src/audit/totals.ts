/** Counters of operators in a checkpoint, summed over subtasks: they only grow along the line, but for resets. */
import type { CheckpointManifest, SinkItem } from '../lineage/types.ts';

export type Totals = ReadonlyMap<string, Readonly<Record<string, number>>>;

/** By operator; an operator of which nothing is known yet is missing. */
export function totalsOf(manifest: CheckpointManifest | null): Totals {
  const totals = new Map<string, Record<string, number>>();
  for (const { operator, table, value } of manifest?.broadcast ?? []) {
    if (table !== 'counters' || value === null || typeof value !== 'object') continue;
    const sums = totals.get(operator) ?? {};
    for (const [name, count] of Object.entries(value))
      if (typeof count === 'number') sums[name] = (sums[name] ?? 0) + count;
    totals.set(operator, sums);
  }
  return totals;
}

/** What was counted between the parent and this checkpoint; a fence that resets state has no counters, so its child counts from zero. */
export function deltasOf(parent: CheckpointManifest | null, manifest: CheckpointManifest): Totals {
  const before = totalsOf(parent);
  const deltas = new Map<string, Record<string, number>>();
  for (const [operator, sums] of totalsOf(manifest)) {
    const known = before.get(operator) ?? {};
    const entries = Object.entries(sums).map(([name, sum]) => [name, sum - (known[name] ?? 0)]);
    deltas.set(operator, Object.fromEntries(entries) as Record<string, number>);
  }
  return deltas;
}

/** A fence that dropped its parent's state: it has the parent's source offsets and nothing else. */
export function isReset(parent: CheckpointManifest | null, manifest: CheckpointManifest): boolean {
  if (manifest.kind !== 'fence' || parent === null) return false;
  return stateOf(parent) > 0 && stateOf(manifest) === 0;
}

const stateOf = ({ files, broadcast }: CheckpointManifest): number =>
  files.length + broadcast.filter(({ table }) => table !== 'offsets').length;

/** One staged piece of output as a sink item names it. */
export type OutputPiece = {
  sink: string;
  subtask: number;
  index: number;
  /** Where it was staged. */
  key: string;
  /** Where its rows are seen once committed: `key` itself, or the object that it is appended to. */
  target: string;
  rows: number;
  size: number;
  /** `contentHash`; null in checkpoints of versions that did not tell. */
  hash: string | null;
};

/** The pieces of a checkpoint's items; items whose payload is of another kind are none. */
export function piecesOf(items: readonly SinkItem[]): OutputPiece[] {
  return items.flatMap(({ sink, subtask, index, payload }) => {
    if (payload === null || typeof payload !== 'object' || Array.isArray(payload)) return [];
    const { key, uploadId, target, rows, size, hash } = payload;
    if (typeof key !== 'string' || typeof rows !== 'number' || typeof size !== 'number') return [];
    const seen = typeof target === 'string' ? target : typeof uploadId === 'string' ? key : null;
    if (seen === null) return [];
    const known = typeof hash === 'string' ? hash : null;
    return [{ sink, subtask, index, key, target: seen, rows, size, hash: known }];
  });
}
