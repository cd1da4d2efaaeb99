/** Which staged items a sink forgets, and when: exactly those of the snapshot that was settled. */
import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/base/limits.ts';
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

describe('what a sink has under way to where it is stored', () => {
  const sink = (bytes: number): { node: SinkNode; add: () => void; stored: () => void } => {
    const asked: number[] = [];
    const node: SinkNode = new SinkNode(
      'sink-1',
      0,
      {
        onBatch: (_batch, epoch, output) =>
          output.stage({
            key: `${epoch}`,
            bytes: new Uint8Array(bytes),
            rows: 1,
            method: 'object',
          }),
        onBarrier: () => undefined,
        bufferedBytes: () => 0,
      },
      1,
      { stage: (_sink, index) => void asked.push(index), preview: () => undefined },
    );
    const output = { emit: () => undefined, fail: () => undefined, late: () => undefined };
    const batch = { rows: 1, columns: [], eventTime: null, retract: null };
    const staged = { key: 'k', uploadId: null, etag: 'e', size: bytes, rows: 1 };
    return {
      node,
      add: () => node.onBatch(0, batch, output),
      stored: () => {
        const index = asked.shift();
        if (index === undefined) throw new Error('nothing is under way');
        node.onStaged(index, staged);
        // An answer counts once.
        node.onStaged(index, staged);
      },
    };
  };

  test('is bounded in bytes: rows wait while a slow store has so much to do', () => {
    const { node, add, stored } = sink(LIMITS.stagingBytesMax / 4);
    for (let files = 0; files < 4; files++) {
      expect(node.full).toBe(false);
      add();
    }
    expect(node.full).toBe(true);
    stored();
    expect(node.full).toBe(false);
  });

  test('and in files, however small they are', () => {
    const { node, add, stored } = sink(1);
    for (let files = 0; files < LIMITS.stagingFilesMax; files++) add();
    expect(node.full).toBe(true);
    expect(node.effort()).toBe(LIMITS.unitRowsMax);
    stored();
    expect(node.full).toBe(false);
  });
});
