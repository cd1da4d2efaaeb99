import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changeOf, CurrentState } from '../../src/console/lib/current-state.ts';
import { exactRows, jsonText } from '../../src/console/lib/exact-rows.ts';

const apply = (state: CurrentState, changes: string): void => {
  for (const row of exactRows(changes)) {
    const change = changeOf(row);
    if (change !== null) state.apply(change);
  }
};

const rows = (state: CurrentState): string[] => state.rows.map(({ values }) => jsonText(values));

describe('the current rows of an updating result', () => {
  it('are what its changes amount to, each in its place', () => {
    const state = new CurrentState();
    apply(
      state,
      `[{"before":null,"after":{"k":"a","n":1},"op":"c"},
        {"before":null,"after":{"k":"b","n":1},"op":"c"},
        {"before":{"k":"a","n":1},"after":{"k":"a","n":2},"op":"u"},
        {"before":null,"after":{"k":"c","n":9},"op":"c"},
        {"before":{"k":"b","n":1},"after":null,"op":"d"}]`,
    );
    expect(rows(state)).toEqual(['{"k": "a", "n": 2}', '{"k": "c", "n": 9}']);
    expect(state.rows[0]).toMatchObject({ changes: 1, fresh: new Set(['n']) });
  });

  it('hold equal rows as often as they are there', () => {
    const state = new CurrentState();
    apply(
      state,
      `[{"before":null,"after":{"n":1},"op":"c"},{"before":null,"after":{"n":1},"op":"c"},
        {"before":{"n":1},"after":null,"op":"d"}]`,
    );
    expect(rows(state)).toEqual(['{"n": 1}']);
  });

  it('are not disturbed by a row that is taken back and never came', () => {
    const state = new CurrentState();
    apply(
      state,
      '[{"before":{"n":5},"after":{"n":6},"op":"u"},{"before":{"n":7},"after":null,"op":"d"}]',
    );
    expect(rows(state)).toEqual(['{"n": 6}']);
  });

  it('tell numbers apart by every digit', () => {
    const state = new CurrentState();
    apply(
      state,
      `[{"before":null,"after":{"n":9007199254740992},"op":"c"},
        {"before":null,"after":{"n":9007199254740993},"op":"c"},
        {"before":{"n":9007199254740993},"after":null,"op":"d"}]`,
    );
    expect(rows(state)).toEqual(['{"n": 9007199254740992}']);
  });

  it('takes rows with columns named like a change for what they are', () => {
    expect(changeOf({ op: 'x', before: null, after: null })).toBeNull();
    expect(changeOf(exactRows('[{"text":"a"}]')[0]!)).toBeNull();
    const [row] = exactRows('[{"before":null,"after":{"text":"a"},"op":"c"}]');
    expect(changeOf(row!)?.after).toEqual({ text: 'a' });
  });

  it('are a multiset of any history of changes', () => {
    const action = fc.record({ add: fc.boolean(), key: fc.nat(4), pick: fc.nat() });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const state = new CurrentState();
        const oracle: number[] = [];
        for (const { add, key, pick } of actions) {
          const before = oracle.length === 0 ? null : oracle[pick % oracle.length]!;
          if (add || before === null) {
            oracle.push(key);
            apply(state, `[{"before":null,"after":{"k":${key}},"op":"c"}]`);
          } else if (pick % 2 === 0) {
            oracle.splice(oracle.indexOf(before), 1);
            apply(state, `[{"before":{"k":${before}},"after":null,"op":"d"}]`);
          } else {
            oracle[oracle.indexOf(before)] = key;
            apply(state, `[{"before":{"k":${before}},"after":{"k":${key}},"op":"u"}]`);
          }
        }
        expect(rows(state).sort()).toEqual(oracle.map((key) => `{"k": ${key}}`).sort());
      }),
      { seed: 7, numRuns: 200 },
    );
  });
});
