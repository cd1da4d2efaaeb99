/**
 * Reads the rows of preview sinks, one reader for each subtask of each generation, and hands them on page by page.
 *
 * Rows travel as text and are never parsed, so no digit changes. Invariant: the pages of one subtask follow each other
 * without gaps or repeats, from the position it was told to begin at; a row that was gone before it could be read is
 * counted. Not guaranteed: that a row is computed once, since a new generation redoes work. Failure: a host that does not
 * answer is asked again; when its generation is over, its rows are gone with it.
 */
import type { PipelineAndJob } from '../../catalog/schema.ts';
import { TERMINAL_STATES } from '../../catalog/schema.ts';
import type { ApiServices, TailPage } from '../services.ts';
import { graphOf } from '../views.ts';

/** One subtask of a preview sink. */
export type PreviewSubtask = { operator: string; subtask: number };

/** `dropped`: rows before these that nobody can read any more. */
export type OutputPage = PreviewSubtask & {
  generation: number;
  page: TailPage;
  dropped: number;
};

export type OutputTarget = {
  /** Never called for a page without rows. */
  give(page: OutputPage): void;
  /** Settles when there is room for a page. */
  ready(): Promise<void>;
  /** Nobody reads any more. */
  over(): boolean;
};

const WAIT_MS = 5_000;
/** How long a reader waits after a host did not answer. */
export const PAUSE_MS = 300;

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

export const outputKey = (generation: number, { operator, subtask }: PreviewSubtask): string =>
  `${generation}/${operator}/${subtask}`;

export class OutputReaders {
  readonly #services: ApiServices;
  readonly #target: OutputTarget;
  /** Pages of one subtask come no faster than this. */
  readonly #intervalMs: number;
  readonly #readers = new Map<string, Promise<void>>();
  /** What to ask for next, of each subtask that was read or is to be. */
  readonly #positions: Map<string, number>;
  /** Those whose rows are all read. */
  readonly #ended = new Set<string>();
  #generation = 0;
  /** Settles when the generation changes or the job comes to rest: readers then look at once. */
  #change = Promise.withResolvers<null>();
  /** The job is at rest: readers take what is left and stop. */
  #resting = false;

  constructor(
    services: ApiServices,
    target: OutputTarget,
    intervalMs = 0,
    positions: ReadonlyMap<string, number> = new Map(),
  ) {
    this.#services = services;
    this.#target = target;
    this.#intervalMs = intervalMs;
    this.#positions = new Map(positions);
  }

  /** Where each subtask would go on that may still have rows. */
  get positions(): ReadonlyMap<string, number> {
    return this.#positions;
  }

  get resting(): boolean {
    return this.#resting;
  }

  /** Starts readers for the subtasks of the job's generation that have none, and lets older ones come to their end. */
  follow(found: PipelineAndJob): void {
    const { pipeline, job } = found;
    const resting = TERMINAL_STATES.includes(job.state);
    if (resting !== this.#resting || job.generation !== this.#generation) this.#wake();
    this.#generation = job.generation;
    this.#resting = resting;
    if (job.generation === 0) return;
    for (const key of this.#positions.keys()) {
      const [generation = '', operator = '', subtask = ''] = key.split('/');
      if (Number(generation) === job.generation) continue;
      // Of a generation that is over no more rows come.
      if (this.#ended.has(key) || Number(generation) > job.generation) this.#positions.delete(key);
      else this.#start(pipeline.id, Number(generation), { operator, subtask: Number(subtask) });
    }
    for (const source of previewSubtasks(found)) this.#start(pipeline.id, job.generation, source);
  }

  /** Settles when what is left is read. */
  async finish(): Promise<void> {
    this.#resting = true;
    this.#wake();
    await Promise.all(this.#readers.values());
  }

  #start(pipelineId: string, generation: number, source: PreviewSubtask): void {
    const key = outputKey(generation, source);
    if (this.#readers.has(key)) return;
    this.#readers.set(key, this.#read(pipelineId, generation, source));
  }

  #wake(): void {
    const change = this.#change;
    this.#change = Promise.withResolvers<null>();
    change.resolve(null);
  }

  async #read(pipelineId: string, generation: number, source: PreviewSubtask): Promise<void> {
    const key = outputKey(generation, source);
    const target = { pipelineId, generation, host: source.subtask, operator: source.operator };
    let after = this.#positions.get(key) ?? null;
    for (;;) {
      await this.#target.ready();
      if (this.#target.over()) return;
      const last = this.#resting || this.#generation !== generation;
      let page: TailPage | null;
      try {
        const tail = this.#services.tail(target, after ?? 0, last ? 0 : WAIT_MS);
        page = last ? await tail : await Promise.race([tail, this.#change.promise]);
      } catch {
        // The host was reset: either its generation ends, or it has new rows from the beginning.
        if (last) return this.#end(key);
        after = null;
        await this.#services.sleep(PAUSE_MS);
        continue;
      }
      await this.#target.ready();
      if (this.#target.over()) return;
      if (page === null) continue;
      if (page.rows.length === 0) {
        if (last) return this.#end(key);
        if (after !== null) after = page.next;
        continue;
      }
      const dropped = after === null ? 0 : Math.max(0, page.first - after);
      after = page.next;
      this.#positions.set(key, after);
      this.#target.give({ ...source, generation, page, dropped });
      if (this.#intervalMs > 0) await this.#services.sleep(this.#intervalMs);
    }
  }

  /** A job at rest keeps its place, so that nobody reads its rows twice. */
  #end(key: string): void {
    this.#ended.add(key);
  }
}
