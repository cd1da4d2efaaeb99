/**
 * What each sink has received, staged and committed.
 *
 * Counters are part of checkpoints: what the newest committed one counted is committed, and what the leader has heard of
 * beyond that is staged, or on its way. Rows that a replay repeats are counted once.
 */
import { piecesOf, totalsOf } from '../../audit/totals.ts';
import type { PipelineAndJob } from '../../catalog/schema.ts';
import type { GraphOperator } from '../../graph/graph.ts';
import type { CanonicalCheckpoint, LineageView } from '../../lineage/read.ts';
import type { LeaderStatus } from '../../protocol/messages.ts';
import { lineageOf } from '../jobs/lineage-of.ts';
import type { ApiServices } from '../services.ts';
import { graphOf, microsOf, microsOrNull } from '../views.ts';
import type { SinkStatus } from './detail-shapes.ts';

export async function sinkStatus(
  services: ApiServices,
  found: PipelineAndJob,
): Promise<SinkStatus[]> {
  const { pipeline, job } = found;
  const [lineage, status] = await Promise.all([
    lineageOf(services, found),
    job.generation === 0 ? null : services.leaderStatus(pipeline.id, job.generation),
  ]);
  return graphOf(pipeline).operators.flatMap((operator) => sinkView(operator, lineage, status));
}

function sinkView(
  { id, spec }: GraphOperator,
  lineage: LineageView | null,
  status: LeaderStatus | null,
): SinkStatus[] {
  if (spec.tag !== 'sink') return [];
  const { connector, options } = spec.connector;
  const path = options['path'];
  const committed = (lineage?.checkpoints ?? []).filter((each) => each.committed);
  const counted = totalsOf(committed.at(-1)?.manifest ?? null).get(id)?.['rowsIn'] ?? 0;
  const heard = (status?.metrics ?? [])
    .filter(({ operator }) => operator === id)
    .reduce((sum, { rowsIn }) => sum + rowsIn, 0);
  const received = Math.max(heard, counted);
  const last = committed.findLast((each) => holdsOutputOf(each, id));
  return [
    {
      operator_id: id,
      table: spec.table,
      connector,
      path: typeof path === 'string' ? path : null,
      updating: spec.updating,
      rows_received: received,
      rows_staged: spec.twoPhase ? received - counted : 0,
      rows_committed: spec.twoPhase ? counted : received,
      last_commit_at: last === undefined ? null : committedAt(last, status),
      last_commit_epoch: last?.epoch ?? null,
      next_commit_at: spec.twoPhase ? microsOrNull(status?.nextCheckpointMs ?? null) : null,
      files: spec.twoPhase ? filesOf(committed, id) : null,
      files_since_epoch: spec.twoPhase ? oldestOf(lineage) : null,
    },
  ];
}

const holdsOutputOf = ({ manifest }: CanonicalCheckpoint, sink: string): boolean =>
  manifest.items.some((item) => item.sink === sink);

/** As the leader knows it, or when it was cut. */
function committedAt(
  { epoch, manifest }: CanonicalCheckpoint,
  status: LeaderStatus | null,
): number {
  const summary =
    manifest.generation === status?.generation
      ? status.recent.find((each) => each.epoch === epoch)
      : undefined;
  return microsOf(summary?.committedMs ?? manifest.createdAtMs);
}

/** Null: the line is kept from its beginning. */
function oldestOf(lineage: LineageView | null): number | null {
  const oldest = lineage?.checkpoints[0];
  return oldest === undefined || oldest.manifest.parent === null ? null : oldest.epoch;
}

const filesOf = (committed: readonly CanonicalCheckpoint[], sink: string): number =>
  new Set(
    committed.flatMap(({ manifest }) =>
      piecesOf(manifest.items.filter((item) => item.sink === sink)).map(({ target }) => target),
    ),
  ).size;
