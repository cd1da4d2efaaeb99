/** Slots in order against sorted arrays: lists and trees, and the way from one to the other and back. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NONE, OrderedSlots } from '../../src/state/ordered-slots.ts';

const SEED = 20_261_130;
const GROUPS = 3;

/** Many more rows come than go, then more go than come. */
const step = fc.record({
  group: fc.constantFrom(0, 0, 0, 0, 1, 2),
  near: fc.nat(4),
  rest: fc.nat(3),
  pick: fc.nat(),
  chance: fc.nat(99),
});

test('each group is in order, however many slots come and go', () => {
  let most = 0;
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 200, maxLength: 450, size: 'max' }),
      fc.constantFrom(90, 60),
      (steps, eager) => {
        const nears: number[] = [];
        const rests: number[] = [];
        const byRest = (left: number, right: number): number =>
          (rests[left] as number) - (rests[right] as number);
        const byBoth = (left: number, right: number): number =>
          (nears[left] as number) - (nears[right] as number) || byRest(left, right);
        const total = (left: number, right: number): number => byBoth(left, right) || left - right;
        const order = new OrderedSlots((left, right) => byRest(left, right) || left - right);
        const model: number[][] = Array.from({ length: GROUPS }, () => []);
        steps.forEach(({ group, near, rest, pick, chance }, at) => {
          const slots = model[group] as number[];
          const comes = chance < (at < steps.length * 0.6 ? eager : 20);
          if (comes || slots.length === 0) {
            const slot = nears.length;
            nears.push(near);
            rests.push(rest);
            order.resize(GROUPS, slot + 1);
            order.near[slot] = near;
            order.insert(group, slot);
            slots.push(slot);
            slots.sort(total);
          } else order.remove(group, slots.splice(pick % slots.length, 1)[0] as number);
          most = Math.max(most, slots.length);
          expect([...order.slotsOf(group)]).toEqual(slots);
          expect(order.last(group)).toBe(slots.at(-1) ?? NONE);
          const from = pick % (slots.length + 1);
          const part = new Int32Array(slots.length + 1);
          const end = order.copy(group, from, from + 3, part, 1);
          expect([...part.subarray(1, end)]).toEqual(slots.slice(from, from + 3));
          const any = pick % nears.length;
          const equal = slots.findLast((slot) => byBoth(slot, any) === 0) ?? NONE;
          expect(order.lastEqual(group, any, byBoth)).toBe(equal);
          const upTo = slots.filter((slot) => byBoth(slot, any) <= 0).length;
          expect(order.countUpTo(group, any, byBoth)).toBe(upTo);
          if (from < slots.length) expect(order.at(group, from)).toBe(slots[from]);
        });
        const kept = Int32Array.from(
          [2, 0, 1].filter((group) => (model[group] as number[]).length > 0),
        );
        order.retain(kept);
        kept.forEach((group, at) => expect([...order.slotsOf(at)]).toEqual(model[group]));
      },
    ),
    { seed: SEED, numRuns: 25 },
  );
  expect(most, 'some group was a tree').toBeGreaterThan(110);
});
