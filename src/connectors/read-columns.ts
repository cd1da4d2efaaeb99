/** Of the columns that a source decodes, which are read and not merely checked. */
import type { DecodeColumn } from '../formats/format.ts';
import type { SourceSpec } from '../graph/graph.ts';

/**
 * The physical columns; texts that are only decoded because they must not be missing are marked unread. A generated column may
 * fail, and its error shows the whole row: then all are read.
 */
export function readColumns({
  physical,
  computed,
  format,
}: Pick<SourceSpec, 'physical' | 'computed' | 'format'>): readonly DecodeColumn[] {
  if (computed === null || format.changes !== undefined || format.unstructured) return physical;
  const read = new Set<number>();
  for (const expr of computed) {
    if (expr.tag !== 'column') return physical;
    read.add(expr.index);
  }
  return physical.map((column, index) =>
    column.type.tag === 'text' &&
    !column.nullable &&
    column.envelope === undefined &&
    !read.has(index)
      ? { ...column, unread: true }
      : column,
  );
}
