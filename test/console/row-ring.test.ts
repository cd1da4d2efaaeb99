import { describe, expect, it } from 'vitest';
import { cellText } from '../../src/console/lib/exact-rows.ts';
import { RowRing } from '../../src/console/lib/row-ring.ts';

const push = (ring: RowRing, first: number, rows: number): void => {
  const values = Array.from({ length: rows }, (_, index) => `{"n":${first + index}}`);
  ring.push(
    `[${values.join(',')}]`,
    values.map(() => first),
  );
};

const numbers = (ring: RowRing): string[] => ring.rows.map((row) => cellText(row.value('n')));

describe('the ring of rows', () => {
  it('keeps the newest, counts all, and numbers rows from the first that came', () => {
    const ring = new RowRing(5);
    push(ring, 0, 3);
    push(ring, 3, 4);
    expect(numbers(ring)).toEqual(['2', '3', '4', '5', '6']);
    expect(ring.rows.map(({ number }) => number)).toEqual([2, 3, 4, 5, 6]);
    expect(ring.came).toBe(7);
  });

  it('takes a batch that is larger than itself', () => {
    const ring = new RowRing(3);
    push(ring, 0, 2);
    push(ring, 2, 10);
    expect(numbers(ring)).toEqual(['9', '10', '11']);
  });

  it('never changes rows that were handed out', () => {
    const ring = new RowRing(2);
    push(ring, 0, 2);
    const before = ring.rows;
    push(ring, 2, 1);
    expect(before.map(({ number }) => number)).toEqual([0, 1]);
    expect(ring.rows).not.toBe(before);
  });

  it('goes on counting after it was cleared', () => {
    const ring = new RowRing(10);
    push(ring, 0, 4);
    ring.clear();
    expect(ring.rows).toEqual([]);
    push(ring, 4, 1);
    expect(ring.rows[0]?.number).toBe(4);
  });

  it('keeps every digit of a number', () => {
    const ring = new RowRing(1);
    ring.push('[{"n":9007199254740993,"d":0.10000000000000000001}]', [1]);
    expect(cellText(ring.rows[0]?.value('n'))).toBe('9007199254740993');
    expect(cellText(ring.rows[0]?.value('d'))).toBe('0.10000000000000000001');
  });

  it('reads a batch only when one of its rows is looked at', () => {
    const ring = new RowRing(10);
    ring.push('not JSON', [1]);
    push(ring, 1, 1);
    expect(cellText(ring.rows[1]?.value('n'))).toBe('1');
    expect(() => ring.rows[0]?.values).toThrow(SyntaxError);
  });
});
