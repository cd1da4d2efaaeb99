/** The rows of one output: a log of them, newest at the end, or of an updating one what is true now. */
import { useMemo } from 'preact/hooks';
import { changeOf, type Op, type StateRow } from '../../lib/current-state.ts';
import { type ExactRow, jsonText } from '../../lib/exact-rows.ts';
import { utc } from '../../lib/format.ts';
import type { RingRow } from '../../lib/row-ring.ts';
import { type TableColumn, VirtualTable } from '../virtual-table.tsx';
import { isNumeric, Value, widthOf } from './cells.tsx';
import type { OutputColumn } from './output.ts';

const ROW_HEIGHT = 28;
const NUMBER_WIDTH = 76;
const OP_WIDTH = 92;

const WORDS: Record<Op, string> = { c: 'added', r: 'added', u: 'changed', d: 'removed' };

type LogProps = {
  label: string;
  rows: readonly RingRow[];
  columns: readonly OutputColumn[];
  updating: boolean;
  follow: boolean;
};

export function LogGrid({ label, rows, columns, updating, follow }: LogProps) {
  const shown = useMemo(() => logColumns(columns, updating), [columns, updating]);
  const width = totalWidth(columns) + NUMBER_WIDTH + (updating ? OP_WIDTH : 0);
  return (
    <VirtualTable
      label={label}
      height="100%"
      rowHeight={ROW_HEIGHT}
      minWidth={`${width}px`}
      columns={shown}
      rows={rows}
      rowKey={({ number }) => number}
      follow={follow}
      recycle
      {...(updating ? { rowClass: (row: RingRow) => `op-${changeOf(row.values)?.op ?? ''}` } : {})}
    />
  );
}

const totalWidth = (columns: readonly OutputColumn[]): number =>
  columns.reduce((sum, column) => sum + widthOf(column), 0);

function logColumns(columns: readonly OutputColumn[], updating: boolean): TableColumn<RingRow>[] {
  const number: TableColumn<RingRow> = {
    key: '#',
    title: '#',
    width: `${NUMBER_WIDTH}px`,
    numeric: true,
    cell: ({ number: n, time }) => (
      <span class="value-index" title={`came ${utc(time, 'millis')} UTC`}>
        {n + 1}
      </span>
    ),
  };
  const op: TableColumn<RingRow> = {
    key: 'op',
    title: 'Change',
    width: `${OP_WIDTH}px`,
    cell: ({ values }) => {
      const change = changeOf(values);
      return change === null ? '' : <span class={`op op-${change.op}`}>{WORDS[change.op]}</span>;
    },
  };
  const rest = columns.map((column) =>
    dataColumn<RingRow>(column, ({ values }) =>
      updating ? (
        <Changed values={values} column={column} />
      ) : (
        <Value value={values[column.name]} type={column.type} />
      ),
    ),
  );
  return updating ? [number, op, ...rest] : [number, ...rest];
}

/** A value before and after, where it differs. */
function Changed({ values, column }: { values: ExactRow; column: OutputColumn }) {
  const { name, type } = column;
  const change = changeOf(values);
  if (change === null) return <Value value={values[name]} type={type} />;
  const { before, after } = change;
  if (after === null) return <Value value={before?.[name]} type={type} />;
  const same = before === null || jsonText(before[name] ?? null) === jsonText(after[name] ?? null);
  return (
    <>
      {!same && (
        <>
          <s class="value-before">
            <Value value={before[name]} type={type} />
          </s>{' '}
        </>
      )}
      <Value value={after[name]} type={type} />
    </>
  );
}

function dataColumn<Row>(column: OutputColumn, cell: TableColumn<Row>['cell']): TableColumn<Row> {
  return {
    key: `column ${column.name}`,
    title: column.name,
    note: column.type,
    width: `minmax(${widthOf(column)}px, 1fr)`,
    numeric: isNumeric(column),
    cell,
  };
}

type StateProps = {
  label: string;
  rows: readonly StateRow[];
  columns: readonly OutputColumn[];
};

export function StateGrid({ label, rows, columns }: StateProps) {
  const shown = useMemo(
    () =>
      columns.map((column) =>
        dataColumn<StateRow>(column, ({ values, changes, fresh }) => (
          <span key={changes} class={fresh.has(column.name) ? 'value-fresh' : ''}>
            <Value value={values[column.name]} type={column.type} />
          </span>
        )),
      ),
    [columns],
  );
  return (
    <VirtualTable
      label={label}
      height="100%"
      rowHeight={ROW_HEIGHT}
      minWidth={`${totalWidth(columns)}px`}
      columns={shown}
      rows={rows}
      rowKey={({ id }) => id}
    />
  );
}
