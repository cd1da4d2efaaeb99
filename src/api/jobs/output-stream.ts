/**
 * The rows of preview sinks as server-sent events, from every subtask, across generations, until the job is at rest.
 *
 * Not guaranteed: that every row is seen (hosts keep the newest ones only), nor that a row is seen once (a new generation
 * redoes work).
 */
import type { PipelineAndJob } from '../../catalog/schema.ts';
import { EventLine } from '../http/event-line.ts';
import type { EventSink } from '../http/event-stream.ts';
import type { ApiServices } from '../services.ts';
import { microsOf } from '../views.ts';
import { outputKey, type OutputPage, OutputReaders, PAUSE_MS } from './output-readers.ts';

/** A page's rows as `OutputData`: they are spliced into the batch. */
export function outputData({ operator, subtask, generation, page }: OutputPage, nowMs: number) {
  return {
    operator_id: operator,
    subtask_idx: subtask,
    generation,
    timestamps: page.rows.map(() => microsOf(nowMs)),
    start_id: page.first,
    batch: `[${page.rows.join(',')}]`,
  };
}

/** Follows a job until it is at rest and its last rows are read, or the reader goes away. */
export async function followOutput(
  services: ApiServices,
  load: () => Promise<PipelineAndJob | null>,
  sink: EventSink,
): Promise<void> {
  const line = new EventLine(sink, services.nowMs);
  const readers = new OutputReaders(services, {
    give: (output) => {
      const id = `${outputKey(output.generation, output)}/${output.page.next}`;
      line.send(id, null, JSON.stringify(outputData(output, services.nowMs())));
    },
    ready: () => sink.ready(),
    over: () => sink.closed,
  });
  while (!sink.closed) {
    let found: PipelineAndJob | null;
    try {
      found = await load();
      if (found === null) break;
      readers.follow(found);
      if (readers.resting) break;
    } catch {
      // Without the catalogue readers go on with the generation they know.
    }
    line.keepAlive();
    await services.sleep(PAUSE_MS);
  }
  await readers.finish();
}
