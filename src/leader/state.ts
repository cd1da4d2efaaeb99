/**
 * What a leader knows: plain JSON, replaced and never mutated below its top level.
 *
 * Place in the walk: stages 4 and 7-9. Phases (a resumed leader begins again at `opening`, its hosts keep running):
 *
 *   new → opening → deploying → redoing → fencing → running → ended
 *                      ↑ the tip changed ←┘ (adopted or reset, before `begin`)
 *
 * Invariants: INV-50 `begun` is durable before any host is told to begin, and hosts are deployed only while it is false;
 * INV-51 no checkpoint begins before the tip is committed; INV-52 there is at most one activity, so checkpoints never overlap.
 * What is persisted names hosts, the stop that was asked for and the outcome; the tip is read from the lineage again, because
 * the lineage is the authority. Failure: none.
 */
import { assert } from '../base/assert.ts';
import type { Collection } from '../checkpoint/coordinator.ts';
import type { Incarnation, Tip } from '../lineage/types.ts';
import type {
  CheckpointSummary,
  GenerationSpec,
  JobError,
  LeaderPhase,
  OperatorMetrics,
  Outcome,
  StopMode,
} from '../protocol/messages.ts';
import type { LineageOperation } from './interface.ts';

/** Finished checkpoints a leader remembers for people. */
export const SUMMARIES_KEPT = 20;

export type HostState = {
  /** Known since its first `deployed`. */
  incarnation: string | null;
  /** It has restored what `restoredFrom` names, or was adopted. */
  ready: boolean;
  drained: boolean;
  stopped: boolean;
  /** Incarnation with an open watch. */
  watched: string | null;
  lastHeardMs: number;
  /** Sequence of the last command sent to it by this incarnation of the leader. */
  commandSequence: number;
  /** Sequence of its last `deploy` or `adopt`: what it thought of its leader before does not matter any more. */
  ledSince: number;
  /** Sequence of a `settled` that it has not answered yet. */
  settling: number | null;
  /** Sequences of the last `deployed` and `heartbeat` that counted: repeated ones must not count again. */
  deployedSequence: number;
  heartbeatSequence: number;
  metrics: readonly OperatorMetrics[];
  /** When `metrics` came; null: never. */
  metricsMs: number | null;
  /** Heartbeats that rates are told by, oldest first, the last one among them. */
  samples: readonly MetricSample[];
};

export type MetricSample = { atMs: number; metrics: readonly OperatorMetrics[] };

/** The one thing a leader waits for. `deadlineMs` is when it gives up. */
export type Activity =
  | { tag: 'none' }
  /** A lineage workflow; `retryAtMs` when the store did not answer and it is to be run again. */
  | {
      tag: 'storing';
      id: number;
      operation: LineageOperation;
      deadlineMs: number;
      retryAtMs: number | null;
    }
  /** Hosts restore, or answer a resumed leader. */
  | { tag: 'deploying'; deadlineMs: number }
  | { tag: 'collecting'; collection: Collection; deadlineMs: number }
  /** Hosts have to know that the last checkpoint is settled before they hear of the next: its rows would be in both. */
  | { tag: 'settling'; deadlineMs: number }
  /** Acknowledgements that are missing: which sink, from which host. */
  | {
      tag: 'committing';
      epoch: number;
      missing: readonly { sink: string; index: number }[];
      deadlineMs: number;
    }
  | { tag: 'stopping-hosts'; outcome: Outcome; deadlineMs: number };

export type LeaderState = {
  incarnation: Incarnation | null;
  spec: GenerationSpec | null;
  phase: LeaderPhase;
  outcome: Outcome | null;
  stop: { mode: StopMode; nonce: string } | null;
  /** Nothing is left to do but to let the hosts go: how the generation ends. */
  ending: Outcome | null;
  hosts: readonly HostState[];
  /** Some host may have read input. */
  begun: boolean;
  /** This incarnation has claimed its fence. */
  fenced: boolean;
  /** This incarnation has told the hosts to begin. */
  announced: boolean;
  /** A host follows another leader: the lineage has to say who is right. */
  doubted: boolean;
  /** Running hosts have to be told who leads them. */
  adoptionDue: boolean;
  /** Key of the manifest the hosts were deployed from, `new` for none at all; null before any deployment. */
  restoredFrom: string | null;
  tip: Tip | null;
  activity: Activity;
  /** Id of the collection of garbage under way. */
  collecting: number | null;
  lastOperationId: number;
  epoch: number;
  committedEpoch: number;
  startedMs: number;
  runningSinceMs: number | null;
  /** When the previous checkpoint, or the start, was finished. */
  settledMs: number;
  /** A checkpoint was asked for: it is due as soon as nothing else is under way. */
  flushWanted: boolean;
  wakeAtMs: number | null;
  /** The checkpoint that is being published or committed. */
  checkpoint: CheckpointSummary | null;
  /** Finished ones, oldest first. */
  recent: readonly CheckpointSummary[];
  errors: readonly JobError[];
};

/** What survives a reset of the leader's object; the spec is stored beside it. */
export type PersistedLeader = {
  version: 1;
  phase: LeaderPhase;
  outcome: Outcome | null;
  stop: { mode: StopMode; nonce: string } | null;
  ending: Outcome | null;
  hosts: (string | null)[];
  begun: boolean;
  epoch: number;
  committedEpoch: number;
  startedMs: number;
  runningSinceMs: number | null;
  recent: CheckpointSummary[];
  /** What each host told last; absent where it would be too much to store. */
  metrics?: (readonly OperatorMetrics[])[];
};

/** Entries of metrics that are stored, partitions among them: a leader's row may have two megabytes, an entry takes some 300 bytes. */
const METRICS_STORED_MAX = 1_000;

const entriesOf = (metrics: readonly OperatorMetrics[]): number =>
  metrics.reduce((sum, each) => sum + 1 + (each.partitions?.length ?? 0), 0);

/** A leader that knows nothing yet, not even who it is. */
export function newLeader(): LeaderState {
  return {
    incarnation: null,
    spec: null,
    phase: 'new',
    outcome: null,
    stop: null,
    ending: null,
    hosts: [],
    begun: false,
    fenced: false,
    announced: false,
    doubted: false,
    adoptionDue: false,
    restoredFrom: null,
    tip: null,
    activity: { tag: 'none' },
    collecting: null,
    lastOperationId: 0,
    epoch: 0,
    committedEpoch: 0,
    startedMs: 0,
    runningSinceMs: null,
    settledMs: 0,
    flushWanted: false,
    wakeAtMs: null,
    checkpoint: null,
    recent: [],
    errors: [],
  };
}

export function newHost(incarnation: string | null, nowMs: number): HostState {
  return {
    incarnation,
    ready: false,
    drained: false,
    stopped: false,
    watched: null,
    lastHeardMs: nowMs,
    commandSequence: 0,
    ledSince: 0,
    settling: null,
    deployedSequence: -1,
    heartbeatSequence: -1,
    metrics: [],
    metricsMs: null,
    samples: [],
  };
}

export function persistedOf(state: LeaderState): PersistedLeader {
  const metrics = state.hosts.map((host) => host.metrics);
  return {
    version: 1,
    phase: state.phase,
    outcome: state.outcome,
    stop: state.stop,
    ending: state.ending,
    hosts: state.hosts.map((host) => host.incarnation),
    begun: state.begun,
    epoch: state.epoch,
    committedEpoch: state.committedEpoch,
    startedMs: state.startedMs,
    runningSinceMs: state.runningSinceMs,
    // What each host took is of interest for a while, not for ever.
    recent: state.recent.map((summary) => ({ ...summary, hosts: [] })),
    ...(entriesOf(metrics.flat()) > METRICS_STORED_MAX ? {} : { metrics }),
  };
}

/** The leader after a reset: what is not persisted starts afresh. */
export function restoreLeader(
  incarnation: Incarnation,
  spec: GenerationSpec | null,
  persisted: PersistedLeader | null,
  nowMs: number,
): LeaderState {
  if (persisted === null) return { ...newLeader(), incarnation, spec };
  assert(persisted.version === 1, 'a leader reads only what its own version wrote');
  const { version: _version, hosts, metrics, ...kept } = persisted;
  return {
    ...newLeader(),
    ...kept,
    incarnation,
    spec,
    hosts: hosts.map((host, index) => ({
      ...newHost(persisted.begun ? host : null, nowMs),
      metrics: metrics?.[index] ?? [],
    })),
  };
}
