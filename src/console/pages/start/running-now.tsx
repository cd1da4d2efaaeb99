/** Pipelines that run already, newest first, with their rate. Nothing at all when there are none. */
import { useEffect, useState } from 'preact/hooks';
import type { PipelineSummaries, PipelineSummary } from '../../../api/stream/summary-shapes.ts';
import { api } from '../../api/client.ts';
import { rate } from '../../lib/format.ts';
import { Sparkline } from '../../parts/sparkline.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useSummaries } from '../pipelines/use-summaries.ts';

const SHOWN = 4;

export function RunningNow() {
  const [first, setFirst] = useState<PipelineSummaries | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    api
      .get<PipelineSummaries>(`/pipelines/summaries?limit=${SHOWN}`, { signal: stop.signal })
      .then(setFirst, () => {
        // The page's other requests say that the server is away.
      });
    return () => stop.abort();
  }, []);
  if (first === null || first.total === 0) return null;
  return <Running first={first} />;
}

function Running({ first }: { first: PipelineSummaries }) {
  const summaries = useSummaries(first.data.map(({ id }) => id));
  const list = first.data.flatMap(({ id }) => {
    const newest = summaries === null ? first.data.find((one) => one.id === id) : summaries.get(id);
    return newest === undefined ? [] : [newest];
  });
  const total = summaries?.size ?? first.total;
  if (list.length === 0) return null;
  return (
    <section aria-labelledby="start-running">
      <h2 id="start-running">
        Your pipelines <a href="/pipelines">all {total}</a>
      </h2>
      <ul class="running">
        {list.map((summary) => (
          <One key={summary.id} summary={summary} />
        ))}
      </ul>
    </section>
  );
}

function One({ summary: { id, name, state, live, failure } }: { summary: PipelineSummary }) {
  return (
    <li class="running-one">
      <a href={`/pipelines/${id}`}>{name}</a>
      <StateBadge state={state} />
      {failure !== null ? (
        <span class="running-failure">{failure.code}</span>
      ) : (
        <>
          <Sparkline values={live?.rates ?? []} label="Rows in per second" />
          <span class="number">{rate(live?.rows_in_per_second ?? null)}</span>
        </>
      )}
    </li>
  );
}
