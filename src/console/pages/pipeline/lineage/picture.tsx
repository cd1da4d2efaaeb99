/**
 * The river: epochs from left to right on the bright line, as wide as what they read; what lost beside it, greyed.
 *
 * It follows the newest epoch until the reader moves away; dragging, the wheel and the buttons move, and the number of epochs
 * in sight is the zoom. Only nodes in sight are in the document. Arrow keys walk the nodes, Enter opens one.
 */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Icon } from '../../../parts/icon.tsx';
import { count } from '../../../lib/format.ts';
import {
  inSight,
  nextNode,
  type RiverBand,
  type RiverLayout,
  type RiverNode,
  type Step,
} from './layout.ts';
import { Sign } from './legend.tsx';
import type { River } from './river.ts';
import {
  branchPath,
  heightOf,
  linePath,
  type Scale,
  waterPath,
  widthsOf,
  xOf,
  yOf,
} from './shape.ts';
import { bandNote, bandShort, bandTitle, nodeWords, signOf } from './words.ts';

type Props = {
  layout: RiverLayout;
  river: River;
  selected: string | null;
  onOpen(node: RiverNode | null): void;
  onTable(): void;
};

const ZOOMS = [12, 25, 50, 100, 250, 1000] as const;
const MIDDLE = 138;
const LEAST_ROWS = 2;
/** Columns behind the newest epoch that are still in sight. */
const RIVERBED = 2;

export function Picture({ layout, river, selected, onOpen, onTable }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const [zoom, setZoom] = useState<number>(width < 600 ? 12 : 25);
  /** The column behind the last in sight; null follows the newest. */
  const [held, setHeld] = useState<number | null>(null);
  const columns = Math.max(zoom, 1);
  const newest = Math.max(layout.end + RIVERBED, layout.first + columns);
  const end = Math.min(newest, Math.max(layout.first + columns, held ?? newest));
  const scale = useMemo<Scale>(() => ({ step: width / columns, middle: MIDDLE }), [width, columns]);
  const height = heightOf(Math.max(LEAST_ROWS, layout.rows), scale);
  const hold = (column: number): void =>
    setHeld(column >= newest ? null : Math.max(layout.first + columns, column));
  useMove(frame, scale.step, end, hold);
  const onKey = (event: KeyboardEvent): void => {
    if (!isStep(event.key)) return;
    event.preventDefault();
    const current = (document.activeElement as HTMLElement | null)?.dataset['node'] ?? selected;
    const node = nextNode(layout, current, event.key);
    if (node === null) return;
    if (node.column < end - columns + 1) hold(node.column + columns - 1);
    if (node.column >= end - 1) hold(node.column + 2);
    focusNode(frame, node.id);
  };
  return (
    <>
      <Bar
        layout={layout}
        zoom={zoom}
        following={held === null}
        onZoom={setZoom}
        onOlder={() => hold(end - Math.ceil(columns / 2))}
        onNewer={() => hold(end + Math.ceil(columns / 2))}
        onFollow={() => setHeld(null)}
        onTable={onTable}
      />
      <div
        class="river"
        ref={frame}
        role="group"
        aria-label={`The line of epochs, ${count(layout.line.length)} known. Arrow keys walk it.`}
        style={{ height: `${height}px` }}
        onKeyDown={onKey}
      >
        {width > 0 && (
          <Drawing
            layout={layout}
            river={river}
            scale={scale}
            height={height}
            from={end - columns}
            columns={columns}
            selected={selected}
            onOpen={onOpen}
          />
        )}
      </div>
    </>
  );
}

const isStep = (key: string): key is Step =>
  key.startsWith('Arrow') || key === 'Home' || key === 'End';

/** The node may come into the document only with the next drawing. */
function focusNode(frame: { current: HTMLElement | null }, id: string): void {
  requestAnimationFrame(() => {
    frame.current?.querySelector<HTMLElement>(`[data-node="${id}"]`)?.focus();
  });
}

const countOf = (number: number, what: string): string =>
  `${count(number)} ${what}${number === 1 ? '' : 's'}`;

type BarProps = {
  layout: RiverLayout;
  zoom: number;
  following: boolean;
  onZoom(zoom: number): void;
  onOlder(): void;
  onNewer(): void;
  onFollow(): void;
  onTable(): void;
};

function Bar({ layout, zoom, following, onZoom, onOlder, onNewer, onFollow, onTable }: BarProps) {
  return (
    <div class="panel-head">
      <h2>Lineage</h2>
      <span class="river-count">
        {countOf(layout.line.length, 'epoch')}, {countOf(layout.bands.length, 'leader')}
      </span>
      <div class="actions">
        <button type="button" class="button small" aria-label="Older epochs" onClick={onOlder}>
          <Icon name="left" />
        </button>
        <button type="button" class="button small" aria-label="Newer epochs" onClick={onNewer}>
          <Icon name="right" />
        </button>
        <button
          type="button"
          class={`button small ${following ? 'on' : ''}`}
          aria-pressed={following}
          onClick={onFollow}
        >
          Newest
        </button>
        <label class="river-zoom">
          <span class="hidden-text">Epochs in sight</span>
          <select
            class="input small"
            value={zoom}
            onChange={(event) => onZoom(Number(event.currentTarget.value))}
          >
            {ZOOMS.map((number) => (
              <option key={number} value={number}>
                Last {count(number)}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="button small" onClick={onTable}>
          As a table
        </button>
      </div>
    </div>
  );
}

type DrawingProps = {
  layout: RiverLayout;
  river: River;
  scale: Scale;
  height: number;
  from: number;
  columns: number;
  selected: string | null;
  onOpen(node: RiverNode | null): void;
};

function Drawing(props: DrawingProps) {
  const { layout, scale, height, from, columns, selected, onOpen } = props;
  const first = Math.max(layout.first, Math.floor(from) - 2);
  const last = Math.ceil(from + columns) + 2;
  const nodes = inSight(layout.nodes, first, last);
  const focusable =
    nodes.find(({ id }) => id === selected) ?? nodes.findLast(({ row }) => row === 0) ?? null;
  return (
    <svg class="river-drawing" width="100%" height={height} role="presentation">
      <g class="river-slide" style={{ transform: `translateX(${-from * scale.step}px)` }}>
        {layout.bands
          .filter((band) => band.to > first && band.from < last)
          .map((band) => (
            <Band
              key={band.key}
              band={band}
              scale={scale}
              height={height}
              from={from}
              until={band === layout.bands.at(-1) ? from + columns : band.to}
            />
          ))}
        <Water layout={layout} scale={scale} first={first} last={last} />
        {layout.branches
          .filter(({ to }) => to.column >= first && to.column < last)
          .map(({ to, fromColumn }) => (
            <path
              key={to.id}
              class="river-branch"
              d={branchPath(fromColumn, to.column, to.row, scale)}
            />
          ))}
        {nodes.map((node) => (
          <Node
            key={node.id}
            node={node}
            scale={scale}
            selected={node.id === selected}
            focusable={node === focusable}
            onOpen={onOpen}
          />
        ))}
      </g>
    </svg>
  );
}

type BandProps = {
  band: RiverBand;
  scale: Scale;
  height: number;
  /** The first column in sight. */
  from: number;
  /** The column to which its title may reach. */
  until: number;
};

function Band({ band, scale, height, from, until }: BandProps) {
  const width = (band.to - band.from) * scale.step;
  // The title stays in sight while its band is.
  const shift = Math.max(0, Math.min((from - band.from) * scale.step, width - SHORT_ROOM));
  const room = Math.max(width, (until - band.from) * scale.step) - shift - 4;
  return (
    <g
      class={`river-band ${band.state}`}
      style={{ transform: `translateX(${band.from * scale.step}px)` }}
    >
      <rect width={width} height={height} />
      <path d={`M0.5,0V${height}`} />
      {room > SHORT_ROOM && (
        <foreignObject x={shift} y={0} width={room} height={54}>
          <div class="river-band-title" title={`${bandTitle(band)}: ${bandNote(band)}`}>
            <strong>{room > FULL_ROOM ? bandTitle(band) : bandShort(band)}</strong>
            <span>{bandNote(band)}</span>
          </div>
        </foreignObject>
      )}
    </g>
  );
}

const SHORT_ROOM = 44;
const FULL_ROOM = 120;

function Water({
  layout,
  scale,
  first,
  last,
}: {
  layout: RiverLayout;
  scale: Scale;
  first: number;
  last: number;
}) {
  const widths = useMemo(() => widthsOf(layout), [layout]);
  const line = inSight(layout.line, first, last);
  const from = line[0]?.column ?? first;
  const to = line.at(-1)?.column ?? first;
  if (line.length === 0) return null;
  const isTip = to === layout.line.at(-1)?.column;
  const kept = line.find(({ canonical }) => canonical?.detail !== null)?.column ?? to;
  return (
    <g class="river-water">
      {[1.9, 1.4, 1].map((depth) => (
        <path
          key={depth}
          class={`water depth-${depth * 10}`}
          d={waterPath(from, to, widths, scale, depth)}
        />
      ))}
      {kept > from && <path class="thalweg remembered" d={linePath(from, kept, scale)} />}
      <path class="thalweg" d={linePath(kept, to, scale)} />
      {isTip && <path class="riverbed" d={linePath(to, Math.max(to + 1, last), scale)} />}
    </g>
  );
}

type NodeProps = {
  node: RiverNode;
  scale: Scale;
  selected: boolean;
  focusable: boolean;
  onOpen(node: RiverNode): void;
};

const LABEL_ROOM = 34;

function Node({ node, scale, selected, focusable, onOpen }: NodeProps) {
  const size = Math.max(1.5, Math.min(8, scale.step * 0.3));
  const every = Math.max(1, Math.ceil(LABEL_ROOM / scale.step));
  const labelled = node.row === 0 && (node.epoch % every === 0 || selected);
  const words = nodeWords(node);
  return (
    <g
      class={`river-node ${node.kind} ${selected ? 'selected' : ''} ${node.canonical?.known ?? ''}`}
      data-node={node.id}
      role="button"
      // In SVG the name of the attribute must be written small.
      tabindex={focusable ? 0 : -1}
      aria-label={words}
      aria-pressed={selected}
      style={{
        transform: `translate(${xOf(node.column, scale)}px, ${yOf(node.column, node.row, scale)}px)`,
      }}
      onClick={() => onOpen(node)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        onOpen(node);
      }}
    >
      <title>{words}</title>
      <circle class="river-hit" r={Math.max(size + 4, Math.min(16, scale.step / 2))} />
      {selected && <circle class="river-ring" r={size + 5} />}
      <Sign name={signOf(node)} size={size} />
      {labelled && (
        <text class="river-epoch" y={38}>
          {node.epoch}
        </text>
      )}
      {node.row > 0 && scale.step > 20 && (
        <text class="river-beside" x={size + 6} y={3.5}>
          {besideText(node)}
        </text>
      )}
    </g>
  );
}

function besideText({ kind, count: folded, generation }: RiverNode): string {
  if (kind === 'folded') return `+${folded}`;
  return kind === 'cut' ? 'cut off' : `gen ${generation}`;
}

function useWidth(frame: { current: HTMLDivElement | null }): number {
  const [width, setWidth] = useState(() => Math.max(0, Math.min(innerWidth, 1160) - 40));
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame]);
  return width;
}

/** Drags and turns of the wheel move along the line. */
function useMove(
  frame: { current: HTMLDivElement | null },
  step: number,
  end: number,
  hold: (column: number) => void,
): void {
  const latest = useRef({ step, end, hold });
  latest.current = { step, end, hold };
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const by = (pixels: number): void => {
      const { step: width, end: column, hold: move } = latest.current;
      move(column + pixels / Math.max(1, width));
    };
    const wheel = (event: WheelEvent): void => {
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (Math.abs(sideways) < 1) return;
      event.preventDefault();
      by(sideways);
    };
    const down = (event: PointerEvent): void => {
      if (event.button !== 0) return;
      let x = event.clientX;
      const move = (next: PointerEvent): void => {
        if (next.buttons === 0) return stop();
        if (Math.abs(next.clientX - x) < 3) return;
        by(x - next.clientX);
        x = next.clientX;
      };
      const stop = (): void => {
        window.removeEventListener('pointermove', move);
        window.removeEventListener('pointerup', stop);
      };
      window.addEventListener('pointermove', move);
      window.addEventListener('pointerup', stop);
    };
    element.addEventListener('wheel', wheel, { passive: false });
    element.addEventListener('pointerdown', down);
    return () => {
      element.removeEventListener('wheel', wheel);
      element.removeEventListener('pointerdown', down);
    };
  }, [frame]);
}
