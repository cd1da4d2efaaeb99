/** The `preview` sink: rows for whoever watches the pipeline, as they come; nothing is kept or committed. */
import type { RecordBatch } from '../../batch/record-batch.ts';
import { assert } from '../../base/assert.ts';
import type { Sink, SinkContext, SinkOutput } from '../connector.ts';
import { LineEncoder } from '../json-file.ts';

export class PreviewSink implements Sink {
  readonly copiesRows = true;
  readonly #encoder: LineEncoder;

  constructor(context: SinkContext) {
    assert(context.format.tag === 'json', 'what is shown is JSON');
    this.#encoder = new LineEncoder(context, context.format);
  }

  onBatch(batch: RecordBatch, _epoch: number, output: SinkOutput): void {
    const { bytes, lines } = this.#encoder.encode(batch);
    if (lines > 0) output.preview(bytes, lines);
  }

  onBarrier(_epoch: number, _output: SinkOutput): void {}

  bufferedBytes(): number {
    return 0;
  }
}
