/** Values of rows as a reader needs them: every digit, NULL as such, objects as JSON. */
import { cellText, type Exact, ExactNumber, type ExactRow } from '../../lib/exact-rows.ts';
import { localTime } from '../../lib/format.ts';
import type { OutputColumn } from './output.ts';

type ValueProps = { value: Exact | undefined; type: string };

export function Value({ value, type }: ValueProps) {
  if (value === undefined || value === null) return <span class="value-null">NULL</span>;
  if (type.startsWith('TIMESTAMP') && typeof value === 'string') return <Moment text={value} />;
  const text = cellText(value);
  const kind =
    value instanceof ExactNumber ? 'number' : typeof value === 'string' ? 'text' : 'other';
  return (
    <span class={`value-${kind}`} title={text.length > 20 ? text : undefined}>
      {text}
    </span>
  );
}

/** Times of rows are in UTC. */
function Moment({ text }: { text: string }) {
  const ms = Date.parse(/[zZ]$|[+-]\d\d:?\d\d$/.test(text) ? text : `${text}Z`);
  const title = Number.isNaN(ms) ? text : `${text} UTC\n${localTime(ms * 1000)}`;
  return (
    <span class="value-time" title={title}>
      {text.replace('T', ' ').replace(/Z$/, '')}
    </span>
  );
}

const NUMERIC = /^(TINYINT|SMALLINT|INT|INTEGER|BIGINT|UINT|REAL|FLOAT|DOUBLE|DECIMAL|NUMERIC)/;

export const isNumeric = ({ type }: OutputColumn): boolean => NUMERIC.test(type);

/** Narrower than this a column is not made; the table then scrolls sideways. */
export function widthOf({ name, type }: OutputColumn): number {
  const head = (name.length + type.length) * 7.2 + 36;
  const body = /^TIMESTAMP|^INTERVAL/.test(type)
    ? 190
    : type.startsWith('BOOL')
      ? 72
      : type.startsWith('TEXT')
        ? 148
        : 104;
  return Math.min(320, Math.max(head, body));
}

/** Where nothing is known of the columns: the names that a row has. */
export const columnsOfRow = (row: ExactRow | undefined): OutputColumn[] =>
  Object.keys(row ?? {}).map((name) => ({ name, type: '' }));

/** Whether any value of a row holds a text, in any case. */
export function rowHas(row: ExactRow, lowered: string): boolean {
  for (const value of Object.values(row))
    if (cellText(value).toLowerCase().includes(lowered)) return true;
  return false;
}
