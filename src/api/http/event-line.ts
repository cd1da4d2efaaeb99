/**
 * A stream of events as one reader hears it: what is told, and signs of life while there is nothing to tell, so that nothing
 * between takes the line for dead.
 */
import { type EventSink, eventText } from './event-stream.ts';

const KEEP_ALIVE_MS = 15_000;
/** A stream looks so often whether there is something to tell. */
export const LOOK_MS = 1_000;
/** Then a stream ends and its reader comes back: one invocation may make 10,000 calls. Source: limits of Workers, 2026. */
export const CALLS_MAX = 9_000;

export class EventLine {
  readonly #sink: EventSink;
  readonly #nowMs: () => number;
  #spokeMs: number;

  constructor(sink: EventSink, nowMs: () => number) {
    this.#sink = sink;
    this.#nowMs = nowMs;
    this.#spokeMs = nowMs();
  }

  /** How soon a reader whose connection was cut is to come back. */
  open(): void {
    this.#sink.write('retry: 1000\n\n');
  }

  /** @param id  what the reader comes back with to go on behind this event */
  send(id: string, event: string | null, data: string): void {
    this.#spokeMs = this.#nowMs();
    this.#sink.write(eventText(id, event, data));
  }

  /** A sign of life, when it is time for one and the reader is not behind anyway. */
  keepAlive(): void {
    const nowMs = this.#nowMs();
    if (nowMs - this.#spokeMs < KEEP_ALIVE_MS || this.#sink.full) return;
    this.#spokeMs = nowMs;
    this.#sink.write(': keep-alive\n\n');
  }
}
