/** Lent batches: their memory is written over once they have been handed on, as a source may do with it. */
import type { Column } from '../../src/batch/column.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';

const NONSENSE = 0xa5;

function writeOverColumn(column: Column): void {
  const write = (buffer: ArrayBufferView): void =>
    void new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).fill(NONSENSE);
  if (column.validity !== null) write(column.validity);
  switch (column.tag) {
    case 'boolean':
      return write(column.bits);
    case 'int32':
    case 'float64':
      return write(column.values);
    case 'text':
      write(column.offsets);
      return write(column.bytes);
    case 'list':
      write(column.offsets);
      return writeOverColumn(column.child);
    case 'struct':
      return column.children.forEach(writeOverColumn);
    default:
      return write(column.words);
  }
}

export function writeOver({ columns, eventTime, retract }: RecordBatch): void {
  columns.forEach(writeOverColumn);
  if (eventTime !== null) writeOverColumn(eventTime);
  retract?.fill(NONSENSE);
}
