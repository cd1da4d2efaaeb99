/** Name, state and numbers of the pipeline, and what can be done with it. */
import { nowMicros } from '../../lib/clock.ts';
import { count, duration, FAR_LAG_MICROS, rate, utc } from '../../lib/format.ts';
import { Menu, type MenuEntry } from '../../parts/menu.tsx';
import { Icon } from '../../parts/icon.tsx';
import { reasonWords } from './lineage/words.ts';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type PageContext, usePage } from './context.ts';
import { useLocation } from 'preact-iso';
import type { PipelineStatus } from '../../../api/observe/status-shapes.ts';

const AT_REST = new Set(['Stopped', 'Finished', 'Failed']);

export function Header() {
  const { feed, pipeline } = usePage();
  const status = feed.status.value;
  return (
    <>
      <div class="page-head pipeline-head">
        <h1>{status?.name ?? pipeline.name}</h1>
        <StateBadge state={status?.state ?? pipeline.state} />
        <Actions />
      </div>
      <Facts status={status} />
    </>
  );
}

function Actions() {
  const page = usePage();
  const { feed, pipeline, local, ask } = page;
  const { route } = useLocation();
  const status = feed.status.value;
  const state = status?.state ?? pipeline.state;
  const atRest = AT_REST.has(state);
  return (
    <div class="actions">
      {local && !atRest && <Kill page={page} status={status} />}
      {atRest ? (
        <button type="button" class="button primary" onClick={() => ask('start')}>
          <Icon name="play" />
          Start
        </button>
      ) : (
        <button
          type="button"
          class="button"
          onClick={() => ask('stop')}
          disabled={state === 'CheckpointStopping'}
        >
          <Icon name="stop" />
          Stop
        </button>
      )}
      <Menu label="More" entries={moreEntries(page, atRest, route)} />
    </div>
  );
}

function Kill({ page, status }: { page: PageContext; status: PipelineStatus | null }) {
  const runs = status?.state === 'Running';
  const hosts = status?.hosts ?? [];
  const unable = runs ? '' : 'Only what runs can be killed.';
  const entries: MenuEntry[] = [
    {
      key: 'leader',
      title: 'Kill the leader',
      icon: 'skull',
      danger: true,
      unable,
      onChoose: () => page.ask('kill_leader'),
    },
    ...hosts.map(({ index }) => ({
      key: `host-${index}`,
      title: `Kill host ${index}`,
      icon: 'bolt' as const,
      danger: true,
      unable,
      onChoose: () => page.ask('kill_host', index),
    })),
  ];
  return <Menu label="Kill…" entries={entries} icon="skull" />;
}

function moreEntries(
  { id, ask }: PageContext,
  atRest: boolean,
  route: (url: string) => void,
): MenuEntry[] {
  const resting = atRest ? 'It is at rest.' : '';
  return [
    {
      key: 'settings',
      title: 'Name, parallelism, interval',
      icon: 'edit',
      onChoose: () => ask('settings'),
    },
    {
      key: 'copy',
      title: 'Edit as a new pipeline',
      icon: 'add',
      onChoose: () => route(`/pipelines/new?from=${encodeURIComponent(id)}`),
    },
    { key: 'restart', title: 'Restart', icon: 'restart', onChoose: () => ask('restart') },
    {
      key: 'graceful',
      title: 'Finish: close windows and stop',
      icon: 'flag',
      unable: resting,
      onChoose: () => ask('stop_graceful'),
    },
    {
      key: 'immediate',
      title: 'Stop at once',
      icon: 'stop',
      danger: true,
      unable: resting,
      onChoose: () => ask('stop_immediate'),
    },
    {
      key: 'reset',
      title: 'Restart without state',
      icon: 'restart',
      danger: true,
      onChoose: () => ask('restart_without_state'),
    },
    {
      key: 'delete',
      title: 'Delete',
      icon: 'trash',
      danger: true,
      unable: atRest ? '' : 'Stop it first: only a pipeline at rest can be deleted.',
      onChoose: () => ask('delete'),
    },
  ];
}

function Facts({ status }: { status: PipelineStatus | null }) {
  return (
    <dl class="panel pipeline-facts">
      <Fact
        name="Rows in"
        value={status === null ? '–' : rate(status.rates.rows_in)}
        note={status === null ? '' : `${count(status.totals.rows_in)} in all`}
      />
      <Fact
        name="Rows out"
        value={status === null ? '–' : rate(status.rates.rows_out)}
        note={status === null ? '' : `${count(status.totals.rows_out)} in all`}
      />
      <Lag status={status} />
      <Fact
        name="Generation"
        value={status === null ? '–' : count(status.generation)}
        note={status === null ? '' : reasonWords(status.reason)}
      />
      <Fact
        name="Epoch"
        value={status === null ? '–' : count(status.epoch)}
        note={status === null ? '' : committedNote(status)}
      />
      <Fact
        name="Restarts"
        value={status === null ? '–' : count(status.restarts)}
        note="since last healthy"
      />
      <Uptime status={status} />
    </dl>
  );
}

const committedNote = ({ epoch, committed_epoch: committed }: PipelineStatus): string =>
  committed === epoch ? 'committed' : `${count(committed)} committed`;

/** Of old data, or of made-up clocks, "behind" is no delay: the watermark itself says more. */
function Lag({ status }: { status: PipelineStatus | null }) {
  const lag = status?.lag_micros ?? null;
  if (status === null || lag === null) return <Fact name="Lag" value="–" note="no watermark yet" />;
  if (lag > FAR_LAG_MICROS)
    return (
      <Fact
        name="Watermark"
        value={utc(status.at - lag).slice(0, 10)}
        note={`${utc(status.at - lag).slice(11)} UTC`}
      />
    );
  return <Fact name="Lag" value={duration(Math.max(0, lag))} note="behind the clock" />;
}

function Uptime({ status }: { status: PipelineStatus | null }) {
  const since = status?.running_since ?? null;
  if (since === null || status?.state !== 'Running')
    return <Fact name="Runs for" value="–" note="" />;
  return (
    <Fact
      name="Runs for"
      value={duration(Math.max(1_000_000, nowMicros.value - since))}
      note={`on ${status.hosts.length} host${status.hosts.length === 1 ? '' : 's'}`}
    />
  );
}

function Fact({ name, value, note }: { name: string; value: string; note: string }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{value}</dd>
      <dd class="fact-note" title={note}>
        {note}
      </dd>
    </div>
  );
}
