/** The checkpoints of this pipeline, newest first, with their phases. */
import { useComputed } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import type { FlushAnswer } from '../../../api/stream/detail-shapes.ts';
import { api } from '../../api/client.ts';
import { nowMicros } from '../../lib/clock.ts';
import { bytes, count, duration } from '../../lib/format.ts';
import { Empty } from '../../parts/empty.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Time } from '../../parts/time.tsx';
import { tell, tellFailure } from '../../parts/toasts.tsx';
import { type TableColumn, VirtualTable } from '../../parts/virtual-table.tsx';
import type { SeenCheckpoint } from './checkpoint-list.ts';
import { usePage } from './context.ts';
import { PhaseBars } from './phase-bars.tsx';
import { checkpointTime, phaseChart } from './phases.ts';

export function Checkpoints() {
  const { feed, id } = usePage();
  const { query, route } = useLocation();
  const checkpoints = feed.checkpoints.value;
  const chosen = query['at'] ?? null;
  const shown = checkpoints.find((one) => keyOf(one) === chosen) ?? checkpoints[0] ?? null;
  return (
    <div class="checkpoints">
      <section class="panel" aria-label="Checkpoints">
        <div class="panel-head">
          <h2>Checkpoints</h2>
          <Next />
          <div class="actions">
            <CheckpointButton label="Checkpoint now" />
          </div>
        </div>
        <VirtualTable
          label="Checkpoints, newest first"
          height="24rem"
          minWidth="62rem"
          columns={COLUMNS}
          rows={checkpoints}
          rowKey={keyOf}
          selectedKey={shown === null ? null : keyOf(shown)}
          onOpen={(one) => route(`/pipelines/${id}/checkpoints?at=${keyOf(one)}`, true)}
          empty={
            <Empty title="No checkpoint yet">
              <p>
                Each one will be here with how long it took, what it stored, and where the time
                went.
              </p>
            </Empty>
          }
        />
      </section>
      {shown !== null && <Detail checkpoint={shown} />}
    </div>
  );
}

const keyOf = ({ epoch, started_at }: SeenCheckpoint): string => `${epoch}-${started_at}`;

function Detail({ checkpoint }: { checkpoint: SeenCheckpoint }) {
  const { id } = usePage();
  return (
    <section class="panel" aria-label={`Phases of epoch ${checkpoint.epoch}`}>
      <div class="panel-head">
        <h2>Epoch {checkpoint.epoch}</h2>
        <span>
          attempt {checkpoint.attempt}, {checkpoint.kind}
        </span>
        <div class="actions">
          <a class="button small" href={`/pipelines/${id}/lineage?node=e${checkpoint.epoch}`}>
            In the lineage
          </a>
        </div>
      </div>
      <div class="panel-body">
        <PhaseBars checkpoint={checkpoint} />
      </div>
    </section>
  );
}

/** When the next one is due. */
function Next() {
  const { feed } = usePage();
  const due = useComputed(() => {
    const status = feed.status.value;
    if (status === null) return '';
    const { running, next_at: next, interval_micros: interval } = status.checkpoint;
    if (running !== null) return `epoch ${running.epoch} is being taken`;
    if (next === null) return '';
    const left = Math.max(0, Math.ceil((next - nowMicros.value) / 1e6)) * 1e6;
    return `next in ${left === 0 ? 'a moment' : duration(left)}, every ${duration(interval)}`;
  }).value;
  return <span class="faint">{due}</span>;
}

export function CheckpointButton({ label }: { label: string }) {
  const { feed, id } = usePage();
  const [busy, setBusy] = useState(false);
  const runs = feed.status.value?.state === 'Running';
  const take = async (): Promise<void> => {
    setBusy(true);
    try {
      const { epoch } = await api.post<FlushAnswer>(`/pipelines/${id}/checkpoint`);
      tell(`Epoch ${epoch} is being taken`);
    } catch (thrown) {
      tellFailure(thrown);
    }
    setBusy(false);
  };
  return (
    <button
      type="button"
      class="button small"
      disabled={busy || !runs}
      title={runs ? '' : 'Only what runs can take one.'}
      onClick={() => void take()}
    >
      <Icon name="flag" />
      {label}
    </button>
  );
}

const COLUMNS: readonly TableColumn<SeenCheckpoint>[] = [
  { key: 'epoch', title: 'Epoch', width: '4.5rem', numeric: true, cell: ({ epoch }) => epoch },
  {
    key: 'generation',
    title: 'Generation',
    width: '6.5rem',
    numeric: true,
    cell: ({ generation }) => generation,
  },
  { key: 'state', title: 'State', width: 'minmax(7rem, 1fr)', cell: stateOf },
  {
    key: 'started',
    title: 'Started (UTC)',
    width: '8rem',
    cell: ({ started_at: at }) => <Time at={at} show="time" />,
  },
  {
    key: 'time',
    title: 'Took',
    width: '6rem',
    numeric: true,
    cell: (one) => (one.running ? <Running one={one} /> : duration(checkpointTime(one, 0))),
  },
  {
    key: 'phases',
    title: 'Where the time went',
    width: 'minmax(10rem, 2fr)',
    cell: (one) => <MiniPhases one={one} />,
  },
  {
    key: 'bytes',
    title: 'Size',
    width: '6rem',
    numeric: true,
    cell: ({ bytes: size }) => bytes(size),
  },
  { key: 'rows', title: 'Rows', width: '6rem', numeric: true, cell: ({ rows }) => count(rows) },
  {
    key: 'items',
    title: 'Output',
    width: '5rem',
    numeric: true,
    cell: ({ items }) => (items === 0 ? '' : count(items)),
  },
];

function stateOf({ running, committed_at, published_at, kind }: SeenCheckpoint): string {
  if (running) return published_at === null ? 'being taken' : 'being committed';
  if (committed_at === null) return published_at === null ? 'given up' : 'canonical';
  return kind === 'scheduled' ? 'committed' : `committed, ${kind}`;
}

function Running({ one }: { one: SeenCheckpoint }) {
  return <>{duration(checkpointTime(one, nowMicros.value))}</>;
}

/** All phases in one bar: the slowest host, then the leader. */
function MiniPhases({ one }: { one: SeenCheckpoint }) {
  const { total, rows } = phaseChart(one, one.published_at ?? one.started_at);
  const slowest = rows
    .slice(0, -1)
    .sort((left, right) => endOf(right) - endOf(left))
    .slice(0, 1);
  return (
    <span class="phase-track mini">
      {[...slowest, ...rows.slice(-1)].flatMap(({ name, stretches }) =>
        stretches.map(({ phase, start, length }) => (
          <span
            key={`${name}/${phase}`}
            class={`phase ${phase}`}
            style={{
              left: `${(start / total) * 100}%`,
              width: `max(2px, ${(length / total) * 100}%)`,
            }}
            title={`${phase} ${duration(length)}`}
          />
        )),
      )}
    </span>
  );
}

const endOf = ({ stretches }: ReturnType<typeof phaseChart>['rows'][number]): number =>
  Math.max(0, ...stretches.map(({ start, length }) => start + length));
