/**
 * The source of `single_file` and `r2`: one NDJSON object, read in ranges.
 *
 * Place in the walk: stage 5. Rows end at line feeds; the last one needs none. The next range is asked for while the
 * last one is decoded; it begins with the row that the last one cut, so that nothing is copied together. Only a row longer
 * than a range waits for its rest.
 *
 * Offset: {offset, line}: byte position of the next row to give out, and the number of its line for messages. Within a line
 * that is too long to be a row also `skipped`: bytes of it before `offset`. A byte order mark is no input.
 * Invariants: every line is given out once and in order, wherever ranges and batches cut; the object must not change
 * while it is read, but for growing at its end.
 * Failure: a missing object fails the source; a line longer than `ingestRowBytesMax` is a bad row like any other.
 */
import { assert } from '../../base/assert.ts';
import { EngineError, type ErrorReport } from '../../base/errors.ts';
import { LIMITS } from '../../base/limits.ts';
import type { DecodeError, DecodeResult } from '../../formats/json-decoder.ts';
import { type ByteHash, makeRowDecoder, type RowDecoder } from '../../formats/row-decoder.ts';
import type { RecordBatch } from '../../batch/record-batch.ts';
import type { JsonValue } from '../../lineage/types.ts';
import type { RowProblem } from '../../operators/operator.ts';
import { failReport, judgeBadRows } from '../bad-rows.ts';
import type { ReadResult, Source, SourceContext, SourceStep } from '../connector.ts';
import { requiredText } from '../options.ts';
import { ownedPartitions } from '../partitions.ts';
import { readColumns } from '../read-columns.ts';

const READ_BYTES = 2 * 1024 * 1024;
const LINE_FEED = 10;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const NO_BYTES = new Uint8Array(0);

export class ObjectSource implements Source {
  readonly partitions: readonly number[];
  readonly #context: SourceContext;
  readonly #path: string;
  readonly #decoder: RowDecoder;
  /** Byte position of what comes next, and its line, from 1. */
  #offset = 0;
  #line = 1;
  /** Bytes from `#offset` on: `#buffer[#at, …)`. */
  #buffer: Uint8Array = NO_BYTES;
  #at = 0;
  /** Read ahead, and not joined to the buffer yet. */
  #ahead: Uint8Array | null = null;
  /** Position the next range starts at. */
  #readOffset = 0;
  #reading = false;
  #reachedEnd = false;
  /** Bytes passed of a line that is too long to be a row; 0: not in such a line. */
  #skipped = 0;
  #ended: 'no' | 'partition' | 'source' = 'no';
  #failed: ErrorReport | null = null;
  /** Takes in the bytes that are passed; null: they are told. */
  #hashOf: ((partition: number) => ByteHash) | null = null;

  constructor(context: SourceContext) {
    this.#context = context;
    this.#path = requiredText(context.spec.connector.options, 'path');
    this.partitions = ownedPartitions(1, context.subtask, context.parallelism);
    this.#decoder = makeRowDecoder(readColumns(context.spec), context.spec.format);
    if (this.partitions.length === 0) this.#ended = 'source';
  }

  hashWith(hashOf: (partition: number) => ByteHash): void {
    if (this.#decoder.hashes === true) this.#hashOf = hashOf;
  }

  lend(): void {
    this.#decoder.lend?.();
  }

  poll(_nowMs: number): SourceStep {
    if (this.#failed !== null) return { tag: 'failed', report: this.#failed };
    if (this.#ended !== 'no') {
      this.#ended = 'source';
      return { tag: 'ended' };
    }
    if (!this.#reading && !this.#reachedEnd && this.#ahead === null) return this.#read();
    for (;;) {
      const step = this.#decode();
      if (step !== null) return step;
      if (this.#ahead !== null) this.#join(this.#ahead);
      else if (this.#reachedEnd && this.#at >= this.#buffer.length) break;
      else if (!this.#reachedEnd)
        return this.#reading ? { tag: 'wait', untilMs: null } : this.#read();
    }
    this.#ended = 'partition';
    return { tag: 'partition-ended', partition: 0 };
  }

  #read(): SourceStep {
    this.#reading = true;
    return {
      tag: 'read',
      partition: 0,
      request: { tag: 'object', path: this.#path, offset: this.#readOffset, length: READ_BYTES },
    };
  }

  #join(bytes: Uint8Array): void {
    const rest = this.#buffer.subarray(this.#at);
    this.#ahead = null;
    this.#at = 0;
    if (rest.length === 0) {
      this.#buffer = bytes;
      return;
    }
    this.#buffer = new Uint8Array(rest.length + bytes.length);
    this.#buffer.set(rest);
    this.#buffer.set(bytes, rest.length);
  }

  /** The next rows of the buffer; null when it holds no whole row. */
  #decode(): SourceStep | null {
    const final = this.#reachedEnd && this.#ahead === null;
    if (this.#skipped > 0) return this.#skipLine(final);
    const buffer = this.#buffer;
    const start = this.#at;
    while (this.#at < buffer.length) {
      const from = this.#at;
      const result = this.#decoder.decode(
        buffer,
        from,
        buffer.length,
        this.#context.batchRows,
        final,
        this.#hashOf?.(0),
      );
      if (result.consumed === from) {
        if (from > start || buffer.length - from <= LIMITS.ingestRowBytesMax) break;
        return this.#skipLine(final);
      }
      const bad = judgeBadRows(result.errors, buffer, this.#context.spec.format, (error) =>
        this.#placeOf(error),
      );
      if (bad.tag === 'failed') return this.#fail(bad.report);
      this.#line += linesOf(result, buffer, from);
      this.#offset += result.consumed - from;
      this.#at = result.consumed;
      if (result.rowsSeen > 0)
        return this.#give(
          result.batch,
          result.rowsSeen,
          bad.problems,
          buffer.subarray(start, this.#at),
        );
    }
    return this.#at > start ? this.#giveNone(start) : null;
  }

  #give(
    batch: RecordBatch,
    read: number,
    problems: readonly RowProblem[],
    passed: Uint8Array,
  ): SourceStep {
    const input = this.#hashOf === null ? passed : null;
    return { tag: 'batch', partition: 0, batch, read, problems, input };
  }

  /** No rows, but bytes from `start` on that were passed. */
  #giveNone(start: number, problems: readonly RowProblem[] = []): SourceStep {
    const { batch } = this.#decoder.decode(NO_BYTES, 0, 0, 1);
    return this.#give(batch, problems.length, problems, this.#buffer.subarray(start, this.#at));
  }

  /** Passes a line too long to be kept, piece by piece; it is reported when its end is seen. */
  #skipLine(final: boolean): SourceStep | null {
    const start = this.#at;
    const end = this.#buffer.indexOf(LINE_FEED, start);
    const to = end >= 0 ? end + 1 : this.#buffer.length;
    this.#hashOf?.(0).update(this.#buffer.subarray(start, to));
    this.#skipped += to - start;
    this.#offset += to - start;
    this.#at = to;
    if (end < 0 && !final) return to > start ? this.#giveNone(start) : null;
    const message = `line ${this.#line} (byte ${this.#offset - this.#skipped}) of ${this.#path}: a row of ${this.#skipped} bytes is longer than ${LIMITS.ingestRowBytesMax}`;
    if (this.#context.spec.format.badData === 'fail')
      return this.#fail(failReport('ROW_TOO_LARGE', message, null));
    this.#skipped = 0;
    this.#line++;
    const problem: RowProblem = { row: 0, code: 'ROW_TOO_LARGE', column: '', message, raw: null };
    return this.#giveNone(start, [problem]);
  }

  #placeOf(error: DecodeError): string {
    const line = this.#line + countLines(this.#buffer, this.#at, error.start);
    return `line ${line} (byte ${this.#offset + error.start - this.#at}) of ${this.#path}`;
  }

  #fail(report: ErrorReport): SourceStep {
    this.#failed = report;
    return { tag: 'failed', report };
  }

  onRead(_partition: number, result: ReadResult): void {
    assert(this.#reading, 'a read was asked for');
    this.#reading = false;
    if (result.tag === 'failed') this.#failed = result.report;
    else if (result.tag === 'object') this.#take(result.bytes, result.size);
    else
      this.#failed = missingReport(
        this.#path,
        result.tag === 'missing' ? result.detail : undefined,
      );
  }

  #take(bytes: Uint8Array, size: number): void {
    let taken = bytes;
    if (this.#readOffset === 0 && BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte)) {
      taken = bytes.subarray(3);
      this.#offset = 3;
    }
    this.#reachedEnd = bytes.length === 0 || this.#readOffset + bytes.length >= size;
    const cut = this.#reachedEnd ? 0 : bytes.length - 1 - bytes.lastIndexOf(LINE_FEED);
    const left = cut < bytes.length ? cut : 0;
    this.#readOffset += bytes.length - left;
    this.#ahead = left === 0 ? taken : taken.subarray(0, taken.length - left);
  }

  snapshot(): Record<string, JsonValue> {
    if (this.partitions.length === 0) return {};
    const skipped = this.#skipped > 0 ? { skipped: this.#skipped } : {};
    return { '0': { offset: this.#offset, line: this.#line, ...skipped } };
  }

  restore(offsets: Record<string, JsonValue>): void {
    const known = offsets['0'];
    if (known === undefined || this.partitions.length === 0) return;
    const { offset, line, skipped } = known as { offset: number; line: number; skipped?: number };
    this.#offset = offset;
    this.#readOffset = offset;
    this.#line = line;
    this.#skipped = skipped ?? 0;
  }
}

/** Lines that end before the consumed position: between accepted rows there is seldom more than the line feed of one. */
function linesOf({ lineRanges, consumed }: DecodeResult, bytes: Uint8Array, from: number): number {
  const last = lineRanges.length - 1;
  if (last < 0) return countLines(bytes, from, consumed);
  // One byte between two rows is the end of a line, and is not looked at.
  let others = 0;
  for (let place = 1; place < last; place += 2)
    others |= ((lineRanges[place + 1] as number) - (lineRanges[place] as number)) ^ 1;
  let lines = last >> 1;
  if (others !== 0) {
    lines = 0;
    for (let place = 1; place < last; place += 2) {
      const [end, start] = [lineRanges[place] as number, lineRanges[place + 1] as number];
      lines += start - end === 1 ? 1 : countLines(bytes, end, start);
    }
  }
  lines += countLines(bytes, from, lineRanges[0] as number);
  return lines + countLines(bytes, lineRanges[last] as number, consumed);
}

function countLines(bytes: Uint8Array, from: number, to: number): number {
  let lines = 0;
  for (
    let at = bytes.indexOf(LINE_FEED, from);
    at >= 0 && at < to;
    at = bytes.indexOf(LINE_FEED, at + 1)
  )
    lines++;
  return lines;
}

const missingReport = (path: string, detail?: string): ErrorReport =>
  new EngineError('SOURCE_MISSING', `there is no ${path}`, {
    ...(detail === undefined ? {} : { detail }),
    hint: 'Check the option path of the table.',
  }).report;
