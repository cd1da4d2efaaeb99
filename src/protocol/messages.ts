/**
 * Messages between controller, leader and hosts of one pipeline generation. Plain data, versioned.
 *
 * Every message names the generation and the incarnations it is meant for; a receiver drops what is
 * addressed to another incarnation (INV-30). A call may be repeated or lost: every command is
 * idempotent by (generation, epoch, attempt) or (generation, sequence).
 */
import type { ErrorReport } from '../base/errors.ts';
import type { PhysicalGraph } from '../graph/graph.ts';
import type {
  BroadcastState,
  InputRange,
  CheckpointManifest,
  Incarnation,
  SinkItem,
  StateFile,
} from '../lineage/types.ts';

/** Timeouts and sizes a generation runs with; defaults are in base/limits. */
export type RuntimeSettings = {
  batchRows: number;
  lingerMs: number;
  heartbeatIntervalMs: number;
  heartbeatTimeoutMs: number;
  startTimeoutMs: number;
  checkpointTimeoutMs: number;
  publishTimeoutMs: number;
  commitTimeoutMs: number;
  redoTimeoutMs: number;
  leaderAlarmMs: number;
  checkpointsKept: number;
  stateBytesMax: number;
};

/** What the controller hands to the leader of a new generation. */
export type GenerationSpec = {
  protocol: 1;
  pipelineId: string;
  jobId: string;
  name: string;
  generation: number;
  graph: PhysicalGraph;
  parallelism: number;
  checkpointIntervalMs: number;
  settings: RuntimeSettings;
  pipelineCreatedMs: number;
  /** Why this generation exists, for people: `created`, `restart`, `recovery: HOST_LOST`, … */
  reason: string;
  /** Start from the last source offsets but with empty state. Honoured once, recorded in the lineage. */
  reset: boolean;
  /**
   * With `reset`: the first generation that it was asked of. A tip made by this or a later generation has honoured it,
   * so a recovery of a generation that began with a reset keeps what it has done since. Absent: this generation.
   */
  resetFrom?: number;
  codeVersion: string;
};

export type StopMode = 'checkpoint' | 'graceful' | 'immediate';

/** How a generation ended. Fenced is neither a failure nor a clean stop. */
export type Outcome =
  | { tag: 'stopped'; epoch: number }
  | { tag: 'finished'; epoch: number }
  | { tag: 'failed'; report: ErrorReport }
  | { tag: 'fenced' };

export type LeaderPhase =
  | 'new'
  | 'opening'
  | 'deploying'
  | 'redoing'
  | 'fencing'
  | 'running'
  | 'ended';

/** One finished or running checkpoint, for the API. Times are epoch milliseconds. */
export type CheckpointSummary = {
  epoch: number;
  attempt: number;
  kind: 'scheduled' | 'stopping' | 'final';
  startedMs: number;
  /** All hosts have reported. */
  alignedMs: number | null;
  publishedMs: number | null;
  /** Marker written. */
  committedMs: number | null;
  bytes: number;
  rows: number;
  items: number;
  hosts: {
    index: number;
    bytes: number;
    alignMs: number;
    snapshotMs: number;
    uploadMs: number;
    reportedMs: number;
  }[];
};

export type JobError = {
  atMs: number;
  operator: string;
  subtask: number;
  message: string;
  detail: string;
  code: string;
  domain: 'user' | 'external' | 'internal';
  /** Of a row that went wrong; leaders keep it aside, their status leaves it out. */
  row?: ProblemRow;
};

/** The row itself, for people. */
export type ProblemRow = {
  column: string | null;
  reason: string;
  /** Its beginning. */
  raw: string | null;
  /** Of one that must not be shown. */
  rawSha256: string | null;
  partition: number | null;
};

/** Rows that went wrong in one generation, by their numbers, oldest first; `last`: the number of the newest there is. */
export type ProblemPage = { rows: (JobError & { number: number })[]; last: number };

/** Counters of one operator's subtask since the pipeline began (they are part of the checkpoint). */
export type OperatorCounters = {
  rowsIn: number;
  rowsOut: number;
  bytesIn: number;
  bytesOut: number;
  batchesIn: number;
  batchesOut: number;
  errors: number;
  late: number;
  /** Rows a filter or window dropped on purpose. */
  filtered: number;
};

/** What one partition of a source has given to the subtask that reads it. Times of the clock are those of the host. */
export type PartitionMetrics = {
  partition: number;
  /** Read since this generation began, bad ones included. */
  rows: number;
  /** When the newest row was read; null before the first. */
  lastRowMs: number | null;
  /** Event time of the newest row, in microseconds; null before the first. */
  lastEventTime: number | null;
  watermark: number | 'end' | null;
  idle: boolean;
  ended: boolean;
  /** Rows that are stored and not read yet; null where the source cannot tell. */
  backlogRows: number | null;
};

/** Windows that are open, and when the first of them closes (microseconds; null: not known). */
export type OpenWindows = { count: number; firstEnd: number | null };

export type OperatorMetrics = OperatorCounters & {
  operator: string;
  subtask: number;
  /** Microseconds; null before the first. Infinity travels as the text 'end'. */
  watermark: number | 'end' | null;
  stateBytes: number;
  stateRows: number;
  /** Share of its input queue in use, 0 to 1. */
  backpressure: number;
  /** Only of sources. */
  partitions?: PartitionMetrics[];
  /** Only of operators that gather rows in windows. */
  windows?: OpenWindows;
  /** Only of sinks: rows received in this generation that no committed checkpoint covers yet. */
  uncommittedRows?: number;
};

/** How fast the counters of one subtask grew between its last two heartbeats. */
export type OperatorRates = {
  operator: string;
  subtask: number;
  rowsIn: number;
  rowsOut: number;
  bytesIn: number;
};

export type LeaderStatus = {
  generation: number;
  /** Version of the code that this generation was started by; '' before the start. */
  codeVersion: string;
  incarnation: Incarnation | null;
  phase: LeaderPhase;
  outcome: Outcome | null;
  /** Tip of the lineage as the leader knows it. */
  epoch: number;
  /** Newest epoch whose marker exists. */
  committedEpoch: number;
  startedMs: number;
  /** When sources began to read; null before. */
  runningSinceMs: number | null;
  hosts: { index: number; incarnation: string | null; lastHeardMs: number }[];
  checkpoint: CheckpointSummary | null;
  recent: CheckpointSummary[];
  metrics: OperatorMetrics[];
  /** Per second; of subtasks that were heard at least twice. */
  rates?: OperatorRates[];
  /** When the next checkpoint begins; null while one runs, or nothing does. */
  nextCheckpointMs?: number | null;
  errors: JobError[];
  stopNonce: string | null;
};

/** Counters of one subtask as they were reported: `SERIES_VALUES` of the leader for each of `times`, oldest first. */
export type SubtaskPoints = {
  operator: string;
  subtask: number;
  times: Float64Array;
  values: Float64Array;
};

/** What a leader knows of the past, for charts. Points are steps of `stepMs` from `firstMs` on. */
export type HistoryPoints = {
  generation: number;
  /** Why the generation exists, and when it began. */
  reason: string;
  startedMs: number;
  firstMs: number;
  stepMs: number;
  points: number;
  operators: string[];
  /** By operator, column (`HISTORY_COLUMNS` of the leader), point; rates per second and values, NaN where nothing is known. */
  values: Float32Array;
  commits: { atMs: number; epoch: number }[];
};

/** Leader → host. `host` is the host incarnation it is meant for; null only in `deploy`. */
export type CommandEnvelope = {
  pipelineId: string;
  generation: number;
  leader: string;
  /** How often the leader's object has started: what an earlier start said and comes late has no effect. */
  leaderStart: number;
  host: string | null;
  /** Grows by one with each command of this start to this host. */
  sequence: number;
  command: HostCommand;
};

export type HostCommand =
  /** Build the subtasks and restore them from `checkpoint` (null: a new lineage). Sources do not read yet. */
  | { tag: 'deploy'; spec: GenerationSpec; index: number; checkpoint: CheckpointManifest | null }
  /** Sources may read. Sent again by a resumed leader: a no-op then. `hosts`: the incarnation of every host, by index. */
  | { tag: 'begin'; hosts?: readonly string[] }
  /** A resumed leader introduces itself: all later messages carry its nonce. Answered by `deployed`. */
  | { tag: 'adopt'; drained: boolean }
  /** Begin a checkpoint. `stopping`: sources read nothing after this barrier. Supersedes every lower (epoch, attempt). */
  | { tag: 'barrier'; epoch: number; attempt: number; stopping: boolean }
  /** Commit these sink items; answered by `committed`. */
  | { tag: 'commit'; epoch: number; items: SinkItem[] }
  /**
   * The data checkpoint (epoch, attempt) of this very generation is canonical and committed: forget the items it
   * held, trim logs to its offsets. A resumed leader sends it for the `data` of the tip that it opened, before
   * `begin`, when that is of its generation: a fence carries its parent's `data`.
   */
  | { tag: 'settled'; epoch: number; attempt: number }
  | { tag: 'stop'; mode: StopMode };

export type CommandAnswer =
  | { tag: 'accepted' }
  /** The host is another incarnation, or never deployed: the generation has lost it. */
  | { tag: 'unknown-incarnation'; incarnation: string }
  /** The host follows another start of the leader, or has been deployed or adopted since by a later command. */
  | { tag: 'stale-leader' };

/** Host → leader. */
export type ReportEnvelope = {
  pipelineId: string;
  generation: number;
  /** Nonce of the leader this answers to. */
  leader: string;
  index: number;
  /** Incarnation of the host. */
  host: string;
  sequence: number;
  report: HostReport;
};

export type HostReport =
  /** State is restored, ready to begin. */
  /** `answers`: sequence of the `deploy` or `adopt` that it answers. */
  | { tag: 'deployed'; drained: boolean; answers: number }
  | {
      tag: 'checkpointed';
      epoch: number;
      attempt: number;
      files: StateFile[];
      broadcast: BroadcastState[];
      inputs: InputRange[];
      items: SinkItem[];
      /** Every source of this host has ended and every input is drained. */
      drained: boolean;
      alignMs: number;
      snapshotMs: number;
      uploadMs: number;
    }
  | { tag: 'committed'; epoch: number; sinks: string[] }
  /** Every source of this host has ended and everything in flight has been processed. */
  | { tag: 'drained' }
  | { tag: 'stopped' }
  | { tag: 'failed'; report: ErrorReport; operator: string }
  | { tag: 'heartbeat'; metrics: OperatorMetrics[]; problems: JobError[] };

export type ReportAnswer = { tag: 'accepted' } | { tag: 'stale' };

/** A watermark that follows the first `row` rows of its frame. */
export type FrameMark = { row: number; value: number | 'end' | 'idle' };

/** One frame on a channel between subtasks. */
export type Frame =
  /** `marks`: watermarks among the rows, in order. `partial`: the rows are partial states of a combiner. */
  | {
      tag: 'data';
      rows: number;
      bytes: Uint8Array;
      marks: readonly FrameMark[];
      partial?: true;
    }
  /** Microseconds; 'end' when the sender's input has ended; 'idle' when the sender steps aside. */
  | { tag: 'watermark'; value: number | 'end' | 'idle' }
  | { tag: 'barrier'; epoch: number; attempt: number }
  | { tag: 'end' };

/** Host → host: frames of one channel, in order. Answered when the receiver has room for more. */
export type Delivery = {
  pipelineId: string;
  generation: number;
  /** Edge id. */
  edge: string;
  from: number;
  to: number;
  /** Incarnations, as the leader told them at `begin`; a mismatch is refused. */
  fromHost: string;
  /** Number of the first frame on this channel, from 0 without gaps. */
  sequence: number;
  frames: Frame[];
};

export type DeliveryAnswer = { tag: 'accepted' } | { tag: 'refused'; reason: string };
