/** One stored table: what it stands for, who uses it, and how to send it rows. */
import { useLocation, useRoute } from 'preact-iso';
import type { ConnectionTable } from '../../../api/connections/connection-shapes.ts';
import { useLoaded } from '../../api/load.ts';
import { count } from '../../lib/format.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Time } from '../../parts/time.tsx';
import { addToDraft } from './add-to-draft.ts';
import './page.css';

type Tables = { data: ConnectionTable[]; hasMore: boolean };

export function StoredTablePage() {
  const { params } = useRoute();
  const { route } = useLocation();
  const { data, failure } = useLoaded<Tables>('/connection_tables?limit=100');
  const table = data?.data.find(({ id }) => id === params['id']);
  if (failure !== null) return <ProblemNote thrown={failure} />;
  if (data === null) return <div class="page-head" />;
  if (table === undefined)
    return (
      <Empty title="There is no such stored table">
        <a class="button" href="/connections">
          Those there are
        </a>
      </Empty>
    );
  const use =
    table.table_type === 'sink'
      ? `INSERT INTO ${table.name}\nSELECT …`
      : `SELECT *\nFROM ${table.name};`;
  return (
    <>
      <div class="page-head">
        <h1>{table.name}</h1>
        <div class="actions">
          <button type="button" class="button primary" onClick={() => route(addToDraft(use))}>
            Use it in a new pipeline
          </button>
        </div>
      </div>
      <dl class="facts panel panel-body">
        <Fact name="Connector">{table.connector}</Fact>
        <Fact name="Used as">{table.table_type}</Fact>
        <Fact name="Pipelines">{count(table.consumers)}</Fact>
        <Fact name="Created">
          <Time at={table.created_at} />
        </Fact>
      </dl>
      <section class="panel connections-profiles" aria-label="Declaration">
        <div class="panel-head">
          <h2>Stands for</h2>
          <div class="actions">
            <CopyButton text={table.sql} />
          </div>
        </div>
        <pre class="sql panel-body">{table.sql}</pre>
      </section>
    </>
  );
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
