/**
 * The contract of sources and sinks. What a connector accepts is declared in `plan/declaration.ts`.
 *
 * Connectors are synchronous: what they want from the outside they ask for as data (`ReadRequest`,
 * `StageRequest`), the host's shell performs it and the answer comes back as an event. A connector's
 * offsets are part of the checkpoint, so a replayed source gives the same rows.
 */
import type { ErrorReport } from '../base/errors.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import type { Schema } from '../batch/types.ts';
import type { SinkFormat } from '../formats/format.ts';
import type { SourceSpec } from '../graph/graph.ts';
import type { ByteHash } from '../formats/row-decoder.ts';
import type { JsonValue } from '../lineage/types.ts';
import type { RowProblem } from '../operators/operator.ts';

/** What a source wants to be read for it. */
export type ReadRequest =
  /** Rows of an `http` table's log from `offset` (in rows); answers at once when there are any, else after `waitMs`. */
  | {
      tag: 'log';
      table: string;
      partition: number;
      offset: number;
      bytesMax: number;
      waitMs: number;
    }
  /** Bytes `[offset, offset + length)` of an object. */
  | { tag: 'object'; path: string; offset: number; length: number };

export type ReadResult =
  /** `bytes`: whole NDJSON rows, the first has offset `firstOffset`; zero rows when nothing came. */
  | { tag: 'log'; firstOffset: number; rows: number; bytes: Uint8Array; endOffset: number }
  | { tag: 'object'; bytes: Uint8Array; size: number }
  /** `detail`: where it was looked for. */
  | { tag: 'missing'; path: string; detail?: string }
  | { tag: 'failed'; report: ErrorReport };

export type SourceStep =
  | {
      tag: 'batch';
      /** Partition (0-based, over the whole table) the rows came from: each has its own watermark. */
      partition: number;
      batch: RecordBatch;
      /** Rows of the input that were read, accepted or not. A change of a row may give two rows, so these need not be as many as the batch and the problems have. */
      read: number;
      /** Rows that could not be decoded. */
      problems: readonly RowProblem[];
      /** The bytes read for these rows: those of a partition's batches, joined, are what lies between its offsets. Null: generated, or hashed already. */
      input: Uint8Array | null;
    }
  /** One read per partition may be under way. */
  | { tag: 'read'; partition: number; request: ReadRequest }
  /** Nothing to do before `untilMs`, or before a read is answered when null. */
  | { tag: 'wait'; untilMs: number | null }
  /** This partition gives no more rows. The source asks again until every partition has ended. */
  | { tag: 'partition-ended'; partition: number }
  | { tag: 'ended' }
  /** A broken source: bad data with bad_data = 'fail', a missing object. */
  | { tag: 'failed'; report: ErrorReport };

export type SourceContext = {
  spec: SourceSpec;
  subtask: number;
  parallelism: number;
  /** Rows per batch, at most. May change from poll to poll: it is looked up at each. */
  readonly batchRows: number;
  /** When this generation started reading; event times of generated data count from the pipeline's creation. */
  pipelineCreatedMs: number;
};

export interface Source {
  /** Partitions this subtask reads, known from the start. */
  readonly partitions: readonly number[];
  /** What to do now; called again after each step but `wait` and `ended`. */
  poll(nowMs: number): SourceStep;
  onRead(partition: number, result: ReadResult): void;
  /** The source may take in by itself the bytes that each partition's rows come from, and then tells none. */
  hashWith?(hashOf: (partition: number) => ByteHash): void;
  /** From now on batches may be views of memory that the next `poll` writes over: nobody refers to them by then. */
  lend?(): void;
  /** Offset per partition: everything before it has been given out. */
  snapshot(): Record<string, JsonValue>;
  /** Rows of the partition that are stored and have not been given out, as far as the source knows; null: it cannot tell. */
  backlog?(partition: number): number | null;
  /** Offsets of any partition, also of other subtasks; called once before `poll`. */
  restore(offsets: Record<string, JsonValue>): void;
}

/** Bytes to put aside for a later commit. Names carry the incarnation and epoch; nothing becomes visible. */
export type StageRequest = {
  key: string;
  bytes: Uint8Array;
  rows: number;
  method: 'multipart' | 'object';
  /** Where the rows will be seen once committed; without it at `key`. */
  target?: string;
};

/** What a staged write left behind; becomes the payload of a sink item. */
export type StagedObject = {
  key: string;
  uploadId: string | null;
  etag: string;
  size: number;
  rows: number;
};

/** Payload of a sink item: the staged write, where its rows are seen once committed, and `contentHash` of its bytes. */
export type ItemPayload = StagedObject & { target: string; hash: string };

export type SinkContext = {
  table: string;
  options: Readonly<Record<string, string | number | boolean>>;
  format: SinkFormat;
  schema: Schema;
  updating: boolean;
  keyColumns: readonly number[];
  subtask: number;
  parallelism: number;
  /** Prefix of names only this incarnation of this host may write; unique per generation and start. */
  writerId: string;
  pipelineId: string;
};

export interface SinkOutput {
  stage(request: StageRequest): void;
  /** NDJSON rows for whoever watches; not committed. */
  preview(rows: Uint8Array, count: number): void;
  fail(problems: readonly RowProblem[]): void;
}

export interface Sink {
  onBatch(batch: RecordBatch, epoch: number, output: SinkOutput): void;
  /** As for operators: rows that would have made more files than one piece of work should. */
  takeRest?(): RecordBatch | null;
  /** Everything received so far belongs to `epoch`; stage the rest. */
  onBarrier(epoch: number, output: SinkOutput): void;
  /** Rows handed over and not yet staged, in bytes: part of the memory budget. */
  bufferedBytes(): number;
  /** As for operators. */
  readonly copiesRows?: boolean;
}
