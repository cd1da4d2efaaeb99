/** Checkpoints as the API shows them: from the lineage, which knows what is canonical, and the leader, which knows when. */
import type { z } from '@hono/zod-openapi';
import type { CanonicalCheckpoint, LineageView } from '../../lineage/read.ts';
import type { CheckpointManifest, StateFile } from '../../lineage/types.ts';
import type { CheckpointSummary, LeaderStatus } from '../../protocol/messages.ts';
import type { CheckpointSchema, OperatorCheckpointGroupSchema } from './job-shapes.ts';
import { microsOf } from '../views.ts';

type CheckpointView = z.infer<typeof CheckpointSchema>;
type GroupView = z.infer<typeof OperatorCheckpointGroupSchema>;
type SpanView = CheckpointView['events'][number];

const BACKEND = 'r2';

/** Newest first. Either source may be missing: no leader answers, or nothing was published yet. */
export function checkpointViews(
  lineage: LineageView | null,
  status: LeaderStatus | null,
): CheckpointView[] {
  const summaries = summariesOf(status);
  const views = (lineage?.checkpoints ?? []).map((checkpoint) => {
    const summary = summaries.get(checkpoint.epoch);
    // An epoch of another generation has the leader's times only if the leader cut it.
    return canonicalView(
      checkpoint,
      checkpoint.manifest.generation === status?.generation ? summary : undefined,
    );
  });
  const known = new Set(views.map((view) => view.epoch));
  for (const summary of summaries.values()) {
    if (!known.has(summary.epoch)) views.push(runningView(summary, status?.generation ?? 0));
  }
  return views.sort((left, right) => right.epoch - left.epoch);
}

export function summariesOf(status: LeaderStatus | null): Map<number, CheckpointSummary> {
  const all = [
    ...(status?.recent ?? []),
    ...(status?.checkpoint === null || status === null ? [] : [status.checkpoint]),
  ];
  return new Map(all.map((summary) => [summary.epoch, summary]));
}

function canonicalView(
  { epoch, manifest, committed }: CanonicalCheckpoint,
  summary: CheckpointSummary | undefined,
): CheckpointView {
  return {
    epoch,
    backend: BACKEND,
    checkpoint_type:
      manifest.kind === 'fence'
        ? 'fence'
        : (summary?.kind ?? (manifest.finished ? 'final' : 'scheduled')),
    generation: manifest.generation,
    start_time: microsOf(summary?.startedMs ?? manifest.createdAtMs),
    finish_time: microsOf(summary?.committedMs ?? summary?.publishedMs ?? manifest.createdAtMs),
    committed,
    bytes: sum(manifest.files, (file) => file.size),
    rows: sum(manifest.files, (file) => file.rows),
    items: manifest.items.length,
    events: summary === undefined ? [] : eventsOf(summary),
  };
}

function runningView(summary: CheckpointSummary, generation: number): CheckpointView {
  const { committedMs } = summary;
  return {
    epoch: summary.epoch,
    backend: BACKEND,
    checkpoint_type: summary.kind,
    generation,
    start_time: microsOf(summary.startedMs),
    finish_time: committedMs === null ? null : microsOf(committedMs),
    committed: committedMs !== null,
    bytes: summary.bytes,
    rows: summary.rows,
    items: summary.items,
    events: eventsOf(summary),
  };
}

/** The phases in Arroyo's words. */
function eventsOf({
  startedMs,
  alignedMs,
  publishedMs,
  committedMs,
}: CheckpointSummary): SpanView[] {
  const events = [
    span('Checkpointing', startedMs, committedMs, 'the whole checkpoint'),
    span('CheckpointingOperators', startedMs, alignedMs, 'barriers pass, state is uploaded'),
  ];
  if (alignedMs !== null)
    events.push(span('WritingMetadata', alignedMs, publishedMs, 'the manifest becomes canonical'));
  if (publishedMs !== null)
    events.push(span('Committing', publishedMs, committedMs, 'output becomes visible'));
  return events;
}

const span = (
  event: string,
  startMs: number,
  finishMs: number | null,
  description: string,
): SpanView => ({
  start_time: microsOf(startMs),
  finish_time: finishMs === null ? null : microsOf(finishMs),
  event,
  description,
});

/** What each operator wrote in one checkpoint. */
export function checkpointGroups(
  manifest: CheckpointManifest,
  summary: CheckpointSummary | null,
): GroupView[] {
  const byOperator = new Map<string, StateFile[]>();
  for (const file of manifest.files)
    byOperator.set(file.operator, [...(byOperator.get(file.operator) ?? []), file]);
  for (const { operator } of manifest.broadcast)
    if (!byOperator.has(operator)) byOperator.set(operator, []);
  return [...byOperator].map(([operator, files]) => {
    const fromBroadcast = manifest.broadcast
      .filter((state) => state.operator === operator)
      .map((state) => state.subtask);
    const subtasks = [...new Set([...files.map((file) => file.subtask), ...fromBroadcast])].sort(
      (left, right) => left - right,
    );
    return {
      operator_id: operator,
      bytes: sum(files, (file) => file.size),
      rows: sum(files, (file) => file.rows),
      started_metadata_write:
        summary?.alignedMs === null || summary === null ? null : microsOf(summary.alignedMs),
      finish_time: microsOf(summary?.publishedMs ?? manifest.createdAtMs),
      subtasks: subtasks.map((index) => ({
        index,
        bytes: sum(
          files.filter((file) => file.subtask === index),
          (file) => file.size,
        ),
        event_spans: summary === null ? [] : hostSpans(summary, index),
      })),
    };
  });
}

/** The phases of the host that ran the subtask, counted back from its report. */
function hostSpans(summary: CheckpointSummary, index: number): SpanView[] {
  const host = summary.hosts.find((candidate) => candidate.index === index);
  if (host === undefined) return [];
  const uploadFrom = host.reportedMs - host.uploadMs;
  const snapshotFrom = uploadFrom - host.snapshotMs;
  return [
    span(
      'Alignment',
      snapshotFrom - host.alignMs,
      snapshotFrom,
      'waiting for the barriers of all inputs',
    ),
    span('Sync', snapshotFrom, uploadFrom, 'freezing state'),
    span('Async', uploadFrom, host.reportedMs, 'uploading state'),
  ];
}

const sum = <T>(items: readonly T[], value: (item: T) => number): number =>
  items.reduce((total, item) => total + value(item), 0);
