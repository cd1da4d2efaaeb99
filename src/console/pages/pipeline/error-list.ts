/** Rows that went wrong, as they are listed: those that were there and those that came, each once, newest first. Pure. */
import type { ErrorRow } from '../../../api/stream/detail-shapes.ts';

/** @param came  oldest first; @param had  newest first */
export function joinErrors(had: readonly ErrorRow[], came: readonly ErrorRow[]): ErrorRow[] {
  const seen = new Set<string>();
  const all: ErrorRow[] = [];
  for (const row of [...came.toReversed(), ...had]) {
    if (seen.has(row.id)) continue;
    seen.add(row.id);
    all.push(row);
  }
  return all;
}

export type CodeCount = { code: string; count: number };

/** How many of each code, the most frequent first. */
export function codesOf(rows: readonly ErrorRow[]): CodeCount[] {
  const counts = new Map<string, number>();
  for (const { code } of rows) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts]
    .map(([code, count]) => ({ code, count }))
    .sort((left, right) => right.count - left.count || left.code.localeCompare(right.code));
}

/** @param code  empty: all */
export function filterErrors(rows: readonly ErrorRow[], code: string, search: string): ErrorRow[] {
  const wanted = search.trim().toLowerCase();
  return rows.filter(
    (row) =>
      (code === '' || row.code === code) &&
      (wanted === '' ||
        [row.reason, row.raw, row.column, row.table, row.operator_id].some(
          (text) => text?.toLowerCase().includes(wanted) === true,
        )),
  );
}
