/**
 * One stream of a pipeline's changes, for all topics of a page.
 *
 * Once a second the catalogue and the leader are asked, and what differs from what the reader has is sent; rows of preview
 * sinks come as they are computed, at most five events a second for each subtask. Every event's id is a cursor over all
 * topics, so a reader that comes back with it goes on where it was: no row twice, none lost that a host still has, nothing
 * resent that did not change.
 *
 * A slow reader holds nothing up and costs no memory: while it is behind, topics wait (and are then sent as they are at
 * that time), and rows that hosts forget meanwhile are counted as dropped. Failure: without the catalogue or the leader the
 * stream goes on with what it knows; it ends by itself ahead of the platform's limit on calls, and the reader comes back.
 */
import { getPipeline, touchPreview, watchJob } from '../../catalog/pipelines.ts';
import type { Pipeline, PipelineAndJob } from '../../catalog/schema.ts';
import type { LeaderStatus } from '../../protocol/messages.ts';
import { CALLS_MAX, EventLine, LOOK_MS } from '../http/event-line.ts';
import type { EventSink } from '../http/event-stream.ts';
import { lineageOf } from '../jobs/lineage-of.ts';
import { lineageView } from '../jobs/lineage-view.ts';
import { TOUCH_MS } from '../jobs/output-route.ts';
import { OutputReaders } from '../jobs/output-readers.ts';
import { outputData } from '../jobs/output-stream.ts';
import { healthOf } from '../observe/health.ts';
import { refusedByLogs } from '../observe/health-logs.ts';
import { historyOf } from '../observe/history.ts';
import { statusOf } from '../observe/status.ts';
import type { PipelineStatus } from '../observe/status-shapes.ts';
import type { ApiServices } from '../services.ts';
import { graphOf } from '../views.ts';
import { type Cursor, encodeCursor, type VersionedTopic, versionOf } from './cursor.ts';
import { ErrorWatch } from './error-watch.ts';
import type { Topic } from './event-shapes.ts';

const OUTPUT_INTERVAL_MS = 200;
/** Leaders hear of their hosts every two seconds. */
const HISTORY_MS = 2_000;
const HISTORY_SECONDS = 300;
/** How often logs of sources without rows are asked what they have refused. */
const REFUSED_MS = 3_000;
/** How often the lineage is read although nothing tells of a change: a checkpoint that lost leaves no other trace. */
const LINEAGE_MS = 30_000;

export class PageStream {
  readonly #services: ApiServices;
  readonly #id: string;
  readonly #topics: readonly Topic[];
  readonly #sink: EventSink;
  readonly #line: EventLine;
  readonly #cursor: Cursor;
  readonly #readers: OutputReaders | null;
  readonly #errors: ErrorWatch | null;
  #pipeline: Pipeline | null = null;
  #calls = 0;
  #touchedMs = -Infinity;
  #historyMs = -Infinity;
  #lineageMs = -Infinity;
  #refusedMs = -Infinity;
  #refused: Awaited<ReturnType<typeof refusedByLogs>> = new Map();
  /** What the lineage was read for. */
  #lineageOf = '';

  /** @param cursor  what the reader has; it is moved on */
  constructor(
    services: ApiServices,
    id: string,
    topics: readonly Topic[],
    cursor: Cursor,
    sink: EventSink,
  ) {
    this.#services = this.#counted(services);
    this.#id = id;
    this.#topics = topics;
    this.#cursor = cursor;
    this.#sink = sink;
    this.#line = new EventLine(sink, services.nowMs);
    this.#readers = topics.includes('output') ? this.#outputReaders() : null;
    this.#errors = topics.includes('errors') ? new ErrorWatch(this.#services, cursor.errors) : null;
  }

  /** Settles when the pipeline is deleted or the reader has gone. */
  async run(): Promise<void> {
    this.#line.open();
    while (!this.#sink.closed && this.#calls < CALLS_MAX) {
      if (!(await this.#look())) break;
      this.#line.keepAlive();
      await Promise.race([this.#services.sleep(LOOK_MS), this.#sink.gone]);
    }
  }

  /** False when the pipeline is deleted. */
  async #look(): Promise<boolean> {
    let found: PipelineAndJob | null;
    try {
      found = await this.#load();
    } catch {
      return true;
    }
    if (found === null) {
      this.#send('gone', JSON.stringify({ pipeline_id: this.#id }));
      return false;
    }
    this.#readers?.follow(found);
    await this.#touch(found.pipeline);
    // What is not sent now is sent as it is when the reader has caught up.
    if (!this.#sink.full) await this.#tell(found);
    return true;
  }

  async #load(): Promise<PipelineAndJob | null> {
    const seen = await watchJob(this.#services.database, this.#id);
    this.#calls++;
    if (seen === null) return null;
    if (this.#pipeline?.version !== seen.pipelineVersion) {
      this.#calls += 2;
      const found = await getPipeline(this.#services.database, this.#id);
      if (found === null) return null;
      this.#pipeline = found.pipeline;
    }
    return { pipeline: this.#pipeline, job: seen.job };
  }

  /** So that a preview is not deleted while somebody looks. */
  async #touch({ id, watchedMs }: Pipeline): Promise<void> {
    const nowMs = this.#services.nowMs();
    if (watchedMs === null || nowMs - this.#touchedMs < TOUCH_MS) return;
    this.#touchedMs = nowMs;
    this.#calls++;
    await touchPreview(this.#services.database, id, nowMs).catch(() => undefined);
  }

  async #tell(found: PipelineAndJob): Promise<void> {
    const { job } = found;
    const { nowMs } = this.#services;
    const needsLeader = this.#topics.some((topic) => topic !== 'output');
    const leader: LeaderStatus | null =
      needsLeader && job.generation > 0
        ? await this.#services.leaderStatus(job.pipelineId, job.generation)
        : null;
    const status = statusOf(found, leader, nowMs());
    if (this.#topics.includes('status')) this.#sendIfNew('status', status, { ...status, at: 0 });
    if (this.#topics.includes('health')) {
      const graph = graphOf(found.pipeline);
      if (nowMs() - this.#refusedMs >= REFUSED_MS) {
        this.#refusedMs = nowMs();
        this.#refused = await refusedByLogs(this.#services, status, graph);
      }
      const health = healthOf(status, graph, leader?.errors ?? [], this.#refused);
      const timeless = {
        ...health,
        at: 0,
        others: health.others.map((each) => ({ ...each, at: 0 })),
      };
      this.#sendIfNew('health', health, timeless);
    }
    if (this.#topics.includes('history')) await this.#tellHistory(found);
    if (this.#topics.includes('lineage')) await this.#tellLineage(found, status);
    await this.#tellErrors(found, status);
  }

  async #tellHistory(found: PipelineAndJob): Promise<void> {
    const nowMs = this.#services.nowMs();
    if (nowMs - this.#historyMs < HISTORY_MS) return;
    this.#historyMs = nowMs;
    const { historyMicros } = this.#cursor;
    // Behind what is older than the window nothing fits; what is yet to come nobody was sent.
    const known =
      historyMicros !== null &&
      historyMicros > (nowMs - HISTORY_SECONDS * 1000) * 1000 &&
      historyMicros <= nowMs * 1000
        ? historyMicros
        : null;
    const history = await historyOf(this.#services, found, HISTORY_SECONDS, known);
    const last = history.times.at(-1);
    if (known !== null && last === undefined) return;
    if (last !== undefined) this.#cursor.historyMicros = last;
    this.#send('history', JSON.stringify(known === null ? history : { ...history, append: true }));
  }

  async #tellLineage(found: PipelineAndJob, status: PipelineStatus): Promise<void> {
    const nowMs = this.#services.nowMs();
    const { generation, epoch, committed_epoch: committed, state } = status;
    const of = `${generation} ${epoch} ${committed} ${state}`;
    if (of === this.#lineageOf && nowMs - this.#lineageMs < LINEAGE_MS) return;
    try {
      const view = lineageView(await lineageOf(this.#services, found));
      this.#lineageOf = of;
      this.#lineageMs = nowMs;
      const version = versionOf(JSON.stringify(view));
      this.#sendIfNew('lineage', { version, ...view }, view);
    } catch {
      // A bucket that does not answer is asked again with the next look.
    }
  }

  async #tellErrors(found: PipelineAndJob, status: PipelineStatus): Promise<void> {
    const rows = (await this.#errors?.look(found, status.totals)) ?? [];
    if (rows.length > 0) this.#send('errors', JSON.stringify({ data: rows }));
  }

  #sendIfNew(topic: VersionedTopic, value: object, compared: object): void {
    const version = versionOf(JSON.stringify(compared));
    if (this.#cursor.versions.get(topic) === version) return;
    this.#cursor.versions.set(topic, version);
    this.#send(topic, JSON.stringify(value));
  }

  #send(event: string, data: string): void {
    this.#line.send(encodeCursor(this.#cursor), event, data);
  }

  #outputReaders(): OutputReaders {
    const readers: OutputReaders = new OutputReaders(
      this.#services,
      {
        give: (output) => {
          this.#cursor.output = new Map(readers.positions);
          const data = { ...outputData(output, this.#services.nowMs()), dropped: output.dropped };
          this.#send('output', JSON.stringify(data));
        },
        ready: () => this.#sink.ready(),
        over: () => this.#sink.closed || this.#calls >= CALLS_MAX,
      },
      OUTPUT_INTERVAL_MS,
      this.#cursor.output,
    );
    return readers;
  }

  /** The same, with its calls counted. */
  #counted(services: ApiServices): ApiServices {
    const count = <Asks extends unknown[], T>(call: (...asks: Asks) => Promise<T>, calls = 1) => {
      return async (...asks: Asks): Promise<T> => {
        this.#calls += calls;
        return await call(...asks);
      };
    };
    return {
      ...services,
      leaderStatus: count((...asks) => services.leaderStatus(...asks)),
      leaderHistory: count((...asks) => services.leaderHistory(...asks), 2),
      problems: count((...asks) => services.problems(...asks)),
      tail: count((...asks) => services.tail(...asks)),
      // Each epoch that is kept costs a few.
      lineage: count((...asks) => services.lineage(...asks), 30),
    };
  }
}
