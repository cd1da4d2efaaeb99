/** Rows that went wrong, one a line; an opened one with its hint, its place and its whole text. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ErrorRow } from '../../api/stream/detail-shapes.ts';
import { CopyButton } from './copy-button.tsx';
import { CloseButton } from './close-button.tsx';
import './error-table.css';
import { Time } from './time.tsx';
import { type TableColumn, VirtualTable } from './virtual-table.tsx';

type Props = {
  /** Newest first. */
  rows: readonly ErrorRow[];
  /** Of CSS. */
  height: string;
  empty: ComponentChildren;
};

export function ErrorTable({ rows, height, empty }: Props) {
  const [opened, setOpened] = useState<ErrorRow | null>(null);
  return (
    <div class={opened === null ? 'errors-list' : 'errors-list errors-split'}>
      <VirtualTable
        label="Rows that went wrong, newest first"
        height={height}
        minWidth="58rem"
        columns={COLUMNS}
        rows={rows}
        rowKey={(row) => row.id}
        selectedKey={opened?.id ?? null}
        onOpen={(row) => setOpened(row)}
        empty={empty}
      />
      {opened !== null && <RowDetail row={opened} onClose={() => setOpened(null)} />}
    </div>
  );
}

const COLUMNS: readonly TableColumn<ErrorRow>[] = [
  {
    key: 'time',
    title: 'UTC',
    width: '7rem',
    cell: ({ time }) => <Time at={time} show="millis" />,
  },
  { key: 'code', title: 'Code', width: '11rem', cell: ({ code }) => <code>{code}</code> },
  {
    key: 'where',
    title: 'Where',
    width: 'minmax(6rem, 1fr)',
    cell: ({ table, operator_id: operator }) => table ?? operator,
  },
  {
    key: 'column',
    title: 'Column',
    width: 'minmax(7rem, 1fr)',
    cell: ({ column }) => <code>{column ?? ''}</code>,
  },
  { key: 'reason', title: 'Reason', width: 'minmax(14rem, 3fr)', cell: ({ reason }) => reason },
  {
    key: 'raw',
    title: 'Raw row',
    width: 'minmax(10rem, 2fr)',
    cell: ({ raw }) => <code>{raw ?? ''}</code>,
  },
];

function RowDetail({ row, onClose }: { row: ErrorRow; onClose(): void }) {
  const { operator_id: operator, subtask, partition, generation, raw_sha256: hash } = row;
  const where = [
    row.table === null ? operator : `table ${row.table} (${operator})`,
    `subtask ${subtask}`,
    ...(partition === null ? [] : [`partition ${partition}`]),
    generation === 0 ? 'refused when it was sent' : `generation ${generation}`,
  ];
  return (
    <aside class="error-detail" aria-label="The row">
      <div class="panel-head">
        <h3>
          <code>{row.code}</code>
          {row.column !== null && (
            <>
              {' '}
              in <code>{row.column}</code>
            </>
          )}
        </h3>
        <div class="actions">
          <CloseButton onClose={onClose} />
        </div>
      </div>
      <div class="panel-body">
        <p>{row.reason}</p>
        {row.hint !== null && <p class="note">{row.hint}</p>}
        <p class="faint">
          {where.join(', ')}, <Time at={row.time} /> UTC
        </p>
        {row.raw === null ? (
          <p class="faint">
            {hash === null ? 'It has no raw text.' : 'Its text is redacted; only its hash is kept.'}
          </p>
        ) : (
          <>
            <pre class="raw-row" tabIndex={0}>
              {row.raw}
            </pre>
            <CopyButton text={row.raw} label="Copy the row" />
          </>
        )}
        {hash !== null && (
          <p class="faint">
            SHA-256 <code class="hash">{hash}</code>
          </p>
        )}
      </div>
    </aside>
  );
}
