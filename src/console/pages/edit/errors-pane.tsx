/** Rows that the preview could not take: refused, failed in an expression, or too late for their window. */
import { count } from '../../lib/format.ts';
import { Empty } from '../../parts/empty.tsx';
import { ErrorTable } from '../../parts/error-table.tsx';
import type { Desk } from './desk.ts';

/** All of them, also those that are only counted. */
export function wrongRows({ preview }: Desk): number {
  const totals = preview.status.value?.totals;
  return Math.max(preview.errors.value.length, (totals?.errors ?? 0) + (totals?.late ?? 0));
}

export function ErrorsPane({ desk }: { desk: Desk }) {
  const { value: rows } = desk.preview.errors;
  const late = desk.preview.status.value?.totals.late ?? 0;
  return (
    <>
      {late > 0 && !rows.some(({ code }) => code === 'LATE_ROW') && (
        <p class="note">
          <span>
            {count(late)} {late === 1 ? 'row' : 'rows'} came too late for their window. To see such
            rows here, write <code>late_rows = 'dead_letter'</code> among the options of the table.
          </span>
        </p>
      )}
      <ErrorTable
        rows={rows}
        height="100%"
        empty={
          <Empty title="No row has gone wrong">
            <p>
              A row that cannot be read or computed (a text where a number belongs, a division by
              zero) is left out of the result, counted, and shown here with the reason.
            </p>
          </Empty>
        }
      />
    </>
  );
}
