/** Stored tables, which every query may name without declaring them, and the profiles that they share. */
import { useState } from 'preact/hooks';
import type {
  ConnectionProfile,
  ConnectionTable,
} from '../../../api/connections/connection-shapes.ts';
import { api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { count } from '../../lib/format.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Time } from '../../parts/time.tsx';
import { tell } from '../../parts/toasts.tsx';
import { VirtualTable } from '../../parts/virtual-table.tsx';
import './page.css';

type Tables = { data: ConnectionTable[]; hasMore: boolean };
type Profiles = { data: ConnectionProfile[] };
type Doomed = { path: string; name: string };

export function ConnectionsPage() {
  const tables = useLoaded<Tables>('/connection_tables?limit=100');
  const profiles = useLoaded<Profiles>('/connection_profiles');
  const [doomed, setDoomed] = useState<Doomed | null>(null);
  return (
    <>
      <div class="page-head">
        <h1>Sources &amp; sinks</h1>
        <div class="actions">
          <a class="button primary" href="/connections/new">
            <Icon name="add" />
            New source or sink
          </a>
        </div>
      </div>
      {tables.failure !== null && <ProblemNote thrown={tables.failure} />}
      <section class="panel" aria-label="Stored tables">
        <div class="panel-head">
          <h2>Stored tables</h2>
        </div>
        <StoredTables
          tables={tables.data?.data ?? null}
          onDelete={({ id, name }) => setDoomed({ path: `/connection_tables/${id}`, name })}
        />
      </section>
      {(profiles.data?.data.length ?? 0) > 0 && (
        <section class="panel connections-profiles" aria-label="Profiles">
          <div class="panel-head">
            <h2>Profiles</h2>
          </div>
          <ul class="plain-list">
            {profiles.data?.data.map(({ id, name, connector }) => (
              <li key={id}>
                <strong>{name}</strong> <span class="faint">{connector}</span>
                <button
                  type="button"
                  class="button small quiet"
                  aria-label={`Delete profile ${name}`}
                  onClick={() => setDoomed({ path: `/connection_profiles/${id}`, name })}
                >
                  <Icon name="trash" />
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {doomed !== null && (
        <Dialog
          title={`Delete ${doomed.name}?`}
          action="Delete"
          danger
          onClose={() => setDoomed(null)}
          onConfirm={async () => {
            await api.remove(doomed.path);
            tell(`${doomed.name} is deleted`);
            tables.reload();
            profiles.reload();
          }}
        >
          <p>
            New queries can no longer name it. What it describes, files or rows, is not touched.
          </p>
        </Dialog>
      )}
    </>
  );
}

type StoredProps = {
  tables: readonly ConnectionTable[] | null;
  onDelete(table: ConnectionTable): void;
};

function StoredTables({ tables, onDelete }: StoredProps) {
  return (
    <VirtualTable
      label="Stored tables"
      height="22rem"
      rows={tables ?? []}
      rowKey={({ id }) => id}
      columns={[
        {
          key: 'name',
          title: 'Name',
          width: 'minmax(9rem, 1fr)',
          cell: ({ id, name }) => (
            <a class="row-link" href={`/connections/tables/${id}`}>
              {name}
            </a>
          ),
        },
        { key: 'connector', title: 'Connector', width: '8rem', cell: (table) => table.connector },
        { key: 'use', title: 'Used as', width: '6rem', cell: (table) => table.table_type },
        {
          key: 'consumers',
          title: 'Pipelines',
          width: '6rem',
          numeric: true,
          cell: ({ consumers }) => count(consumers),
        },
        {
          key: 'created',
          title: 'Created',
          width: '11rem',
          cell: ({ created_at: at }) => <Time at={at} />,
        },
        {
          key: 'actions',
          title: 'Actions',
          width: '5rem',
          cell: (table) => (
            <button
              type="button"
              class="button small quiet"
              aria-label={`Delete ${table.name}`}
              onClick={() => onDelete(table)}
            >
              <Icon name="trash" />
            </button>
          ),
        },
      ]}
      empty={
        tables === null ? (
          <span />
        ) : (
          <Empty title="No stored table yet">
            <p>
              A table can stand in the SQL of one pipeline, or be stored here once and then be named
              by every query. Describe one: choose what it connects to, paste a few rows, and its
              columns are guessed.
            </p>
            <a class="button primary" href="/connections/new">
              Describe a source or sink
            </a>
          </Empty>
        )
      }
    />
  );
}
