/** Which staged items a sink forgets, and when: exactly those of the snapshot that was settled. */
import { describe, expect, test } from 'vitest';
import type { Sink, SinkOutput, StageRequest } from '../../src/connectors/connector.ts';
import { SinkNode } from '../../src/subtask/sink-node.ts';

/** A sink that stages one object at each barrier. */
const oneObjectABarrier: Sink = {
  onBatch: () => undefined,
  onBarrier: (epoch: number, output: SinkOutput) => {
    output.stage({
      key: `part-${epoch}`,
      bytes: new Uint8Array(1),
      rows: 1,
      method: 'multipart',
    });
  },
  bufferedBytes: () => 0,
};

function sinkNode(): { node: SinkNode; indexesAt: (epoch: number, attempt: number) => number[] } {
  const node: SinkNode = new SinkNode('sink-1', 0, oneObjectABarrier, 1, {
    stage: (sink: SinkNode, index: number, { key, bytes, rows }: StageRequest) => {
      sink.onStaged(index, {
        key,
        uploadId: `upload-${index}`,
        etag: 'etag',
        size: bytes.byteLength,
        rows,
      });
    },
    preview: () => undefined,
  });
  const indexesAt = (epoch: number, attempt: number): number[] =>
    node.items({ epoch, attempt }).map((item) => item.index);
  return { node, indexesAt };
}

describe('a sink', () => {
  test('names what an attempt that was given up had staged again in the next one', () => {
    const { node, indexesAt } = sinkNode();
    node.snapshot({ epoch: 2, attempt: 1 });
    node.snapshot({ epoch: 2, attempt: 2 });
    expect(indexesAt(2, 1)).toEqual([0]);
    expect(indexesAt(2, 2)).toEqual([0, 1]);
  });

  test('forgets what the settled attempt held and keeps what was staged after it', () => {
    const { node, indexesAt } = sinkNode();
    node.snapshot({ epoch: 2, attempt: 1 });
    node.snapshot({ epoch: 2, attempt: 2 });
    node.settle({ epoch: 2, attempt: 1 });
    node.snapshot({ epoch: 3, attempt: 1 });
    expect(indexesAt(3, 1)).toEqual([1, 2]);
  });

  test('forgets nothing for a checkpoint that it never cut', () => {
    const { node, indexesAt } = sinkNode();
    node.snapshot({ epoch: 2, attempt: 1 });
    node.settle({ epoch: 2, attempt: 7 });
    node.settle({ epoch: 9, attempt: 1 });
    node.snapshot({ epoch: 3, attempt: 1 });
    expect(indexesAt(3, 1)).toEqual([0, 1]);
  });

  test('settled twice, forgets once', () => {
    const { node, indexesAt } = sinkNode();
    node.snapshot({ epoch: 2, attempt: 1 });
    node.settle({ epoch: 2, attempt: 1 });
    node.settle({ epoch: 2, attempt: 1 });
    node.snapshot({ epoch: 3, attempt: 1 });
    expect(indexesAt(3, 1)).toEqual([1]);
  });
});
