/** The lineage: a picture of the one history that is canonical and of what lost against it, or the same as a table. */
import { useComputed } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useMemo } from 'preact/hooks';
import { Empty } from '../../../parts/empty.tsx';
import { usePage } from '../context.ts';
import { layOutRiver, type RiverNode } from './layout.ts';
import './lineage.css';
import { Legend } from './legend.tsx';
import { NodePanel } from './node-panel.tsx';
import { Picture } from './picture.tsx';
import { LineageTable } from './table.tsx';

export function LineageTab() {
  const { feed, id } = usePage();
  const { query, route } = useLocation();
  const selected = query['node'] ?? null;
  const asTable = query['as'] === 'table';
  const now = useComputed(() => {
    const status = feed.status.value;
    const running = status?.checkpoint.running ?? null;
    return JSON.stringify({
      generation: status?.generation ?? 0,
      running: running === null ? null : { epoch: running.epoch, attempt: running.attempt },
      alive: status !== null && !['Stopped', 'Finished', 'Failed'].includes(status.state),
    });
  }).value;
  const river = feed.river.value;
  const layout = useMemo(
    () => layOutRiver(river, JSON.parse(now) as Parameters<typeof layOutRiver>[1]),
    [river, now],
  );
  const go = (next: { node?: string | null; as?: string | null }): void => {
    const address = new URLSearchParams();
    const node = next.node === undefined ? selected : next.node;
    const as = next.as === undefined ? (asTable ? 'table' : null) : next.as;
    if (as !== null) address.set('as', as);
    if (node !== null) address.set('node', node);
    const text = address.toString();
    route(`/pipelines/${id}/lineage${text === '' ? '' : `?${text}`}`, true);
  };
  const open = (node: RiverNode | null): void => go({ node: node?.id ?? null });
  const shown = layout.nodes.find((node) => node.id === selected) ?? null;
  if (feed.riverKnown.value && river.epochs.length === 0) return <NoLineage />;
  return (
    <div class={`lineage ${shown === null ? '' : 'with-panel'}`}>
      <section class="panel lineage-main" aria-label="Lineage">
        {asTable ? (
          <LineageTable
            layout={layout}
            selected={selected}
            onOpen={open}
            onPicture={() => go({ as: null })}
          />
        ) : (
          <Picture
            layout={layout}
            selected={selected}
            onOpen={open}
            onTable={() => go({ as: 'table' })}
          />
        )}
        <Legend />
      </section>
      {shown === null && (
        <p class="faint">
          Choose an epoch to see what it read and wrote, its files, its phases and its manifest.
        </p>
      )}
      {shown !== null && <NodePanel node={shown} river={river} onClose={() => open(null)} />}
    </div>
  );
}

function NoLineage() {
  return (
    <div class="panel">
      <Empty title="No epoch yet">
        <p>
          Each checkpoint of this pipeline will be a node of a line from left to right: what it
          read, what it committed, and which generation won it. The first one, a fence, comes as
          soon as the pipeline has started.
        </p>
      </Empty>
    </div>
  );
}
