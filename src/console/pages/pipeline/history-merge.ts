/** A pipeline's history on this page: what was loaded first, and what came since, in columns of one length. Pure. */
import type { History, HistoryOperator } from '../../../api/observe/history-shapes.ts';

type Cells = (number | null)[];

const SERIES = [
  'rows_in',
  'rows_out',
  'bytes_in',
  'backpressure',
  'state_bytes',
  'late',
  'errors',
  'lag_micros',
] as const;

/** `next` behind `known`, without steps that begin before `next.to - spanMicros`. A step that comes again is replaced. */
export function mergeHistory(known: History | null, next: History, spanMicros: number): History {
  if (known === null || next.append !== true || known.step_micros !== next.step_micros) return next;
  const from = next.to - spanMicros;
  const firstNew = next.times[0] ?? Infinity;
  const start = known.times.findIndex((time) => time >= from);
  const end = known.times.findIndex((time) => time >= firstNew);
  const first = start === -1 ? known.times.length : start;
  const last = end === -1 ? known.times.length : end;
  const join = (old: Cells, added: Cells): Cells => [...old.slice(first, last), ...added];
  return {
    step_micros: next.step_micros,
    from,
    to: next.to,
    times: [...known.times.slice(first, last), ...next.times],
    pipeline: {
      rows_in: join(known.pipeline.rows_in, next.pipeline.rows_in),
      rows_out: join(known.pipeline.rows_out, next.pipeline.rows_out),
      lag_micros: join(known.pipeline.lag_micros, next.pipeline.lag_micros),
    },
    operators: operatorsOf(known, next).map((id) => mergeOperator(id, known, next, join)),
    marks: mergeMarks(known, next, from),
  };
}

function operatorsOf(known: History, next: History): string[] {
  const ids = [...known.operators, ...next.operators].map(({ operator_id }) => operator_id);
  return [...new Set(ids)];
}

function mergeOperator(
  id: string,
  known: History,
  next: History,
  join: (old: Cells, added: Cells) => Cells,
): HistoryOperator {
  const cells = (history: History, name: (typeof SERIES)[number]): Cells =>
    history.operators.find(({ operator_id }) => operator_id === id)?.[name] ??
    history.times.map(() => null);
  const merged = { operator_id: id } as HistoryOperator;
  for (const name of SERIES) merged[name] = join(cells(known, name), cells(next, name));
  return merged;
}

function mergeMarks(known: History, next: History, from: number): History['marks'] {
  const marks = new Map(
    [...known.marks, ...next.marks].map((mark) => [
      `${mark.kind}/${mark.generation}/${mark.epoch}/${mark.time}`,
      mark,
    ]),
  );
  return [...marks.values()]
    .filter(({ time }) => time >= from)
    .sort((left, right) => left.time - right.time);
}
