/** The `blackhole` sink: takes rows and forgets them; for measuring a pipeline without its output. */
import type { RecordBatch } from '../../batch/record-batch.ts';
import type { Sink, SinkOutput } from '../connector.ts';

export class BlackholeSink implements Sink {
  readonly copiesRows = true;

  onBatch(_batch: RecordBatch, _epoch: number, _output: SinkOutput): void {}

  onBarrier(_epoch: number, _output: SinkOutput): void {}

  bufferedBytes(): number {
    return 0;
  }
}
