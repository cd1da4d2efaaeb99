/** What is drawn of the lineage: bands of generations, the water with its line, and the nodes in sight. */
import { useMemo } from 'preact/hooks';
import { inSight, type RiverBand, type RiverLayout, type RiverNode } from './layout.ts';
import { Sign } from './legend.tsx';
import { branchPath, linePath, type Scale, waterPath, widthsOf, xOf, yOf } from './shape.ts';
import { bandNote, bandShort, bandTitle, nodeWords, signOf } from './words.ts';

type DrawingProps = {
  layout: RiverLayout;
  scale: Scale;
  height: number;
  from: number;
  columns: number;
  selected: string | null;
  onOpen(node: RiverNode | null): void;
};

export function Drawing(props: DrawingProps) {
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

const SHORT_ROOM = 30;
const FULL_ROOM = 112;

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
      {isTip && <path class="river-bed" d={linePath(to, Math.max(to + 1, last), scale)} />}
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
