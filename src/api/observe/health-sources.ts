/** Rules about sources: no rows, bad rows, silence, and event time that stands still or has run away. */
import type { GraphOperator, JoinSpec, SourceSpec } from '../../graph/graph.ts';
import {
  type Facts,
  type Finding,
  type Fix,
  type RefusedRows,
  type SourceFacts,
  sourceRef,
} from './health-facts.ts';
import { allRows, counted, grouped, instant, span, were } from './health-words.ts';
import type { StatusOperator, StatusPartition } from './status-shapes.ts';

/** A source that gives nothing for so long is worth a word. */
const SILENT_MICROS = 30_000_000;
/** Partitions are taken for slow, not for silent, before. */
const HOLDS_MICROS = 5_000_000;
/** No clock is wrong by so much. */
const FUTURE_MICROS = 3_600_000_000;
/** Connectors whose rows come by themselves. */
const GENERATING: readonly string[] = ['impulse', 'nexmark', 'example', 'values'];
/** Stored rows that are seconds of work, and not few. */
const BEHIND_ROWS = 10_000;
const BEHIND_SECONDS = 10;

export function sourceFindings(facts: Facts): Finding[] {
  const alone = facts.sources.flatMap((source) =>
    [
      noRowsYet(facts, source),
      allBad(facts, source),
      inFuture(facts, source),
      behind(facts, source),
      partitionHolds(facts, source),
      sourceHolds(facts, source),
      silent(source),
    ].filter((finding) => finding !== null),
  );
  return [...alone, ...sourcesHold(facts)];
}

/** Rows came, and none of them into the log. */
function allRefused({ count, atMs, code, message }: RefusedRows, source: SourceFacts): Finding {
  return {
    level: 'warning',
    code: 'ALL_BAD',
    sentence: `${allRows(count)} posted to source ${source.spec.table} ${were(count)} refused. The last: ${message} (${code}).`,
    fix: COMPARE,
    source: sourceRef(source),
    since: Math.round(atMs * 1000),
  };
}

/** Where rows of the table come from, as far as a user can do something about it. */
function noRowsYet({ status, refused }: Facts, source: SourceFacts): Finding | null {
  const { operator, spec } = source;
  if (operator.rows_in > 0 || operator.errors > 0 || source.ended) return null;
  const { table } = spec;
  const rows = refused.get(operator.operator_id);
  if (rows !== undefined) return allRefused(rows, source);
  const path = `/api/v1/pipelines/${status.pipeline_id}/tables/${encodeURIComponent(table)}/rows`;
  return {
    level: 'waiting',
    code: 'NO_ROWS_YET',
    sentence: `Source ${table} has never had a row.`,
    fix: rowsFix(spec.connector.connector, path),
    source: sourceRef(source),
    since: status.running_since,
  };
}

function rowsFix(connector: string, path: string): Fix {
  if (connector === 'http') return { text: `Post rows to ${path}` };
  return GENERATING.includes(connector)
    ? null
    : { text: `Look at what the connector ${connector} reads.` };
}

const COMPARE: Fix = { text: 'Compare the rows with the columns that the table declares.' };

function allBad({ errors }: Facts, source: SourceFacts): Finding | null {
  const { operator, spec } = source;
  if (operator.rows_out > 0 || operator.errors === 0) return null;
  const first = errors.find((error) => error.operator === operator.operator_id);
  const reason = first === undefined ? '' : ` The first: ${first.message} (${first.code}).`;
  return {
    level: 'warning',
    code: 'ALL_BAD',
    sentence: `${allRows(operator.errors)} of source ${spec.table} ${were(operator.errors)} refused.${reason}`,
    fix: COMPARE,
    source: sourceRef(source),
  };
}

function inFuture(facts: Facts, source: SourceFacts): Finding | null {
  const { status } = facts;
  const ahead = source.partitions.flatMap(({ partition, watermark }) =>
    typeof watermark === 'number' && watermark > status.at + FUTURE_MICROS
      ? [{ partition, watermark }]
      : [],
  );
  const [first] = ahead;
  // Data may be ahead of the clock and in order: then it flows.
  if (first === undefined || status.totals.late === 0 || status.rates.rows_out > 0) return null;
  return {
    level: 'warning',
    code: 'WATERMARK_IN_FUTURE',
    sentence: `The watermark of source ${source.spec.table} stands at ${instant(first.watermark)}, ${span(first.watermark - status.at)} ahead of the clock: an event from the future has closed every window before it, and ${counted(status.totals.late, 'row')} came late.`,
    fix: {
      text: 'The watermark never goes back. Keep such events out, for instance with a generated column that bounds the time, and restart without state.',
      action: 'restart_without_state',
    },
    source: sourceRef(source, first.partition),
    watermark: first.watermark,
  };
}

function behind({ status }: Facts, source: SourceFacts): Finding | null {
  const backlog = source.partitions.reduce((sum, each) => sum + (each.backlog_rows ?? 0), 0);
  const rate = source.operator.rows_in_per_second;
  if (backlog < BEHIND_ROWS || backlog < rate * BEHIND_SECONDS) return null;
  const work = rate > 0 ? `, ${span((backlog / rate) * 1e6)} of work at the present rate` : '';
  return {
    level: 'warning',
    code: 'BEHIND',
    sentence: `${grouped(backlog)} stored rows of source ${source.spec.table} are not read yet${work}.`,
    fix: {
      text: `Raise the parallelism, with as many partitions of the table${source.partitions.length > 1 ? '' : " ('partitions' = …)"}.`,
    },
    source: sourceRef(source),
    since: status.running_since,
  };
}

/** Its rows leave when two have met, whatever the time: if none does, no watermark is to blame. */
const givesPairsAtOnce = ({ kind, time }: JoinSpec): boolean =>
  (kind === 'inner' || kind === 'semi') &&
  (time.tag === 'any' || time.tag === 'interval' || time.tag === 'window');

/** Whether the operator holds rows until event time has moved on. */
function waitsForTime(status: StatusOperator, { spec }: GraphOperator): boolean {
  if (status.open_windows !== null) return status.open_windows.count > 0;
  const holds = spec.tag === 'match' || (spec.tag === 'join' && !givesPairsAtOnce(spec));
  return holds && status.state_rows > 0 && status.rows_out === 0;
}

const waits = (facts: Facts, source: SourceFacts): boolean =>
  facts.operators.some(
    ({ status, planned }) =>
      waitsForTime(status, planned) && facts.sourcesOf(status.operator_id).includes(source),
  );

/** Whether something that waits for the source would be over at this time: if not, whoever is behind is not what it waits for. */
function endsBy(facts: Facts, source: SourceFacts, time: number): boolean {
  return facts.operators.some(({ status, planned }) => {
    if (!waitsForTime(status, planned)) return false;
    if (!facts.sourcesOf(status.operator_id).includes(source)) return false;
    // Of joins and patterns nobody tells what they wait for.
    const end = status.open_windows?.first_end ?? null;
    return end === null || end <= time;
  });
}

function partitionHolds(facts: Facts, source: SourceFacts): Finding | null {
  const { status } = facts;
  const open = source.partitions.filter((each) => !each.idle && !each.ended);
  if (open.length < 2 || !waits(facts, source)) return null;
  const standing = (each: StatusPartition): number =>
    typeof each.watermark === 'number' ? each.watermark : -Infinity;
  const [slowest] = open.toSorted((left, right) => standing(left) - standing(right));
  const foremost = Math.max(...open.map(standing));
  if (slowest === undefined || standing(slowest) >= foremost) return null;
  const silenceOf = (each: StatusPartition): number =>
    status.at - (each.last_row_at ?? status.running_since ?? status.at);
  const silentMicros = silenceOf(slowest);
  if (silentMicros < HOLDS_MICROS) return null;
  const goOn = open.some((each) => standing(each) === foremost && silenceOf(each) < HOLDS_MICROS);
  if (slowest.watermark !== null && !goOn && !endsBy(facts, source, foremost)) return null;
  const where = `partition ${slowest.partition} of source ${source.spec.table}`;
  const never = slowest.watermark === null;
  return {
    level: 'waiting',
    code: 'PARTITION_HOLDS_WATERMARK',
    sentence: never
      ? `Event time waits for ${where}, which has never had a row; the others have reached ${instant(foremost)}.`
      : `Event time waits for ${where}, which stands at ${instant(standing(slowest))} and has had no rows for ${span(silentMicros)}; the others have reached ${instant(foremost)}.`,
    fix: idleFix(source.spec),
    source: sourceRef(source, slowest.partition),
    watermark: slowest.watermark,
    since: slowest.last_row_at,
  };
}

/** The same of whole sources that meet further down: where event time stands is up to the slowest. */
function sourceHolds(facts: Facts, source: SourceFacts): Finding | null {
  const { operator, spec, silentMicros } = source;
  const { watermark } = operator;
  if (typeof watermark !== 'number' || silentMicros < HOLDS_MICROS || isIdle(source)) return null;
  const foremost = Math.max(
    ...facts.operators
      .filter(({ status, planned }) => waitsForTime(status, planned))
      .map(({ status }) => facts.sourcesOf(status.operator_id))
      .filter((sources) => sources.includes(source))
      .flat()
      .map(({ operator: other }) => other.watermark)
      .filter((each) => typeof each === 'number'),
  );
  if (foremost <= watermark) return null;
  const goOn = facts.sources.some(
    (other) => other.operator.watermark === foremost && other.silentMicros < HOLDS_MICROS,
  );
  if (!goOn && !endsBy(facts, source, foremost)) return null;
  // Where all are silent nobody can tell whose next row is waited for.
  if (silentGroups(facts).some((group) => group.includes(source))) return null;
  return {
    level: 'waiting',
    code: 'PARTITION_HOLDS_WATERMARK',
    sentence: `Event time waits for source ${spec.table}, which stands at ${instant(watermark)} and has had no rows for ${span(silentMicros)}; another source has reached ${instant(foremost)}.`,
    fix: idleFix(spec),
    source: sourceRef(source),
    watermark,
    since: source.lastRowAt,
  };
}

/** Sources that meet in something that waits for time, does not tell until when, and hears from none of them. */
function silentGroups(facts: Facts): SourceFacts[][] {
  const groups = facts.operators
    .filter(({ status, planned }) => waitsForTime(status, planned) && status.open_windows === null)
    .map(({ status }) => facts.sourcesOf(status.operator_id).filter((source) => !source.ended))
    .filter((sources) => sources.length > 1 && sources.every(isStill));
  const keyOf = (sources: SourceFacts[]): string =>
    sources.map(({ operator }) => operator.operator_id).join(' ');
  return [...new Map(groups.map((group) => [keyOf(group), group])).values()];
}

const isStill = (source: SourceFacts): boolean =>
  typeof source.operator.watermark === 'number' &&
  source.silentMicros >= HOLDS_MICROS &&
  !isIdle(source);

/** All of them are named: event time goes on when every one does. */
function sourcesHold(facts: Facts): Finding[] {
  return silentGroups(facts).map((group) => {
    const standing = ({ operator }: SourceFacts): number => Number(operator.watermark);
    const ordered = group.toSorted((left, right) => standing(left) - standing(right));
    const each = ordered.map(
      (source) =>
        `${source.spec.table} stands at ${instant(standing(source))} and has had no rows for ${span(source.silentMicros)}`,
    );
    const [slowest] = ordered;
    const lastRows = group.flatMap(({ lastRowAt }) => lastRowAt ?? []);
    return {
      level: 'waiting',
      code: 'PARTITION_HOLDS_WATERMARK',
      sentence: `Event time waits for ${group.length === 2 ? 'both sources' : `all ${group.length} sources`}: ${each.join('; ')}.`,
      fix: allAdvanceFix(ordered),
      source: slowest === undefined ? null : sourceRef(slowest),
      watermark: slowest?.operator.watermark ?? null,
      since: lastRows.length === 0 ? null : Math.max(...lastRows),
    };
  });
}

function allAdvanceFix(sources: readonly SourceFacts[]): Fix {
  const still = sources.filter(
    ({ spec }) => spec.watermark !== null && spec.watermark.idleAdvanceMs === null,
  );
  if (still.length === 0) return { text: 'Event time moves with events: send later ones to each.' };
  const names = still.map(({ spec }) => spec.table).join(', ');
  return {
    text: `Event time moves with events: send later ones to each, or add this option to ${still.length === 1 ? 'the table' : 'the tables'} ${names} and restart, so that time runs on with the clock when no events come.`,
    sql: "'watermark.idle_advance' = interval '30 seconds'",
  };
}

const isIdle = ({ partitions }: SourceFacts): boolean =>
  partitions.length > 0 && partitions.every((each) => each.idle || each.ended);

function idleFix(spec: SourceSpec): Fix {
  if (spec.watermark === null || spec.watermark.idleMs !== null) return null;
  return {
    text: 'Let partitions without rows step aside: add this option to the table, and restart.',
    sql: "idle_time = interval '30 seconds'",
  };
}

function silent(source: SourceFacts): Finding | null {
  const { operator, spec, silentMicros, lastRowAt } = source;
  if (operator.rows_in === 0 || source.ended || silentMicros < SILENT_MICROS) return null;
  return {
    level: 'waiting',
    code: 'SOURCE_SILENT',
    sentence: `No rows have come into source ${spec.table} for ${span(silentMicros)}.`,
    source: sourceRef(source),
    watermark: operator.watermark,
    since: lastRowAt,
  };
}
