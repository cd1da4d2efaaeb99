/** Pasted rows with a mark each: accepted, or refused with the column and the reason. */
import type { CheckedRow, CheckRowsAnswer } from '../../../api/authoring/authoring-shapes.ts';
import type { QueryTable } from '../../../api/authoring/diagnostic-shapes.ts';
import { count } from '../../lib/format.ts';
import { Empty } from '../../parts/empty.tsx';
import { Icon } from '../../parts/icon.tsx';

type Props = { table: QueryTable | null; rows: string; answer: CheckRowsAnswer | null };

export function CheckedRows({ table, rows, answer }: Props) {
  if (table === null)
    return (
      <Empty title="Your own rows">
        <p>
          Paste some of your JSON. Columns and types are guessed from it, and a table that takes
          such rows by HTTP is put into the query. Every row is then checked against it.
        </p>
      </Empty>
    );
  if (rows.trim() === '' || answer === null)
    return (
      <Empty title={`Rows for ${table.name}`}>
        <p>Each row that you paste is marked here: accepted, or refused with the reason.</p>
        <p class="send-columns">
          {table.columns.map(({ name, type, required }) => (
            <code key={name}>
              {name} {type}
              {required ? ' NOT NULL' : ''}
            </code>
          ))}
        </p>
      </Empty>
    );
  if (answer.reports.length > 0)
    return (
      <div class="note bad">
        {answer.reports.map(({ message, code }) => (
          <span key={message}>
            {message} <span class="code">{code}</span>
          </span>
        ))}
      </div>
    );
  return (
    <>
      <p class="checked-sum" role="status">
        <span class="badge good">{count(answer.accepted)} accepted</span>
        {answer.rejected > 0 && <span class="badge bad">{count(answer.rejected)} refused</span>}
      </p>
      <ol class="checked">
        {answer.rows.map((row) => (
          <Checked key={row.index} row={row} />
        ))}
      </ol>
    </>
  );
}

function Checked({ row: { accepted, line, errors, warnings, raw, value } }: { row: CheckedRow }) {
  return (
    <li class={accepted ? 'accepted' : 'refused'}>
      <span class="checked-mark">
        <Icon name={accepted ? 'check' : 'cross'} />
        <span class="hidden-text">{accepted ? 'accepted' : 'refused'}</span>
        <span title="Line of the pasted text">{line}</span>
      </span>
      <span class="checked-row">
        <code>{value ?? raw}</code>
        {errors.map(({ column, message, hint }) => (
          <span key={message} class="checked-why">
            {column !== null && !message.includes(column) && <code>{column}: </code>}
            {message}
            {hint !== undefined && <span class="checked-hint"> {hint}</span>}
          </span>
        ))}
        {warnings.map(({ column }) => (
          <span key={column} class="checked-hint">
            The table has no column <code>{column}</code>: it is left out.
          </span>
        ))}
      </span>
    </li>
  );
}
