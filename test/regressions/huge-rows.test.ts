/** A batch of rows of a megabyte each became one message that was larger than a call between objects may be. */
import { expect, test } from 'vitest';
import { LIMITS } from '../../src/base/limits.ts';
import { decodeBatch } from '../../src/batch/ipc.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import type { Schema } from '../../src/batch/types.ts';
import { OutputChannel } from '../../src/subtask/output-channel.ts';

test('a batch of huge rows travels in several frames, whole and in order', () => {
  const rows = 9;
  const size = 1_500_000;
  const bytes = new Uint8Array(rows * size);
  for (let row = 0; row < rows; row++) bytes.fill(65 + row, row * size, (row + 1) * size);
  const offsets = Int32Array.from({ length: rows + 1 }, (_, row) => row * size);
  const type = { tag: 'text' } as const;
  const schema: Schema = [{ name: 'k', type, nullable: false }];
  const columns = [{ tag: 'text', type, length: rows, validity: null, offsets, bytes } as const];
  const batch: RecordBatch = { rows, columns, eventTime: null, retract: null };
  const channel = new OutputChannel('e', 1, schema);
  channel.push({ tag: 'batch', batch });
  let text = '';
  for (let sequence = 0; ;) {
    const delivery = channel.nextDelivery();
    if (delivery === null) break;
    expect(delivery.sequence).toBe(sequence);
    sequence += delivery.frames.length;
    for (const frame of delivery.frames) {
      if (frame.tag !== 'data') throw new Error(frame.tag);
      expect(frame.bytes.byteLength).toBeLessThanOrEqual(LIMITS.frameBytesMax);
      const [column] = decodeBatch(schema, frame.bytes).columns;
      if (column?.tag !== 'text') throw new Error('text');
      for (let row = 0; row < frame.rows; row++)
        text += String.fromCharCode(column.bytes[column.offsets[row] as number] as number);
    }
    channel.onAnswered();
  }
  expect(text).toBe('ABCDEFGHI');
});
