/**
 * The data plane of a runtime in this process, seen without the control plane: leaders and hosts by name
 * through the runtime's own door, and what they leave in R2. No request of the API, no D1, no cron.
 */
import { hostName, leaderName } from '../../src/base/ids.ts';
import type { LocalRuntime } from '../../src/cli/local-runtime.ts';
import { LineagePaths } from '../../src/lineage/paths.ts';
import type { HostCalls, LeaderCalls } from '../../src/platform/env.ts';

type ByName<Calls> = { getByName(name: string): Calls };

export type LineageSight = {
  /** The newest epoch with a record, and the newest with a committed marker; 0 when there is none. */
  recorded: number;
  marked: number;
  /** Generations that have published a checkpoint which is still kept. */
  generations: Set<number>;
};

export class DataPlane {
  readonly bucket: R2Bucket;
  readonly #runtime: LocalRuntime;

  private constructor(runtime: LocalRuntime, bucket: R2Bucket) {
    this.#runtime = runtime;
    this.bucket = bucket;
  }

  static async of(runtime: LocalRuntime): Promise<DataPlane> {
    return new DataPlane(runtime, await runtime.r2());
  }

  async leader(pipelineId: string, generation: number): Promise<LeaderCalls> {
    const leaders = await this.#objects<LeaderCalls>('LEADER');
    return leaders.getByName(leaderName(pipelineId, generation));
  }

  async host(pipelineId: string, generation: number, index: number): Promise<HostCalls> {
    const hosts = await this.#objects<HostCalls>('HOST');
    return hosts.getByName(hostName(pipelineId, generation, index));
  }

  async #objects<Calls>(binding: string): Promise<ByName<Calls>> {
    return (await this.#runtime.miniflare.getDurableObjectNamespace(
      binding,
    )) as unknown as ByName<Calls>;
  }

  /** Keys under the prefix, in order. */
  async keys(prefix: string): Promise<string[]> {
    const keys: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await this.bucket.list({ prefix, ...(cursor === undefined ? {} : { cursor }) });
      keys.push(...page.objects.map((object) => object.key));
      if (!page.truncated) return keys;
      cursor = page.cursor;
    }
  }

  /** Lines of every object under the prefix, in the order of keys. */
  async lines(prefix: string): Promise<string[]> {
    const lines: string[] = [];
    for (const key of await this.keys(prefix)) {
      const text = (await (await this.bucket.get(key))?.text()) ?? '';
      lines.push(...text.split('\n').filter((line) => line !== ''));
    }
    return lines;
  }

  async lineage(pipelineId: string, jobId: string): Promise<LineageSight> {
    const paths = new LineagePaths(pipelineId, jobId);
    const sight: LineageSight = { recorded: 0, marked: 0, generations: new Set() };
    for (const key of await this.keys(paths.prefix)) {
      const name = paths.parse(key);
      if (name?.tag === 'record') sight.recorded = Math.max(sight.recorded, name.epoch);
      if (name?.tag === 'marker') sight.marked = Math.max(sight.marked, name.epoch);
      if (name?.tag === 'manifest') sight.generations.add(name.generation);
    }
    return sight;
  }
}

/** Resets an object now. The call never answers: it breaks with the object. */
export async function reset(object: Pick<LeaderCalls, 'crash'>): Promise<void> {
  await Promise.resolve(object.crash('now')).catch(() => undefined);
}

/** Asks until the answer is what is awaited; an error that shows the last one after `timeoutMs`. */
export async function until<T>(
  ask: () => Promise<T>,
  reached: (seen: T) => boolean,
  timeoutMs = 30_000,
  everyMs = 50,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (let last: unknown = 'nothing'; ;) {
    try {
      const seen = await ask();
      if (reached(seen)) return seen;
      last = seen;
    } catch (thrown) {
      last = thrown;
    }
    if (Date.now() > deadline) {
      const shown =
        last instanceof Error
          ? last.message
          : JSON.stringify(last, (_name, value: unknown) =>
              value instanceof Set ? [...value] : value,
            );
      throw new Error(`timed out; last seen: ${shown}`);
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
