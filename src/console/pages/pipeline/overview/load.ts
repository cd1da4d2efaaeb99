/** How busy an operator is, as words and classes for the graph. Pure. */
import type { PipelineStatus, StatusOperator } from '../../../../api/observe/status-shapes.ts';
import { bytes, duration, short, utc } from '../../../lib/format.ts';

export type Busy = 'calm' | 'busy' | 'full';

/** Of how full its output is. */
export function busyOf(backpressure: number): Busy {
  if (backpressure >= 0.8) return 'full';
  return backpressure >= 0.4 ? 'busy' : 'calm';
}

export const BUSY_WORDS: Record<Busy, string> = {
  calm: 'flows',
  busy: 'held back at times',
  full: 'held back',
};

/** From 1, a trickle, to 5, as much as any edge. */
export function widthClass(rows: number, most: number): string {
  if (rows <= 0) return '';
  const part = Math.log10(1 + rows) / Math.max(1e-9, Math.log10(1 + most));
  return `w${Math.min(5, Math.max(1, Math.ceil(part * 5)))}`;
}

const FAR_MICROS = 48 * 3_600 * 1_000_000;

/** `wm 14:05:09 · 2 s behind`, and for data of other days the day. */
export function watermarkWords({
  watermark,
  lag_micros: lag,
}: Pick<StatusOperator, 'watermark' | 'lag_micros'>): string {
  if (watermark === null) return 'no watermark yet';
  if (watermark === 'end') return 'input has ended';
  if (lag === null) return `at ${utc(watermark, 'time')}`;
  if (lag > FAR_MICROS) return `at ${utc(watermark)}`;
  return lag < -1_000_000
    ? `at ${utc(watermark, 'time')}, ${duration(-lag)} ahead`
    : `at ${utc(watermark, 'time')}, ${duration(Math.max(0, lag))} behind`;
}

/** What is unusual enough to stand on a node. */
export function alertsOf({ errors, late }: StatusOperator): string[] {
  return [
    ...(late > 0 ? [`${short(late)} late`] : []),
    ...(errors > 0 ? [`${short(errors)} refused`] : []),
  ];
}

export const stateWords = ({ state_bytes: size }: StatusOperator): string =>
  size === 0 ? '' : bytes(size);

export const operatorOf = (status: PipelineStatus | null, id: string): StatusOperator | null =>
  status?.operators.find(({ operator_id }) => operator_id === id) ?? null;
