import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PreviewTail } from '../../src/platform/preview-tail.ts';

const bytesOf = (lines: readonly string[]): Uint8Array =>
  new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''));

describe('the tail of a preview', () => {
  test('gives the newest rows in order, from any place, as a list of all rows would (property)', async () => {
    const seed = 7;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 20 }),
        fc.integer({ min: 1, max: 12 }),
        fc.array(fc.integer({ min: -2, max: 120 }), { maxLength: 6 }),
        async (batches, kept, places) => {
          const tail = new PreviewTail(kept);
          const all: string[] = [];
          for (const count of batches) {
            const lines = Array.from(
              { length: count },
              (_, index) => `{"n":${all.length + index}}`,
            );
            all.push(...lines);
            tail.push(bytesOf(lines), count);
          }
          for (const after of places) {
            const page = await tail.read(after, 0);
            const first = Math.max(0, all.length - kept, Math.min(after, all.length));
            expect(page).toEqual({ first, next: all.length, rows: all.slice(first) });
          }
        },
      ),
      { seed },
    );
  });

  test('keeps its own copy of what it was given', async () => {
    const tail = new PreviewTail(10);
    const bytes = bytesOf(['1']);
    tail.push(bytes, 1);
    bytes.fill(0);
    expect((await tail.read(0, 0)).rows).toEqual(['1']);
  });

  test('bounds pages and what is kept by bytes too', async () => {
    const tail = new PreviewTail(5_000);
    const wide = JSON.stringify('x'.repeat(100_000));
    for (let row = 0; row < 200; row++) tail.push(bytesOf([wide]), 1);
    const page = await tail.read(0, 0);
    expect(page.first).toBeGreaterThan(150);
    expect(page.rows.length).toBeLessThan(4);
    expect(page.rows.length).toBeGreaterThan(0);
    const small = new PreviewTail(5_000);
    small.push(bytesOf(Array.from({ length: 5_000 }, (_, row) => String(row))), 5_000);
    const first = await small.read(0, 0);
    const second = await small.read(first.next, 0);
    expect([first.rows.length, second.first, second.rows[0]]).toEqual([2_000, 2_000, '2000']);
  });

  test('wakes whoever waits for a row', async () => {
    const tail = new PreviewTail(10);
    const reading = tail.read(0, 60_000);
    tail.push(bytesOf(['1', '2']), 2);
    expect(await reading).toEqual({ first: 0, next: 2, rows: ['1', '2'] });
  });
});
