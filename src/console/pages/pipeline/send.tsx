/** Rows for the http tables of this pipeline: pasted and sent from here, or from a program with the calls beside. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { postRows, type RowsAnswer } from '../../api/rows.ts';
import { count } from '../../lib/format.ts';
import { bodyOf, sampleRow } from '../../lib/rows-text.ts';
import { Empty } from '../../parts/empty.tsx';
import { IngestSnippets } from '../../parts/ingest-snippets.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { type Pipeline, usePage } from './context.ts';

type Source = Pipeline['sources'][number];

export function Send() {
  const { pipeline, id } = usePage();
  const { query, route } = useLocation();
  const tables = pipeline.sources.filter(({ rows_url: url }) => url !== null);
  const table = tables.find((one) => one.table === query['table']) ?? tables[0];
  const [rows, setRows] = useState('');
  if (table === undefined)
    return (
      <div class="panel">
        <Empty title="Its tables take no rows by HTTP">
          <p>
            Rows can be sent to tables with <code>connector = 'http'</code>. This query reads from{' '}
            {pipeline.sources.map(({ connector }) => connector).join(', ')}.
          </p>
        </Empty>
      </div>
    );
  return (
    <div class="send-tab">
      <section class="panel" aria-label="Send rows">
        <div class="panel-head">
          <h2>Send rows to {tables.length === 1 ? table.table : ''}</h2>
          {tables.length > 1 && (
            <select
              class="input small"
              aria-label="Table"
              value={table.table}
              onChange={({ currentTarget }) =>
                route(
                  `/pipelines/${id}/send?table=${encodeURIComponent(currentTarget.value)}`,
                  true,
                )
              }
            >
              {tables.map(({ table: name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </div>
        <Form key={table.table} table={table} rows={rows} setRows={setRows} />
      </section>
      <section class="panel" aria-label="From a program">
        <div class="panel-head">
          <h2>From a program</h2>
        </div>
        <div class="panel-body">
          <IngestSnippets
            table={table.table}
            pipelineId={id}
            sample={rows.trim() === '' ? sampleRow(table.columns, SAMPLE_TIME) : rows}
          />
          <p class="faint">
            A request that is repeated with its <code>idempotency-key</code> stores nothing twice.
          </p>
        </div>
      </section>
    </div>
  );
}

/** In the calls: a fixed one, so that they do not change while they are copied. */
const SAMPLE_TIME = '2026-01-01T00:00:00Z';

type FormProps = { table: Source; rows: string; setRows(rows: string): void };

function Form({ table, rows, setRows }: FormProps) {
  const { id } = usePage();
  const [answer, setAnswer] = useState<RowsAnswer | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const send = async (): Promise<void> => {
    setBusy(true);
    setFailure(null);
    setAnswer(null);
    try {
      setAnswer(await postRows(id, table.table, rows));
    } catch (thrown) {
      setFailure(thrown);
    }
    setBusy(false);
  };
  return (
    <form
      class="panel-body"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div class="field">
        <label for="send-rows">Rows as JSON: one a line, an array, or a single object</label>
        <textarea
          id="send-rows"
          class="input"
          spellcheck={false}
          value={rows}
          placeholder={sampleRow(table.columns, SAMPLE_TIME)}
          onInput={({ currentTarget }) => setRows(currentTarget.value)}
        />
      </div>
      <div class="buttons-row">
        <button type="submit" class="button primary" disabled={busy || bodyOf(rows) === null}>
          Send
        </button>
        <button
          type="button"
          class="button"
          onClick={() => setRows(sampleRow(table.columns, new Date().toISOString()))}
        >
          Sample row
        </button>
      </div>
      {failure !== null && <ProblemNote thrown={failure} />}
      {answer !== null && <Answer answer={answer} />}
    </form>
  );
}

function Answer({ answer }: { answer: RowsAnswer }) {
  const { id } = usePage();
  const { accepted, rejected, errors, notice } = answer;
  return (
    <div role="status">
      <p class="sent-sum">
        <span class="badge good">{count(accepted)} accepted</span>
        {rejected > 0 && <span class="badge bad">{count(rejected)} refused</span>}
        {rejected > 0 && <a href={`/pipelines/${id}/errors`}>See them</a>}
      </p>
      {notice !== undefined && <p class="faint">{notice}</p>}
      {errors.length > 0 && (
        <ul class="sent-errors" tabIndex={0} aria-label="Refused rows">
          {errors.map(({ index, message, hint = '' }) => (
            <li key={`${index}/${message}`}>
              <span class="faint">row {count(index + 1)}</span>
              {message}
              {hint !== '' && <span class="faint"> {hint}</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
