/**
 * UNION ALL: hands on the rows of every input as they come, without event times where some inputs have none.
 *
 * Place in the walk: stage 6. Keeps no state. Invariants: rows of one input keep their order.
 * Not guaranteed: any order between inputs. Failure: none.
 */
import type { RecordBatch } from '../batch/record-batch.ts';
import type { Output } from './operator.ts';
import { StatelessOperator } from './stateless-operator.ts';

export class Union extends StatelessOperator {
  readonly #untimed: boolean;

  constructor({ untimed }: { readonly untimed?: true }) {
    super();
    this.#untimed = untimed === true;
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    output.emit(this.#untimed && batch.eventTime !== null ? { ...batch, eventTime: null } : batch);
  }
}
