/**
 * The river: epochs from left to right on the bright line, as wide as what they read; what lost beside it, greyed.
 *
 * It follows the newest epoch until the reader moves away; dragging, the wheel and the buttons move, and the number of epochs
 * in sight is the zoom. Only nodes in sight are in the document. Arrow keys walk the nodes, Enter opens one.
 */
import { useMemo, useRef, useState } from 'preact/hooks';
import { count } from '../../../lib/format.ts';
import { Icon } from '../../../parts/icon.tsx';
import { Drawing } from './drawing.tsx';
import { nextNode, type RiverLayout, type RiverNode, type Step } from './layout.ts';
import { heightOf, type Scale } from './shape.ts';
import { useMove, useWidth } from './use-river.ts';

type Props = {
  layout: RiverLayout;
  selected: string | null;
  onOpen(node: RiverNode | null): void;
  onTable(): void;
};

const ZOOMS = [12, 25, 50, 100, 250, 1000] as const;
const MIDDLE = 138;
const LEAST_ROWS = 2;
/** Columns behind the newest epoch that are still in sight. */
const RIVERBED = 2;

export function Picture({ layout, selected, onOpen, onTable }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const [zoom, setZoom] = useState<number>(width < 600 ? 12 : 25);
  /** The column behind the last in sight; null follows the newest. */
  const [held, setHeld] = useState<number | null>(null);
  // A line that is shorter than what was asked for fills the picture.
  const known = layout.end - layout.first + RIVERBED;
  const columns = Math.max(Math.min(zoom, known), ZOOMS[0]);
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
