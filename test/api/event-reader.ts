/** Reads server-sent events of the API under a clock that only the test moves. */
import type { World } from './world.ts';

export type ReadEvent = { id: string; event: string; data: ReturnType<typeof JSON.parse> };

/** Lets everything that needs no time happen. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Time passes when the test says so; sleepers wake in the order of their times. */
export class Clock {
  readonly #world: World;
  #sleepers: { atMs: number; wake: () => void }[] = [];

  constructor(world: World) {
    this.#world = world;
    world.services.sleep = (ms) =>
      new Promise((resolve) => this.#sleepers.push({ atMs: world.nowMs + ms, wake: resolve }));
  }

  async pass(ms: number): Promise<void> {
    const untilMs = this.#world.nowMs + ms;
    for (;;) {
      await quiet();
      const atMs = Math.min(...this.#sleepers.map((sleeper) => sleeper.atMs));
      if (atMs > untilMs) break;
      this.#world.nowMs = Math.max(this.#world.nowMs, atMs);
      const due = this.#sleepers.filter((sleeper) => sleeper.atMs <= atMs);
      this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.atMs > atMs);
      for (const { wake } of due) wake();
    }
    this.#world.nowMs = untilMs;
  }
}

export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #text = '';
  readonly all: ReadEvent[] = [];
  comments = 0;
  ended = false;

  private constructor(response: Response) {
    this.#reader = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>)
      .pipeThrough(new TextDecoderStream())
      .getReader();
  }

  static async open(world: World, path: string, lastId = ''): Promise<EventReader> {
    const headers: Record<string, string> = lastId === '' ? {} : { 'last-event-id': lastId };
    const response = await world.fetch(path, { headers });
    if (response.status !== 200) throw new Error(await response.text());
    return new EventReader(response);
  }

  /** From now on everything is read as it comes. */
  follow(): this {
    const next = async (): Promise<void> => {
      for (;;) {
        const { done, value } = await this.#reader.read();
        if (done) {
          this.ended = true;
          return;
        }
        this.#take(value);
      }
    };
    next().catch(() => {
      this.ended = true;
    });
    return this;
  }

  #take(text: string): void {
    const parts = (this.#text + text).split('\n\n');
    this.#text = parts.pop() ?? '';
    for (const part of parts) {
      const field = (name: string): string | undefined =>
        new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1];
      const data = field('data');
      if (part.startsWith(':')) this.comments++;
      if (data !== undefined)
        this.all.push({
          id: field('id') ?? '',
          event: field('event') ?? '',
          data: JSON.parse(data),
        });
    }
  }

  /** The data of all events of this name. */
  taken(name: string): ReadEvent['data'][] {
    return this.all.filter(({ event }) => event === name).map(({ data }) => data);
  }

  get lastId(): string {
    return this.all.at(-1)?.id ?? '';
  }

  async close(): Promise<void> {
    await this.#reader.cancel();
  }
}
