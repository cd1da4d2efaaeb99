/** The charts of the pipeline or of one operator, over five minutes, an hour or six; or their values as a table. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { History } from '../../../../api/observe/history-shapes.ts';
import { useLoaded } from '../../../api/load.ts';
import { utc } from '../../../lib/format.ts';
import { Empty } from '../../../parts/empty.tsx';
import { later } from '../../../parts/later.tsx';
import { ProblemNote } from '../../../parts/problem-note.tsx';
import { type TableColumn, VirtualTable } from '../../../parts/virtual-table.tsx';
import { usePage } from '../context.ts';
import { HISTORY_MICROS } from '../feed.ts';
import { type ChartData, chartsOf } from './series.ts';

const Chart = later(async () => (await import('./chart.tsx')).Chart, '11rem');

const RANGES = [
  { seconds: 300, title: '5 min' },
  { seconds: 3_600, title: '1 h' },
  { seconds: 21_600, title: '6 h' },
] as const;

const RELOAD_MS = 10_000;

export function Charts() {
  const [seconds, setSeconds] = useState<number>(300);
  const [asTable, setAsTable] = useState(false);
  return (
    <section class="panel charts" aria-label="Charts over time">
      <div class="panel-head">
        <h2>Over time</h2>
        <div class="switch" role="group" aria-label="Time range">
          {RANGES.map((range) => (
            <button
              key={range.seconds}
              type="button"
              aria-pressed={range.seconds === seconds}
              onClick={() => setSeconds(range.seconds)}
            >
              {range.title}
            </button>
          ))}
        </div>
        <div class="actions">
          <button
            type="button"
            class="button small"
            aria-pressed={asTable}
            onClick={() => setAsTable(!asTable)}
          >
            {asTable ? 'As charts' : 'As a table'}
          </button>
        </div>
      </div>
      {seconds === 300 ? (
        <Live asTable={asTable} />
      ) : (
        <Long key={seconds} seconds={seconds} asTable={asTable} />
      )}
    </section>
  );
}

function Live({ asTable }: { asTable: boolean }) {
  const history = usePage().feed.history.value;
  return <Body history={history} spanMicros={HISTORY_MICROS} asTable={asTable} operator={null} />;
}

function Long({ seconds, asTable }: { seconds: number; asTable: boolean }) {
  const { id } = usePage();
  const { data, failure, reload } = useLoaded<History>(
    `/pipelines/${id}/metrics/history?seconds=${seconds}`,
  );
  useEffect(() => {
    const timer = setInterval(reload, RELOAD_MS);
    return () => clearInterval(timer);
  }, [reload]);
  if (failure !== null && data === null) return <ProblemNote thrown={failure} />;
  return <Body history={data} spanMicros={seconds * 1e6} asTable={asTable} operator={null} />;
}

type BodyProps = {
  history: History | null;
  spanMicros: number;
  asTable: boolean;
  operator: string | null;
};

export function Body({ history, spanMicros, asTable, operator }: BodyProps) {
  const charts = useMemo(
    () => (history === null ? [] : chartsOf(history, operator)),
    [history, operator],
  );
  if (history !== null && history.times.length === 0)
    return (
      <Empty title="Nothing measured in this time">
        <p>Rates, lag and state are drawn here from the first seconds that the pipeline runs.</p>
      </Empty>
    );
  if (history !== null && asTable) return <Values history={history} charts={charts} />;
  return (
    <div class="charts-grid">
      {charts.map((data) => (
        <Chart
          key={data.key}
          data={data}
          times={history?.times ?? []}
          marks={history?.marks ?? []}
          from={(history?.to ?? 0) - spanMicros}
          to={history?.to ?? 0}
        />
      ))}
    </div>
  );
}

type Point = { time: number; index: number };

function Values({ history, charts }: { history: History; charts: readonly ChartData[] }) {
  const rows = history.times.map((time, index) => ({ time, index })).toReversed();
  const columns: TableColumn<Point>[] = [
    {
      key: 'time',
      title: 'UTC',
      width: '7rem',
      cell: ({ time }) => utc(time, 'time'),
    },
    ...charts.flatMap((chart) =>
      chart.series.map(({ label, values }) => ({
        key: `${chart.key}/${label}`,
        title: chart.series.length === 1 ? chart.title : `Rows ${label}`,
        width: 'minmax(9rem, 1fr)',
        numeric: true,
        cell: ({ index }: Point) => {
          const value = values[index] ?? null;
          return value === null ? '–' : chart.format(value);
        },
      })),
    ),
  ];
  return (
    <VirtualTable
      label="Values over time, newest first"
      height="22rem"
      minWidth="64rem"
      columns={columns}
      rows={rows}
      rowKey={({ time }) => time}
    />
  );
}
