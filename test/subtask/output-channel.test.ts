import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBatch } from '../../src/batch/ipc.ts';
import { INT64, TEXT, type Schema } from '../../src/batch/types.ts';
import { batchFromRows, rowsOf } from '../../src/batch/values.ts';
import type { Frame } from '../../src/protocol/messages.ts';
import { OutputChannel, type Sent } from '../../src/subtask/output-channel.ts';

const SCHEMA: Schema = [
  { name: 'n', type: INT64, nullable: false },
  { name: 't', type: TEXT, nullable: true },
];

type Step =
  | { tag: 'rows'; count: number }
  | { tag: 'watermark'; value: number | 'idle' }
  | { tag: 'barrier' }
  /** The shell takes a delivery, or its answer comes. */
  | { tag: 'send' }
  | { tag: 'answer' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      tag: fc.constant('rows' as const),
      count: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      tag: fc.constant('watermark' as const),
      value: fc.oneof(fc.integer({ min: 0, max: 99 }), fc.constant('idle' as const)),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ tag: 'barrier' } as const) },
  { weight: 2, arbitrary: fc.constant({ tag: 'send' } as const) },
  { weight: 2, arbitrary: fc.constant({ tag: 'answer' } as const) },
);

/** What the receiver hears, one word a row or message; of numbers in a row only the last counts. */
function heard(words: readonly string[]): string[] {
  return words.filter((word, at) => {
    const next = words[at + 1] ?? '';
    return !(word.startsWith('w') && next.startsWith('w'));
  });
}

function wordsOf(frame: Frame): string[] {
  if (frame.tag === 'watermark') return [frame.value === 'idle' ? 'idle' : `w${frame.value}`];
  if (frame.tag !== 'data') return [frame.tag];
  const rows = rowsOf(decodeBatch(SCHEMA, frame.bytes), SCHEMA).map((row) => `${String(row.n)}`);
  const words: string[] = [];
  let from = 0;
  for (const { row, value } of frame.marks) {
    words.push(...rows.slice(from, row), value === 'idle' ? 'idle' : `w${value}`);
    from = row;
  }
  return [...words, ...rows.slice(from)];
}

test('rows, watermarks and barriers arrive in the order they were sent, however they are put together', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const channel = new OutputChannel('e', 1, SCHEMA);
      const sent: string[] = [];
      const got: string[] = [];
      let row = 0;
      let sequence = 0;
      const send = (): void => {
        const delivery = channel.nextDelivery();
        if (delivery === null) return;
        expect(delivery.sequence).toBe(sequence);
        sequence += delivery.frames.length;
        got.push(...delivery.frames.flatMap(wordsOf));
      };
      const push = (what: Sent, ...words: string[]): void => {
        channel.push(what);
        sent.push(...words);
      };
      for (const each of steps) {
        if (each.tag === 'send') send();
        else if (each.tag === 'answer') channel.onAnswered();
        else if (each.tag === 'barrier') push({ tag: 'barrier', epoch: 1, attempt: 1 }, 'barrier');
        else if (each.tag === 'watermark')
          push(
            { tag: 'watermark', value: each.value },
            each.value === 'idle' ? 'idle' : `w${each.value}`,
          );
        else {
          const rows = Array.from({ length: each.count }, () => ({ n: BigInt(row++), t: 'x' }));
          push(
            { tag: 'batch', batch: batchFromRows(SCHEMA, rows) },
            ...rows.map(({ n }) => `${n}`),
          );
        }
      }
      for (let left = 0; left < 3; left++) {
        channel.onAnswered();
        send();
      }
      channel.onAnswered();
      expect(heard(got)).toEqual(heard(sent));
      expect(channel.drained).toBe(true);
    }),
    { seed: 11, numRuns: 500 },
  );
});

test('what waits while a delivery is under way becomes one frame', () => {
  const channel = new OutputChannel('e', 1, SCHEMA);
  const batch = batchFromRows(SCHEMA, [{ n: 1n, t: null }]);
  channel.push({ tag: 'batch', batch });
  expect(channel.nextDelivery()?.frames).toHaveLength(1);
  for (let at = 0; at < 50; at++) {
    channel.push({ tag: 'batch', batch });
    channel.push({ tag: 'watermark', value: at });
  }
  expect(channel.nextDelivery()).toBeNull();
  channel.onAnswered();
  const frames = channel.nextDelivery()?.frames ?? [];
  expect(frames.map((frame) => frame.tag)).toEqual(['data']);
  expect(frames[0]).toMatchObject({ rows: 50 });
});
