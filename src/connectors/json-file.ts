/** A file of NDJSON under way: its rows, or changes when rows may be retracted. */
import type { RecordBatch } from '../batch/record-batch.ts';
import type { FormatSpec } from '../formats/format.ts';
import { JsonEncoder } from '../formats/json-encoder.ts';
import type { SinkContext } from './connector.ts';
import type { OutputFile } from './file-sink.ts';

const LINE_FEED = 10;

type Lines = { bytes: Uint8Array; lines: number };

/** Batches as lines. */
export class LineEncoder {
  readonly #encoder: JsonEncoder;
  readonly #context: SinkContext;

  constructor(context: SinkContext, format: FormatSpec) {
    this.#context = context;
    this.#encoder = new JsonEncoder(context.schema, format);
  }

  encode(batch: RecordBatch): Lines {
    const { updating, keyColumns } = this.#context;
    if (!updating) return { bytes: this.#encoder.encode(batch), lines: batch.rows };
    const bytes = this.#encoder.encodeChanges(batch, keyColumns);
    let lines = 0;
    for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) lines++;
    return { bytes, lines };
  }
}

const NOTHING: Lines = { bytes: new Uint8Array(0), lines: 0 };

export class JsonFile implements OutputFile {
  readonly #encoder: LineEncoder;
  #parts: Uint8Array[] = [];
  #weighed = NOTHING;
  bytes = 0;
  rows = 0;

  constructor(context: SinkContext, format: FormatSpec) {
    this.#encoder = new LineEncoder(context, format);
  }

  weigh(batch: RecordBatch): number {
    this.#weighed = this.#encoder.encode(batch);
    return this.#weighed.bytes.length;
  }

  add(): void {
    const { bytes, lines } = this.#weighed;
    this.#parts.push(bytes);
    this.bytes += bytes.length;
    this.rows += lines;
    this.#weighed = NOTHING;
  }

  take(): Uint8Array {
    const bytes = new Uint8Array(this.bytes);
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.length;
    }
    this.#parts = [];
    this.bytes = 0;
    this.rows = 0;
    return bytes;
  }
}
