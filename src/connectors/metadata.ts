/**
 * Columns that a source knows of each row by itself: `METADATA FROM 'partition'`. They are not in the
 * bytes of the row; a source puts them among the columns that it decoded.
 */
import { must } from '../base/assert.ts';
import type { Column } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import type { DecodeColumn } from '../formats/format.ts';

/** The columns that are decoded. */
export const decodedColumns = (physical: readonly DecodeColumn[]): DecodeColumn[] =>
  physical.filter(({ metadata }) => metadata === undefined);

/** A batch of all physical columns from one of the decoded ones. */
export function withMetadata(
  physical: readonly DecodeColumn[],
  decoded: RecordBatch,
  make: (key: string) => Column,
): RecordBatch {
  let next = 0;
  const columns = physical.map(({ metadata }) =>
    metadata === undefined ? must(decoded.columns[next++], 'a decoded column') : make(metadata),
  );
  return { ...decoded, columns };
}
