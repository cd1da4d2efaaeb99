/**
 * Seeded havoc for `thalweg run --chaos SEED`: resets hosts and the leader, kills workerd and the whole
 * runtime, at moments drawn from the seed. The run's result must not change.
 */
import { Prng } from '../base/prng.ts';
import type { ApiClient } from './api-client.ts';

export type Havoc = {
  api(): ApiClient;
  pipelineId: string;
  parallelism: number;
  /** SIGKILL to everything, then a start on the same state. */
  restartProcess(): Promise<void>;
  /** SIGKILL to workerd; it is started again. */
  killWorkerd(): Promise<void>;
  note(line: string): void;
};

/** The first faults come soon after each other, so that a run that takes a second is disturbed as well. */
const FIRST_PAUSE_MAX_MS = 150;
const PAUSE_MAX_MS = 1_800;
/** After so many faults the run is left alone, so that it ends. */
const FAULTS_MAX = 8;

type Fault = 'host' | 'leader' | 'process' | 'workerd';
const FAULTS: readonly Fault[] = ['host', 'host', 'leader', 'leader', 'workerd', 'process'];

/** Injects faults until told to stop or until there were enough. */
export async function wreakHavoc(
  seed: string,
  havoc: Havoc,
  stopped: () => boolean,
): Promise<number> {
  const prng = new Prng(`chaos ${seed}`);
  let faults = 0;
  while (!stopped() && faults < FAULTS_MAX) {
    const pauseMs = prng.below(Math.min(FIRST_PAUSE_MAX_MS * 2 ** faults, PAUSE_MAX_MS));
    const fault = prng.pick(FAULTS);
    const index = prng.below(havoc.parallelism);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (stopped()) break;
    faults++;
    havoc.note(`chaos ${seed}: fault ${faults}, ${fault}${fault === 'host' ? ` ${index}` : ''}`);
    try {
      await inject(fault, index, havoc);
    } catch {
      // What the fault hits may be down already from the one before.
    }
  }
  return faults;
}

async function inject(fault: Fault, index: number, havoc: Havoc): Promise<void> {
  switch (fault) {
    case 'host':
      return await havoc.api().crash(havoc.pipelineId, 'host', index);
    case 'leader':
      return await havoc.api().crash(havoc.pipelineId, 'leader', 0);
    case 'process':
      return await havoc.restartProcess();
    case 'workerd':
      return await havoc.killWorkerd();
  }
}
