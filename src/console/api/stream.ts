/**
 * One stream of server-sent events for each page, which goes on after an interruption where it stopped.
 *
 * The browser's own EventSource resumes only while the page keeps it open and gives up on an HTTP error; a server that is
 * restarted answers with one for a moment. So a new one is opened after a pause, with the id of the last event.
 */
import { reachable } from './client.ts';

export type StreamHandlers = { [event: string]: (data: string) => void };

const PAUSES_MS = [250, 500, 1000, 2000];

export type Stream = {
  close(): void;
  /** Id of the last event; '' before the first. */
  lastId(): string;
};

/**
 * @param path  behind `/api/v1`; handlers by the name of the event
 * @param after  id of an event of an earlier stream: what came up to it is not sent again
 * @param onRefused  it could not be opened twice or more: the server is away, or what is streamed is
 */
export function openStream(
  path: string,
  handlers: StreamHandlers,
  after = '',
  onRefused?: () => void,
): Stream {
  let source: EventSource | null = null;
  let lastId = after;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  const open = (): void => {
    const url = new URL(`/api/v1${path}`, location.origin);
    if (lastId !== '') url.searchParams.set('last_event_id', lastId);
    const opened = new EventSource(url);
    source = opened;
    opened.addEventListener('open', () => {
      failures = 0;
      reachable.value = true;
    });
    for (const [name, handle] of Object.entries(handlers))
      opened.addEventListener(name, (event: MessageEvent<string>) => {
        if (event.lastEventId !== '') lastId = event.lastEventId;
        handle(event.data);
      });
    opened.addEventListener('error', () => {
      opened.close();
      if (closed) return;
      failures++;
      if (failures > 1) reachable.value = false;
      if (failures > 1) onRefused?.();
      timer = setTimeout(open, PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1]);
    });
  };

  open();
  return {
    lastId: () => lastId,
    close(): void {
      closed = true;
      clearTimeout(timer);
      source?.close();
    },
  };
}
