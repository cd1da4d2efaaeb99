/** The checkpoints that this page has seen, newest first: the leader tells of the last twenty only. Pure. */
import type { PipelineStatus, StatusCheckpoint } from '../../../api/observe/status-shapes.ts';

export type SeenCheckpoint = StatusCheckpoint & { generation: number; running: boolean };

const MOST = 500;

export function addCheckpoints(
  known: readonly SeenCheckpoint[],
  { generation, checkpoint: { running, recent } }: PipelineStatus,
): readonly SeenCheckpoint[] {
  const seen = new Map(
    known.filter((one) => !one.running).map((one) => [keyOf(one), one] as const),
  );
  const owners = new Map(known.map((one) => [keyOf(one), one.generation]));
  for (const one of recent) {
    const owner = owners.get(keyOf(one)) ?? generation;
    seen.set(keyOf(one), { ...one, generation: owner, running: false });
  }
  if (running !== null && !seen.has(keyOf(running)))
    seen.set(keyOf(running), { ...running, generation, running: true });
  return [...seen.values()]
    .sort((left, right) => right.epoch - left.epoch || right.started_at - left.started_at)
    .slice(0, MOST);
}

const keyOf = ({ epoch, started_at }: StatusCheckpoint): string => `${epoch}/${started_at}`;
