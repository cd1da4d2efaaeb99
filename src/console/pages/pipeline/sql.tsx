/** The query as it runs, what it reads and writes, and its plans. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { QueryValidation } from '../../../api/pipelines/pipeline-shapes.ts';
import { api } from '../../api/client.ts';
import { sqlTokens } from '../../lib/sql-tokens.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { type Pipeline, usePage } from './context.ts';

export function Sql() {
  const { pipeline, id } = usePage();
  return (
    <div class="sql-tab">
      <section class="panel" aria-label="Query">
        <div class="panel-head">
          <h2>Query</h2>
          <span class="faint">as it runs; a changed one is a new pipeline</span>
          <div class="actions">
            <CopyButton text={pipeline.query} />
            <a class="button small" href={`/pipelines/new?from=${encodeURIComponent(id)}`}>
              <Icon name="edit" />
              Edit as new
            </a>
          </div>
        </div>
        <SqlText text={pipeline.query} label="The query" />
      </section>
      <div class="sql-side">
        <Tables pipeline={pipeline} />
        {pipeline.udfs.length > 0 && (
          <section class="panel" aria-label="Functions">
            <div class="panel-head">
              <h2>Functions of this query</h2>
            </div>
            {pipeline.udfs.map(({ definition }) => (
              <SqlText key={definition} text={definition} label="A function" />
            ))}
          </section>
        )}
      </div>
      <Plans pipeline={pipeline} />
    </div>
  );
}

function SqlText({ text, label }: { text: string; label: string }) {
  const tokens = useMemo(() => sqlTokens(text), [text]);
  return (
    <pre class="sql-text" tabIndex={0} role="region" aria-label={label}>
      {tokens.map(({ kind, text: part }, index) =>
        kind === 'text' ? (
          part
        ) : (
          <span key={index} class={`sql-${kind}`}>
            {part}
          </span>
        ),
      )}
    </pre>
  );
}

function Tables({ pipeline }: { pipeline: Pipeline }) {
  const { sources, sinks } = pipeline;
  return (
    <section class="panel" aria-label="Reads and writes">
      <div class="panel-head">
        <h2>Reads and writes</h2>
      </div>
      <ul class="sql-tables">
        {sources.map(({ operator_id: key, table, connector, columns, rows_url: url }) => (
          <li key={key}>
            <strong>{table}</strong> <span class="faint">source, {connector}</span>
            {url !== null && (
              <p>
                <code>POST {url}</code>{' '}
                <CopyButton text={`${location.origin}${url}`} label="Copy URL" />
              </p>
            )}
            <details>
              <summary>
                {columns.length} column{columns.length === 1 ? '' : 's'}
              </summary>
              <ul class="sql-columns">
                {columns.map(({ name, type, required }) => (
                  <li key={name}>
                    <code>{name}</code> <span>{type}</span>
                    {required && <span class="faint"> not null</span>}
                  </li>
                ))}
              </ul>
            </details>
          </li>
        ))}
        {sinks.map(({ operator_id: key, table, connector, path, updating }) => (
          <li key={key}>
            <strong>{table}</strong>{' '}
            <span class="faint">
              sink, {connector}
              {updating && ', updating'}
            </span>
            {path !== null && (
              <p>
                <code>{path}</code>
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Plans({ pipeline }: { pipeline: Pipeline }) {
  const [plan, setPlan] = useState<'physical' | 'logical'>('physical');
  const [told, setTold] = useState<QueryValidation | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const { query, parallelism } = pipeline;
  const udfs = JSON.stringify(pipeline.udfs);
  useEffect(() => {
    const stop = new AbortController();
    const body = { query, parallelism, udfs: JSON.parse(udfs) as Pipeline['udfs'] };
    api
      .post<QueryValidation>('/pipelines/validate_query', body, { signal: stop.signal })
      .then(setTold, (thrown: unknown) => {
        if (!stop.signal.aborted) setFailure(thrown);
      });
    return () => stop.abort();
  }, [query, parallelism, udfs]);
  return (
    <section class="panel sql-plans" aria-label="EXPLAIN">
      <div class="panel-head">
        <h2>EXPLAIN</h2>
        <div class="switch" role="group" aria-label="Which plan">
          {(['physical', 'logical'] as const).map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={plan === name}
              onClick={() => setPlan(name)}
            >
              {name === 'physical' ? 'Physical' : 'Logical'}
            </button>
          ))}
        </div>
        <div class="actions">{told !== null && <CopyButton text={told[plan]} />}</div>
      </div>
      {failure !== null && <ProblemNote thrown={failure} />}
      {told !== null && told.errors.length > 0 && (
        <p class="note warn">
          This version does not plan the query any more: {told.errors[0]?.message}
        </p>
      )}
      <pre class="plan-text" tabIndex={0} role="region" aria-label={`The ${plan} plan`}>
        {told === null ? ' ' : told[plan]}
      </pre>
    </section>
  );
}
