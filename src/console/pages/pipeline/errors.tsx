/** Rows that went wrong, each with what it was, what is wrong with it and what to do; and why generations ended. */
import { useLocation } from 'preact-iso';
import { useMemo, useState } from 'preact/hooks';
import type { z } from 'zod';
import type { JobLogPageSchema } from '../../../api/jobs/job-shapes.ts';
import type { ErrorRow, ErrorRows } from '../../../api/stream/detail-shapes.ts';
import { useLoaded } from '../../api/load.ts';
import { count } from '../../lib/format.ts';
import { Empty } from '../../parts/empty.tsx';
import { ErrorTable } from '../../parts/error-table.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Time } from '../../parts/time.tsx';
import { usePage } from './context.ts';
import { type CodeCount, codesOf, filterErrors, joinErrors } from './error-list.ts';

type JobLogPage = z.infer<typeof JobLogPageSchema>;

export function Errors() {
  return (
    <div class="errors">
      <RowErrors />
      <JobErrors />
    </div>
  );
}

const NONE: readonly ErrorRow[] = [];

function RowErrors() {
  const { feed, id } = usePage();
  const { query, route } = useLocation();
  const { data, failure } = useLoaded<ErrorRows>(`/pipelines/${id}/errors/rows?limit=1000`);
  const came = feed.errors.value;
  const all = useMemo(() => joinErrors(data?.data ?? NONE, came), [data, came]);
  const [search, setSearch] = useState('');
  const code = query['code'] ?? '';
  const rows = useMemo(() => filterErrors(all, code, search), [all, code, search]);
  const codes = useMemo(() => codesOf(all), [all]);
  const total = feed.status.value?.totals.errors ?? null;
  return (
    <section class="panel" aria-label="Rows that went wrong">
      <div class="panel-head">
        <h2>Rows</h2>
        <span class="faint">
          {count(rows.length)} shown
          {total !== null &&
            total > rows.length &&
            `, ${count(total)} counted since the pipeline began`}
        </span>
        <div class="actions">
          <label>
            <span class="hidden-text">Search errors</span>
            <input
              class="input small"
              type="search"
              placeholder="Search"
              value={search}
              onInput={(event) => setSearch(event.currentTarget.value)}
            />
          </label>
          <CodeFilter
            codes={codes}
            code={code}
            total={all.length}
            onChoose={(next) =>
              route(`/pipelines/${id}/errors${next === '' ? '' : `?code=${next}`}`, true)
            }
          />
        </div>
      </div>
      {failure !== null && <ProblemNote thrown={failure} />}
      <ErrorTable
        rows={rows}
        height="24rem"
        empty={<NoErrors loading={data === null} filtered={all.length > 0} />}
      />
    </section>
  );
}

function NoErrors({ loading, filtered }: { loading: boolean; filtered: boolean }) {
  if (loading) return <div class="later" style={{ minHeight: '10rem' }} />;
  if (filtered)
    return (
      <Empty title="None of these">
        <p>No row fits the search and the code.</p>
      </Empty>
    );
  return (
    <Empty title="Every row was understood">
      <p>
        A row that cannot be decoded or computed (a text where a number belongs, a division by zero)
        is counted and shown here with its raw text, the column and the reason. It never stops the
        pipeline, unless its table says <code>bad_data = 'fail'</code>.
      </p>
    </Empty>
  );
}

type FilterProps = {
  codes: readonly CodeCount[];
  code: string;
  total: number;
  onChoose(code: string): void;
};

function CodeFilter({ codes, code, total, onChoose }: FilterProps) {
  return (
    <label>
      <span class="hidden-text">Code</span>
      <select
        class="input small"
        value={code}
        onChange={(event) => onChoose(event.currentTarget.value)}
      >
        <option value="">All codes ({count(total)})</option>
        {codes.map((one) => (
          <option key={one.code} value={one.code}>
            {one.code} ({count(one.count)})
          </option>
        ))}
        {code !== '' && !codes.some((one) => one.code === code) && (
          <option value={code}>{code} (0)</option>
        )}
      </select>
    </label>
  );
}

function JobErrors() {
  const { feed, id } = usePage();
  const job = feed.status.value?.job_id ?? null;
  const { data, failure } = useLoaded<JobLogPage>(
    job === null ? null : `/pipelines/${id}/jobs/${job}/errors?limit=50`,
  );
  const entries = (data?.data ?? []).filter(({ operator_id: operator }) => operator === null);
  return (
    <section class="panel" aria-label="Why generations ended">
      <div class="panel-head">
        <h2>Generations that failed</h2>
      </div>
      {failure !== null && <ProblemNote thrown={failure} />}
      {entries.length === 0 ? (
        <Empty title="None has">
          <p>
            When a host or the store fails, the reason stands here, and a new generation goes on
            from the newest epoch.
          </p>
        </Empty>
      ) : (
        <ul class="job-errors" tabIndex={0} aria-label="Failures, newest first">
          {entries.map((entry) => (
            <li key={entry.id}>
              <Time at={entry.created_at} /> <code>{entry.code}</code>
              <strong>{entry.message}</strong>
              {entry.details !== '' && <span>{entry.details}</span>}
              <span class="faint">generation {entry.generation}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
