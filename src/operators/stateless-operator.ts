/** The parts of the operator contract that mean nothing for operators without state and clock. */
import { assert } from '../base/assert.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import type { Operator, Output, Watermark } from './operator.ts';

export abstract class StatelessOperator implements Operator {
  readonly copiesRows = true;

  abstract onBatch(port: number, batch: RecordBatch, output: Output): void;

  onWatermark(_watermark: Watermark, _output: Output): void {}

  onTick(_nowMs: number, _output: Output): void {}

  onBarrier(_output: Output): void {}

  snapshot(_kind: SnapshotKind): StateTable[] {
    return [];
  }

  restore(tables: readonly StateTable[]): void {
    assert(tables.length === 0, 'an operator without state has no tables');
  }

  stateBytes(): number {
    return 0;
  }

  stateRows(): number {
    return 0;
  }
}
