/** A Parquet file under way. It takes rows that stay: the planner refuses results that are updated. */
import { batchBytes } from '../batch/batch-bytes.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import type { Schema } from '../batch/types.ts';
import type { ParquetSpec } from '../formats/format.ts';
import { ParquetWriter } from '../formats/parquet/parquet-writer.ts';
import type { OutputFile } from './file-sink.ts';

export class ParquetFile implements OutputFile {
  readonly #writer: ParquetWriter;

  constructor(schema: Schema, format: ParquetSpec) {
    this.#writer = new ParquetWriter(schema, format);
  }

  get rows(): number {
    return this.#writer.rows;
  }

  get bytes(): number {
    return this.#writer.bytes;
  }

  weigh(batch: RecordBatch): number {
    return batch.rows === 0 ? 0 : Math.max(1, batchBytes(batch));
  }

  add(batch: RecordBatch): void {
    this.#writer.append(batch);
  }

  take(): Uint8Array {
    return this.#writer.finish();
  }
}
