import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { OutputEvent } from '../../src/api/stream/event-shapes.ts';
import { Outputs } from '../../src/console/parts/results/outputs.ts';

const event = (operator: string, ids: readonly number[]): OutputEvent => ({
  operator_id: operator,
  subtask_idx: 0,
  generation: 1,
  timestamps: ids.map(() => 1_000_000),
  start_id: 0,
  batch: JSON.stringify(ids.map((id) => ({ id: String(id) }))),
  dropped: 0,
});

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('requestAnimationFrame', (draw: () => void) => setTimeout(draw, 0));
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe('outputs of a pipeline', () => {
  it('show rows that came before the part that shows them, once, each where it belongs', () => {
    const outputs = new Outputs();
    outputs.take(event('a', [1, 2]), 1_000_000);
    outputs.take(event('b', [7]), 1_000_000);
    const first = outputs.of({ operator_id: 'a', table: 'a', updating: false });
    outputs.take(event('a', [3]), 2_000_000);
    expect(outputs.of({ operator_id: 'a', table: 'a', updating: false })).toBe(first);
    const second = outputs.of({ operator_id: 'b', table: 'b', updating: false });
    vi.runAllTimers();
    expect(first.shown.value.rows.map((row) => row.value('id'))).toEqual(['1', '2', '3']);
    expect(second.shown.value.came).toBe(1);
  });
});
