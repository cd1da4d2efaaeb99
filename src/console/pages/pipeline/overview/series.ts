/** What the charts show, as columns for them: of the whole pipeline, or of one operator. Pure. */
import type { History } from '../../../../api/observe/history-shapes.ts';
import { bytes, duration, rate } from '../../../lib/format.ts';

export type Cells = readonly (number | null)[];

export type Series = { label: string; values: Cells; colour: `series-${1 | 2 | 3 | 4 | 5 | 6}` };

export type ChartData = {
  key: string;
  title: string;
  series: readonly Series[];
  format(value: number): string;
  /** The axis reaches at least so far: a quiet line must not look like a storm. */
  least: number;
  most?: number;
};

export const percent = (value: number): string => `${Math.round(value * 100)}%`;

/** @param operator  null: the whole pipeline */
export function chartsOf(history: History, operator: string | null): ChartData[] {
  const own = history.operators.find(({ operator_id: id }) => id === operator);
  const flow = own ?? history.pipeline;
  const every = own === undefined ? history.operators : [own];
  const charts: ChartData[] = [
    {
      key: 'rows',
      title: 'Rows per second',
      series: [
        { label: 'in', values: flow.rows_in, colour: 'series-2' },
        { label: 'out', values: flow.rows_out, colour: 'series-1' },
      ],
      format: rate,
      least: 1,
    },
    {
      key: 'lag',
      title: 'Lag of the watermark',
      series: [{ label: 'behind', values: lagOf(flow.lag_micros), colour: 'series-3' }],
      format: duration,
      least: 1_000_000,
    },
    {
      key: 'backpressure',
      title: 'Backpressure',
      series: [
        {
          label: own === undefined ? 'fullest operator' : 'fullest subtask',
          values: mostOf(
            history.times.length,
            every.map((one) => one.backpressure),
          ),
          colour: 'series-4',
        },
      ],
      format: percent,
      least: 1,
      most: 1,
    },
    {
      key: 'state',
      title: 'State',
      series: [
        {
          label: 'bytes',
          values: sumOf(
            history.times.length,
            every.map((one) => one.state_bytes),
          ),
          colour: 'series-5',
        },
      ],
      format: bytes,
      least: 1024,
    },
  ];
  return [...charts, ...wrongOf(history.times.length, every)];
}

/** Late and wrong rows have a chart only where there are any. */
function wrongOf(length: number, every: History['operators']): ChartData[] {
  const late = sumOf(
    length,
    every.map((one) => one.late),
  );
  const errors = sumOf(
    length,
    every.map((one) => one.errors),
  );
  const any = (cells: Cells): boolean => cells.some((value) => value !== null && value > 0);
  if (!any(late) && !any(errors)) return [];
  return [
    {
      key: 'wrong',
      title: 'Late and refused rows',
      series: [
        { label: 'late', values: late, colour: 'series-3' },
        { label: 'refused', values: errors, colour: 'series-4' },
      ],
      format: rate,
      least: 1,
    },
  ];
}

const FAR_MICROS = 48 * 3_600 * 1_000_000;

/** Data of the past has no lag that means anything. */
const lagOf = (cells: Cells): Cells =>
  cells.map((value) => (value === null || value > FAR_MICROS ? null : Math.max(0, value)));

const mostOf = (length: number, columns: readonly Cells[]): Cells =>
  combine(length, columns, Math.max);

const sumOf = (length: number, columns: readonly Cells[]): Cells =>
  combine(length, columns, (left, right) => left + right);

/** Null only where nobody knows. */
function combine(
  length: number,
  columns: readonly Cells[],
  join: (left: number, right: number) => number,
): Cells {
  return Array.from({ length }, (_, index) => {
    let joined: number | null = null;
    for (const column of columns) {
      const value = column[index] ?? null;
      if (value !== null) joined = joined === null ? value : join(joined, value);
    }
    return joined;
  });
}

/** The newest value that is known. */
export const latest = (values: Cells): number | null =>
  values.findLast((value) => value !== null) ?? null;
