/**
 * What the routes need from the rest of the system. The composition root (`worker.ts`) provides it, so
 * that routes name neither bindings nor clocks.
 */
import type { Kysely } from 'kysely';
import type { Database } from '../catalog/schema.ts';
import type { AppendOutcome, AppendRequest, RejectedRecord } from '../connectors/http/log-store.ts';
import type { ReadOutcome } from '../lineage/read.ts';
import type { LeaderStatus } from '../protocol/messages.ts';

/** Rows of a preview sink; `next` is what to ask for as `after` next time. */
export type TailPage = { first: number; next: number; rows: string[] };

export type LogAccess = {
  append(request: AppendRequest): Promise<AppendOutcome>;
  rejected(limit: number): Promise<RejectedRecord[]>;
  destroy(): Promise<void>;
};

export type StoredObject = { key: string; size: number };

export type ApiServices = {
  database: Kysely<Database>;
  nowMs(): number;
  randomBytes(count: number): Uint8Array;
  /** Reconciles the pipeline now; resolves when that is done. */
  reconcile(pipelineId: string): Promise<void>;
  /** Does it after the response has been sent. */
  reconcileLater(pipelineId: string): void;
  /** Null when the leader does not answer. */
  leaderStatus(pipelineId: string, generation: number): Promise<LeaderStatus | null>;
  tail(pipelineId: string, generation: number, host: number, operator: string, after: number, waitMs: number): Promise<TailPage>;
  log(pipelineId: string, table: string, partition: number): LogAccess;
  lineage(pipelineId: string, jobId: string): Promise<ReadOutcome>;
  /** Only on one's own machine: null elsewhere. */
  local: LocalServices | null;
};

export type LocalServices = {
  crash(pipelineId: string, generation: number, target: { tag: 'leader' } | { tag: 'host'; index: number }): Promise<void>;
  objects(prefix: string, after: string): Promise<{ objects: StoredObject[]; truncated: boolean }>;
  object(key: string): Promise<ReadableStream | null>;
};
