/** Own rows: pasted, each accepted or refused with the reason, a table made of them, sent into the running preview. */
import { useEffect, useState } from 'preact/hooks';
import type { CheckRowsAnswer, InferAnswer } from '../../../api/authoring/authoring-shapes.ts';
import type { QueryTable } from '../../../api/authoring/diagnostic-shapes.ts';
import { api } from '../../api/client.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { tell } from '../../parts/toasts.tsx';
import { CheckedRows } from './checked-rows.tsx';
import type { Desk } from './desk.ts';
import { curlFor, freeName, httpTables, statementOf, withTable } from './http-tables.ts';
import { bodyOf, sampleRow } from '../../lib/rows-text.ts';
import { sendRows } from './send-rows.ts';

const PAUSE_MS = 250;

type Props = { desk: Desk; run(): Promise<void> };

export function SendPane({ desk, run }: Props) {
  const tables = httpTables(desk.tables, desk.text.value);
  const [chosen, choose] = useState('');
  const table = tables.find(({ name }) => name === chosen) ?? tables[0] ?? null;
  const [checked, failure] = useChecked(desk, table);
  const [problem, setProblem] = useState<unknown>(null);
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    setProblem(null);
    try {
      await act();
    } catch (thrown) {
      setProblem(thrown);
    }
  };
  return (
    <div class="send-pane">
      <div class="send-left">
        <div class="field send-field">
          <div class="send-label">
            <label for="send-rows">Rows as JSON: one a line, an array, or a single object</label>
            {tables.length > 1 && <TableChoice tables={tables} chosen={table} choose={choose} />}
          </div>
          <textarea
            id="send-rows"
            class="input"
            spellcheck={false}
            value={desk.rows.value}
            placeholder={'{"id": 1, "price": 9.90, "at": "2026-01-01T00:00:00Z"}'}
            onInput={({ currentTarget }) => (desk.rows.value = currentTarget.value)}
          />
        </div>
        <SendButtons desk={desk} table={table} run={run} attempt={attempt} />
      </div>
      <div class="send-right">
        {problem !== null && <ProblemNote thrown={problem} />}
        {failure !== null && <ProblemNote thrown={failure} />}
        <CheckedRows table={table} rows={desk.rows.value} answer={checked} />
      </div>
    </div>
  );
}

type ChoiceProps = {
  tables: readonly QueryTable[];
  chosen: QueryTable | null;
  choose(name: string): void;
};

function TableChoice({ tables, chosen, choose }: ChoiceProps) {
  return (
    <label class="send-table">
      into{' '}
      <select
        class="input"
        value={chosen?.name ?? ''}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        {tables.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

type ButtonsProps = {
  desk: Desk;
  table: QueryTable | null;
  run(): Promise<void>;
  attempt(act: () => Promise<void>): Promise<void>;
};

function SendButtons({ desk, table, run, attempt }: ButtonsProps) {
  const { value: rows } = desk.rows;
  const { value: pipeline } = desk.preview.pipeline;
  const source = pipeline?.sources.find((found) => found.table === table?.name);
  const url = source?.rows_url ?? null;
  const send = async (): Promise<void> => {
    if (url === null) await run();
    const answer = await sendRows(desk, table?.name ?? '');
    const refused = answer.rejected === 0 ? '' : `, ${answer.rejected} refused`;
    tell(`${answer.accepted} accepted${refused}`);
  };
  const make = async (): Promise<void> => {
    const wanted = { rows, table: freeName('my_rows', desk.tables) };
    const guessed = await api.post<InferAnswer>('/schemas/infer', wanted);
    desk.replace(withTable(desk.text.value, guessed.sql, guessed.table));
    desk.onWritten();
    tell(`Table ${guessed.table} stands at the top of the query`);
  };
  const full = new URL(url ?? '/api/v1/pipelines/ID/tables/T/rows', location.origin).href;
  return (
    <div class="send-buttons">
      {table !== null && (
        <button
          type="button"
          class="button primary"
          disabled={bodyOf(rows) === null}
          onClick={() => void attempt(send)}
        >
          {url === null ? 'Run and send' : `Send to ${table.name}`}
        </button>
      )}
      <button
        type="button"
        class={`button ${table === null ? 'primary' : ''}`}
        disabled={rows.trim() === ''}
        onClick={() => void attempt(make)}
      >
        {table === null ? 'Guess the table' : 'New table from these'}
      </button>
      {table !== null && rows.trim() === '' && (
        <button
          type="button"
          class="button"
          onClick={() => (desk.rows.value = sampleRow(table.columns, new Date().toISOString()))}
        >
          Sample row
        </button>
      )}
      {url !== null && rows.trim() !== '' && (
        <CopyButton text={curlFor(full, rows)} label="Copy as curl" />
      )}
    </div>
  );
}

/** Each row against the table as the text declares it, while it is written. */
function useChecked(desk: Desk, table: QueryTable | null): [CheckRowsAnswer | null, unknown] {
  const [answer, setAnswer] = useState<CheckRowsAnswer | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const { value: rows } = desk.rows;
  const about = desk.validation.answer.value?.about ?? '';
  const sql = table === null ? null : statementOf(about, table);
  useEffect(() => {
    if (sql === null || rows.trim() === '') {
      setAnswer(null);
      setFailure(null);
      return undefined;
    }
    const stop = new AbortController();
    const check = async (): Promise<void> => {
      try {
        const body = { sql, rows };
        const next = await api.post<CheckRowsAnswer>('/schemas/check', body, {
          signal: stop.signal,
        });
        setAnswer(next);
        setFailure(null);
      } catch (thrown) {
        if (!stop.signal.aborted) setFailure(thrown);
      }
    };
    const timer = setTimeout(() => void check(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [sql, rows]);
  return [answer, failure];
}
