/** A checkpoint's phases as stretches of one time line: what each host did, then the leader. Pure. */
import type { StatusCheckpoint } from '../../../api/observe/status-shapes.ts';

export type PhaseName = 'align' | 'snapshot' | 'upload' | 'publish' | 'commit';

/** `start` and `length` in microseconds from the checkpoint's start. */
export type Stretch = { phase: PhaseName; start: number; length: number; running: boolean };

export type PhaseRow = { name: string; note: string; stretches: Stretch[] };

export type Phased = Pick<
  StatusCheckpoint,
  'started_at' | 'aligned_at' | 'published_at' | 'committed_at' | 'hosts'
>;

export type PhaseChart = { total: number; rows: PhaseRow[] };

/** @param now  where the bar of what still runs ends */
export function phaseChart(checkpoint: Phased, now: number): PhaseChart {
  const { started_at: start, hosts } = checkpoint;
  const end = endOf(checkpoint) ?? now;
  const rows = [...hosts]
    .sort((left, right) => left.index - right.index)
    .map((host) => ({
      name: `Host ${host.index}`,
      note: '',
      stretches: hostStretches(host, start),
    }));
  rows.push({ name: 'Leader', note: '', stretches: leaderStretches(checkpoint, now) });
  const reach = Math.max(
    end - start,
    ...rows.flatMap(({ stretches }) => stretches.map((one) => one.start + one.length)),
  );
  return { total: Math.max(1, reach), rows };
}

/** A host tells how long its phases took and when it had reported: they are laid before that moment. */
function hostStretches(host: Phased['hosts'][number], start: number): Stretch[] {
  const { align_micros: align, snapshot_micros: snapshot, upload_micros: upload } = host;
  const reported = Math.max(0, host.reported_at - start);
  let at = Math.max(0, reported - align - snapshot - upload);
  const stretches: Stretch[] = [];
  for (const [phase, length] of [
    ['align', align],
    ['snapshot', snapshot],
    ['upload', upload],
  ] as const) {
    stretches.push({ phase, start: at, length, running: false });
    at += length;
  }
  return stretches.filter(({ length }) => length > 0);
}

function leaderStretches(checkpoint: Phased, now: number): Stretch[] {
  const { started_at: start, aligned_at, published_at, committed_at } = checkpoint;
  const stretches: Stretch[] = [];
  const add = (phase: PhaseName, from: number | null, to: number | null): void => {
    if (from === null) return;
    const running = to === null;
    const length = Math.max(0, (to ?? now) - from);
    stretches.push({ phase, start: from - start, length, running });
  };
  add('publish', aligned_at, published_at);
  // What has nothing to commit is committed when it is published.
  if (committed_at !== published_at) add('commit', published_at, committed_at);
  return stretches;
}

/** When the last of its phases ended; null while one runs. */
function endOf({ published_at, committed_at }: Phased): number | null {
  return committed_at ?? (published_at === null ? null : published_at);
}

/** How long it took until it was canonical, or has taken so far. */
export function checkpointTime({ started_at, published_at }: Phased, now: number): number {
  return Math.max(0, (published_at ?? now) - started_at);
}

export const PHASE_WORDS: Record<PhaseName, string> = {
  align: 'Align: wait for the barrier on every input',
  snapshot: 'Snapshot: write down what has changed',
  upload: 'Upload: store the state files',
  publish: 'Publish: claim the epoch',
  commit: 'Commit: make the output visible',
};
