import { describe, expect, test } from 'vitest';
import type { PipelineSummary } from '../../src/api/stream/summary-shapes.ts';
import {
  addressOf,
  filterFrom,
  groupCounts,
  NO_FILTER,
  shownOf,
  STATE_GROUPS,
  summariesOf,
  watchedOf,
  withChanges,
} from '../../src/console/pages/pipelines/list.ts';
import { JOB_STATES } from '../../src/api/pipelines/pipeline-shapes.ts';

const summary = (id: string, more: Partial<PipelineSummary> = {}): PipelineSummary => ({
  id,
  name: `name of ${id}`,
  state: 'Running',
  action: 'checkpoint',
  action_text: 'Stop',
  action_in_progress: false,
  created_at: 0,
  parallelism: 1,
  generation: 1,
  epoch: 1,
  committed_epoch: 1,
  restarts: 0,
  tags: {},
  failure: null,
  sources: ['http'],
  sinks: ['r2'],
  live: null,
  ...more,
});

const ids = (list: readonly PipelineSummary[]): string[] => list.map(({ id }) => id);

describe('the list of pipelines', () => {
  test('every state belongs to one group of the filter', () => {
    const grouped = Object.values(STATE_GROUPS).flat();
    expect(grouped.toSorted()).toEqual([...JOB_STATES].toSorted());
  });

  test('finds by name, id, connector and tag, in any case', () => {
    const list = summariesOf([
      summary('pl_a', { name: 'Orders' }),
      summary('pl_b', { sources: ['nexmark'] }),
      summary('pl_c', { tags: { team: 'Blue' } }),
    ]);
    const find = (text: string) => ids(shownOf(list, { ...NO_FILTER, text }));
    expect(find('ORDERS')).toEqual(['pl_a']);
    expect(find('nexm')).toEqual(['pl_b']);
    expect(find(' blue ')).toEqual(['pl_c']);
    expect(find('PL_')).toEqual(['pl_a', 'pl_b', 'pl_c']);
    expect(find('absent')).toEqual([]);
  });

  test('sorts by any column, equal ones always in the same order', () => {
    const list = summariesOf([
      summary('b', { epoch: 2 }),
      summary('a', { epoch: 2 }),
      summary('c', { epoch: 9 }),
    ]);
    const by = (descending: boolean) =>
      ids(shownOf(list, { ...NO_FILTER, sort: 'epoch', descending }));
    expect(by(true)).toEqual(['c', 'a', 'b']);
    expect(by(false)).toEqual(['a', 'b', 'c']);
  });

  test('takes changes and removals of the stream in', () => {
    const before = summariesOf([summary('a'), summary('b')]);
    const after = withChanges(before, {
      changed: [summary('b', { state: 'Failed' }), summary('c')],
      removed: ['a'],
      total: 2,
    });
    expect([...after.keys()].toSorted()).toEqual(['b', 'c']);
    expect(groupCounts(after)).toEqual({ failed: 1, running: 1 });
    expect(before.size).toBe(2);
  });

  test('the filter and the address are the same thing', () => {
    const filter = { text: 'a&b', state: 'failed', sort: 'rate', descending: false } as const;
    const query = Object.fromEntries(new URL(addressOf(filter), 'http://x').searchParams);
    expect(filterFrom(query)).toEqual(filter);
    expect(addressOf(filterFrom({}))).toBe('/pipelines');
    expect(filterFrom({ sort: 'nonsense' }).sort).toBe('created');
  });

  test('asks for the live numbers of the rows in sight and some around them, never of more than the API allows', () => {
    const shown = Array.from({ length: 2000 }, (_, index) =>
      summary(String(index).padStart(4, '0')),
    );
    expect(watchedOf(shown, 0, 20)).toHaveLength(31);
    expect(watchedOf(shown, 1000, 1020)).toContain('0990');
    expect(watchedOf(shown, 0, 1999)).toHaveLength(100);
  });
});
