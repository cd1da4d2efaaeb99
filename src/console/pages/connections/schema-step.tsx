/** The columns: guessed from pasted rows, changed by hand, and each pasted row accepted or refused by what they are now. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CheckRowsAnswer, InferAnswer } from '../../../api/authoring/authoring-shapes.ts';
import { api } from '../../api/client.ts';
import { count } from '../../lib/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import type { Draft, DraftColumn } from './draft.ts';

type Props = {
  draft: Draft;
  sample: string;
  sql: string;
  onSample(text: string): void;
  onChange(part: Partial<Draft>): void;
};

const PAUSE_MS = 300;
const TYPES = [
  'BIGINT',
  'INT',
  'SMALLINT',
  'DOUBLE',
  'DECIMAL(38, 9)',
  'BOOLEAN',
  'TEXT',
  'TIMESTAMP',
  'DATE',
  'TIME',
  'JSON',
  'BYTEA',
  'TEXT[]',
  'BIGINT[]',
  'DOUBLE[]',
];

export function SchemaStep({ draft, sample, sql, onSample, onChange }: Props) {
  const [failure, setFailure] = useState<unknown>(null);
  const infer = async (rows: string): Promise<void> => {
    onSample(rows);
    if (rows.trim() === '') return;
    try {
      const found = await api.post<InferAnswer>('/schemas/infer', { rows, table: draft.table });
      setFailure(null);
      onChange({
        columns: found.columns.map(({ name, type, required }) => ({ name, type, required })),
        eventTime: found.event_time ?? '',
      });
    } catch (thrown) {
      setFailure(thrown);
    }
  };
  return (
    <section class="panel panel-body wizard-step" aria-label="Columns">
      <h2>Columns</h2>
      <div class="field">
        <label for="sample">A few rows, as JSON</label>
        <textarea
          id="sample"
          class="input"
          rows={5}
          spellcheck={false}
          placeholder={'{"id": 1, "at": "2026-01-01T00:00:00Z"}'}
          value={sample}
          onInput={(event) => void infer(event.currentTarget.value)}
        />
        <span class="help">
          One object a line, or an array. Nothing is sent anywhere but to your server.
        </span>
      </div>
      {failure !== null && <ProblemNote thrown={failure} />}
      <ColumnTable columns={draft.columns} onChange={(columns) => onChange({ columns })} />
      {draft.direction === 'source' && draft.columns.length > 0 && (
        <EventTime draft={draft} onChange={onChange} />
      )}
      <CheckedRows sql={sql} sample={draft.columns.length === 0 ? '' : sample} />
    </section>
  );
}

type ColumnsProps = {
  columns: readonly DraftColumn[];
  onChange(columns: DraftColumn[]): void;
};

function ColumnTable({ columns, onChange }: ColumnsProps) {
  const change = (index: number, part: Partial<DraftColumn>): void =>
    onChange(columns.map((column, at) => (at === index ? { ...column, ...part } : column)));
  return (
    <div class="columns-edit">
      {columns.map(({ name, type, required }, index) => (
        <div key={index} class="column-edit">
          <input
            class="input"
            aria-label={`Name of column ${index + 1}`}
            value={name}
            onInput={(event) => change(index, { name: event.currentTarget.value })}
          />
          <input
            class="input"
            list="column-types"
            aria-label={`Type of ${name}`}
            value={type}
            onInput={(event) => change(index, { type: event.currentTarget.value })}
          />
          <label class="check">
            <input
              type="checkbox"
              checked={required}
              onChange={(event) => change(index, { required: event.currentTarget.checked })}
            />
            needed
          </label>
          <button
            type="button"
            class="button small quiet"
            aria-label={`Remove ${name}`}
            onClick={() => onChange(columns.filter((_, at) => at !== index))}
          >
            <Icon name="cross" />
          </button>
        </div>
      ))}
      <datalist id="column-types">
        {TYPES.map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
      <button
        type="button"
        class="button small"
        onClick={() =>
          onChange([
            ...columns,
            { name: `column_${columns.length + 1}`, type: 'TEXT', required: false },
          ])
        }
      >
        <Icon name="add" />
        Add a column
      </button>
    </div>
  );
}

function EventTime({ draft, onChange }: Pick<Props, 'draft' | 'onChange'>) {
  const candidates = draft.columns.filter(({ type }) => type.startsWith('TIMESTAMP'));
  return (
    <div class="wizard-fields">
      <div class="field">
        <label for="event-time">Event time</label>
        <select
          id="event-time"
          class="input"
          value={draft.eventTime}
          onChange={(event) => onChange({ eventTime: event.currentTarget.value })}
        >
          <option value="">the moment a row arrives</option>
          {candidates.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <span class="help">What windows count by.</span>
      </div>
      {draft.eventTime !== '' && (
        <div class="field">
          <label for="delay">Rows come at most this many seconds late</label>
          <input
            id="delay"
            class="input"
            inputMode="decimal"
            value={draft.delaySeconds}
            onInput={(event) => onChange({ delaySeconds: event.currentTarget.value })}
          />
          <span class="help">A window closes that much after its end.</span>
        </div>
      )}
    </div>
  );
}

function CheckedRows({ sql, sample }: { sql: string; sample: string }) {
  const [answer, setAnswer] = useState<CheckRowsAnswer | null>(null);
  const turn = useRef(0);
  useEffect(() => {
    turn.current++;
    const mine = turn.current;
    if (sample.trim() === '') {
      setAnswer(null);
      return undefined;
    }
    const timer = setTimeout(() => {
      api.post<CheckRowsAnswer>('/schemas/check', { sql, rows: sample }).then(
        (found) => {
          if (mine === turn.current) setAnswer(found);
        },
        () => {
          if (mine === turn.current) setAnswer(null);
        },
      );
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [sql, sample]);
  if (answer === null) return null;
  return (
    <div class="checked" role="status">
      {answer.reports.map(({ code, message }) => (
        <p key={message} class="note bad">
          {message} <span class="code">{code}</span>
        </p>
      ))}
      {answer.reports.length === 0 && (
        <p class={answer.rejected === 0 ? 'good-text' : 'bad-text'}>
          {count(answer.accepted)} accepted, {count(answer.rejected)} refused
        </p>
      )}
      <ul class="checked-rows">
        {answer.rows.slice(0, SHOWN_ROWS).map(({ index, accepted, errors, raw }) => (
          <li key={index} class={accepted ? '' : 'refused'}>
            <Icon name={accepted ? 'check' : 'cross'} />
            <code>{raw}</code>
            {errors.map(({ code, column, message }) => (
              <span key={`${code}${column}`} class="bad-text">
                {message}
              </span>
            ))}
          </li>
        ))}
      </ul>
    </div>
  );
}

const SHOWN_ROWS = 20;
