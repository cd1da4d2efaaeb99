/**
 * The rows of preview sinks as server-sent events, from every subtask, across generations.
 *
 * Rows travel as text: they are spliced into the batch and never parsed, so no digit changes. Not guaranteed: that every
 * row is seen (hosts keep the newest ones only), nor that a row is seen once (a new generation redoes work).
 */
import type { PipelineAndJob } from '../../catalog/schema.ts';
import { TERMINAL_STATES } from '../../catalog/schema.ts';
import type { ApiServices, TailPage } from '../services.ts';
import { graphOf, microsOf } from '../views.ts';

/** One subtask of a preview sink. */
export type PreviewSubtask = { operator: string; subtask: number };

const WAIT_MS = 5_000;
/** How long a reader waits after a host did not answer, and how often the generation is looked up. */
const PAUSE_MS = 300;
const KEEP_ALIVE_MS = 15_000;

/** Empty when the query has no preview sink. */
export function previewSubtasks({ pipeline }: PipelineAndJob): PreviewSubtask[] {
  return graphOf(pipeline).operators.flatMap(({ id, spec, parallelism }) => {
    if (spec.tag !== 'sink' || spec.connector.connector !== 'preview') return [];
    return Array.from({ length: parallelism ?? pipeline.parallelism }, (_, subtask) => ({
      operator: id,
      subtask,
    }));
  });
}

/** One event: the page's rows as `OutputData`. */
export function outputEvent(
  source: PreviewSubtask,
  generation: number,
  page: TailPage,
  nowMs: number,
): string {
  const data = {
    operator_id: source.operator,
    subtask_idx: source.subtask,
    generation,
    timestamps: page.rows.map(() => microsOf(nowMs)),
    start_id: page.first,
    batch: `[${page.rows.join(',')}]`,
  };
  return `id: ${generation}/${source.operator}/${source.subtask}/${page.next}\ndata: ${oneLine(JSON.stringify(data))}\n\n`;
}

/** Some clients take these for line ends; as escapes they mean the same. */
const oneLine = (json: string): string =>
  json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');

/** The reader's end of the stream. */
export type EventSink = {
  write(text: string): void;
  /** Settles when the reader has taken what was written, more or less; at once when it has gone. */
  ready(): Promise<void>;
};

/** Follows a job until it is at rest and its last rows are read, or the reader goes away. */
export class OutputFollower {
  readonly #services: ApiServices;
  readonly #load: () => Promise<PipelineAndJob | null>;
  readonly #sink: EventSink;
  readonly #readers = new Map<string, Promise<void>>();
  #generation = 0;
  /** Settles when the generation changes or the job comes to rest: readers then look at once. */
  #change = Promise.withResolvers<null>();
  /** The job is at rest: readers take what is left and stop. */
  #ending = false;
  #closed = false;

  constructor(services: ApiServices, load: () => Promise<PipelineAndJob | null>, sink: EventSink) {
    this.#services = services;
    this.#load = load;
    this.#sink = sink;
  }

  /** The reader has gone away. */
  close(): void {
    this.#closed = true;
  }

  get closed(): boolean {
    return this.#closed;
  }

  async run(): Promise<void> {
    let spokeMs = this.#services.nowMs();
    while (!this.#closed && (await this.#look())) {
      const nowMs = this.#services.nowMs();
      if (nowMs - spokeMs >= KEEP_ALIVE_MS) {
        this.#sink.write(': keep-alive\n\n');
        spokeMs = nowMs;
      }
      await this.#services.sleep(PAUSE_MS);
    }
    this.#ending = true;
    this.#wakeReaders();
    await Promise.all(this.#readers.values());
  }

  /** Whether there is more to come. */
  async #look(): Promise<boolean> {
    let found: PipelineAndJob | null;
    try {
      found = await this.#load();
    } catch {
      // Without the catalogue readers go on with the generation they know.
      return true;
    }
    if (found === null) return false;
    this.#follow(found);
    return !this.#ending;
  }

  /** Starts readers for the subtasks of the job's generation that have none. */
  #follow(found: PipelineAndJob): void {
    const { pipeline, job } = found;
    const ending = TERMINAL_STATES.includes(job.state);
    if (ending !== this.#ending || job.generation !== this.#generation) this.#wakeReaders();
    this.#generation = job.generation;
    this.#ending = ending;
    if (job.generation === 0) return;
    for (const source of previewSubtasks(found)) {
      const key = `${job.generation}/${source.operator}/${source.subtask}`;
      if (!this.#readers.has(key))
        this.#readers.set(key, this.#read(pipeline.id, job.generation, source));
    }
  }

  #wakeReaders(): void {
    const change = this.#change;
    this.#change = Promise.withResolvers<null>();
    change.resolve(null);
  }

  async #read(pipelineId: string, generation: number, source: PreviewSubtask): Promise<void> {
    const target = { pipelineId, generation, host: source.subtask, operator: source.operator };
    let after = 0;
    for (;;) {
      await this.#sink.ready();
      if (this.#closed) return;
      const last = this.#ending || this.#generation !== generation;
      let page: TailPage | null;
      try {
        const tail = this.#services.tail(target, after, last ? 0 : WAIT_MS);
        page = last ? await tail : await Promise.race([tail, this.#change.promise]);
      } catch {
        // The host was reset: either its generation ends, or it has new rows from the beginning.
        if (last) return;
        after = 0;
        await this.#services.sleep(PAUSE_MS);
        continue;
      }
      if (this.#closed) return;
      if (page === null) continue;
      if (page.rows.length > 0)
        this.#sink.write(outputEvent(source, generation, page, this.#services.nowMs()));
      else if (last) return;
      after = page.next;
    }
  }
}
