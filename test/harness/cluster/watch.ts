/** What no controller may write, whichever others there are: looked at with every write of the job. */
import { LIMITS } from '../../../src/base/limits.ts';
import type { Job } from '../../../src/catalog/schema.ts';
import { LEGAL_TRANSITIONS } from '../../../src/controller/transitions.ts';
import type { Outcome } from '../../../src/protocol/messages.ts';

export type WatchPort = {
  /** How the leader of a generation has ended. */
  outcomeOf(generation: number): Outcome | null;
  resetsAsked(): number;
};

export class JobWatch {
  /** Restarts without state that were honoured. */
  resetsDone = 0;
  readonly #port: WatchPort;

  constructor(port: WatchPort) {
    this.#port = port;
  }

  /** Throws what is wrong with `after`, written over `before`. */
  see(before: Job, after: Job): void {
    const fail = (message: string): never => {
      throw new Error(`${message}: ${JSON.stringify(before)} to ${JSON.stringify(after)}`);
    };
    if (after.generation < before.generation) fail('the generation went back');
    if (after.epoch < after.committedEpoch) fail('more is committed than there is');
    if (before.state !== after.state) {
      if (!LEGAL_TRANSITIONS[before.state].includes(after.state)) fail('an illegal transition');
      const over = before.state === 'Finished' || before.state === 'Failed';
      if (over && after.restartDone === before.restartDone) fail('a job that is over was started');
    }
    if (after.state === 'Failed' && before.state !== 'Failed') {
      const spent = before.restarts >= LIMITS.restartsMax;
      if (after.failure?.code !== 'RESTARTS_EXHAUSTED' || !spent) fail('a job failed for nothing');
    }
    if (after.restarts > before.restarts) {
      const silent =
        before.unreachableSinceMs !== null && after.failure?.message.includes('did not answer');
      if (silent !== true && this.#port.outcomeOf(before.generation)?.tag !== 'failed')
        fail('a restart was counted that follows no failure');
    }
    if (after.resetFrom === before.resetFrom) return;
    this.resetsDone++;
    if (this.resetsDone > this.#port.resetsAsked()) fail('a reset was honoured twice');
  }
}
