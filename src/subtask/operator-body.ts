/** An operator as the body of a node. */
import { must } from '../base/assert.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import type { Schema } from '../batch/types.ts';
import type { Operator, Output, Watermark } from '../operators/operator.ts';
import type { NodeBody } from './node.ts';

export class OperatorBody implements NodeBody {
  readonly operator: Operator;
  readonly takeRest?: () => RecordBatch | null;

  constructor(operator: Operator) {
    this.operator = operator;
    if (operator.takeRest !== undefined) this.takeRest = () => operator.takeRest?.() ?? null;
  }

  onBatch(port: number, batch: RecordBatch, output: Output): void {
    this.operator.onBatch(port, batch, output);
  }

  get copiesRows(): boolean | undefined {
    return this.operator.copiesRows;
  }

  onPartial(partial: RecordBatch, output: Output): void {
    must(this.operator.onPartial, 'an operator of partial states').call(
      this.operator,
      partial,
      output,
    );
  }

  get partialStates(): Schema | undefined {
    return this.operator.partialStates;
  }

  onWatermark(watermark: Watermark, output: Output): void {
    this.operator.onWatermark(watermark, output);
  }

  get waitsForEnd(): number | undefined {
    return this.operator.waitsForEnd;
  }

  onPortEnd(output: Output): void {
    this.operator.onPortEnd?.(output);
  }

  onTick(nowMs: number, output: Output): void {
    this.operator.onTick(nowMs, output);
  }
}
