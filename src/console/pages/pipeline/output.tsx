/** The rows that this pipeline shows, as they come; or where its rows go instead. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { QueryValidation } from '../../../api/pipelines/pipeline-shapes.ts';
import { api } from '../../api/client.ts';
import { Empty } from '../../parts/empty.tsx';
import { Results } from '../../parts/results/results.tsx';
import { type Pipeline, usePage } from './context.ts';

export function Output() {
  const { feed, pipeline } = usePage();
  const outputs = useMemo(
    () => feed.outputsFor(pipeline.sinks.filter(({ connector }) => connector === 'preview')),
    [feed, pipeline.sinks],
  );
  const columns = useColumns(pipeline);
  if (outputs.length === 0) return <NoPreview />;
  return (
    <section class="panel output" aria-label="Output">
      <Results
        outputs={outputs}
        columnsOf={(table) => columns?.find((one) => one.table === table)?.columns ?? null}
        waiting={<Waiting />}
      />
    </section>
  );
}

/** Types of the columns, from the planner; without them the names that the rows have do. */
function useColumns({ query, parallelism, udfs }: Pipeline): QueryValidation['outputs'] | null {
  const [outputs, setOutputs] = useState<QueryValidation['outputs'] | null>(null);
  const functions = JSON.stringify(udfs);
  useEffect(() => {
    const stop = new AbortController();
    const body = { query, parallelism, udfs: JSON.parse(functions) as Pipeline['udfs'] };
    api.post<QueryValidation>('/pipelines/validate_query', body, { signal: stop.signal }).then(
      (told) => setOutputs(told.outputs),
      () => undefined,
    );
    return () => stop.abort();
  }, [query, parallelism, functions]);
  return outputs;
}

function Waiting() {
  const { feed } = usePage();
  const health = feed.health.value;
  return (
    <Empty title="No row has come yet">
      <p>{health === null ? 'Rows appear here as the query computes them.' : health.sentence}</p>
      {health?.fix !== null && health?.fix !== undefined && <p>{health.fix.text}</p>}
    </Empty>
  );
}

function NoPreview() {
  const { id, pipeline } = usePage();
  return (
    <div class="panel">
      <Empty title="Its rows go to sinks, not here">
        <p>
          A <code>SELECT</code> without <code>INSERT INTO</code> shows its rows on this page. This
          query writes to{' '}
          {pipeline.sinks.map(({ table, connector }, index) => (
            <>
              {index > 0 && ', '}
              <code>{table}</code> ({connector})
            </>
          ))}
          .
        </p>
        <div class="buttons-row">
          <a class="button primary" href={`/pipelines/${id}/sinks`}>
            What the sinks hold
          </a>
          <a class="button" href={`/pipelines/new?from=${encodeURIComponent(id)}`}>
            Watch its rows in a preview
          </a>
        </div>
      </Empty>
    </div>
  );
}
