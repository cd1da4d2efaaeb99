/** Where rows go: received, staged, committed; when the next commit is due; the objects that are there. */
import { useEffect, useState } from 'preact/hooks';
import type { Sinks as SinkPage, SinkStatus } from '../../../api/stream/detail-shapes.ts';
import { api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { nowMicros } from '../../lib/clock.ts';
import { bytes, count, duration } from '../../lib/format.ts';
import { Empty } from '../../parts/empty.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { ShortTable } from '../../parts/short-table.tsx';
import { Time } from '../../parts/time.tsx';
import { CheckpointButton } from './checkpoints.tsx';
import { usePage } from './context.ts';
import { Pair } from './pair.tsx';

const RELOAD_MS = 2_000;

export function Sinks() {
  const { feed, id } = usePage();
  const { data, failure, reload } = useLoaded<SinkPage>(`/pipelines/${id}/sinks`);
  const committed = feed.status.value?.committed_epoch ?? 0;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload();
    }, RELOAD_MS);
    return () => clearInterval(timer);
  }, [reload]);
  if (failure !== null && data === null) return <ProblemNote thrown={failure} />;
  if (data === null) return <div class="later" style={{ minHeight: '20rem' }} />;
  if (data.data.length === 0)
    return (
      <div class="panel">
        <Empty title="This query writes nothing">
          <p>
            An <code>INSERT INTO</code> names a table with a sink connector; its rows are counted
            here.
          </p>
        </Empty>
      </div>
    );
  return (
    <div class="sinks">
      {data.data.map((sink) => (
        <Sink key={sink.operator_id} sink={sink} committed={committed} />
      ))}
    </div>
  );
}

function Sink({ sink, committed }: { sink: SinkStatus; committed: number }) {
  const { local } = usePage();
  const stages = sink.files !== null;
  return (
    <section class="panel" aria-label={`Sink ${sink.table}`}>
      <div class="panel-head">
        <h2>{sink.table}</h2>
        <span class="faint">
          {sink.connector}
          {sink.path !== null && (
            <>
              , <code>{sink.path}</code>
            </>
          )}
          {sink.updating && ', updating'}
        </span>
        <div class="actions">{stages && <CheckpointButton label="Flush now" />}</div>
      </div>
      <div class="panel-body">
        <Flow sink={sink} stages={stages} />
        <NextCommit sink={sink} stages={stages} />
        {local && stages && sink.path !== null && (
          <Objects path={sink.path} version={`${committed}/${sink.files ?? 0}`} />
        )}
      </div>
    </section>
  );
}

/** Received = committed + staged, as a bar and as numbers. */
function Flow({ sink, stages }: { sink: SinkStatus; stages: boolean }) {
  const { rows_received: received, rows_staged: staged, rows_committed: committed } = sink;
  const whole = Math.max(1, committed + staged);
  return (
    <div class="sink-flow">
      <dl class="pairs wide">
        <Pair name="Received">{count(received)}</Pair>
        {stages && <Pair name="Staged">{count(staged)}</Pair>}
        <Pair name={stages ? 'Committed' : 'Written'}>
          <span class="sink-committed">{count(committed)}</span>
        </Pair>
        {sink.files !== null && (
          <Pair
            name={
              sink.files_since_epoch === null
                ? 'Objects'
                : `Objects since epoch ${count(sink.files_since_epoch)}`
            }
          >
            {count(sink.files)}
          </Pair>
        )}
      </dl>
      {stages && (
        <span class="sink-bar" aria-hidden="true">
          <i style={{ width: `${(committed / whole) * 100}%` }} />
        </span>
      )}
    </div>
  );
}

/** Output may be older than the epochs that are kept. */
const nothingKept = ({ rows_committed: rows, files_since_epoch: since }: SinkStatus): string =>
  rows === 0 || since === null
    ? 'Nothing is committed yet. '
    : `The last rows were committed before epoch ${count(since)}. `;

function NextCommit({ sink, stages }: { sink: SinkStatus; stages: boolean }) {
  if (!stages)
    return (
      <p class="faint">
        It shows rows as they come. They are not committed with an epoch, so after a failure some
        are seen again.
      </p>
    );
  const { last_commit_at: last, last_commit_epoch: epoch, next_commit_at: next } = sink;
  const left = next === null ? null : Math.ceil(Math.max(0, next - nowMicros.value) / 1e6);
  return (
    <p class="sink-next">
      {last === null ? (
        nothingKept(sink)
      ) : (
        <>
          Last commit <Time at={last} show="ago" />
          {epoch !== null && `, epoch ${count(epoch)}`}.{' '}
        </>
      )}
      {left === null
        ? 'No commit is due: it is at rest.'
        : left === 0
          ? 'The next one is under way.'
          : `The next one in ${duration(left * 1e6)}.`}
    </p>
  );
}

type ObjectPage = { objects: { key: string; size: number }[]; truncated: boolean };

/** What lies in the bucket; only on one's own machine can it be listed here. */
function Objects({ path, version }: { path: string; version: string }) {
  const [page, setPage] = useState<ObjectPage | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    const stop = new AbortController();
    api
      .get<ObjectPage>(`/local/objects?prefix=${encodeURIComponent(path)}`, { signal: stop.signal })
      .then(setPage, (thrown: unknown) => {
        if (!stop.signal.aborted) setFailure(thrown);
      });
    return () => stop.abort();
  }, [path, version]);
  if (failure !== null) return <ProblemNote thrown={failure} />;
  if (page === null) return <div class="later" style={{ minHeight: '8rem' }} />;
  if (page.objects.length === 0) return <p class="faint">No object is there yet.</p>;
  return (
    <details class="sink-objects" open>
      <summary>
        {count(page.objects.length)}
        {page.truncated && ' or more'} object{page.objects.length === 1 ? '' : 's'} in the local
        bucket
      </summary>
      <ShortTable label="Objects" heads={['Object', { number: 'Size' }]}>
        {page.objects.slice(-200).map(({ key, size }) => (
          <tr key={key}>
            <td class="path">
              <a
                href={`/api/v1/local/objects/content?key=${encodeURIComponent(key)}`}
                download={key.slice(key.lastIndexOf('/') + 1)}
              >
                <code>{key}</code>
              </a>
            </td>
            <td class="number">{bytes(size)}</td>
          </tr>
        ))}
      </ShortTable>
    </details>
  );
}
