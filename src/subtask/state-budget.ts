/**
 * A host's state must fit its share of the isolate: beyond it the pipeline fails with a way out, never
 * by an out-of-memory reset that repeats itself for ever.
 */
import { EngineError } from '../base/errors.ts';
import { OperatorBody } from './operator-body.ts';
import { SinkNode } from './sink-node.ts';
import type { Subtasks } from './subtasks.ts';

const MEBIBYTE = 1024 * 1024;

/** @throws STATE_TOO_LARGE naming the largest operator when the host holds more than `bytesMax` */
export function checkStateBudget(subtasks: Subtasks, bytesMax: number): void {
  let total = 0;
  let largest = { operator: '', bytes: -1 };
  for (const { body, operator } of subtasks.nodes.values()) {
    const bytes =
      body instanceof OperatorBody
        ? body.operator.stateBytes()
        : body instanceof SinkNode
          ? body.sink.bufferedBytes()
          : 0;
    total += bytes;
    if (bytes > largest.bytes)
      largest = { operator: `${operator.id} (${operator.description})`, bytes };
  }
  if (total <= bytesMax) return;
  const size = (bytes: number): string => `${Math.round(bytes / MEBIBYTE)} MiB`;
  throw new EngineError(
    'STATE_TOO_LARGE',
    `a host holds ${size(total)} of state, more than its ${size(bytesMax)}`,
    {
      detail: `The largest part, ${size(largest.bytes)}, is that of ${largest.operator}.`,
      hint: 'raise the parallelism, so that more hosts share the keys, or use shorter windows or fewer keys',
    },
  );
}
