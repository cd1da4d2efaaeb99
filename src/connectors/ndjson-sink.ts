/**
 * The sink of `r2`, `single_file` and `stdout`: NDJSON gathered and staged piece by piece.
 *
 * Place in the walk: stages 6 and 8. Rows are encoded as they come; a piece is staged when it is full and what is left
 * at the barrier, so that everything of an epoch is staged before the epoch's checkpoint names it.
 *
 * Invariants: a name is used once: it carries the writer, and the number of pieces this writer has staged before;
 * nothing is visible until the commit. A piece holds whole rows and, but for one long batch, at most `pieceBytesMax`.
 * Failure: none of its own; staging is the host's.
 */
import type { RecordBatch } from '../batch/record-batch.ts';
import { JsonEncoder } from '../formats/json-encoder.ts';
import type { Sink, SinkContext, SinkOutput, StageRequest } from './connector.ts';

export type PieceName = (epoch: number, index: number) => string;

export class NdjsonSink implements Sink {
  readonly copiesRows = true;
  readonly #context: SinkContext;
  readonly #encoder: JsonEncoder;
  readonly #method: StageRequest['method'];
  readonly #nameOf: PieceName;
  readonly #pieceBytesMax: number;
  readonly #target: string | null;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #rows = 0;
  #nextIndex = 0;

  /** @param target the object that pieces are appended to; null: each is an object of its own */
  constructor(
    context: SinkContext,
    method: StageRequest['method'],
    pieceBytesMax: number,
    nameOf: PieceName,
    target: string | null = null,
  ) {
    this.#context = context;
    this.#encoder = new JsonEncoder(context.schema, context.format);
    this.#method = method;
    this.#pieceBytesMax = pieceBytesMax;
    this.#nameOf = nameOf;
    this.#target = target;
  }

  onBatch(batch: RecordBatch, epoch: number, output: SinkOutput): void {
    const { bytes, lines } = encodeLines(this.#encoder, this.#context, batch);
    if (bytes.length === 0) return;
    if (this.#bytes > 0 && this.#bytes + bytes.length > this.#pieceBytesMax)
      this.#stage(epoch, output);
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    this.#rows += lines;
    if (this.#bytes >= this.#pieceBytesMax) this.#stage(epoch, output);
  }

  onBarrier(epoch: number, output: SinkOutput): void {
    if (this.#bytes > 0) this.#stage(epoch, output);
  }

  #stage(epoch: number, output: SinkOutput): void {
    const bytes = new Uint8Array(this.#bytes);
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.length;
    }
    const key = this.#nameOf(epoch, this.#nextIndex++);
    const target = this.#target ?? key;
    output.stage({ key, bytes, rows: this.#rows, method: this.#method, target });
    this.#parts = [];
    this.#bytes = 0;
    this.#rows = 0;
  }

  bufferedBytes(): number {
    return this.#bytes;
  }
}

/** The batch as NDJSON: its rows, or changes when rows may be retracted. */
export function encodeLines(
  encoder: JsonEncoder,
  context: SinkContext,
  batch: RecordBatch,
): { bytes: Uint8Array; lines: number } {
  if (!context.updating) return { bytes: encoder.encode(batch), lines: batch.rows };
  const bytes = encoder.encodeChanges(batch, context.keyColumns);
  let lines = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++;
  return { bytes, lines };
}

/** `part-0000012-003-0001-<writer>.ndjson`: the epoch first, so that names sort by it. */
export function partName(context: SinkContext, epoch: number, index: number): string {
  const digits = (value: number, width: number): string => String(value).padStart(width, '0');
  return `part-${digits(epoch, 7)}-${digits(context.subtask, 3)}-${digits(index, 4)}-${context.writerId}.ndjson`;
}
