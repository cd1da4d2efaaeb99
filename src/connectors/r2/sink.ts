/**
 * The `r2` sink: files under a prefix. Each is a multipart upload under its final name, which appears when the
 * upload is completed: that is the commit.
 */
import { LIMITS } from '../../base/limits.ts';
import type { SinkContext } from '../connector.ts';
import { FileSink } from '../file-sink.ts';
import { integerOption, requiredText } from '../options.ts';

export const FILE_BYTES_MAX_DEFAULT = 8 * LIMITS.batchBytesMax;

export function makeR2Sink(context: SinkContext): FileSink {
  const { options } = context;
  const prefix = requiredText(options, 'path').replace(/^\/+|\/+$/g, '');
  return new FileSink(context, {
    method: 'multipart',
    folder: prefix === '' ? '' : `${prefix}/`,
    fileBytesMax: integerOption(options, 'file_bytes_max') ?? FILE_BYTES_MAX_DEFAULT,
    fileRowsMax: integerOption(options, 'file_rows_max'),
    openMax: integerOption(options, 'partitioning.open_max') ?? 1,
  });
}
