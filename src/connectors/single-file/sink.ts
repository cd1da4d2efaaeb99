/**
 * The `single_file` sink: all rows in one file. Pieces are staged out of the way; the commit of an epoch appends its
 * pieces to the file at `path` in one write that also records the epoch. Pieces of Parquet are joined under one footer
 * (`formats/parquet/joined-file.ts`).
 */
import type { SinkContext } from '../connector.ts';
import { FileSink } from '../file-sink.ts';
import { requiredText } from '../options.ts';
import { FILE_BYTES_MAX_DEFAULT } from '../r2/sink.ts';
import { stagedPrefix } from '../two-phase-sink.ts';

export const makeSingleFileSink = (context: SinkContext): FileSink =>
  new FileSink(context, {
    method: 'object',
    folder: `${stagedPrefix(context.pipelineId)}${encodeURIComponent(context.table)}/`,
    fileBytesMax: FILE_BYTES_MAX_DEFAULT,
    target: requiredText(context.options, 'path'),
  });
