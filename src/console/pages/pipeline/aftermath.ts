/** What happened after something was killed, step by step as it is seen. Pure. */
import type { Proof } from '../../../api/jobs/proof-view.ts';
import type { PipelineStatus } from '../../../api/observe/status-shapes.ts';
import { duration } from '../../lib/format.ts';
import type { River } from './lineage/river.ts';

export type Killing = {
  target: 'leader' | 'host';
  host: number;
  /** Microseconds since 1970. */
  at: number;
  generation: number;
  /** The newest epoch at that moment. */
  epoch: number;
};

export type AftermathStep = {
  key: 'killed' | 'taken' | 'running' | 'committed';
  title: string;
  detail: string;
  state: 'done' | 'now' | 'waiting';
};

export function aftermathOf(
  killing: Killing,
  status: PipelineStatus,
  river: River,
  proof: Proof | null,
): AftermathStep[] {
  const later = river.epochs.filter(
    ({ createdAt, epoch }) => createdAt >= killing.at && epoch > killing.epoch,
  );
  const fence = later.find(({ detail }) => detail?.kind === 'fence') ?? null;
  const data =
    fence === null
      ? null
      : (later.find(
          ({ epoch, detail }) =>
            epoch > fence.epoch && detail?.kind === 'data' && detail.committed === true,
        ) ?? null);
  const runs = fence !== null && status.state === 'Running' && status.leader === 'answers';
  const proved = proof !== null && data !== null && proof.committed_epoch >= data.epoch;
  const since = (at: number): string => duration(Math.max(0, at - killing.at));
  const steps: AftermathStep[] = [
    {
      key: 'killed',
      title: killing.target === 'leader' ? 'Leader killed' : `Host ${killing.host} killed`,
      detail: `generation ${killing.generation}, behind epoch ${killing.epoch}`,
      state: 'done',
    },
    {
      key: 'taken',
      title: fence === null ? 'Taking over' : takenBy(fence.generation, killing),
      detail:
        fence === null
          ? 'it is fenced off'
          : `fence at epoch ${fence.epoch}, after ${since(fence.createdAt)}`,
      state: fence === null ? 'now' : 'done',
    },
    {
      key: 'running',
      title: 'Reading again',
      detail: fence === null ? '' : `from the offsets of epoch ${fence.epoch}`,
      state: data !== null || runs ? 'done' : fence === null ? 'waiting' : 'now',
    },
    {
      key: 'committed',
      title: data === null ? 'First commit' : `Epoch ${data.epoch} committed`,
      detail:
        data === null
          ? ''
          : proved
            ? `after ${since(data.createdAt)}: ${proof.lost} lost, ${proof.doubled} doubled`
            : `after ${since(data.createdAt)}; adding up`,
      state: proved ? 'done' : runs || data !== null ? 'now' : 'waiting',
    },
  ];
  return steps;
}

const takenBy = (generation: number, killing: Killing): string =>
  generation === killing.generation
    ? `Generation ${generation} began anew`
    : `Generation ${generation} took over`;
