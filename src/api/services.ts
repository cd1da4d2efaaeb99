/**
 * What the routes need from the rest of the system. The composition root (`worker.ts`) provides it, so
 * that routes name neither bindings nor clocks.
 */
import type { ErrorReport } from '../base/errors.ts';
import type { Column } from '../batch/column.ts';
import type { UserFunction } from '../expr/user-function.ts';
import type { getPipeline } from '../catalog/pipelines.ts';
import type { AppendOutcome, AppendRequest, RejectedRecord } from '../connectors/http/log-store.ts';
import type { ReadOutcome } from '../lineage/read.ts';
import type {
  HistoryPoints,
  LeaderStatus,
  ProblemPage,
  SubtaskPoints,
} from '../protocol/messages.ts';

/** What the catalogue's functions take. */
export type CatalogDatabase = Parameters<typeof getPipeline>[0];

/** Rows of a preview sink; `next` is what to ask for as `after` next time. */
export type TailPage = { first: number; next: number; rows: string[] };

/** Which preview to read: subtask i of an operator runs on host i. */
export type TailTarget = { pipelineId: string; generation: number; host: number; operator: string };

export type LogAccess = {
  append(request: AppendRequest): Promise<AppendOutcome>;
  rejected(limit: number): Promise<RejectedRecord[]>;
  /** Stored rows that no committed checkpoint has read. */
  unread(): Promise<number>;
  destroy(): Promise<void>;
};

/** What a call of a function gave: a value for each row, or of a table function all rows and how many each gave. */
export type CalledFunction = {
  columns: readonly Column[];
  counts: Int32Array | null;
  errors: readonly { row: number; message: string }[];
};

export type StoredObject = { key: string; size: number };

export type ApiServices = {
  database: CatalogDatabase;
  nowMs(): number;
  randomBytes(count: number): Uint8Array;
  /** Resolves after `ms` milliseconds. */
  sleep(ms: number): Promise<void>;
  /** Reconciles the pipeline now; resolves when that is done. */
  reconcile(pipelineId: string): Promise<void>;
  /** Does it after the response has been sent. */
  reconcileLater(pipelineId: string): void;
  /** Null when the leader does not answer. */
  leaderStatus(pipelineId: string, generation: number): Promise<LeaderStatus | null>;
  /** Points of `[fromMs, toMs)` as the generation's leader remembers them. Null when it has none, or does not answer. */
  leaderHistory(
    pipelineId: string,
    generation: number,
    span: { fromMs: number; toMs: number; stepMs: number },
  ): Promise<HistoryPoints | null>;
  /** The last minutes of every subtask; empty when its leader does not answer. */
  leaderSeries(pipelineId: string, generation: number): Promise<SubtaskPoints[]>;
  /** The epoch of the checkpoint that begins now or is under way; null when nothing runs. Throws when no leader answers. */
  flush(pipelineId: string, generation: number): Promise<number | null>;
  /** Rows that went wrong in one generation. Throws when its leader does not answer. */
  problems(
    pipelineId: string,
    generation: number,
    after: number,
    limit: number,
  ): Promise<ProblemPage>;
  /** An object of the bucket, whole; null when there is none. */
  readObject(key: string): Promise<Uint8Array | null>;
  /** Which server this is. */
  codeVersion: string;
  /** Rows numbered `after` and up; waits up to `waitMs` for the first. Throws when the host does not answer. */
  tail(target: TailTarget, after: number, waitMs: number): Promise<TailPage>;
  log(pipelineId: string, table: string, partition: number): LogAccess;
  lineage(pipelineId: string, jobId: string): Promise<ReadOutcome>;
  /** What is wrong with a function whose code does not load; null: it does. */
  checkFunction(fn: UserFunction): Promise<ErrorReport | null>;
  /** Calls a function as pipelines do, in its sandbox. */
  callFunction(fn: UserFunction, rows: number, columns: readonly Column[]): Promise<CalledFunction>;
  /** Deletes, after the response, what the generations up to `generation` of a deleted pipeline left behind: checkpoints, staged output, leaders. */
  forgetLater(pipelineId: string, jobId: string, generation: number): void;
  /** Only on one's own machine: null elsewhere. */
  local: LocalServices | null;
};

/** `at`: the point of its work where the object resets itself; `now` is at once. */
export type CrashTarget =
  | { tag: 'leader'; generation: number; at: string }
  | { tag: 'host'; generation: number; index: number; at: string }
  | { tag: 'log'; table: string; index: number };

export type LocalServices = {
  /** Resets one object as the platform would. */
  crash(pipelineId: string, target: CrashTarget): Promise<void>;
  objects(prefix: string, after: string): Promise<{ objects: StoredObject[]; truncated: boolean }>;
  /** Null when there is none. */
  object(key: string): Promise<{ body: ReadableStream<Uint8Array>; size: number } | null>;
  putObject(key: string, bytes: Uint8Array): Promise<void>;
};

/** What Hono calls the environment of the routes. */
export type ApiEnv = { Bindings: ApiServices };
