/** What OVER and Top-N keep, and until when. */
import { formatInterval } from '../plan/interval.ts';
import type { OperatorSpec } from './graph.ts';

export function describeTopNState(spec: OperatorSpec & { tag: 'top-n' }): string {
  if (spec.retracting) return 'every row of the input, until it is taken back';
  const rows = spec.limit + spec.offset;
  const per = spec.partitionBy.length === 0 ? '' : ' per key';
  const equals = spec.ties ? ' and those equal to the last' : '';
  return `at most ${rows} row${rows === 1 ? '' : 's'}${per}${equals}, never freed`;
}

export function describeOverState(spec: OperatorSpec & { tag: 'over' }): string {
  if (spec.form === 'updating') return 'every row of the input, until it is taken back';
  const waiting = 'rows until the watermark passes their event time';
  if (spec.form === 'closed') return waiting;
  const behind = reachText(spec);
  const per = spec.partitionBy.length === 0 ? '' : ' per key';
  return behind.length === 0 ? waiting : `${waiting}; ${behind.join(' and ')}${per}`;
}

function reachText({ calls }: OperatorSpec & { tag: 'over' }): string[] {
  let rows = 0;
  let micros = 0;
  let counted = false;
  for (const { fn, count, frame } of calls) {
    const { unit, start, end } = frame;
    if (fn === 'row_number' || fn === 'rank' || fn === 'dense_rank') counted = true;
    else if (fn === 'lag') rows = Math.max(rows, count);
    else {
      for (const bound of [start, end]) {
        if (bound.tag !== 'preceding') continue;
        if (unit === 'rows') rows = Math.max(rows, Number(bound.offset));
        else micros = Math.max(micros, Number(bound.offset));
      }
      if (start.tag === 'unbounded_preceding') counted = true;
    }
  }
  return [
    ...(rows > 0 ? [`the last ${rows} row${rows === 1 ? '' : 's'}`] : []),
    ...(micros > 0 ? [`rows of the last ${formatInterval(micros)}`] : []),
    ...(counted ? ['one row, never freed,'] : []),
  ];
}
