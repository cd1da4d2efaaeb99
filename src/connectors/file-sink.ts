/**
 * The sink of `r2`, `single_file` and `stdout`: rows gathered to files and staged file by file.
 *
 * Place in the walk: stages 6 and 8. Rows are encoded as they come; a file is staged when it is full, and every file at
 * the barrier, so that everything of an epoch is staged before the epoch's checkpoint names it. How rows become bytes is
 * told by an `OutputFile`.
 *
 * Invariants: a name is used once: it carries the writer, and the number of files this writer has staged before;
 * nothing is visible until the commit. A file holds whole rows and, but for one long batch, at most `fileBytesMax`.
 * Failure: none of its own; staging is the host's.
 */
import type { RecordBatch } from '../batch/record-batch.ts';
import type { Sink, SinkContext, SinkOutput, StageRequest } from './connector.ts';
import { JsonFile } from './json-file.ts';
import { ParquetFile } from './parquet-file.ts';

/** A file under way; after `take` it is the next one. */
export interface OutputFile {
  readonly rows: number;
  readonly bytes: number;
  /** About how many bytes the batch adds; 0: it has nothing to write. The next call is `add`, with the same batch. */
  weigh(batch: RecordBatch): number;
  add(batch: RecordBatch): void;
  take(): Uint8Array;
}

export type FileOptions = {
  method: StageRequest['method'];
  /** What stands before the names of files: a folder with its slash, or nothing. */
  folder: string;
  fileBytesMax: number;
  fileRowsMax?: number | null;
  /** The object that files are appended to; null: each is an object of its own. */
  target?: string | null;
};

export class FileSink implements Sink {
  readonly copiesRows = true;
  readonly #options: FileOptions;
  readonly #context: SinkContext;
  readonly #file: OutputFile;
  #nextIndex = 0;

  constructor(context: SinkContext, options: FileOptions) {
    this.#context = context;
    this.#options = options;
    this.#file = outputFile(context);
  }

  onBatch(batch: RecordBatch, epoch: number, output: SinkOutput): void {
    const file = this.#file;
    const { fileBytesMax, fileRowsMax } = this.#options;
    const bytes = file.weigh(batch);
    if (bytes === 0) return;
    if (file.bytes > 0 && file.bytes + bytes > fileBytesMax) this.#stage(epoch, output);
    file.add(batch);
    if (file.bytes >= fileBytesMax || file.rows >= (fileRowsMax ?? Infinity))
      this.#stage(epoch, output);
  }

  onBarrier(epoch: number, output: SinkOutput): void {
    if (this.#file.rows > 0) this.#stage(epoch, output);
  }

  #stage(epoch: number, output: SinkOutput): void {
    const { folder, method, target } = this.#options;
    const { rows } = this.#file;
    const bytes = this.#file.take();
    const key = folder + partName(this.#context, epoch, this.#nextIndex++);
    output.stage({ key, bytes, rows, method, target: target ?? key });
  }

  bufferedBytes(): number {
    return this.#file.bytes;
  }
}

const outputFile = (context: SinkContext): OutputFile =>
  context.format.tag === 'parquet'
    ? new ParquetFile(context.schema, context.format)
    : new JsonFile(context, context.format);

/** `part-0000012-003-0001-<writer>.ndjson`: the epoch first, so that names sort by it. */
export function partName(context: SinkContext, epoch: number, index: number): string {
  const digits = (value: number, width: number): string => String(value).padStart(width, '0');
  const kind = context.format.tag === 'parquet' ? 'parquet' : 'ndjson';
  return `part-${digits(epoch, 7)}-${digits(context.subtask, 3)}-${digits(index, 4)}-${context.writerId}.${kind}`;
}
