/**
 * What can go wrong in the simulated cluster, each with its probability per occasion.
 *
 * A fault whose probability is 0 draws nothing, so that a run without faults has the same events whatever
 * kinds of faults there are.
 */
import type { Prng } from '../../../src/base/prng.ts';

export const FAULTS = {
  /** A command is lost on its way, or done and its answer lost: the shell feeds `host-lost`. */
  commandLost: 0.002,
  /** A command arrives seconds late, so that others overtake it. */
  commandLate: 0.03,
  /** A report is lost on its way; the host repeats it. */
  reportLost: 0.1,
  /** A report is taken and its answer lost: the host repeats it. */
  reportRepeated: 0.1,
  /** A copy of a report arrives again seconds later. */
  reportLate: 0.1,
  /** A delivery between hosts is lost, or taken and its answer lost. */
  deliveryLost: 0.001,
  deliverySlow: 0.03,
  /** Requests of the lineage to the store. */
  storeAnswerLost: 0.05,
  storeLate: 0.05,
  storeThrottled: 0.05,
  storeFailed: 0.05,
  /** Writes and reads of hosts that fail after all their retries. */
  fileLost: 0.01,
  stageLost: 0.01,
  fileSlow: 0.1,
  stageSlow: 0.1,
  /** A commit is done again much later, as a call that was retried may land twice. */
  commitRepeated: 0.2,
  commitSlow: 0.1,
  commitLost: 0.02,
  /** The leader's object is reset between two effects of one step. */
  leaderCut: 0.01,
  /** A host's object is reset between two effects of one step. */
  hostCut: 0.0002,
  /** A read of a source fails after all its retries. */
  readLost: 0.0005,
  /** The sandbox of a function does not answer, or late. */
  callLost: 0.0005,
  callSlow: 0.1,
  alarmLost: 0.3,
  nudgeLost: 0.3,
  /** A controller dies before or after one of its calls. */
  controllerCut: 0.06,
  controllerSlow: 0.05,
  /** The clock of a controller differs. */
  controllerSkew: 0.3,
  /** A call to D1 fails, or is done and its answer lost. */
  catalogFailed: 0.03,
  catalogAnswerLost: 0.05,
  /** A call of a controller to a leader is lost, or done and its answer lost; it may hang until its deadline. */
  leaderCallLost: 0.05,
  leaderCallHangs: 0.3,
  cronLate: 0.3,
  cronLost: 0.2,
  cronDoubled: 0.3,
} as const;

export type Fault = keyof typeof FAULTS;
export type Faults = Readonly<Partial<Record<Fault, number>>>;

/** Each kind of fault is in with one chance in three, at a rate up to three times the usual one. */
export function drawFaults(prng: Prng): Faults {
  const faults: Partial<Record<Fault, number>> = {};
  for (const [fault, rate] of Object.entries(FAULTS) as [Fault, number][]) {
    const scale = prng.pick([0.3, 1, 3]);
    if (prng.chance(0.33)) faults[fault] = rate * scale;
  }
  return faults;
}

export class Dice {
  readonly prng: Prng;
  faults: Faults;
  /** How often each fault has struck. */
  readonly struck = new Map<Fault, number>();

  constructor(prng: Prng, faults: Faults) {
    this.prng = prng;
    this.faults = faults;
  }

  strikes(fault: Fault): boolean {
    const rate = this.faults[fault] ?? 0;
    if (rate === 0 || !this.prng.chance(rate)) return false;
    this.struck.set(fault, (this.struck.get(fault) ?? 0) + 1);
    return true;
  }

  /** Milliseconds of lateness when `fault` strikes, else 0. */
  lateMs(fault: Fault, maxMs: number): number {
    return this.strikes(fault) ? this.prng.below(maxMs) : 0;
  }
}
