/** The list of pipelines as data: what the stream says of it, and which of them are shown in which order. */
import type { ChangedSummaries, PipelineSummary } from '../../../api/stream/summary-shapes.ts';

export type Summaries = ReadonlyMap<string, PipelineSummary>;

export const summariesOf = (list: readonly PipelineSummary[]): Summaries =>
  new Map(list.map((summary) => [summary.id, summary]));

/** What the list is after an event of changes. */
export function withChanges(before: Summaries, { changed, removed }: ChangedSummaries): Summaries {
  const after = new Map(before);
  for (const id of removed) after.delete(id);
  for (const summary of changed) after.set(summary.id, summary);
  return after;
}

export type SortKey = 'name' | 'state' | 'rate' | 'lag' | 'epoch' | 'restarts' | 'created';

export type Filter = {
  text: string;
  /** A group of STATE_GROUPS; '' is all. */
  state: string;
  sort: SortKey;
  descending: boolean;
};

export const NO_FILTER: Filter = { text: '', state: '', sort: 'created', descending: true };

/** States as users ask for them. */
export const STATE_GROUPS: Readonly<Record<string, readonly string[]>> = {
  running: ['Running'],
  changing: [
    'Created',
    'Scheduling',
    'Recovering',
    'Restarting',
    'CheckpointStopping',
    'Stopping',
    'Finishing',
  ],
  failed: ['Failed'],
  stopped: ['Stopped', 'Finished'],
};

type Sorted = string | number;

const VALUES: Readonly<Record<SortKey, (summary: PipelineSummary) => Sorted>> = {
  name: ({ name }) => name.toLowerCase(),
  state: ({ state }) => state,
  rate: ({ live }) => live?.rows_in_per_second ?? -1,
  lag: ({ live }) => live?.lag_micros ?? -1,
  epoch: ({ epoch }) => epoch,
  restarts: ({ restarts }) => restarts,
  created: ({ created_at }) => created_at,
};

/** Those that match, in order; equal ones by id, so that nothing jumps between two looks. */
export function shownOf(summaries: Summaries, filter: Filter): PipelineSummary[] {
  const text = filter.text.trim().toLowerCase();
  const states = STATE_GROUPS[filter.state];
  const value = VALUES[filter.sort];
  const sign = filter.descending ? -1 : 1;
  return [...summaries.values()]
    .filter(
      (summary) =>
        (states === undefined || states.includes(summary.state)) &&
        (text === '' || wordsOf(summary).includes(text)),
    )
    .sort((left, right) => {
      const [a, b] = [value(left), value(right)];
      if (a !== b) return a < b ? -sign : sign;
      return left.id < right.id ? -1 : 1;
    });
}

const wordsOf = ({ name, id, tags, sources, sinks }: PipelineSummary): string =>
  [name, id, ...sources, ...sinks, ...Object.entries(tags).flat()].join('\n').toLowerCase();

/** How many there are of each group, for the filter's buttons. */
export function groupCounts(summaries: Summaries): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { state } of summaries.values())
    for (const [group, states] of Object.entries(STATE_GROUPS))
      if (states.includes(state)) counts[group] = (counts[group] ?? 0) + 1;
  return counts;
}

/** The filter from the address of the page, and back. */
export function filterFrom(query: Readonly<Record<string, string>>): Filter {
  const sort = query['sort'];
  return {
    text: query['q'] ?? '',
    state: query['state'] ?? '',
    sort: sort !== undefined && sort in VALUES ? (sort as SortKey) : NO_FILTER.sort,
    descending: query['order'] !== 'up',
  };
}

export function addressOf(filter: Filter): string {
  const query = new URLSearchParams();
  if (filter.text !== '') query.set('q', filter.text);
  if (filter.state !== '') query.set('state', filter.state);
  if (filter.sort !== NO_FILTER.sort) query.set('sort', filter.sort);
  if (!filter.descending) query.set('order', 'up');
  const text = query.toString();
  return `/pipelines${text === '' ? '' : `?${text}`}`;
}

/** How many rows around those in sight are watched too, so that scrolling a little finds numbers there already. */
const AROUND = 10;
export const WATCHED_MAX = 100;

/** Ids whose live numbers to ask for. Sorted, so that equal sets are equal texts. */
export function watchedOf(
  shown: readonly PipelineSummary[],
  first: number,
  last: number,
): string[] {
  return shown
    .slice(Math.max(0, first - AROUND), last + 1 + AROUND)
    .slice(0, WATCHED_MAX)
    .map(({ id }) => id)
    .toSorted();
}
