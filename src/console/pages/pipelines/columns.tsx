/** The columns of the list. */
import type { PipelineSummary } from '../../../api/stream/summary-shapes.ts';
import { nowMicros } from '../../lib/clock.ts';
import { count, duration, FAR_LAG_MICROS, rate, short, utc } from '../../lib/format.ts';
import { Sparkline } from '../../parts/sparkline.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import type { TableColumn } from '../../parts/virtual-table.tsx';
import { PipelineActions } from './actions.tsx';

function Flow({ sources, sinks }: PipelineSummary) {
  return (
    <span class="flow">
      {sources.join(', ')} → {sinks.join(', ')}
    </span>
  );
}

function Rate({ live, name }: PipelineSummary) {
  if (live === null) return <span class="faint">–</span>;
  return (
    <span class="rate">
      <Sparkline values={live.rates} label={`Rows a second of ${name}, the last half minute`} />
      {rate(live.rows_in_per_second)}
    </span>
  );
}

/** Of old data "behind" is no delay; where event time stands says more. */
function Lag({ micros }: { micros: number | null }) {
  if (micros === null) return <>–</>;
  if (micros <= FAR_LAG_MICROS) return <>{duration(Math.max(0, micros))}</>;
  const watermark = utc(nowMicros.value - micros);
  return <span title={`The watermark stands at ${watermark} UTC`}>{watermark.slice(0, 10)}</span>;
}

/** Rows that were refused, failed or came too late, in this generation. */
function Wrong({ id, rows }: { id: string; rows: number | null }) {
  if (rows === null) return <>–</>;
  if (rows === 0) return <>0</>;
  return (
    <a class="wrong-rows" href={`/pipelines/${id}/errors`} title={`${count(rows)} rows went wrong`}>
      {short(rows)}
    </a>
  );
}

/** What they need at least, side by side. */
export const COLUMNS_WIDTH = '76rem';

export const COLUMNS: readonly TableColumn<PipelineSummary>[] = [
  {
    key: 'name',
    title: 'Name',
    width: 'minmax(12rem, 2fr)',
    sortable: true,
    cell: ({ id, name, failure }) => (
      <a
        class="row-link"
        href={`/pipelines/${id}`}
        {...(failure === null ? {} : { title: `${failure.code}: ${failure.message}` })}
      >
        {name}
      </a>
    ),
  },
  {
    key: 'state',
    title: 'State',
    width: '8rem',
    sortable: true,
    cell: ({ state }) => <StateBadge state={state} />,
  },
  {
    key: 'rate',
    title: 'Rows in',
    width: '11rem',
    sortable: true,
    cell: (summary) => <Rate {...summary} />,
  },
  {
    key: 'lag',
    title: 'Lag',
    width: '7rem',
    numeric: true,
    sortable: true,
    cell: ({ live }) => <Lag micros={live?.lag_micros ?? null} />,
  },
  {
    key: 'epoch',
    title: 'Epoch',
    width: '5rem',
    numeric: true,
    sortable: true,
    cell: ({ epoch }) => count(epoch),
  },
  {
    key: 'restarts',
    title: 'Restarts',
    width: '5.5rem',
    numeric: true,
    sortable: true,
    cell: ({ restarts }) => count(restarts),
  },
  {
    key: 'errors',
    title: 'Errors',
    width: '5.5rem',
    numeric: true,
    cell: ({ id, live }) => <Wrong id={id} rows={live === null ? null : live.errors + live.late} />,
  },
  {
    key: 'flow',
    title: 'From → to',
    width: 'minmax(8rem, 1fr)',
    cell: (summary) => <Flow {...summary} />,
  },
  {
    key: 'created',
    title: 'Created',
    width: '10.5rem',
    sortable: true,
    cell: ({ created_at: at }) => <Time at={at} />,
  },
  {
    key: 'actions',
    title: 'Actions',
    width: '5.5rem',
    cell: (pipeline) => <PipelineActions pipeline={pipeline} />,
  },
];
