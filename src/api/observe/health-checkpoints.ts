/** Rules about checkpoints: attempts that fail, checkpoints that take long, output that waits for its commit. */
import type { Facts, Finding } from './health-facts.ts';
import { counted, span } from './health-words.ts';
import type { StatusCheckpoint } from './status-shapes.ts';

/** A checkpoint that takes so long, or longer than the interval, is slow. */
const SLOW_MICROS = 10_000_000;

export function checkpointFindings(facts: Facts): Finding[] {
  return [failing(facts), slow(facts), ...pending(facts)].filter((finding) => finding !== null);
}

function failing({ status }: Facts): Finding | null {
  const { running } = status.checkpoint;
  if (running === null || running.attempt < 2) return null;
  const missing = status.hosts
    .map(({ index }) => index)
    .filter((index) => running.hosts.every((host) => host.index !== index));
  const who = missing.length === 0 ? '' : ` Host ${missing.join(', ')} has not reported.`;
  return {
    level: 'warning',
    code: 'CHECKPOINT_FAILING',
    sentence: `Epoch ${running.epoch} is in attempt ${running.attempt} of 3, after ${span(status.at - running.started_at)}.${who}`,
    fix: { text: 'A full queue or a slow sink holds the barrier back: look for backpressure.' },
    since: running.started_at,
  };
}

function slow({ status }: Facts): Finding | null {
  const { running, last, interval_micros: interval } = status.checkpoint;
  const tookMicros = (checkpoint: StatusCheckpoint): number =>
    (checkpoint.committed_at ?? status.at) - checkpoint.started_at;
  const bound = Math.max(SLOW_MICROS, interval);
  const found = [running, last].find((each) => each !== null && tookMicros(each) > bound);
  if (found === undefined || found === null) return null;
  const verb = found.committed_at === null ? 'has taken' : 'took';
  return {
    level: 'warning',
    code: 'CHECKPOINT_SLOW',
    sentence: `Checkpoint ${found.epoch} ${verb} ${span(tookMicros(found))}; ${phaseOf(found)}.`,
    fix: {
      text: 'Output becomes visible at checkpoints. Look at backpressure, state size and the sinks.',
    },
    since: found.started_at,
  };
}

/** What most of the time went into, as far as hosts have told. */
function phaseOf(checkpoint: StatusCheckpoint): string {
  const phases: [name: string, micros: number][] = checkpoint.hosts.flatMap((host) => [
    [`host ${host.index} waited for barriers for`, host.align_micros],
    [`host ${host.index} froze its state for`, host.snapshot_micros],
    [`host ${host.index} uploaded for`, host.upload_micros],
  ]);
  if (checkpoint.published_at !== null && checkpoint.committed_at !== null)
    phases.push(['the commit took', checkpoint.committed_at - checkpoint.published_at]);
  const [longest] = phases.toSorted((left, right) => right[1] - left[1]);
  return longest === undefined ? 'no host has reported' : `${longest[0]} ${span(longest[1])}`;
}

/** Rows of two-phase sinks are seen when their epoch is committed. */
function pending({ status, operators }: Facts): Finding[] {
  return operators.flatMap(({ status: operator, planned: { spec } }) => {
    if (spec.tag !== 'sink' || !spec.twoPhase) return [];
    const rows = operator.uncommitted_rows ?? 0;
    if (rows === 0) return [];
    const { running, next_at: next } = status.checkpoint;
    const epoch = running?.epoch ?? status.epoch + 1;
    const when =
      running !== null
        ? 'which is under way'
        : next === null
          ? 'at the next checkpoint'
          : `in ${span(Math.max(0, next - status.at))}`;
    return {
      level: 'waiting',
      code: 'COMMIT_PENDING',
      sentence: `${counted(rows, 'row')} for sink ${spec.table} ${rows === 1 ? 'is' : 'are'} staged and can be seen when epoch ${epoch} is committed, ${when}.`,
      since: status.checkpoint.last?.committed_at ?? status.running_since,
    };
  });
}
