/** One chart over time, with a crosshair that all charts of the page share; values stand in its head, never in a pop-up. */
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { HistoryMark } from '../../../../api/observe/history-shapes.ts';
import { utc } from '../../../lib/format.ts';
import { theme, token } from '../../../lib/theme.ts';
import { type ChartData, latest } from './series.ts';

type Props = {
  data: ChartData;
  times: readonly number[];
  marks: readonly HistoryMark[];
  /** In microseconds since 1970. */
  from: number;
  to: number;
};

const HEIGHT = 150;

/** So that sizes have round ticks. */
const BINARY = Array.from({ length: 40 }, (_, power) => 2 ** power);

export function Chart({ data, times, marks, from, to }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shown = useRef({ data, times, marks, from, to });
  shown.current = { data, times, marks, from, to };
  const hovered = useSignal<number | null>(null);
  const look = theme.value;
  const lines = data.series.map(({ label }) => label).join();
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const made = new uPlot(
      optionsOf(element.clientWidth, shown, (index) => (hovered.value = index)),
      columnsOf(shown.current),
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [look, lines, hovered]);
  useEffect(() => {
    plot.current?.setData(columnsOf(shown.current), false);
    plot.current?.setScale('x', { min: from / 1e6, max: to / 1e6 });
  }, [data, times, from, to]);
  const at = useComputed(() => hovered.value).value;
  return (
    <figure class="chart">
      <figcaption>
        <strong>{data.title}</strong>
        {data.series.map(({ label, values, colour }) => (
          <span key={label} class="chart-value">
            <i style={{ background: `var(--${colour})` }} />
            {label} <b>{textOf(at === null ? latest(values) : (values[at] ?? null), data)}</b>
          </span>
        ))}
        <span class="chart-time">
          {at === null || times[at] === undefined ? 'now' : `${utc(times[at], 'time')} UTC`}
        </span>
      </figcaption>
      <div class="chart-frame" ref={frame} style={{ height: `${HEIGHT}px` }} aria-hidden="true" />
    </figure>
  );
}

const textOf = (value: number | null, { format }: ChartData): string =>
  value === null ? '–' : format(value);

type Shown = { current: Props };

const columnsOf = ({ data, times }: Props): uPlot.AlignedData =>
  [times.map((time) => time / 1e6), ...data.series.map(({ values }) => values)] as never;

function optionsOf(
  width: number,
  shown: Shown,
  hover: (index: number | null) => void,
): uPlot.Options {
  const { data } = shown.current;
  const line = token('line-soft');
  const font = `11px ${token('font-text')}`;
  const axis = {
    stroke: token('ink-faint'),
    font,
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height: HEIGHT,
    padding: [8, 18, 0, 0],
    legend: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    cursor: {
      sync: { key: 'pipeline', setSeries: false },
      drag: { x: false, y: false },
      points: { size: 7 },
      y: false,
    },
    scales: {
      x: { time: true },
      y: { range: (_, __, most) => [0, data.most ?? Math.max(data.least, most * 1.15)] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 26, values: (_, ticks) => ticks.map(timeText) },
      {
        ...axis,
        size: 64,
        ...(data.key === 'state' ? { incrs: BINARY } : {}),
        values: (_, ticks) => ticks.map((tick) => data.format(tick).replace(/\/s$/, '')),
      },
    ],
    series: [
      {},
      ...data.series.map(({ colour }) => ({
        stroke: token(colour),
        width: 1.75,
        points: { show: false },
        fill: `${token(colour)}1f`,
      })),
    ],
    hooks: {
      setCursor: [(plot) => hover(plot.cursor.idx ?? null)],
      draw: [(plot) => drawMarks(plot, shown.current.marks)],
    },
  };
}

const timeText = (seconds: number): string => {
  const text = utc(seconds * 1e6, 'time');
  return text.endsWith(':00') ? text.slice(0, 5) : text;
};

const MARK_COLOURS = { generation: 'thalweg', failure: 'bad', checkpoint: 'ink-faint' } as const;

const LABEL_ROOM = 44;

/** Generations and failures go through the whole chart, checkpoints are ticks at its foot. */
function drawMarks(plot: uPlot, marks: readonly HistoryMark[]): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  let labelled = -Infinity;
  for (const { kind, time, generation } of marks) {
    const x = Math.round(plot.valToPos(time / 1e6, 'x', true));
    const bottom = bbox.top + bbox.height;
    ctx.strokeStyle = token(MARK_COLOURS[kind]);
    ctx.lineWidth = scale;
    ctx.setLineDash(kind === 'checkpoint' ? [] : [4 * scale, 3 * scale]);
    ctx.beginPath();
    ctx.moveTo(x, kind === 'checkpoint' ? bottom - 6 * scale : bbox.top);
    ctx.lineTo(x, bottom);
    ctx.stroke();
    if (kind !== 'generation' || x - labelled < LABEL_ROOM * scale) continue;
    labelled = x;
    ctx.textAlign = 'left';
    ctx.fillStyle = token('thalweg');
    ctx.font = `${10 * scale}px ${token('font-text')}`;
    const text = `gen ${generation}`;
    const room = bbox.left + bbox.width - x;
    const width = ctx.measureText(text).width + 4 * scale;
    ctx.fillText(text, room > width ? x + 4 * scale : x - width, bbox.top + 10 * scale);
  }
  ctx.restore();
}
