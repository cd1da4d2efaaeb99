/**
 * The `r2` sink: NDJSON files under a prefix. Each is a multipart upload under its final name, which appears when the
 * upload is completed: that is the commit.
 */
import { LIMITS } from '../../base/limits.ts';
import type { SinkContext } from '../connector.ts';
import { NdjsonSink, partName } from '../ndjson-sink.ts';
import { integerOption, requiredText } from '../options.ts';

export const FILE_BYTES_MAX_DEFAULT = 8 * LIMITS.batchBytesMax;

export function makeR2Sink(context: SinkContext): NdjsonSink {
  const prefix = requiredText(context.options, 'path').replace(/^\/+|\/+$/g, '');
  const folder = prefix === '' ? '' : `${prefix}/`;
  const bytesMax = integerOption(context.options, 'file_bytes_max') ?? FILE_BYTES_MAX_DEFAULT;
  return new NdjsonSink(
    context,
    'multipart',
    bytesMax,
    (epoch, index) => `${folder}${partName(context, epoch, index)}`,
  );
}
