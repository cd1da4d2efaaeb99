/**
 * Server-sent events as an answer. What was written and not read is bounded by whoever writes: `full` says that the reader
 * is behind, and `ready` waits until it is not. An event is written whole or not at all.
 */

/** The reader's end of the stream. */
export type EventSink = {
  write(text: string): void;
  /** Settles when the reader has taken what was written, more or less; at once when it has gone. */
  ready(): Promise<void>;
  /** The reader is behind. */
  readonly full: boolean;
  /** The reader has gone away. */
  readonly closed: boolean;
  /** Settles when the reader goes away. */
  readonly gone: Promise<void>;
};

/** Written and not yet read, at most about this much. */
const BUFFER_BYTES = 256 * 1024;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

/** Ends when `work` does. */
export function eventResponse(work: (sink: EventSink) => Promise<void>): Response {
  const encoder = new TextEncoder();
  const gone = Promise.withResolvers<void>();
  let closed = false;
  let room = Promise.withResolvers<void>();
  const source = {
    start(controller: ReadableStreamDefaultController<Uint8Array>): void {
      const isFull = (): boolean => (controller.desiredSize ?? 1) <= 0;
      const sink: EventSink = {
        write: (text) => {
          if (!closed) controller.enqueue(encoder.encode(text));
        },
        ready: async () => {
          while (!closed && isFull()) await room.promise;
        },
        get full() {
          return isFull();
        },
        get closed() {
          return closed;
        },
        gone: gone.promise,
      };
      work(sink).then(
        () => {
          if (!closed) controller.close();
        },
        (thrown: unknown) => {
          if (!closed) controller.error(thrown);
        },
      );
    },
    pull(): void {
      room.resolve();
      room = Promise.withResolvers<void>();
    },
    cancel(): void {
      closed = true;
      room.resolve();
      gone.resolve();
    },
  };
  const stream = new ReadableStream<Uint8Array>(source, {
    highWaterMark: BUFFER_BYTES,
    size: (chunk) => chunk?.byteLength ?? 0,
  });
  return new Response(stream, { headers: HEADERS });
}

/** One event. `data` is JSON, so it has no line ends but for two that some clients take for such; as escapes they mean the same. */
export function eventText(id: string, event: string | null, data: string): string {
  const name = event === null ? '' : `event: ${event}\n`;
  return `id: ${id}\n${name}data: ${data.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n\n`;
}
