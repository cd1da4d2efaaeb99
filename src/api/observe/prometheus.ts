/**
 * Everything that leaders tell, for Prometheus: `GET /metrics`.
 *
 * Bounded: the leaders of 200 pipelines are asked at most, 16 at a time, until the deadline; and the text has about
 * 100,000 samples at most. What is left out is counted. A pipeline whose leader was asked and did not answer is not up.
 */
import { listSummaries, type Summary } from '../../catalog/summaries.ts';
import { TERMINAL_STATES } from '../../catalog/schema.ts';
import type { LeaderStatus, OperatorMetrics } from '../../protocol/messages.ts';
import type { ApiServices } from '../services.ts';
import { type Labels, type MetricType, PrometheusText } from './prometheus-text.ts';
import { lowest } from './status.ts';

const PIPELINES_MAX = 5_000;
const ASKED_MAX = 200;
const AT_A_TIME = 16;
/** Prometheus gives a scrape ten seconds. */
const DEADLINE_MS = 7_000;
const SAMPLES_MAX = 100_000;

const FAMILIES: readonly (readonly [name: string, type: MetricType, help: string])[] = [
  ['thalweg_build_info', 'gauge', 'Always 1; the version of the code is a label.'],
  ['thalweg_pipelines', 'gauge', 'Pipelines by the state of their job.'],
  ['thalweg_pipeline_up', 'gauge', '1: the pipeline runs and its leader answers.'],
  ['thalweg_pipeline_generation', 'gauge', 'Generation of the job.'],
  ['thalweg_pipeline_epoch', 'gauge', 'Newest canonical checkpoint.'],
  ['thalweg_pipeline_committed_epoch', 'gauge', 'Newest epoch whose output is committed.'],
  ['thalweg_pipeline_restarts', 'gauge', 'Recoveries since the job was last healthy.'],
  ['thalweg_pipeline_lag_seconds', 'gauge', 'Now less the lowest watermark.'],
  [
    'thalweg_pipeline_last_commit_timestamp_seconds',
    'gauge',
    'When the newest checkpoint of this generation was committed.',
  ],
  [
    'thalweg_pipeline_checkpoint_duration_seconds',
    'gauge',
    'From the start to the commit of that checkpoint.',
  ],
  ['thalweg_pipeline_checkpoint_bytes', 'gauge', 'State files that it wrote.'],
  ['thalweg_operator_rows_in_total', 'counter', 'Rows received, of a source: read.'],
  ['thalweg_operator_rows_out_total', 'counter', 'Rows emitted.'],
  ['thalweg_operator_bytes_in_total', 'counter', 'Bytes received.'],
  ['thalweg_operator_bytes_out_total', 'counter', 'Bytes emitted.'],
  ['thalweg_operator_errors_total', 'counter', 'Rows that could not be decoded or computed.'],
  ['thalweg_operator_late_total', 'counter', 'Rows that came after their windows had closed.'],
  ['thalweg_operator_filtered_total', 'counter', 'Rows that were dropped on purpose.'],
  ['thalweg_operator_backpressure_ratio', 'gauge', 'Share of the input queue in use, 0 to 1.'],
  ['thalweg_operator_state_bytes', 'gauge', 'State held in memory.'],
  ['thalweg_operator_state_rows', 'gauge', 'Rows of state held in memory.'],
  ['thalweg_operator_watermark_timestamp_seconds', 'gauge', 'Event time reached; +Inf at the end.'],
  ['thalweg_operator_open_windows', 'gauge', 'Windows that hold rows and have not closed.'],
  ['thalweg_source_backlog_rows', 'gauge', 'Rows that are stored and not read yet.'],
  ['thalweg_source_last_row_timestamp_seconds', 'gauge', 'When the newest row was read.'],
  [
    'thalweg_scrape_pipelines_skipped',
    'gauge',
    'Running pipelines that this answer says nothing of, to stay in its bounds.',
  ],
];

export async function prometheusText(services: ApiServices): Promise<string> {
  const text = new PrometheusText();
  for (const [name, type, help] of FAMILIES) text.family(name, type, help);
  text.add('thalweg_build_info', { version: services.codeVersion }, 1);
  const { summaries } = await listSummaries(services.database, {
    text: null,
    states: [],
    sort: 'created',
    descending: true,
    limit: PIPELINES_MAX,
  });
  const states = new Map<string, number>();
  for (const { state } of summaries) states.set(state, (states.get(state) ?? 0) + 1);
  for (const [state, count] of states) text.add('thalweg_pipelines', { state }, count);
  const alive = summaries.filter(({ state }) => !TERMINAL_STATES.includes(state));
  const statuses = await ask(services, alive.slice(0, ASKED_MAX));
  let skipped = alive.length - statuses.size;
  for (const summary of alive) {
    const status = statuses.get(summary);
    if (status === undefined) continue;
    pipelineSamples(text, summary, status, services.nowMs());
    if (status === null) continue;
    if (text.samples < SAMPLES_MAX) operatorSamples(text, labelsOf(summary), status.metrics);
    else skipped++;
  }
  text.add('thalweg_scrape_pipelines_skipped', {}, skipped);
  return text.toString();
}

/** Null: did not answer; those that the deadline left no time for are missing. */
async function ask(
  services: ApiServices,
  pipelines: readonly Summary[],
): Promise<Map<Summary, LeaderStatus | null>> {
  const statuses = new Map<Summary, LeaderStatus | null>();
  const untilMs = services.nowMs() + DEADLINE_MS;
  const waiting = [...pipelines];
  const askNext = async (): Promise<void> => {
    for (;;) {
      const next = waiting.shift();
      if (next === undefined || services.nowMs() >= untilMs) return;
      const { id, generation } = next;
      const status = generation === 0 ? null : await services.leaderStatus(id, generation);
      statuses.set(next, status?.generation === generation ? status : null);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, askNext));
  return statuses;
}

const labelsOf = ({ id, name }: Summary): Labels => ({ pipeline: id, name });

function pipelineSamples(
  text: PrometheusText,
  summary: Summary,
  status: LeaderStatus | null,
  nowMs: number,
): void {
  const labels = labelsOf(summary);
  const up = summary.state === 'Running' && status?.phase === 'running';
  text.add('thalweg_pipeline_up', labels, up ? 1 : 0);
  text.add('thalweg_pipeline_generation', labels, summary.generation);
  text.add('thalweg_pipeline_epoch', labels, Math.max(summary.epoch, status?.epoch ?? 0));
  text.add(
    'thalweg_pipeline_committed_epoch',
    labels,
    Math.max(summary.committedEpoch, status?.committedEpoch ?? 0),
  );
  text.add('thalweg_pipeline_restarts', labels, summary.restarts);
  const watermark = lowest((status?.metrics ?? []).map((each) => each.watermark));
  const lag = typeof watermark === 'number' ? nowMs / 1000 - watermark / 1e6 : null;
  text.add('thalweg_pipeline_lag_seconds', labels, lag);
  const last = status?.recent.at(-1);
  if (last === undefined || last.committedMs === null) return;
  const { startedMs, committedMs, bytes } = last;
  text.add('thalweg_pipeline_last_commit_timestamp_seconds', labels, committedMs / 1000);
  text.add(
    'thalweg_pipeline_checkpoint_duration_seconds',
    labels,
    (committedMs - startedMs) / 1000,
  );
  text.add('thalweg_pipeline_checkpoint_bytes', labels, bytes);
}

const OPERATOR_VALUES: readonly (readonly [
  name: string,
  value: (metrics: OperatorMetrics) => number | null,
])[] = [
  ['thalweg_operator_rows_in_total', (each) => each.rowsIn],
  ['thalweg_operator_rows_out_total', (each) => each.rowsOut],
  ['thalweg_operator_bytes_in_total', (each) => each.bytesIn],
  ['thalweg_operator_bytes_out_total', (each) => each.bytesOut],
  ['thalweg_operator_errors_total', (each) => each.errors],
  ['thalweg_operator_late_total', (each) => each.late],
  ['thalweg_operator_filtered_total', (each) => each.filtered],
  ['thalweg_operator_backpressure_ratio', (each) => each.backpressure],
  ['thalweg_operator_state_bytes', (each) => each.stateBytes],
  ['thalweg_operator_state_rows', (each) => each.stateRows],
  ['thalweg_operator_watermark_timestamp_seconds', ({ watermark }) => watermarkSeconds(watermark)],
  ['thalweg_operator_open_windows', ({ windows }) => windows?.count ?? null],
];

const watermarkSeconds = (watermark: OperatorMetrics['watermark']): number | null =>
  typeof watermark === 'number' ? watermark / 1e6 : watermark === 'end' ? Infinity : null;

function operatorSamples(
  text: PrometheusText,
  labels: Labels,
  metrics: readonly OperatorMetrics[],
): void {
  for (const each of metrics) {
    const { operator, subtask } = each;
    for (const [name, value] of OPERATOR_VALUES)
      text.add(name, { ...labels, operator, subtask }, value(each));
    for (const { partition, backlogRows, lastRowMs } of each.partitions ?? []) {
      const where = { ...labels, operator, subtask, partition };
      text.add('thalweg_source_backlog_rows', where, backlogRows);
      text.add(
        'thalweg_source_last_row_timestamp_seconds',
        where,
        lastRowMs === null ? null : lastRowMs / 1000,
      );
    }
  }
}
