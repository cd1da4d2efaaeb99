/**
 * A table of any length: only the rows in sight are in the document. Rows are of one height; the head stays in place.
 * For assistive technology it is a table with its real number of rows.
 */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

export type TableColumn<Row> = {
  key: string;
  title: string;
  /** Beside the title, smaller: a type. */
  note?: string;
  /** A track of CSS grid: `8rem`, `minmax(10rem, 2fr)`. */
  width: string;
  numeric?: boolean;
  /** The head is then a button. */
  sortable?: boolean;
  cell(row: Row): ComponentChildren;
};

type Props<Row> = {
  label: string;
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  rowKey(row: Row, index: number): string | number;
  /** CSS height of the part that scrolls. */
  height: string;
  /** CSS width below which the table scrolls sideways. */
  minWidth?: string;
  rowHeight?: number;
  rowClass?(row: Row): string;
  /** Elements are used again for other rows: for rows that come by the thousand and hold nothing that has focus. */
  recycle?: boolean;
  onOpen?(row: Row): void;
  selectedKey?: string | number | null;
  sort?: { key: string; descending: boolean };
  onSort?(key: string): void;
  /** Keeps the newest row in sight, until the reader scrolls away from the end. */
  follow?: boolean;
  /** First and last row in sight; called when that changes. */
  onRange?(first: number, last: number): void;
  empty?: ComponentChildren;
};

const USUAL_ROW_HEIGHT = 36;
const AT_END_PX = 40;

export function VirtualTable<Row>(props: Props<Row>) {
  const { label, columns, rows, height, empty, rowHeight = USUAL_ROW_HEIGHT } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer(scroller, rows.length, rowHeight);
  const items = virtualizer.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  const { onRange } = props;
  useEffect(() => onRange?.(first, last), [first, last, onRange]);
  useFollow(scroller, rows, props.follow === true);
  const template = columns.map(({ width: track }) => track).join(' ');
  const width = props.minWidth === undefined ? {} : { minWidth: props.minWidth };
  return (
    <div
      class="table"
      ref={scroller}
      style={{ height }}
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      tabIndex={0}
    >
      <div role="rowgroup" class="table-head" style={width}>
        <Head {...props} template={template} />
      </div>
      {rows.length === 0 && empty !== undefined && (
        <div role="rowgroup">
          <div role="row">
            <div role="cell">{empty}</div>
          </div>
        </div>
      )}
      <div
        role="rowgroup"
        style={{ ...width, position: 'relative', height: `${virtualizer.getTotalSize()}px` }}
      >
        {items.map(({ index, start }, place) => {
          const row = rows[index];
          return row === undefined ? null : (
            <BodyRow
              key={props.recycle === true ? place : props.rowKey(row, index)}
              {...props}
              row={row}
              index={index}
              top={start}
              template={template}
              height={rowHeight}
            />
          );
        })}
      </div>
    </div>
  );
}

function Head<Row>({ columns, template, sort, onSort }: Props<Row> & { template: string }) {
  return (
    <div class="table-row" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
      {columns.map(({ key, title, note, numeric, sortable }) => {
        const sorted =
          sort?.key === key ? (sort.descending ? 'descending' : 'ascending') : undefined;
        return (
          <div
            key={key}
            role="columnheader"
            class={`table-cell ${numeric === true ? 'number' : ''}`}
            {...(sorted === undefined ? {} : { 'aria-sort': sorted })}
          >
            {sortable === true ? (
              <button type="button" onClick={() => onSort?.(key)}>
                {title}
                {sorted === 'ascending' ? ' ↑' : sorted === 'descending' ? ' ↓' : ''}
              </button>
            ) : (
              title
            )}
            {note !== undefined && <span class="table-note">{note}</span>}
          </div>
        );
      })}
    </div>
  );
}

type BodyRowProps<Row> = {
  row: Row;
  index: number;
  top: number;
  template: string;
  height: number | string;
};

function BodyRow<Row>(props: Omit<Props<Row>, 'height'> & BodyRowProps<Row>) {
  const { row, index, top, template, height, columns, onOpen, selectedKey } = props;
  const selected = selectedKey !== undefined && selectedKey === props.rowKey(row, index);
  const open =
    onOpen === undefined
      ? {}
      : {
          tabIndex: 0,
          onClick: () => onOpen(row),
          onKeyDown: (event: KeyboardEvent) => {
            if (event.key === 'Enter' && event.target === event.currentTarget) onOpen(row);
          },
        };
  return (
    <div
      class={`table-row ${onOpen === undefined ? '' : 'clickable'} ${props.rowClass?.(row) ?? ''}`}
      role="row"
      aria-rowindex={index + 2}
      {...(selectedKey === undefined ? {} : { 'aria-selected': selected })}
      style={{
        gridTemplateColumns: template,
        position: 'absolute',
        insetInline: 0,
        height: `${height}px`,
        transform: `translateY(${top}px)`,
      }}
      {...open}
    >
      {columns.map((column) => (
        <div
          key={column.key}
          role="cell"
          class={`table-cell ${column.numeric === true ? 'number' : ''}`}
        >
          {column.cell(row)}
        </div>
      ))}
    </div>
  );
}

function useVirtualizer(
  scroller: { current: HTMLDivElement | null },
  count: number,
  rowHeight: number,
): Virtualizer<HTMLDivElement, HTMLDivElement> {
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => redraw(undefined),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLDivElement, HTMLDivElement>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}

function useFollow(
  scroller: { current: HTMLDivElement | null },
  rows: readonly unknown[],
  follow: boolean,
): void {
  const atEnd = useRef(true);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const look = (): void => {
      atEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - AT_END_PX;
    };
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  }, [scroller]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (follow && atEnd.current && element !== null) element.scrollTop = element.scrollHeight;
  }, [rows, follow, scroller]);
}
