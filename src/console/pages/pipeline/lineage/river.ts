/**
 * The lineage as this page knows it: what the bucket keeps, what was there when the page was open and has been collected
 * since, and what the leader's history still remembers of epochs before. Pure.
 *
 * Invariants: an epoch once seen stays (a canonical checkpoint is canonical for ever); epochs and generations are ascending.
 */
import type { Lineage } from '../../../../api/jobs/lineage-view.ts';
import type { HistoryMark } from '../../../../api/observe/history-shapes.ts';
import type { PipelineStatus, StatusCheckpoint } from '../../../../api/observe/status-shapes.ts';

export type EpochDetail = Lineage['epochs'][number];
export type Loser = EpochDetail['others'][number];
export type GenerationDetail = Lineage['generations'][number];

export type RiverEpoch = {
  epoch: number;
  generation: number;
  /** Of the start of the leader; empty: not known. */
  nonce: string;
  createdAt: number;
  /** `kept`: in the bucket; `collected`: was there while this page was open; `remembered`: only history tells of it. */
  known: 'kept' | 'collected' | 'remembered';
  /** Null of those that are only remembered. */
  detail: EpochDetail | null;
};

/** A checkpoint that a leader had begun when it was replaced, as this page saw it: no manifest of it exists. */
export type Abandoned = { epoch: number; generation: number; attempt: number; startedAt: number };

export type River = {
  owner: number | null;
  floor: number;
  epochs: readonly RiverEpoch[];
  unclaimed: readonly (Loser & { epoch: number })[];
  generations: readonly GenerationDetail[];
  abandoned: readonly Abandoned[];
  unreadable: readonly string[];
};

export const EMPTY_RIVER: River = {
  owner: null,
  floor: 0,
  epochs: [],
  unclaimed: [],
  generations: [],
  abandoned: [],
  unreadable: [],
};

/** More than anybody looks at; the oldest go first. */
const EPOCHS_MOST = 5_000;

export function addLineage(known: River, next: Lineage): River {
  const epochs = new Map(known.epochs.map((epoch) => [epoch.epoch, demoted(epoch)]));
  for (const detail of next.epochs)
    epochs.set(detail.epoch, {
      epoch: detail.epoch,
      generation: detail.generation,
      nonce: detail.nonce,
      createdAt: detail.created_at,
      known: 'kept',
      detail: withLosers(epochs.get(detail.epoch)?.detail ?? null, detail),
    });
  const generations = new Map(known.generations.map((one) => [generationKey(one), one]));
  for (const one of next.generations) generations.set(generationKey(one), one);
  return {
    ...known,
    owner: next.generation,
    floor: next.floor,
    epochs: ascending([...epochs.values()]).slice(-EPOCHS_MOST),
    unclaimed: next.unclaimed,
    generations: [...generations.values()].sort(
      (left, right) => left.generation - right.generation || left.created_at - right.created_at,
    ),
    unreadable: next.unreadable,
  };
}

const demoted = (epoch: RiverEpoch): RiverEpoch =>
  epoch.known === 'kept' ? { ...epoch, known: 'collected' } : epoch;

/** Losers are collected sooner or later; those that were seen are still shown. */
function withLosers(before: EpochDetail | null, now: EpochDetail): EpochDetail {
  const gone = (before?.others ?? []).filter(
    ({ ref }) => !now.others.some((other) => other.ref === ref),
  );
  return gone.length === 0 ? now : { ...now, others: [...now.others, ...gone] };
}

/** What history tells of epochs of which nothing better is known. */
export function addMarks(known: River, marks: readonly HistoryMark[]): River {
  const have = new Set(known.epochs.map(({ epoch }) => epoch));
  const added: RiverEpoch[] = [];
  for (const { kind, epoch, generation, time } of marks) {
    if (kind !== 'checkpoint' || epoch === null || have.has(epoch)) continue;
    have.add(epoch);
    const entry = { epoch, generation, nonce: '', createdAt: time, known: 'remembered' as const };
    added.push({ ...entry, detail: null });
  }
  if (added.length === 0) return known;
  return { ...known, epochs: ascending([...known.epochs, ...added]).slice(-EPOCHS_MOST) };
}

/** Notes a checkpoint that was under way when its leader lost the pipeline. */
export function addAbandoned(
  known: River,
  before: PipelineStatus | null,
  now: PipelineStatus,
): River {
  const running: StatusCheckpoint | null = before?.checkpoint.running ?? null;
  if (before === null || running === null) return known;
  const replaced =
    now.generation > before.generation ||
    (now.checkpoint.running === null &&
      now.epoch <= running.epoch &&
      hasRestarted(before, now) &&
      !now.checkpoint.recent.some(({ epoch }) => epoch === running.epoch));
  if (
    !replaced ||
    now.checkpoint.recent.some(({ started_at }) => started_at === running.started_at)
  )
    return known;
  const { epoch, attempt, started_at: startedAt } = running;
  if (known.abandoned.some((one) => one.startedAt === startedAt)) return known;
  const entry = { epoch, generation: before.generation, attempt, startedAt };
  return { ...known, abandoned: [...known.abandoned, entry] };
}

/** A leader that began anew within its generation has hosts that began anew. */
function hasRestarted(before: PipelineStatus, now: PipelineStatus): boolean {
  return now.hosts.some(({ index, incarnation }) => {
    const old = before.hosts.find((host) => host.index === index)?.incarnation ?? null;
    return incarnation !== null && old !== null && old !== incarnation;
  });
}

export const generationKey = ({ generation, nonce }: { generation: number; nonce: string }) =>
  `${generation}/${nonce}`;

const ascending = (epochs: RiverEpoch[]): RiverEpoch[] =>
  epochs.sort((left, right) => left.epoch - right.epoch);
