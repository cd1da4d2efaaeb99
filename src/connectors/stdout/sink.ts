/**
 * The `stdout` sink: rows for whoever runs the program. They are committed like files, under a prefix of their own, and
 * the runner prints what has been committed, so that a printed row is never taken back by a crash.
 */
import type { SinkContext } from '../connector.ts';
import { NdjsonSink, partName } from '../ndjson-sink.ts';
import { FILE_BYTES_MAX_DEFAULT } from '../r2/sink.ts';

/** Where the committed output of one table of a pipeline lies; ends with a slash. */
export const stdoutPrefix = (pipelineId: string, table: string): string =>
  `thalweg-output/${pipelineId}/${encodeURIComponent(table)}/`;

export function makeStdoutSink(context: SinkContext): NdjsonSink {
  const prefix = stdoutPrefix(context.pipelineId, context.table);
  return new NdjsonSink(
    context,
    'multipart',
    FILE_BYTES_MAX_DEFAULT,
    (epoch, index) => `${prefix}${partName(context, epoch, index)}`,
  );
}
