import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PaneList } from '../../src/operators/pane-list.ts';

const SEED = 20261202;

test('panes are in order of time however they came, and each is found by its start until it has gone', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ ahead: fc.integer({ min: -20, max: 40 }), drop: fc.boolean() }), {
        maxLength: 900,
      }),
      fc.integer({ min: 1, max: 400 }),
      (steps, wait) => {
        const list = new PaneList<{ start: number }>();
        let plain: number[] = [];
        let now = 0;
        steps.forEach(({ ahead, drop }, at) => {
          now += Math.max(0, ahead);
          const start = now + Math.min(0, ahead);
          if (!plain.includes(start)) {
            list.add({ start });
            plain = [...plain, start].sort((left, right) => left - right);
          }
          if (at > wait && drop) {
            list.dropOldest();
            plain.shift();
          }
          if (at % 50 > 0) return;
          expect(list.all().map((pane) => pane.start)).toEqual(plain);
          expect([list.oldest?.start, list.newest?.start, list.length]).toEqual([
            plain[0],
            plain.at(-1),
            plain.length,
          ]);
          for (const probe of [now - 7, now, now + 1]) {
            const first = plain.findIndex((each) => each >= probe);
            expect(list.firstFrom(probe)).toBe(first < 0 ? plain.length : first);
            expect(list.startingAt(probe)?.start).toBe(plain.find((each) => each === probe));
          }
        });
      },
    ),
    { seed: SEED, numRuns: 30 },
  );
});
