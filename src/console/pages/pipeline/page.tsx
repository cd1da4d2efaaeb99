/** One pipeline: what it does, why, what it has written, and how it came to be what it is. */
import { useLocation, useRoute } from 'preact-iso';
import { useComputed } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ServerInfo } from '../../../api/stream/detail-shapes.ts';
import { ApiError } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { later } from '../../parts/later.tsx';
import { Empty } from '../../parts/empty.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { ActionDialog, type Asked } from './action-dialog.tsx';
import { AftermathStrip } from './aftermath-strip.tsx';
import { Context, type PageContext, type Pipeline } from './context.ts';
import { createFeed } from './feed.ts';
import { Header } from './header.tsx';
import { HealthLine } from './health-line.tsx';
import { InvariantLine } from './invariant-line.tsx';
import './page.css';
import { TAB_TITLES, type TabName, tabOf, TABS, topicsOf } from './tabs.ts';

const PANES = {
  overview: later(async () => (await import('./overview/overview.tsx')).Overview, '32rem'),
  output: later(async () => (await import('./output.tsx')).Output, '32rem'),
  send: later(async () => (await import('./send.tsx')).Send, '32rem'),
  lineage: later(async () => (await import('./lineage/lineage.tsx')).LineageTab, '32rem'),
  checkpoints: later(async () => (await import('./checkpoints.tsx')).Checkpoints, '32rem'),
  errors: later(async () => (await import('./errors.tsx')).Errors, '32rem'),
  sql: later(async () => (await import('./sql.tsx')).Sql, '32rem'),
  sinks: later(async () => (await import('./sinks.tsx')).Sinks, '32rem'),
} satisfies Record<TabName, unknown>;

export function PipelinePage() {
  const { params } = useRoute();
  const id = params['id'] ?? '';
  const loaded = useLoaded<Pipeline>(`/pipelines/${encodeURIComponent(id)}`);
  const { data, failure } = loaded;
  if (data !== null && data.id === id)
    return <Shown key={id} pipeline={data} tab={tabOf(params['tab'])} reload={loaded.reload} />;
  if (failure instanceof ApiError && failure.status === 404) return <NoPipeline id={id} />;
  return (
    <>
      <div class="page-head">
        <h1>{failure === null ? ' ' : 'This pipeline cannot be shown now'}</h1>
      </div>
      {failure === null ? (
        <Skeleton />
      ) : (
        <ProblemNote thrown={failure}>
          <button type="button" class="button small" onClick={loaded.reload}>
            Try again
          </button>
        </ProblemNote>
      )}
    </>
  );
}

type ShownProps = { pipeline: Pipeline; tab: TabName; reload(): void };

function Shown({ pipeline, tab, reload }: ShownProps) {
  const { id } = pipeline;
  const feed = useMemo(() => createFeed(id), [id]);
  const { data: server } = useLoaded<ServerInfo>('/server');
  const [asked, setAsked] = useState<Asked | null>(null);
  const topics = topicsOf(tab, feed.killing.value !== null).join(',');
  useEffect(() => {
    const stream = feed.open(topics.split(',') as ReturnType<typeof topicsOf>);
    return () => stream.close();
  }, [feed, topics]);
  useTitle(pipeline.name);
  const version = useComputed(() => {
    const now = feed.status.value;
    return now === null ? '' : `${now.name}/${now.generation}`;
  }).value;
  useEffect(() => {
    if (version !== '') reload();
  }, [version, reload]);
  const page = useMemo<PageContext>(
    () => ({
      id,
      feed,
      pipeline,
      local: server?.local === true,
      ask: (action, host) => setAsked({ action, host: host ?? null }),
    }),
    [id, feed, pipeline, server],
  );
  if (feed.gone.value) return <NoPipeline id={id} name={pipeline.name} />;
  const totals = feed.status.value?.totals;
  const wrongRows = (totals?.errors ?? 0) + (totals?.late ?? 0);
  const Pane = PANES[tab];
  return (
    <Context.Provider value={page}>
      <Header />
      <HealthLine />
      <InvariantLine />
      <AftermathStrip />
      <Tabs
        label={`Parts of ${pipeline.name}`}
        current={tab}
        tabs={TABS.filter((name) => name !== 'send' || takesRows(pipeline)).map((name) => ({
          name,
          title: TAB_TITLES[name],
          href: `/pipelines/${id}/${name}`,
          ...(name === 'errors' ? { wrong: wrongRows } : {}),
        }))}
      />
      <div class="pane">
        <Pane key={tab} />
      </div>
      {asked !== null && (
        <ActionDialog asked={asked} onChanged={reload} onClose={() => setAsked(null)} />
      )}
    </Context.Provider>
  );
}

const takesRows = ({ sources }: Pipeline): boolean =>
  sources.some(({ rows_url: url }) => url !== null);

/** Of several tabs of a browser each says what it shows. */
function useTitle(name: string): void {
  useEffect(() => {
    const before = document.title;
    document.title = `${name} · Thalweg`;
    return () => {
      document.title = before;
    };
  }, [name]);
}

function NoPipeline({ id, name }: { id: string; name?: string }) {
  const { route } = useLocation();
  return (
    <>
      <div class="page-head">
        <h1>{name === undefined ? 'There is no such pipeline' : `${name} was deleted`}</h1>
      </div>
      <div class="panel">
        <Empty
          title={
            name === undefined ? `Nothing has the id ${id}` : 'It is gone, here and for everybody'
          }
        >
          <p>
            {name === undefined
              ? 'It may have been deleted, or the address was cut when it was copied.'
              : 'Its checkpoints and history went with it. What it had committed stays where it was written.'}
          </p>
          <button type="button" class="button primary" onClick={() => route('/pipelines')}>
            All pipelines
          </button>
        </Empty>
      </div>
    </>
  );
}

function Skeleton() {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      <div style={{ height: '5rem' }} />
      <div style={{ height: '3.25rem' }} />
      <div style={{ height: '24rem' }} />
    </div>
  );
}
