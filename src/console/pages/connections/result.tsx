/** What the wizard has made: the SQL, where to send rows to, and the ways on. */
import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import type { ConnectionTable } from '../../../api/connections/connection-shapes.ts';
import type { Connector } from '../../../api/meta/connector-shapes.ts';
import { api } from '../../api/client.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { tell, tellFailure } from '../../parts/toasts.tsx';
import { addToDraft } from './add-to-draft.ts';
import type { Draft } from './draft.ts';
import { IngestSnippets } from '../../parts/ingest-snippets.tsx';
import { storedTableOf } from './stored-table.ts';

type Props = {
  draft: Draft;
  connector: Connector;
  sql: string;
  problems: readonly string[];
  sample: string;
};

export function Result({ draft, connector, sql, problems, sample }: Props) {
  const { route } = useLocation();
  const [busy, setBusy] = useState(false);
  const stored = storedTableOf(draft, connector);
  const store = async (): Promise<void> => {
    setBusy(true);
    try {
      const table = await api.post<ConnectionTable>('/connection_tables', stored);
      tell(`${table.name} is stored: every query may name it now`);
      route(`/connections/tables/${table.id}`);
    } catch (thrown) {
      tellFailure(thrown);
      setBusy(false);
    }
  };
  return (
    <aside class="wizard-result panel" aria-label="Result">
      <div class="panel-head">
        <h2>As SQL</h2>
        <div class="actions">
          <CopyButton text={sql} />
        </div>
      </div>
      <div class="panel-body wizard-step">
        <pre class="sql">{sql}</pre>
        {problems.length > 0 && (
          <ul class="note warn" aria-label="What is missing">
            {problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        )}
        <div class="buttons">
          <button
            type="button"
            class="button primary"
            disabled={problems.length > 0}
            onClick={() => route(addToDraft(sql))}
          >
            Use it in a new pipeline
          </button>
          <button
            type="button"
            class="button"
            disabled={busy || problems.length > 0 || stored === null}
            onClick={() => void store()}
          >
            Store it for every query
          </button>
        </div>
        {stored === null && (
          <p class="help faint">
            A column has a type that cannot be stored: use the table in the text of a pipeline.
          </p>
        )}
        {draft.connector === 'http' && draft.direction === 'source' && (
          <>
            <h3>Sending rows to it</h3>
            <p class="help">
              Once a pipeline with this table runs, its page shows these calls with the pipeline’s
              own address.
            </p>
            <IngestSnippets table={draft.table} pipelineId={null} sample={sample} />
          </>
        )}
      </div>
    </aside>
  );
}
