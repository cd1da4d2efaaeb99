/**
 * The live output of a pipeline, as `GET …/jobs/{job}/output` streams it (server-sent events).
 *
 * A stream ends whenever a host or the server does; it is opened again until `signal` is aborted. What is
 * shown live is not the committed result: after a crash rows can come twice, in the committed files never.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Fetch } from '../src/cli/api-client.ts';

export type OutputRows = {
  operatorId: string;
  generation: number;
  rows: Record<string, unknown>[];
};

const REOPEN_MS = 100;

/** Calls `onRows` for every event until `signal` is aborted. Never throws for a server that is away. */
export async function followOutput(
  fetchPath: Fetch,
  pipelineId: string,
  jobId: string,
  signal: AbortSignal,
  onRows: (output: OutputRows) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const path = `/api/v1/pipelines/${pipelineId}/jobs/${jobId}/output`;
      const response = await fetchPath(path, { signal, headers: { accept: 'text/event-stream' } });
      if (response.ok && response.body !== null) await readEvents(response.body, onRows);
      else await response.body?.cancel();
    } catch {
      // The server is away, or the reader was told to stop: the loop decides.
    }
    if (!signal.aborted) await pause(REOPEN_MS);
  }
}

async function readEvents(
  body: ReadableStream<Uint8Array>,
  onRows: (output: OutputRows) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of body) {
    text += decoder.decode(bytes, { stream: true });
    const events = text.split(/\r?\n\r?\n/);
    text = events.pop() ?? '';
    for (const event of events) {
      const output = parseEvent(event);
      if (output !== null) onRows(output);
    }
  }
}

/** The rows of one event; null for a comment, or an event that carries none. */
export function parseEvent(event: string): OutputRows | null {
  const data = event
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).replace(/^ /, ''))
    .join('\n');
  if (data === '') return null;
  const parsed = JSON.parse(data) as { operator_id?: string; generation?: number; batch?: string };
  if (typeof parsed.batch !== 'string') return null;
  return {
    operatorId: parsed.operator_id ?? '',
    generation: parsed.generation ?? 0,
    rows: JSON.parse(parsed.batch) as Record<string, unknown>[],
  };
}
