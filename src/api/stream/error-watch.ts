/** New rows that went wrong, for a stream: their keepers are asked only when counters say that there may be some. */
import type { PipelineAndJob } from '../../catalog/schema.ts';
import type { ApiServices } from '../services.ts';
import { graphOf } from '../views.ts';
import type { ErrorRow } from './detail-shapes.ts';
import { type Keeper, keptBy, logsOf, newestFirst } from './error-rows.ts';

/** Rows of one keeper that are told at once: the newest. */
const TOLD_MAX = 100;
/** Logs are not counted by anybody who is asked anyway. */
const LOGS_MS = 2_000;

export class ErrorWatch {
  readonly #services: ApiServices;
  /** Number of the newest row that was told, by keeper; moved on. */
  readonly #told: Map<string, number>;
  #logsMs = -Infinity;
  #counted = '';

  constructor(services: ApiServices, told: Map<string, number>) {
    this.#services = services;
    this.#told = told;
  }

  /** Oldest first. */
  async look(
    { pipeline, job }: PipelineAndJob,
    totals: { errors: number; late: number },
  ): Promise<ErrorRow[]> {
    const graph = graphOf(pipeline);
    const nowMs = this.#services.nowMs();
    const keepers: Keeper[] = [];
    const counted = `${job.generation} ${totals.errors} ${totals.late}`;
    if (counted !== this.#counted) keepers.push(...this.#leaders(job.generation));
    if (nowMs - this.#logsMs >= LOGS_MS) {
      this.#logsMs = nowMs;
      keepers.push(...logsOf(graph));
    }
    const pages = await Promise.all(
      keepers.map(async (keeper) => {
        const key = keyOf(keeper);
        const told = this.#told.get(key) ?? 0;
        const { rows, last } = await keptBy(
          this.#services,
          pipeline.id,
          graph,
          keeper,
          told,
          TOLD_MAX,
        );
        // A leader without rows is noted too, so that it is asked once more when the next generation has taken over; and
        // a number that was never reached is one that this reader can not have.
        if (last !== null && (last !== told || keeper.tag === 'leader')) this.#told.set(key, last);
        return { rows, answered: last !== null };
      }),
    );
    if (pages.every(({ answered }) => answered)) this.#counted = counted;
    return pages
      .flatMap(({ rows }) => rows)
      .sort(newestFirst)
      .toReversed();
  }

  /** The generation's, and that of the one before while it may have rows that were not told. */
  #leaders(generation: number): Keeper[] {
    for (const key of this.#told.keys())
      if (/^g\d+$/.test(key) && Number(key.slice(1)) < generation - 1) this.#told.delete(key);
    if (generation === 0) return [];
    const leaders: Keeper[] = [{ tag: 'leader', generation }];
    if (this.#told.has(`g${generation - 1}`))
      leaders.push({ tag: 'leader', generation: generation - 1 });
    return leaders;
  }
}

const keyOf = (keeper: Keeper): string =>
  keeper.tag === 'leader' ? `g${keeper.generation}` : `${keeper.operator}.${keeper.partition}`;
