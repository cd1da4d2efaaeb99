/**
 * The `stdout` sink: rows for whoever runs the program. They are committed like files, under a prefix of their own, and
 * the runner prints what has been committed, so that a printed row is never taken back by a crash.
 */
import type { SinkContext } from '../connector.ts';
import { FileSink } from '../file-sink.ts';
import { FILE_BYTES_MAX_DEFAULT } from '../r2/sink.ts';
import { outputPrefix } from '../two-phase-sink.ts';

/** Where the committed output of one table of a pipeline lies; ends with a slash. */
export const stdoutPrefix = (pipelineId: string, table: string): string =>
  `${outputPrefix(pipelineId)}${encodeURIComponent(table)}/`;

export const makeStdoutSink = (context: SinkContext): FileSink =>
  new FileSink(context, {
    method: 'multipart',
    folder: stdoutPrefix(context.pipelineId, context.table),
    fileBytesMax: FILE_BYTES_MAX_DEFAULT,
  });
