/** What the state of the job says: null while it runs and its leader answers. */
import type { Facts, Finding } from './health-facts.ts';
import type { Health } from './health-shapes.ts';
import { counted } from './health-words.ts';

type Fix = NonNullable<Health['fix']>;

export function stateFinding({ status }: Facts): Finding | null {
  const { state, generation, reason, epoch } = status;
  switch (state) {
    case 'Failed':
      return failed(status.failure);
    case 'Stopped':
      if (status.action_in_progress) return starting(generation, reason);
      return {
        level: 'stopped',
        code: 'STOPPED',
        sentence: `The pipeline is stopped at epoch ${epoch}: it reads and writes nothing.`,
        fix: { text: 'Start it: it goes on where it stopped.', action: 'start' },
      };
    case 'Finished':
      return {
        level: 'ok',
        code: 'FINISHED',
        sentence: `Every source has ended and all output is committed: ${counted(status.totals.rows_in, 'row')} in, ${counted(status.totals.rows_out, 'row')} out.`,
      };
    case 'CheckpointStopping':
    case 'Stopping':
    case 'Finishing':
      return {
        level: 'waiting',
        code: 'STOPPING',
        sentence:
          state === 'Finishing'
            ? 'Every source has ended; the last checkpoint is being committed.'
            : 'The pipeline is stopping.',
      };
    case 'Created':
    case 'Scheduling':
    case 'Recovering':
    case 'Restarting':
      return starting(generation, reason);
    case 'Running':
      if (status.leader !== 'answers') return silent(generation);
      return status.running_since === null ? starting(generation, reason) : null;
  }
}

function starting(generation: number, reason: string): Finding {
  const recovery = /^recovery: (.*)$/.exec(reason);
  if (recovery === null)
    return {
      level: 'waiting',
      code: 'STARTING',
      sentence: `Generation ${Math.max(1, generation)} is starting: hosts restore their state before sources are read.`,
    };
  return {
    level: 'waiting',
    code: 'RECOVERING',
    sentence: `Generation ${generation} takes over after ${recovery[1]}: it restores the last checkpoint and reads on from there.`,
  };
}

const silent = (generation: number): Finding => ({
  level: 'warning',
  code: 'LEADER_SILENT',
  sentence: `The leader of generation ${generation} does not answer. Its hosts may go on working; after 30 s of silence a new generation takes over.`,
  fix: { text: 'Wait for the new generation, or restart.', action: 'restart' },
});

function failed(failure: Facts['status']['failure']): Finding {
  const sentence =
    failure === null
      ? 'The pipeline has failed.'
      : `The pipeline has failed: ${failure.message} (${failure.code}).`;
  const action: Fix['action'] =
    failure?.hint?.includes('without state') === true ? 'restart_without_state' : 'start';
  const text =
    failure?.hint ??
    'Look at the errors, then start it again: it goes on from the last checkpoint.';
  return { level: 'failed', code: 'FAILED', sentence, fix: { text, action } };
}
