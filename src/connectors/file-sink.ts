/**
 * The sink of `r2`, `single_file` and `stdout`: rows gathered to files and staged file by file.
 *
 * Place in the walk: stages 6 and 8. Rows are encoded as they come; a file is staged when it is full, and every file at
 * the barrier, so that everything of an epoch is staged before the epoch's checkpoint names it. How rows become bytes is
 * told by an `OutputFile`.
 *
 * Rows that are dealt to folders have a file in each. So many are under way at most, with so many bytes together; for more,
 * the largest is staged, the one that came first among equals.
 *
 * Invariants: a name is used once: it carries the writer, and the number of files this writer has staged before;
 * nothing is visible until the commit. A file holds whole rows and, but for one long batch, at most `fileBytesMax`.
 * Failure: rows whose folder can not be named are refused; staging is the host's.
 */
import { must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import { concatBatches } from '../batch/concat.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import type { RowProblem } from '../operators/operator.ts';
import { rowJson } from '../operators/row-json.ts';
import type { Sink, SinkContext, SinkOutput, StageRequest } from './connector.ts';
import { type Dealt, makePartitioner, type Partitioner } from './partitioner.ts';
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
  /** Files that may be under way at a time, one for each folder that rows are dealt to. */
  openMax?: number;
};

/** Bytes of a key in R2, and of the names of files in it. */
const KEY_BYTES_MAX = 1024;
const NAME_BYTES_MAX = 120;
/** What all files under way may have together; with one file, the file's own bound is nearer. */
const OPEN_BYTES_MAX = 32 * LIMITS.batchBytesMax;

export class FileSink implements Sink {
  readonly copiesRows = true;
  readonly #options: FileOptions;
  readonly #context: SinkContext;
  readonly #partitioner: Partitioner | null;
  /** By the folder under that of the sink; without partitions the one file stays. */
  readonly #files = new Map<string, OutputFile>();
  #nextIndex = 0;
  #rest: RecordBatch | null = null;

  constructor(context: SinkContext, options: FileOptions) {
    this.#context = context;
    this.#options = options;
    this.#partitioner = makePartitioner(context);
  }

  onBatch(batch: RecordBatch, epoch: number, output: SinkOutput): void {
    if (this.#partitioner === null) this.#write('', batch, epoch, output);
    else if (batch.rows > 0) this.#deal(this.#partitioner.deal(batch), epoch, output);
  }

  /** Folder by folder, until so many files are closed that the store has enough to do. */
  #deal(all: readonly Dealt[], epoch: number, output: SinkOutput): void {
    const enough = this.#nextIndex + LIMITS.stagingFilesMax;
    for (const [at, dealt] of all.entries()) {
      if (this.#nextIndex >= enough) {
        this.#rest = concatBatches(all.slice(at).map(({ batch }) => batch));
        return;
      }
      if (this.#folderBytes(dealt.folder) > KEY_BYTES_MAX - NAME_BYTES_MAX)
        output.fail(this.#tooLong(dealt));
      else this.#write(dealt.folder, dealt.batch, epoch, output);
    }
  }

  takeRest(): RecordBatch | null {
    const rest = this.#rest;
    this.#rest = null;
    return rest;
  }

  onBarrier(epoch: number, output: SinkOutput): void {
    for (const [folder, file] of this.#files) if (file.rows > 0) this.#stage(folder, epoch, output);
    if (this.#partitioner !== null) this.#files.clear();
  }

  #write(folder: string, batch: RecordBatch, epoch: number, output: SinkOutput): void {
    const { fileBytesMax, fileRowsMax } = this.#options;
    const file = this.#files.get(folder) ?? this.#open(folder, epoch, output);
    const bytes = file.weigh(batch);
    if (bytes === 0) return;
    if (file.bytes > 0 && file.bytes + bytes > fileBytesMax) this.#stage(folder, epoch, output);
    file.add(batch);
    if (file.bytes >= fileBytesMax || file.rows >= (fileRowsMax ?? Number.POSITIVE_INFINITY))
      this.#stage(folder, epoch, output);
    else if (this.#files.size > 1 && this.bufferedBytes() > OPEN_BYTES_MAX)
      this.#closeLargest(epoch, output);
  }

  #open(folder: string, epoch: number, output: SinkOutput): OutputFile {
    while (this.#files.size >= (this.#options.openMax ?? 1)) this.#closeLargest(epoch, output);
    const file = outputFile(this.#context);
    this.#files.set(folder, file);
    return file;
  }

  #closeLargest(epoch: number, output: SinkOutput): void {
    let largest: string | null = null;
    let most = -1;
    for (const [folder, { bytes }] of this.#files) {
      if (bytes <= most) continue;
      largest = folder;
      most = bytes;
    }
    if (largest === null) return;
    if (must(this.#files.get(largest), 'largest file').rows > 0)
      this.#stage(largest, epoch, output);
    this.#files.delete(largest);
  }

  #stage(under: string, epoch: number, output: SinkOutput): void {
    const { folder, method, target } = this.#options;
    const file = must(this.#files.get(under), 'file under way');
    const { rows } = file;
    const bytes = file.take();
    const key = folder + under + partName(this.#context, epoch, this.#nextIndex++);
    output.stage({ key, bytes, rows, method, target: target ?? key });
  }

  #folderBytes = (under: string): number =>
    new TextEncoder().encode(this.#options.folder + under).length;

  #tooLong({ folder, batch }: Dealt): RowProblem[] {
    const message = `its folder ${folder.slice(0, 60)}… is longer than a key of the bucket may be`;
    return Array.from({ length: batch.rows }, (_, row) => ({
      row,
      code: 'ROW_TOO_LARGE' as const,
      column: '',
      message,
      raw: rowJson(batch, this.#context.schema, row),
    }));
  }

  bufferedBytes(): number {
    let bytes = 0;
    for (const file of this.#files.values()) bytes += file.bytes;
    return bytes;
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
