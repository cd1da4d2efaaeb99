/** Rules about operators: windows that are open, rows that come late, are dropped or meet nothing, queues that are full. */
import { type Facts, type Finding, type Fix, type SourceFacts, sourceRef } from './health-facts.ts';
import { allRows, counted, instant, instants, span, were } from './health-words.ts';
import type { StatusOperator } from './status-shapes.ts';

/** Below, rows are under way. */
const SILENT_MICROS = 5_000_000;
const FULL = 0.9;

export function operatorFindings(facts: Facts): Finding[] {
  return facts.operators.flatMap(({ status, planned: { spec } }) =>
    [
      spec.tag === 'source' ? null : allFailed(facts, status),
      allLate(facts, status),
      windowOpen(facts, status),
      noWatermark(facts, status),
      spec.tag === 'filter' ? allFiltered(status) : null,
      spec.tag === 'join' && (spec.kind === 'inner' || spec.kind === 'semi')
        ? withoutMatch(facts, status)
        : null,
      backpressure(facts, status),
    ].filter((finding) => finding !== null),
  );
}

/** Of a source `health-sources.ts` says it. */
function allFailed(facts: Facts, operator: StatusOperator): Finding | null {
  const { errors, rows_in: rowsIn, rows_out: rowsOut, operator_id: id, description } = operator;
  if (errors === 0 || errors < rowsIn || rowsOut > 0) return null;
  const first = facts.errors.find((error) => error.operator === id);
  const reason = first === undefined ? '' : ` The first: ${first.message} (${first.code}).`;
  return {
    level: 'warning',
    code: 'ALL_BAD',
    sentence: `${allRows(errors)} failed in ${description}.${reason}`,
    fix: {
      text: 'The rows that failed are listed with their errors; change the expression, or keep them out with WHERE.',
    },
  };
}

function allLate(facts: Facts, operator: StatusOperator): Finding | null {
  const { late, rows_in: rowsIn, rows_out: rowsOut, watermark } = operator;
  if (late === 0 || late < rowsIn || rowsOut > 0) return null;
  const [source] = facts.sourcesOf(operator.operator_id);
  const column =
    source === undefined || source.timeColumn === null ? null : written(source.timeColumn);
  return {
    level: 'warning',
    code: 'ALL_LATE',
    sentence: `${allRows(late)} came to ${operator.description} after ${late === 1 ? 'its window' : 'their windows'} had closed${typeof watermark === 'number' ? `: event time had reached ${instant(watermark)}` : ''}.`,
    fix: {
      text: 'Let the watermark of the table stand further behind its rows. The largest event time so far counts, also that of one wrong row.',
      ...(column === null
        ? {}
        : { sql: `WATERMARK FOR ${column} AS ${column} - interval '1 hour'` }),
    },
    source: source === undefined ? null : sourceRef(source),
    watermark,
  };
}

function windowOpen(facts: Facts, operator: StatusOperator): Finding | null {
  const { open_windows: windows, watermark, operator_id: id } = operator;
  if (windows === null || windows.count === 0 || watermark === 'end') return null;
  const sources = facts.sourcesOf(id).filter((source) => !source.ended);
  const silentMicros =
    sources.length === 0 ? 0 : Math.min(...sources.map((each) => each.silentMicros));
  const isSilent = silentMicros >= SILENT_MICROS;
  // Results have left and rows come: the next window is filling.
  if (!isSilent && operator.rows_out > 0) return null;
  const count = `${windows.count} open window${windows.count === 1 ? '' : 's'}`;
  const silence = isSilent ? `; no events for ${span(silentMicros)}` : '';
  const lastRows = sources.flatMap(({ lastRowAt }) => lastRowAt ?? []);
  return {
    level: 'waiting',
    code: 'WINDOW_OPEN',
    sentence: `${count}, waiting for ${waitedFor(windows.first_end, watermark)}${silence}`,
    fix: isSilent ? advanceFix(sources) : null,
    source: sources[0] === undefined ? null : sourceRef(sources[0]),
    watermark,
    window: { operator_id: id, count: windows.count, first_end: windows.first_end },
    since: isSilent && lastRows.length > 0 ? Math.max(...lastRows) : null,
  };
}

function waitedFor(end: number | null, watermark: number | null): string {
  const now = watermark ?? null;
  if (end === null) return `a later watermark${now === null ? '' : `, now ${instant(now)}`}`;
  const [endText, nowText] = instants(now === null ? [end] : [end, now]);
  return `watermark ${endText}${nowText === undefined ? ', none so far' : `, now ${nowText}`}`;
}

/** Only events move event time, unless the table says otherwise. */
function advanceFix(sources: readonly SourceFacts[]): Fix {
  const still = sources.find(
    ({ spec }) => spec.watermark !== null && spec.watermark.idleAdvanceMs === null,
  );
  if (still === undefined)
    return { text: 'Event time moves with events: send one whose time lies behind the window.' };
  return {
    text: `Event time moves with events: send a later one, or add this option to the table ${still.spec.table} and restart, so that time runs on with the clock when no events come.`,
    sql: "'watermark.idle_advance' = interval '30 seconds'",
  };
}

/** Rows are held, and nothing says how late it is. */
function noWatermark(facts: Facts, operator: StatusOperator): Finding | null {
  const { open_windows: windows, watermark, rows_in: rowsIn } = operator;
  if (windows === null || rowsIn === 0 || watermark !== null) return null;
  const quiet = facts
    .sourcesOf(operator.operator_id)
    .filter(({ operator: source }) => source.watermark === null);
  const [first] = quiet;
  const names = quiet.map(({ spec }) => spec.table).join(', ');
  return {
    level: 'waiting',
    code: 'NO_WATERMARK',
    sentence:
      first === undefined
        ? `${operator.description} has rows and has heard of no watermark yet.`
        : `${operator.description} has rows and no watermark: source ${names} has not given one yet.`,
    fix: {
      text: 'Every partition of every source has to give a row, or to be idle, before time begins.',
    },
    source: first === undefined ? null : sourceRef(first),
  };
}

function allFiltered(operator: StatusOperator): Finding | null {
  const { rows_in: rowsIn, rows_out: rowsOut, filtered, description } = operator;
  if (filtered === 0 || rowsOut > 0) return null;
  return {
    level: 'warning',
    code: 'ALL_FILTERED',
    sentence: `${allRows(rowsIn)} ${were(rowsIn)} dropped by the condition: ${description}.`,
    fix: {
      text: 'Loosen the condition, or look at the rows that come: a comparison with NULL is not true.',
    },
  };
}

function withoutMatch(facts: Facts, operator: StatusOperator): Finding | null {
  if (operator.rows_out > 0) return null;
  const inputs = facts.inputsOf(operator.operator_id);
  if (inputs.length < 2 || inputs.some((input) => input.rows_out === 0)) return null;
  const [left, right] = inputs.map((input) => counted(input.rows_out, 'row'));
  return {
    level: 'warning',
    code: 'JOIN_WITHOUT_MATCH',
    sentence: `${left} and ${right} have come to ${operator.description}, and none has met another.`,
    fix: {
      text: 'Compare the keys of both sides: type, case, blanks; and whether the bounds in time can hold.',
    },
    watermark: operator.watermark,
  };
}

function backpressure({ status }: Facts, operator: StatusOperator): Finding | null {
  if (operator.backpressure < FULL) return null;
  const { parallelism } = operator;
  return {
    level: 'warning',
    code: 'BACKPRESSURE',
    sentence: `${operator.description} holds everything before it back: the queue before it is ${Math.round(operator.backpressure * 100)} % full.`,
    fix: { text: `Raise the parallelism, which is ${parallelism}, or make it do less.` },
    since: status.running_since,
  };
}

/** A column's name as SQL has it. */
const written = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
