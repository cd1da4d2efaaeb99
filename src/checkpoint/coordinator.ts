/**
 * Gathers the reports of all hosts on one attempt of one epoch, until the checkpoint is complete.
 *
 * Place in the walk: stage 7, the leader's half. The host's half is `barrier-aligner.ts`; what is complete goes to
 * `publishCheckpoint` as a draft.
 *
 * Invariants: a collection is complete only when every host has reported this very (epoch, attempt); a report counts once.
 * The draft depends on what was reported, not on the order in which it arrived. Whether a checkpoint is the last one is
 * decided when its barrier is sent, never from a report: a host may drain between its snapshot and its report.
 * Failure: none; reports of other attempts are answered `stale` and change nothing.
 */
import { assert, must } from '../base/assert.ts';
import type { CheckpointDraft } from '../lineage/publish.ts';
import type { SinkItem } from '../lineage/types.ts';
import type { CheckpointSummary, HostReport } from '../protocol/messages.ts';

export type Checkpointed = Extract<HostReport, { tag: 'checkpointed' }>;
export type CheckpointKind = CheckpointSummary['kind'];

/** One attempt in progress. `reports[i]` is host i's, with the time it arrived. */
export type Collection = {
  epoch: number;
  attempt: number;
  kind: CheckpointKind;
  startedMs: number;
  reports: readonly (null | { report: Checkpointed; atMs: number })[];
};

export type Acceptance =
  | { tag: 'stale' }
  | { tag: 'waiting'; collection: Collection }
  | { tag: 'complete'; collection: Collection };

/** Waits for `parallelism` hosts; `startedMs` is when the first attempt began. */
export function openCollection(
  epoch: number,
  attempt: number,
  kind: CheckpointKind,
  startedMs: number,
  parallelism: number,
): Collection {
  assert(parallelism > 0, 'somebody has to report');
  return {
    epoch,
    attempt,
    kind,
    startedMs,
    reports: Array.from({ length: parallelism }, () => null),
  };
}

/** The collection with this report, or `stale` for another attempt, an unknown host or a repeated report. */
export function acceptReport(
  collection: Collection,
  index: number,
  report: Checkpointed,
  nowMs: number,
): Acceptance {
  if (report.epoch !== collection.epoch || report.attempt !== collection.attempt)
    return { tag: 'stale' };
  if (collection.reports[index] !== null) return { tag: 'stale' };
  const reports = collection.reports.with(index, { report, atMs: nowMs });
  const accepted = { ...collection, reports };
  return reports.every((each) => each !== null)
    ? { tag: 'complete', collection: accepted }
    : { tag: 'waiting', collection: accepted };
}

/** What a complete collection publishes. */
export function draftOf(collection: Collection, planHash: string, nowMs: number): CheckpointDraft {
  const reports = collection.reports.map(
    (each) => must(each, 'report of a complete checkpoint').report,
  );
  const items = reports.flatMap((report) => report.items).toSorted(compareItems);
  return {
    epoch: collection.epoch,
    attempt: collection.attempt,
    planHash,
    parallelism: reports.length,
    files: reports.flatMap((report) => report.files),
    broadcast: reports.flatMap((report) => report.broadcast),
    inputs: reports.flatMap((report) => report.inputs),
    needsCommit: items.length > 0,
    items,
    finished: collection.kind === 'final',
    createdAtMs: nowMs,
  };
}

/** The order in which the items of one sink are committed: by subtask, then index. */
export function compareItems(left: SinkItem, right: SinkItem): number {
  if (left.sink !== right.sink) return left.sink < right.sink ? -1 : 1;
  return left.subtask - right.subtask || left.index - right.index;
}

/**
 * What people see of a collection, complete or not.
 *
 * `bytes` and `rows` are those of the state files; `alignedMs` is the last report's arrival once all are in.
 */
export function summaryOf(collection: Collection): CheckpointSummary {
  const summary: CheckpointSummary = {
    epoch: collection.epoch,
    attempt: collection.attempt,
    kind: collection.kind,
    startedMs: collection.startedMs,
    alignedMs: null,
    publishedMs: null,
    committedMs: null,
    bytes: 0,
    rows: 0,
    items: 0,
    hosts: [],
  };
  for (const [index, each] of collection.reports.entries()) {
    if (each === null) continue;
    const { report, atMs } = each;
    let bytes = 0;
    for (const file of report.files) {
      bytes += file.size;
      summary.rows += file.rows;
    }
    summary.bytes += bytes;
    summary.items += report.items.length;
    const { alignMs, snapshotMs, uploadMs } = report;
    summary.hosts.push({ index, bytes, alignMs, snapshotMs, uploadMs, reportedMs: atMs });
    summary.alignedMs = Math.max(summary.alignedMs ?? 0, atMs);
  }
  if (summary.hosts.length < collection.reports.length) summary.alignedMs = null;
  return summary;
}
