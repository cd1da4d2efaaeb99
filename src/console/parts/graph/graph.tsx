/**
 * The graph of a query: nodes with what they do, rivers between them. Moves by dragging, zooms by the buttons, Ctrl and the
 * wheel, or + and -; arrow keys go from node to node.
 *
 * What changes while a pipeline runs comes in by slots: a footer of fixed height for each node, and class names.
 */
import type { ComponentChildren } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { Icon } from '../icon.tsx';
import './graph.css';
import {
  type Arrow,
  bestLayout,
  edgeLabel,
  type Graph,
  type GraphEdge,
  type GraphLayout,
  type GraphNode,
  neighbour,
  type PlacedEdge,
  type PlacedNode,
} from './layout.ts';
import { useSize } from './use-size.ts';
import { useView, type ViewHandles } from './use-view.ts';

export type GraphSlots = {
  /** Below the text of a node; of the height that `footerHeight` says. */
  footer?(node: GraphNode): ComponentChildren;
  nodeClass?(node: GraphNode): string;
  /** `flowing` lets the line flow. */
  edgeClass?(edge: GraphEdge): string;
  /** Instead of the key of a shuffle. */
  edgeText?(edge: GraphEdge): string;
};

type Props = GraphSlots & {
  label: string;
  graph: Graph;
  footerHeight?: number;
  selected?: string | null;
  onSelect?(id: string): void;
};

export function GraphView(props: Props) {
  const { graph, footerHeight = 0, label, selected = null, onSelect } = props;
  const frame = useRef<HTMLDivElement>(null);
  const room = useSize(frame);
  const drawn = useMemo(() => bestLayout(graph, room, footerHeight), [graph, room, footerHeight]);
  const view = useView(frame, drawn, room);
  const move = (event: KeyboardEvent, id: string): void => {
    if (!event.key.startsWith('Arrow')) return;
    event.preventDefault();
    const next = neighbour(drawn, id, event.key as Arrow);
    if (next !== null) frame.current?.querySelector<HTMLElement>(`[data-node="${next}"]`)?.focus();
  };
  const { x, y, scale } = view.view;
  return (
    <div class="graph" role="group" aria-label={label}>
      <div class="graph-frame" ref={frame} {...view.handlers}>
        <div
          class="graph-drawing"
          style={{
            width: `${drawn.width}px`,
            height: `${drawn.height}px`,
            transform: `translate(${x}px, ${y}px) scale(${scale})`,
          }}
        >
          <Edges drawn={drawn} {...props} />
          {drawn.nodes.map((node) => (
            <Node
              key={node.id}
              node={node}
              slots={props}
              selected={selected === node.id}
              onSelect={onSelect}
              onMove={move}
              onFocus={() => view.reveal(node)}
            />
          ))}
        </div>
      </div>
      <ViewButtons view={view} />
    </div>
  );
}

type NodeProps = {
  node: PlacedNode;
  slots: GraphSlots;
  selected: boolean;
  onSelect: ((id: string) => void) | undefined;
  onMove(event: KeyboardEvent, id: string): void;
  onFocus(): void;
};

function Node({ node, slots, selected, onSelect, onMove, onFocus }: NodeProps) {
  const { id, kind, title, description, parallelism, x, y, width, height } = node;
  const classes = ['graph-node', `kind-${kind}`, slots.nodeClass?.(node) ?? ''];
  return (
    <button
      type="button"
      class={classes.join(' ')}
      data-node={id}
      title={`${description}\n${id}`}
      aria-pressed={onSelect === undefined ? undefined : selected}
      style={{ left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` }}
      onClick={() => onSelect?.(id)}
      onKeyDown={(event) => onMove(event, id)}
      onFocus={onFocus}
    >
      <span class="graph-node-title">
        {title}
        {parallelism > 1 && (
          <span class="graph-node-times" title={`${parallelism} subtasks`}>
            ×{parallelism}
          </span>
        )}
      </span>
      <span class="graph-node-text">{description}</span>
      {slots.footer !== undefined && <span class="graph-node-footer">{slots.footer(node)}</span>}
    </button>
  );
}

function Edges({ drawn, edgeClass, edgeText }: GraphSlots & { drawn: GraphLayout }) {
  return (
    <svg class="graph-edges" width={drawn.width} height={drawn.height} aria-hidden="true">
      {drawn.edges.map((edge, index) => (
        <g
          key={index}
          class={`graph-edge ${edge.shuffle ? 'shuffle' : 'forward'} ${edgeClass?.(edge) ?? ''}`}
        >
          <title>{`${edge.from} → ${edge.to}\n${edge.rows}`}</title>
          <path class="bank" d={edge.path} />
          <path class="flow" d={edge.path} />
          <EdgeText edge={edge} text={edgeText?.(edge) ?? edgeLabel(edge)} />
        </g>
      ))}
    </svg>
  );
}

const CHARACTER = 6.2;

function EdgeText({ edge: { middle }, text }: { edge: PlacedEdge; text: string }) {
  if (text === '') return null;
  const width = text.length * CHARACTER + 10;
  return (
    <>
      <rect x={middle.x - width / 2} y={middle.y - 9} width={width} height={18} rx={9} />
      <text x={middle.x} y={middle.y}>
        {text}
      </text>
    </>
  );
}

function ViewButtons({ view }: { view: ViewHandles }) {
  return (
    <div class="graph-buttons">
      <button
        type="button"
        aria-label="Zoom in"
        title="Zoom in (+)"
        onClick={() => view.zoom(1.25)}
      >
        <Icon name="add" />
      </button>
      <button
        type="button"
        aria-label="Zoom out"
        title="Zoom out (-)"
        onClick={() => view.zoom(0.8)}
      >
        <Icon name="minus" />
      </button>
      <button type="button" aria-label="Show all" title="Show all (0)" onClick={view.fit}>
        <Icon name="frame" />
      </button>
    </div>
  );
}
