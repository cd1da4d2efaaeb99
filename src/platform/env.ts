/** The bindings of wrangler.toml, and the calls that one object makes on another. */
import type { ReadResult } from '../connectors/connector.ts';
import type {
  AppendOutcome,
  AppendRequest,
  LogStatus,
  RejectedRecord,
} from '../connectors/http/log-store.ts';
import type {
  CommandAnswer,
  CommandEnvelope,
  Delivery,
  DeliveryAnswer,
  GenerationSpec,
  HistoryPoints,
  LeaderStatus,
  ProblemPage,
  ReportAnswer,
  ReportEnvelope,
  StopMode,
  SubtaskPoints,
} from '../protocol/messages.ts';

export interface LeaderCalls {
  start(spec: GenerationSpec): Promise<{ tag: 'accepted' }>;
  poll(): Promise<LeaderStatus>;
  stop(mode: StopMode, nonce: string): Promise<{ tag: 'accepted' }>;
  /** The last minutes of every subtask. */
  series(): Promise<SubtaskPoints[]>;
  /** Null for an object that has never been started. */
  history(fromMs: number, toMs: number, stepMs: number): Promise<HistoryPoints | null>;
  /** Begins a checkpoint now; the epoch of that, or of the one under way. Null: nothing runs. */
  flush(): Promise<number | null>;
  /** The newest `limit` rows that went wrong with numbers above `after`. */
  problems(after: number, limit: number): Promise<ProblemPage>;
  report(envelope: ReportEnvelope): Promise<ReportAnswer>;
  /** Deletes everything the object holds; its pipeline is gone. */
  destroy(): Promise<void>;
  /** Local only, see CrashPoint. */
  crash(at: CrashPoint): Promise<void>;
}

/**
 * When a local object resets itself, as the platform would: `now`, or right before it carries out the next
 * effect of this name (`lineage:publish`, `send:commit`, `put-file`, `report:checkpointed`, …), or, with
 * `:after` behind the name, right after that.
 */
export type CrashPoint = string;

/** Rows shown to whoever watches; `next` is what to ask for as `after` next time. */
export type PreviewPage = { first: number; next: number; rows: string[] };

/** What one host opens at another to send it rows; ends with either of them. */
export interface HostSession {
  /** Answered when there is room for more. Repeating a delivery whose answer was lost does no harm. */
  deliver(delivery: Delivery): Promise<DeliveryAnswer>;
}

export interface HostCalls {
  command(envelope: CommandEnvelope): Promise<CommandAnswer>;
  /** A session for the frames of one sending host: one call that is billed, whatever goes through it. */
  openSession(): Promise<HostSession>;
  /** Answers after `waitMs`, or breaks when the object is reset: so a lost host is noticed at once. */
  watch(waitMs: number): Promise<{ incarnation: string; phase: string }>;
  tail(operator: string, after: number, waitMs: number): Promise<PreviewPage>;
  crash(at: CrashPoint): Promise<void>;
}

export interface LogCalls {
  /** Answered when the rows are durable; requests that arrive together are stored together. */
  append(request: AppendRequest): Promise<AppendOutcome>;
  /** Waits up to `waitMs` for rows at `offset` when there are none yet. */
  read(offset: number, bytesMax: number, waitMs: number): Promise<ReadResult>;
  trim(offset: number): Promise<void>;
  status(): Promise<LogStatus>;
  rejected(limit: number): Promise<RejectedRecord[]>;
  /** Deletes everything the object holds. */
  destroy(): Promise<void>;
  crash(): Promise<void>;
}

/** The controller, as objects of the data plane reach it. */
export interface ControllerCalls {
  /** Something about the pipeline may have changed: look at once. */
  nudge(pipelineId: string): Promise<void>;
}

export type Stub<Calls> = Calls & { readonly __stub?: never };

/** A namespace of objects found by name. */
export type Objects<Calls> = { getByName(name: string): Stub<Calls> };

export interface Env {
  DB: D1Database;
  BUCKET: R2Bucket;
  LEADER: DurableObjectNamespace;
  HOST: DurableObjectNamespace;
  LOG: DurableObjectNamespace;
  ASSETS: Fetcher;
  /** Makes Workers of code: functions of the user's own. Absent where it was left out of wrangler.toml. */
  LOADER?: WorkerLoader;
  /** Only under `thalweg run`: the user's files. */
  LOCAL_FILES?: Fetcher;
  THALWEG_LOCAL?: string;
  /** Which deployment this is. */
  VERSION?: WorkerVersionMetadata;
  /** Only locally: the version of the build, in place of `VERSION`. */
  THALWEG_CODE_VERSION?: string;
}

const objects = <Calls>(namespace: DurableObjectNamespace): Objects<Calls> => ({
  getByName: (name) => namespace.getByName(name) as unknown as Stub<Calls>,
});

export const leaders = (env: Env): Objects<LeaderCalls> => objects<LeaderCalls>(env.LEADER);
export const hosts = (env: Env): Objects<HostCalls> => objects<HostCalls>(env.HOST);
export const logs = (env: Env): Objects<LogCalls> => objects<LogCalls>(env.LOG);

/** Whether routes and calls that only make sense on one's own machine are open. */
export const isLocal = (env: Env): boolean => env.THALWEG_LOCAL === '1';
