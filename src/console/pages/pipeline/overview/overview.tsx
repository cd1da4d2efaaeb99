/** What the pipeline does now: its graph with live numbers, an operator opened beside it, charts over time below. */
import { useLocation } from 'preact-iso';
import { useMemo, useRef } from 'preact/hooks';
import type { PipelineStatus } from '../../../../api/observe/status-shapes.ts';
import { rate, short } from '../../../lib/format.ts';
import {
  type Graph,
  type ApiGraph,
  edgeLabel,
  graphOf,
  type GraphEdge,
  type GraphNode,
  heightFor,
} from '../../../parts/graph/layout.ts';
import { useSize } from '../../../parts/graph/use-size.ts';
import { later } from '../../../parts/later.tsx';
import { usePage } from '../context.ts';
import { Charts } from './charts.tsx';
import {
  alertsOf,
  BUSY_WORDS,
  busyOf,
  operatorOf,
  stateWords,
  watermarkWords,
  widthClass,
} from './load.ts';
import { OperatorPanel } from './operator-panel.tsx';
import './overview.css';

const GraphView = later(
  async () => (await import('../../../parts/graph/graph.tsx')).GraphView,
  '20rem',
);

const FOOTER_HEIGHT = 62;
/** Charts below should be in sight: a graph of one row takes no more than that. */
const HEIGHTS = { least: 176, most: 352 };
const BORDERS = 2;

export function Overview() {
  const { pipeline, id } = usePage();
  const { query, route } = useLocation();
  // A pipeline that is read again has the same graph: the drawing must not begin anew.
  const text = JSON.stringify(pipeline.graph);
  const graph = useMemo(() => graphOf(JSON.parse(text) as ApiGraph), [text]);
  const chosen = query['operator'] ?? null;
  const node = graph.nodes.find((one) => one.id === chosen) ?? null;
  const choose = (operator: string | null): void =>
    route(`/pipelines/${id}/overview${operator === null ? '' : `?operator=${operator}`}`, true);
  return (
    <div class="overview">
      <div class={`overview-top ${node === null ? '' : 'with-panel'}`}>
        <LiveGraph
          graph={graph}
          selected={chosen}
          onSelect={(operator) => choose(operator === chosen ? null : operator)}
        />
        {node !== null && <OperatorPanel node={node} onClose={() => choose(null)} />}
      </div>
      <Charts />
    </div>
  );
}

type GraphProps = { graph: Graph; selected: string | null; onSelect(id: string): void };

function LiveGraph({ graph, selected, onSelect }: GraphProps) {
  const { feed, pipeline } = usePage();
  const status = feed.status.value;
  const most = Math.max(
    1,
    ...(status?.operators ?? []).map(({ rows_out_per_second: rows }) => rows),
  );
  const flow = ({ from }: GraphEdge): number => operatorOf(status, from)?.rows_out_per_second ?? 0;
  const frame = useRef<HTMLElement>(null);
  const { width } = useSize(frame);
  const height = useMemo(() => heightFor(graph, width, HEIGHTS, FOOTER_HEIGHT), [graph, width]);
  return (
    <section
      class="panel overview-graph"
      aria-label="Graph"
      ref={frame}
      style={{ '--graph-height': `${height + BORDERS}px` }}
    >
      <GraphView
        label={`Operators of ${pipeline.name}, from sources to sinks`}
        graph={graph}
        selected={selected}
        onSelect={onSelect}
        footerHeight={FOOTER_HEIGHT}
        footer={(node) => <Live status={status} node={node} />}
        nodeClass={(node) => `load-${busyOf(operatorOf(status, node.id)?.backpressure ?? 0)}`}
        edgeClass={(edge) => (flow(edge) > 0 ? `flowing ${widthClass(flow(edge), most)}` : '')}
        edgeText={(edge) => (edge.shuffle && flow(edge) > 0 ? rate(flow(edge)) : edgeLabel(edge))}
      />
    </section>
  );
}

/** Three short lines of fixed height: flow, event time, and how full. */
function Live({ status, node }: { status: PipelineStatus | null; node: GraphNode }) {
  const operator = operatorOf(status, node.id);
  if (operator === null) return <span class="live" />;
  const busy = busyOf(operator.backpressure);
  const alerts = alertsOf(operator);
  const state = stateWords(operator);
  return (
    <span class="live">
      <span class="live-flow">
        <b>{short(operator.rows_in_per_second)}</b> in/s
        <b>{short(operator.rows_out_per_second)}</b> out/s
      </span>
      <span class="live-time">{watermarkWords(operator)}</span>
      <span class="live-foot">
        <span
          class={`live-load ${busy}`}
          title={`Backpressure ${Math.round(operator.backpressure * 100)}%`}
        >
          <i style={{ width: `${Math.round(operator.backpressure * 100)}%` }} />
        </span>
        <span class="live-word">{BUSY_WORDS[busy]}</span>
        {alerts.length > 0 ? (
          <span class="live-alert">{alerts.join(', ')}</span>
        ) : (
          <span class="live-state">{state}</span>
        )}
      </span>
    </span>
  );
}
