/**
 * The `single_file` sink: all rows in one file. Pieces are staged out of the way; the commit of an epoch appends its
 * pieces to the file at `path` in one write that also records the epoch.
 */
import type { SinkContext } from '../connector.ts';
import { NdjsonSink, partName } from '../ndjson-sink.ts';
import { requiredText } from '../options.ts';
import { FILE_BYTES_MAX_DEFAULT } from '../r2/sink.ts';
import { stagedPrefix } from '../two-phase-sink.ts';

export function makeSingleFileSink(context: SinkContext): NdjsonSink {
  const prefix = `${stagedPrefix(context.pipelineId)}${encodeURIComponent(context.table)}/`;
  return new NdjsonSink(
    context,
    'object',
    FILE_BYTES_MAX_DEFAULT,
    (epoch, index) => `${prefix}${partName(context, epoch, index)}`,
    requiredText(context.options, 'path'),
  );
}
