/** All pipelines: state, rate, lag and epoch of each, as they change; the filter stands in the address. */
import { useLocation } from 'preact-iso';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { count } from '../../lib/format.ts';
import { Empty } from '../../parts/empty.tsx';
import { Icon } from '../../parts/icon.tsx';
import { VirtualTable } from '../../parts/virtual-table.tsx';
import { COLUMNS, COLUMNS_WIDTH } from './columns.tsx';
import {
  addressOf,
  type Filter,
  filterFrom,
  groupCounts,
  shownOf,
  type SortKey,
  STATE_GROUPS,
  type Summaries,
  watchedOf,
} from './list.ts';
import './page.css';
import { useSummaries } from './use-summaries.ts';

/** Rows must have been in sight this long before their numbers are asked for. */
const SETTLED_MS = 250;

export function PipelinesPage() {
  const { query, route } = useLocation();
  const filter = filterFrom(query);
  const [range, setRange] = useState({ first: 0, last: 30 });
  const [watched, setWatched] = useState<readonly string[]>([]);
  const summaries = useSummaries(watched);
  const { text, state, sort, descending } = filter;
  const shown = useMemo(
    () => (summaries === null ? [] : shownOf(summaries, { text, state, sort, descending })),
    [summaries, text, state, sort, descending],
  );
  useEffect(() => {
    const timer = setTimeout(() => {
      const next = watchedOf(shown, range.first, range.last);
      setWatched((before) => (before.join() === next.join() ? before : next));
    }, SETTLED_MS);
    return () => clearTimeout(timer);
  }, [shown, range]);
  const onRange = useCallback((first: number, last: number) => setRange({ first, last }), []);
  const change = (part: Partial<Filter>): void => route(addressOf({ ...filter, ...part }), true);
  const onSort = (key: string): void =>
    change({
      sort: key as SortKey,
      descending: filter.sort === key ? !filter.descending : key !== 'name',
    });
  return (
    <>
      <div class="page-head">
        <h1>Pipelines</h1>
        <div class="actions">
          <a class="button primary" href="/pipelines/new">
            <Icon name="add" />
            New pipeline
          </a>
        </div>
      </div>
      <FilterBar filter={filter} summaries={summaries} shown={shown.length} onChange={change} />
      <div class="panel">
        <VirtualTable
          label="Pipelines"
          height="calc(100dvh - 12.5rem)"
          minWidth={COLUMNS_WIDTH}
          rows={shown}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          onOpen={({ id }) => route(`/pipelines/${id}`)}
          sort={{ key: sort, descending }}
          onSort={onSort}
          onRange={onRange}
          empty={summaries === null ? <span /> : <Nothing filtered={summaries.size > 0} />}
        />
      </div>
    </>
  );
}

type FilterProps = {
  filter: Filter;
  summaries: Summaries | null;
  shown: number;
  onChange(part: Partial<Filter>): void;
};

function FilterBar({ filter, summaries, shown, onChange }: FilterProps) {
  const counts = summaries === null ? {} : groupCounts(summaries);
  const groups = ['', ...Object.keys(STATE_GROUPS)];
  return (
    <div class="list-filter" role="search" aria-label="Filter the pipelines">
      <label class="hidden-text" for="find">
        Find by name, id, connector or tag
      </label>
      <input
        id="find"
        type="search"
        class="input"
        placeholder="Find by name, id, connector or tag"
        value={filter.text}
        onInput={(event) => onChange({ text: event.currentTarget.value })}
      />
      <div class="list-states" role="group" aria-label="State">
        {groups.map((group) => (
          <button
            key={group}
            type="button"
            class="button small"
            aria-pressed={filter.state === group}
            onClick={() => onChange({ state: group })}
          >
            {group === '' ? 'all' : group}{' '}
            <span class="number">
              {count(group === '' ? (summaries?.size ?? 0) : (counts[group] ?? 0))}
            </span>
          </button>
        ))}
      </div>
      <span class="list-count" role="status">
        {summaries === null ? 'Loading' : `${count(shown)} of ${count(summaries.size)}`}
      </span>
    </div>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  if (filtered)
    return (
      <Empty title="None of them matches">
        <a class="button" href="/pipelines">
          Show all
        </a>
      </Empty>
    );
  return (
    <Empty title="No pipeline yet">
      <p>
        A pipeline is one SQL text over streams that runs until you stop it. Its results are
        committed exactly once, every few seconds.
      </p>
      <p>
        <a class="button primary" href="/">
          Begin with an example
        </a>{' '}
        <a class="button" href="/pipelines/new">
          Write your own
        </a>
      </p>
    </Empty>
  );
}
