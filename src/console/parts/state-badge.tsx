/** The state of a pipeline's job, in one word and one colour. */
const TONES: Record<string, 'good' | 'wait' | 'warn' | 'bad' | ''> = {
  Created: 'wait',
  Scheduling: 'wait',
  Running: 'good',
  CheckpointStopping: 'wait',
  Stopping: 'wait',
  Stopped: '',
  Recovering: 'warn',
  Restarting: 'wait',
  Finishing: 'wait',
  Finished: '',
  Failed: 'bad',
};

const WORDS: Record<string, string> = { CheckpointStopping: 'Stopping' };

export function StateBadge({ state }: { state: string }) {
  return <span class={`badge ${TONES[state] ?? ''}`}>{WORDS[state] ?? state}</span>;
}
