/**
 * The list of pipelines as a stream: all of them first, then what has changed.
 *
 * Each second one small query says whether anything has; only then the changed ones are read. Leaders are asked for the
 * watched pipelines alone, a few at a time, and again only when all have answered or were given up. The id of an event is
 * the number of the newest change in it.
 */
import {
  changedSince,
  countPipelines,
  EVERYTHING,
  lastChange,
  listSummaries,
  summariesOf,
} from '../../catalog/summaries.ts';
import type { Summary } from '../../catalog/summaries.ts';
import { TERMINAL_STATES } from '../../catalog/schema.ts';
import { CALLS_MAX, EventLine, LOOK_MS } from '../http/event-line.ts';
import type { EventSink } from '../http/event-stream.ts';
import type { ApiServices } from '../services.ts';
import type { PipelineLive, PipelineSummary } from './summary-shapes.ts';
import { liveOf, summaryView } from './summary-view.ts';

/** Leaders hear of their hosts every two seconds. */
const LIVE_MS = 2_000;
const ASKED_AT_ONCE = 8;
const RATES_KEPT = 30;

export class ListStream {
  readonly #services: ApiServices;
  readonly #sink: EventSink;
  readonly #line: EventLine;
  readonly #watched: ReadonlySet<string>;
  /** The watched ones, as they were last read and last sent. */
  readonly #summaries = new Map<string, Summary>();
  readonly #live = new Map<string, PipelineLive | null>();
  readonly #sent = new Map<string, string>();
  #sequence: number | null;
  #total = 0;
  #calls = 0;
  #askedMs = -Infinity;
  #asking = false;

  /** @param sequence  number of the newest change that the reader has; null: it has nothing */
  constructor(
    services: ApiServices,
    watched: readonly string[],
    sequence: number | null,
    sink: EventSink,
  ) {
    this.#services = services;
    this.#watched = new Set(watched);
    this.#sequence = sequence;
    this.#sink = sink;
    this.#line = new EventLine(sink, services.nowMs);
  }

  async run(): Promise<void> {
    this.#line.open();
    while (!this.#sink.closed && this.#calls < CALLS_MAX) {
      try {
        // A reader that is behind gets what has changed till it has caught up.
        if (!this.#sink.full) await this.#look();
      } catch {
        // Without the catalogue there is nothing new to tell.
      }
      this.#line.keepAlive();
      await Promise.race([this.#services.sleep(LOOK_MS), this.#sink.gone]);
    }
  }

  async #look(): Promise<void> {
    const { database } = this.#services;
    if (this.#sequence === null) return await this.#sendAll();
    if (this.#total === 0) {
      // The reader comes back: it has the others.
      this.#total = await countPipelines(database);
      for (const id of this.#watched) this.#sent.set(id, '');
      await this.#readWatched();
    }
    this.#calls++;
    const last = await lastChange(database);
    const changed = new Map<string, Summary>();
    let removed: string[] = [];
    let sequence = this.#sequence;
    // A catalogue that was set back counts from the beginning.
    if (last < sequence) return await this.#sendAll();
    if (last > sequence) {
      this.#calls += 3;
      const since = await changedSince(database, sequence);
      for (const summary of since.changed) changed.set(summary.id, summary);
      ({ removed, sequence } = since);
      this.#total = await countPipelines(database);
    }
    for (const summary of changed.values()) this.#note(summary);
    for (const id of removed) this.#summaries.delete(id);
    this.#ask();
    const views = [...changed.values()].map((summary) => this.#view(summary));
    for (const [id, summary] of this.#summaries) {
      if (changed.has(id)) continue;
      const view = this.#view(summary);
      if (this.#sent.get(id) !== JSON.stringify(view)) views.push(view);
    }
    this.#sequence = sequence;
    if (views.length === 0 && removed.length === 0) return;
    this.#send('changed', { changed: views, removed, total: this.#total }, views);
  }

  async #sendAll(): Promise<void> {
    this.#calls += 2;
    const { summaries, total, sequence } = await listSummaries(this.#services.database, EVERYTHING);
    this.#sequence = sequence;
    this.#total = total;
    this.#summaries.clear();
    for (const summary of summaries) this.#note(summary);
    const views = summaries.map((summary) => this.#view(summary));
    this.#send('summaries', { data: views, total }, views);
    this.#ask();
  }

  async #readWatched(): Promise<void> {
    this.#calls += 2;
    const found = await summariesOf(this.#services.database, [...this.#watched]);
    for (const summary of found) this.#note(summary);
  }

  #note(summary: Summary): void {
    if (this.#watched.has(summary.id)) this.#summaries.set(summary.id, summary);
  }

  #view(summary: Summary): PipelineSummary {
    return summaryView(summary, this.#live.get(summary.id) ?? null);
  }

  #send(event: string, data: object, views: readonly PipelineSummary[]): void {
    for (const view of views)
      if (this.#watched.has(view.id)) this.#sent.set(view.id, JSON.stringify(view));
    this.#line.send(String(this.#sequence ?? 0), event, JSON.stringify(data));
  }

  /** Asks the leaders of the watched pipelines, beside the looks: what they say is told with the next one. */
  #ask(): void {
    const nowMs = this.#services.nowMs();
    if (this.#asking || nowMs - this.#askedMs < LIVE_MS) return;
    this.#asking = true;
    this.#askedMs = nowMs;
    const queue = [...this.#summaries.values()].values();
    const work = async (): Promise<void> => {
      for (const summary of queue) {
        if (this.#sink.closed) return;
        this.#live.set(summary.id, await this.#liveOf(summary));
      }
    };
    void Promise.all(Array.from({ length: ASKED_AT_ONCE }, work)).finally(() => {
      this.#asking = false;
    });
  }

  async #liveOf({ id, generation, state }: Summary): Promise<PipelineLive | null> {
    if (generation === 0 || TERMINAL_STATES.includes(state)) return null;
    this.#calls++;
    const status = await this.#services.leaderStatus(id, generation).catch(() => null);
    if (status === null || status.generation !== generation) return null;
    const rates = this.#live.get(id)?.rates ?? [];
    return liveOf(status, rates.slice(1 - RATES_KEPT), this.#services.nowMs());
  }
}
