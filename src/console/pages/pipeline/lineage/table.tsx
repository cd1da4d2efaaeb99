/** The lineage as a table, for who reads rather than looks. */
import { bytes, count } from '../../../lib/format.ts';
import { Time } from '../../../parts/time.tsx';
import { type TableColumn, VirtualTable } from '../../../parts/virtual-table.tsx';
import type { RiverLayout, RiverNode } from './layout.ts';
import { stateWords } from './words.ts';

type Props = {
  layout: RiverLayout;
  selected: string | null;
  onOpen(node: RiverNode): void;
  onPicture(): void;
};

const COLUMNS: readonly TableColumn<RiverNode>[] = [
  { key: 'epoch', title: 'Epoch', width: '5rem', numeric: true, cell: ({ epoch }) => epoch },
  {
    key: 'generation',
    title: 'Generation',
    width: '6.5rem',
    numeric: true,
    cell: ({ kind, generation }) => (kind === 'running' ? '' : generation),
  },
  { key: 'state', title: 'What it is', width: 'minmax(13rem, 2fr)', cell: stateWords },
  {
    key: 'rows_in',
    title: 'Rows in',
    width: '7rem',
    numeric: true,
    cell: ({ canonical }) => number(canonical?.detail?.input_rows),
  },
  {
    key: 'rows_out',
    title: 'Rows out',
    width: '7rem',
    numeric: true,
    cell: ({ canonical }) => number(canonical?.detail?.output_rows),
  },
  {
    key: 'state_bytes',
    title: 'State',
    width: '6rem',
    numeric: true,
    cell: ({ canonical }) =>
      canonical?.detail === undefined || canonical.detail === null
        ? ''
        : bytes(canonical.detail.bytes),
  },
  {
    key: 'at',
    title: 'When (UTC)',
    width: '12rem',
    cell: ({ canonical }) => (canonical === null ? '' : <Time at={canonical.createdAt} />),
  },
];

const number = (value: number | null | undefined): string =>
  value === null || value === undefined ? '' : count(value);

export function LineageTable({ layout, selected, onOpen, onPicture }: Props) {
  const rows = [...layout.nodes].sort(
    (left, right) => right.epoch - left.epoch || left.row - right.row,
  );
  return (
    <>
      <div class="panel-head">
        <h2>Lineage</h2>
        <div class="actions">
          <button type="button" class="button small" onClick={onPicture}>
            As a picture
          </button>
        </div>
      </div>
      <VirtualTable
        label="Epochs, newest first, and what lost against them"
        height="24rem"
        minWidth="48rem"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ id }) => id}
        selectedKey={selected}
        onOpen={onOpen}
      />
    </>
  );
}
