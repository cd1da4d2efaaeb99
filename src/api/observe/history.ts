/**
 * A pipeline's history for charts, joined from the leaders of its last generations.
 *
 * A step in which one generation ended and the next began holds what both did. Only leaders that the window reaches are
 * asked, the newest first and at most five: what lies before is null.
 */
import { listFailures } from '../../catalog/jobs.ts';
import { type PipelineAndJob, TERMINAL_STATES } from '../../catalog/schema.ts';
import type { PhysicalGraph } from '../../graph/graph.ts';
import type { HistoryPoints } from '../../protocol/messages.ts';
import type { ApiServices } from '../services.ts';
import { graphOf, microsOf } from '../views.ts';
import type { History, HistoryMark, HistoryOperator } from './history-shapes.ts';

/** Leaders that one answer asks. */
const GENERATIONS_MAX = 5;
const FAILURES_MAX = 50;
const SECOND_MS = 1_000;
/** Points of an answer, at most about so many. */
const POINTS_MAX = 360;

/** Columns of an operator, in the order of a leader's points. */
const COLUMNS = [
  'rows_in',
  'rows_out',
  'bytes_in',
  'late',
  'errors',
  'state_bytes',
  'backpressure',
  'lag_micros',
] as const;
/** The first of them are rates: parts of one step add up. */
const RATES = 5;
const WHOLE: readonly string[] = ['state_bytes', 'lag_micros'];

type Cells = (number | null)[];

/** Seconds for five minutes; else multiples of ten seconds, as many as make about 360 points. */
export function stepFor(seconds: number): number {
  if (seconds <= 300) return SECOND_MS;
  return Math.max(1, Math.ceil(seconds / (POINTS_MAX * 10))) * 10 * SECOND_MS;
}

/**
 * The last `seconds` of what a pipeline did.
 *
 * Marks lie within the steps, so that who asks for one stretch after the other gets each once.
 *
 * @param afterMicros  only steps that begin after this time, for who has those before: `times.at(-1)` of the last answer
 */
export async function historyOf(
  services: ApiServices,
  found: PipelineAndJob,
  seconds: number,
  afterMicros: number | null = null,
): Promise<History> {
  const nowMs = services.nowMs();
  const stepMs = stepFor(seconds);
  const first = Math.floor((nowMs - seconds * 1000) / stepMs) + 1;
  const firstMs =
    Math.max(
      first,
      afterMicros === null ? -Infinity : Math.floor(afterMicros / 1000 / stepMs) + 1,
    ) * stepMs;
  const parts = await partsOf(services, found, { fromMs: firstMs, toMs: nowMs, stepMs });
  const atRest = TERMINAL_STATES.includes(found.job.state);
  // Generations end and begin together: without a beginning in the window there is no failure in it.
  const began = parts.length === 0 || parts.some((part) => part.startedMs >= firstMs);
  const failures =
    began || atRest ? await listFailures(services.database, found.job.id, FAILURES_MAX, null) : [];
  const known = parts.map((part) => part.firstMs + part.points * stepMs);
  const end = Math.max(firstMs, ...known);
  const count = Math.round((end - firstMs) / stepMs);
  const graph = graphOf(found.pipeline);
  const operators = graph.operators.map(({ id }) => joined(id, parts, firstMs, stepMs, count));
  return {
    step_micros: microsOf(stepMs),
    from: microsOf(firstMs),
    to: microsOf(end),
    times: Array.from({ length: count }, (_, at) => microsOf(firstMs + at * stepMs)),
    pipeline: ofPipeline(graph, operators, count),
    operators,
    marks: [
      ...parts.flatMap((part) => marksOf(part)),
      ...failures.map(({ atMs, generation, report }): HistoryMark => ({
        time: microsOf(atMs),
        kind: 'failure',
        text: `${report.code}: ${report.message}`,
        generation,
        epoch: null,
      })),
    ]
      .filter(({ time }) => time >= microsOf(firstMs) && (atRest || time < microsOf(end)))
      .toSorted((left, right) => left.time - right.time),
  };
}

/** Newest first, as far back as the window reaches. */
async function partsOf(
  services: ApiServices,
  { job }: PipelineAndJob,
  span: { fromMs: number; toMs: number; stepMs: number },
): Promise<HistoryPoints[]> {
  const parts: HistoryPoints[] = [];
  const oldest = Math.max(1, job.generation - GENERATIONS_MAX + 1);
  for (let generation = job.generation; generation >= oldest; generation--) {
    const part = await services.leaderHistory(job.pipelineId, generation, span);
    if (part === null || part.generation !== generation) continue;
    parts.push(part);
    if (part.startedMs <= span.fromMs) break;
  }
  return parts;
}

function marksOf(part: HistoryPoints): HistoryMark[] {
  const { generation, reason, startedMs, commits } = part;
  return [
    {
      time: microsOf(startedMs),
      kind: 'generation',
      text: `generation ${generation}: ${reason}`,
      generation,
      epoch: null,
    },
    ...commits.map(({ atMs, epoch }): HistoryMark => ({
      time: microsOf(atMs),
      kind: 'checkpoint',
      text: `epoch ${epoch} committed`,
      generation,
      epoch,
    })),
  ];
}

/** The columns of one operator over all parts; parts are newest first, and the newest value stands. */
function joined(
  id: string,
  parts: readonly HistoryPoints[],
  firstMs: number,
  stepMs: number,
  count: number,
): HistoryOperator {
  const columns = COLUMNS.map(() => Array.from<number | null>({ length: count }).fill(null));
  for (const part of parts) {
    const operator = part.operators.indexOf(id);
    if (operator < 0) continue;
    const shift = Math.round((part.firstMs - firstMs) / stepMs);
    for (const [column, cells] of columns.entries()) {
      const from = (operator * COLUMNS.length + column) * part.points;
      for (let point = Math.max(0, -shift); point < part.points; point++) {
        const value = part.values[from + point] as number;
        if (Number.isNaN(value)) continue;
        const before = cells[point + shift] ?? null;
        if (before === null) cells[point + shift] = shown(COLUMNS[column] as string, value);
        else if (column < RATES) cells[point + shift] = before + value;
      }
    }
  }
  const [rowsIn, rowsOut, bytesIn, late, errors, stateBytes, backpressure, lag] = columns as [
    Cells,
    Cells,
    Cells,
    Cells,
    Cells,
    Cells,
    Cells,
    Cells,
  ];
  return {
    operator_id: id,
    rows_in: rowsIn,
    rows_out: rowsOut,
    bytes_in: bytesIn,
    backpressure,
    state_bytes: stateBytes,
    late,
    errors,
    lag_micros: lag,
  };
}

/** As many digits as a point has. */
const shown = (column: string, value: number): number =>
  WHOLE.includes(column) ? Math.round(value) : Number(value.toPrecision(7));

function ofPipeline(
  graph: PhysicalGraph,
  operators: readonly HistoryOperator[],
  count: number,
): History['pipeline'] {
  const withTag = (tag: string): HistoryOperator[] =>
    operators.filter((_, index) => graph.operators[index]?.spec.tag === tag);
  const rowsIn = withTag('source').map((operator) => operator.rows_in);
  const rowsOut = withTag('sink').map((operator) => operator.rows_in);
  const lags = operators.map((operator) => operator.lag_micros);
  const each = (columns: Cells[], fold: (values: number[]) => number): Cells =>
    Array.from({ length: count }, (_, at) => {
      const values = columns.flatMap((column) => column[at] ?? []);
      return values.length === 0 ? null : fold(values);
    });
  const total = (values: number[]): number => values.reduce((sum, value) => sum + value, 0);
  return {
    rows_in: each(rowsIn, total),
    rows_out: each(rowsOut, total),
    lag_micros: each(lags, (values) => Math.max(...values)),
  };
}
