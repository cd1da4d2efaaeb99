/**
 * The `http` source: reads the durable logs that rows posted to the API lie in.
 *
 * Place in the walk: stage 5. One log per partition; the next stretch is asked for while the last one is decoded.
 *
 *     partition:  idle ──poll──▶ reading ──rows──▶ decoding (and reading ahead) ──▶ …; it never ends by itself
 *
 * Offset of a partition: number of the next row, as the log counts them.
 * Invariants: every row of the log is decoded once and in order; the offset moves only with rows given out.
 * Failure: a log that no longer has the rows asked for fails the source, since going on would lose them silently.
 */
import { assert, must } from '../../base/assert.ts';
import { EngineError, type ErrorReport } from '../../base/errors.ts';
import { LIMITS } from '../../base/limits.ts';
import { Int64Builder } from '../../batch/column-builder.ts';
import type { Column } from '../../batch/column.ts';
import { constantColumn } from '../../batch/constant-column.ts';
import { INT32, INT64 } from '../../batch/types.ts';
import type { DecodeResult } from '../../formats/json-decoder.ts';
import { type ByteHash, makeRowDecoder, type RowDecoder } from '../../formats/row-decoder.ts';
import type { JsonValue } from '../../lineage/types.ts';
import { judgeBadRows } from '../bad-rows.ts';
import type { ReadResult, Source, SourceContext, SourceStep } from '../connector.ts';
import { decodedColumns, withMetadata } from '../metadata.ts';
import { integerOption } from '../options.ts';
import { ownedPartitions } from '../partitions.ts';
import { readColumns } from '../read-columns.ts';

/** How long a read may stay open when the log has nothing new. */
const READ_WAIT_MS = 1000;
const READ_BYTES_MIN = 16 * 1024;
/** Of a partition: what is decoded, what is decoded next, and what is on its way. */
const STRETCHES_MAX = 3;

type Stretch = { bytes: Uint8Array; at: number; endOffset: number };

type Partition = {
  number: number;
  /** Next row to give out. */
  offset: number;
  /** Next row to ask for. */
  readOffset: number;
  /** Where the log ended when it was read last; null before the first answer. */
  logEnd: number | null;
  reading: boolean;
  /** What has been read and not given out, oldest first: at most two. */
  stretches: Stretch[];
};

/** The offset of each accepted row; `first` is that of the first row met. */
function offsetsOf(result: DecodeResult, first: number): Column {
  const builder = new Int64Builder(INT64, result.batch.rows);
  const rejected = new Set(result.errors.map(({ rowIndex }) => rowIndex));
  for (let index = 0; index < result.rowsSeen; index++)
    if (!rejected.has(index)) builder.appendNumber(first + index);
  return builder.finish();
}

export class HttpSource implements Source {
  readonly partitions: readonly number[];
  readonly #parts: Partition[];
  readonly #context: SourceContext;
  readonly #decoder: RowDecoder;
  #failed: ErrorReport | null = null;
  #rowsFirst = false;
  /** Takes in the bytes of a partition; null: they are told. */
  #hashOf: ((partition: number) => ByteHash) | null = null;
  readonly #readBytes: number;
  /** Bytes that have been read and not given out. */
  #held = 0;
  #readTurn = 0;
  #rowTurn = 0;

  constructor(context: SourceContext) {
    const count = integerOption(context.spec.connector.options, 'partitions') ?? 1;
    this.#context = context;
    this.partitions = ownedPartitions(count, context.subtask, context.parallelism);
    this.#parts = this.partitions.map((number) => ({
      number,
      offset: 0,
      readOffset: 0,
      logEnd: null,
      reading: false,
      stretches: [],
    }));
    const each = LIMITS.readAheadBytesMax / (this.#parts.length * STRETCHES_MAX);
    this.#readBytes = Math.min(LIMITS.batchBytesMax, Math.max(READ_BYTES_MIN, Math.floor(each)));
    this.#decoder = makeRowDecoder(decodedColumns(readColumns(context.spec)), context.spec.format);
  }

  hashWith(hashOf: (partition: number) => ByteHash): void {
    if (this.#decoder.hashes === true) this.#hashOf = hashOf;
  }

  lend(): void {
    this.#decoder.lend?.();
  }

  poll(_nowMs: number): SourceStep {
    if (this.#failed !== null) return { tag: 'failed', report: this.#failed };
    if (this.#parts.length === 0) return { tag: 'ended' };
    // Reads and rows take turns, so that neither crowds the other out, whatever answers at once.
    this.#rowsFirst = !this.#rowsFirst;
    const step = this.#rowsFirst
      ? (this.#nextRows() ?? this.#nextRead())
      : (this.#nextRead() ?? this.#nextRows());
    return step ?? { tag: 'wait', untilMs: null };
  }

  #nextRead(): SourceStep | null {
    // There are rows to give out, so this passes.
    if (this.#held >= LIMITS.readAheadBytesMax) return null;
    for (let tries = 0; tries < this.#parts.length; tries++) {
      const part = this.#parts[this.#readTurn++ % this.#parts.length] as Partition;
      if (part.reading || part.stretches.length > 1) continue;
      part.reading = true;
      return {
        tag: 'read',
        partition: part.number,
        request: {
          tag: 'log',
          table: this.#context.spec.table,
          partition: part.number,
          offset: part.readOffset,
          bytesMax: this.#readBytes,
          waitMs: READ_WAIT_MS,
        },
      };
    }
    return null;
  }

  #nextRows(): SourceStep | null {
    for (let tries = 0; tries < this.#parts.length; tries++) {
      const part = this.#parts[this.#rowTurn++ % this.#parts.length] as Partition;
      if (part.stretches.length > 0) return this.#decode(part);
    }
    return null;
  }

  #decode(part: Partition): SourceStep {
    const stretch = must(part.stretches[0], 'a stretch of rows');
    const { bytes } = stretch;
    const first = part.offset;
    const result = this.#decoder.decode(
      bytes,
      stretch.at,
      bytes.length,
      this.#context.batchRows,
      true,
      this.#hashOf?.(part.number),
    );
    const bad = judgeBadRows(
      result.errors,
      bytes,
      this.#context.spec.format,
      (error) =>
        `row ${first + error.rowIndex} of ${this.#context.spec.table}${this.#nameOf(part)}`,
    );
    if (bad.tag === 'failed') {
      this.#failed = bad.report;
      return bad;
    }
    const input = this.#hashOf === null ? bytes.subarray(stretch.at, result.consumed) : null;
    stretch.at = result.consumed;
    part.offset += result.rowsSeen;
    if (stretch.at >= bytes.length) {
      assert(part.offset === stretch.endOffset, 'the log has one row a line');
      part.stretches.shift();
      this.#held -= bytes.length;
    }
    return {
      tag: 'batch',
      partition: part.number,
      batch: withMetadata(this.#context.spec.physical, result.batch, (key) =>
        key === 'partition'
          ? constantColumn(INT32, part.number, result.batch.rows)
          : offsetsOf(result, first),
      ),
      read: result.rowsSeen,
      problems: bad.problems,
      input,
    };
  }

  #nameOf(part: Partition): string {
    const alone = (integerOption(this.#context.spec.connector.options, 'partitions') ?? 1) === 1;
    return alone ? '' : `, partition ${part.number}`;
  }

  onRead(partition: number, result: ReadResult): void {
    const part = must(
      this.#parts.find((each) => each.number === partition),
      `partition ${partition}`,
    );
    assert(part.reading, 'a read was asked for');
    part.reading = false;
    if (result.tag === 'failed') this.#failed = result.report;
    else if (result.tag === 'log') this.#take(part, result);
    else this.#failed = this.#lostReport(part, 'the log is missing');
  }

  #take(part: Partition, result: ReadResult & { tag: 'log' }): void {
    part.logEnd = result.endOffset;
    if (result.rows === 0) {
      if (result.endOffset < part.readOffset)
        this.#failed = this.#lostReport(part, `the log ends at row ${result.endOffset}`);
      return;
    }
    if (result.firstOffset !== part.readOffset) {
      this.#failed = this.#lostReport(part, `the log answered from row ${result.firstOffset}`);
      return;
    }
    part.readOffset += result.rows;
    this.#held += result.bytes.length;
    part.stretches.push({ bytes: result.bytes, at: 0, endOffset: part.readOffset });
  }

  #lostReport(part: Partition, why: string): ErrorReport {
    const { table } = this.#context.spec;
    return new EngineError(
      'SOURCE_MISSING',
      `row ${part.readOffset} of ${table}${this.#nameOf(part)} is not there any more: ${why}`,
      {
        hint: 'Restart the pipeline without state to read the table from its beginning.',
      },
    ).report;
  }

  backlog(partition: number): number | null {
    const part = this.#parts.find((each) => each.number === partition);
    if (part === undefined || part.logEnd === null) return null;
    return Math.max(0, part.logEnd - part.offset);
  }

  snapshot(): Record<string, JsonValue> {
    return Object.fromEntries(this.#parts.map((part) => [String(part.number), part.offset]));
  }

  restore(offsets: Record<string, JsonValue>): void {
    for (const part of this.#parts) {
      const offset = offsets[String(part.number)];
      if (typeof offset !== 'number') continue;
      part.offset = offset;
      part.readOffset = offset;
    }
  }
}
