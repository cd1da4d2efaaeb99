/**
 * The contract of every operator between sources and sinks.
 *
 * Place in the walk: stage 6. The stage driver calls an operator; it answers synchronously by calls
 * on `Output`. An operator holds the state of one subtask; nobody else touches it.
 *
 * Caller's duties: `onWatermark` is called with strictly growing values, already the minimum over the
 * ports; rows of a batch are not late by an earlier watermark unless the source marked them so; between
 * `snapshot` and the next call nothing has changed.
 * Not guaranteed: any relation between batch boundaries on input and output.
 */
import type { RecordBatch } from '../batch/record-batch.ts';
import type { Schema } from '../batch/types.ts';
import type { RowError } from '../expr/row-errors.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';

/** Microseconds since 1970; +Infinity: the input has ended. */
export type Watermark = number;

/** Why rows left the stream: shown to people and counted. */
export type RowProblem = RowError & {
  /** The row as JSON text, when the operator can tell. */
  raw: string | null;
  /** Of a row that must not be shown: the SHA-256 of its bytes, in the place of its text. */
  rawSha256?: string;
  /** Of the source, where it is known. */
  partition?: number;
};

export interface Output {
  /** Hands a batch on; empty batches are dropped. */
  emit(batch: RecordBatch): void;
  /** Rows that could not be computed; counted as errors of this operator. */
  fail(problems: readonly RowProblem[]): void;
  /** Rows that came after every window of theirs had closed; counted as late. */
  late(problems: readonly RowProblem[]): void;
}

export interface Operator {
  onBatch(port: number, batch: RecordBatch, output: Output): void;
  /**
   * Of an operator whose rows may make many: the rows of the last batch that it has not come to, because those before made enough for
   * one piece of work. Whoever takes them gives them to the same port, before anything else but what asks about state; null: none.
   */
  takeRest?(): RecordBatch | null;
  /**
   * True: nothing of a batch is referred to once `onBatch` has returned, but by what was emitted meanwhile. Then batches may be
   * lent: their memory is written over afterwards.
   */
  readonly copiesRows?: boolean;
  /** Partial states of a combiner, in the schema of `partialStates`; only where that is given. */
  onPartial?(batch: RecordBatch, output: Output): void;
  readonly partialStates?: Schema;
  /** Event time has reached `watermark`. The driver passes it on downstream afterwards. */
  onWatermark(watermark: Watermark, output: Output): void;
  /** Rows of this port are read to their end before time is told: what the port says of it does not count till then. */
  readonly waitsForEnd?: number;
  /** No more rows come by the port that is waited for; called again after a restart. */
  onPortEnd?(output: Output): void;
  /** Processing time, for operators that flush by the clock. */
  onTick(nowMs: number, output: Output): void;
  /** Called right before a snapshot, so that buffered results leave ahead of the barrier. */
  onBarrier(output: Output): void;
  /**
   * The state as of now; the columns are copies or never change again. `changes`: only what is new since the last call,
   * whatever that one asked for; the first call after `restore` asks for `whole`.
   */
  snapshot(kind: SnapshotKind): StateTable[];
  /**
   * True: the operator heeds the kind, and a table that it leaves out of `changes` has not changed. Else it is asked for
   * `whole` only, where a table left out is empty.
   */
  readonly keepsChanges?: boolean;
  /**
   * Called once, before any row: whole tables of rows whose hash this subtask owns, from any number of former subtasks. Only the
   * watermark that had been reached may come first; what was due by it leaves later, never during this call.
   */
  restore(tables: readonly StateTable[]): void;
  /** Bytes of state held, roughly. */
  stateBytes(): number;
  stateRows(): number;
  /** Rows looked at beside those taken in and emitted, counted up: of an operator that may look at many and emit few. */
  effort?(): number;
  /** Windows that hold rows and have not ended; asked for at heartbeats, so it may cost a look at each window but not at each row. */
  openWindows?(): OpenWindows;
}

/** `firstEnd`: when the first of them ends, in microseconds; null without any. */
export type OpenWindows = { count: number; firstEnd: number | null };
