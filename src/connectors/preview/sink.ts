/** The `preview` sink: rows for whoever watches the pipeline, as they come; nothing is kept or committed. */
import type { RecordBatch } from '../../batch/record-batch.ts';
import { JsonEncoder } from '../../formats/json-encoder.ts';
import type { Sink, SinkContext, SinkOutput } from '../connector.ts';
import { encodeLines } from '../ndjson-sink.ts';

export class PreviewSink implements Sink {
  readonly copiesRows = true;
  readonly #context: SinkContext;
  readonly #encoder: JsonEncoder;

  constructor(context: SinkContext) {
    this.#context = context;
    this.#encoder = new JsonEncoder(context.schema, context.format);
  }

  onBatch(batch: RecordBatch, _epoch: number, output: SinkOutput): void {
    const { bytes, lines } = encodeLines(this.#encoder, this.#context, batch);
    if (lines > 0) output.preview(bytes, lines);
  }

  onBarrier(_epoch: number, _output: SinkOutput): void {}

  bufferedBytes(): number {
    return 0;
  }
}
