/**
 * State tables of what accumulators keep as entries: the values of DISTINCT, and of aggregates that need all of them.
 *
 * Place in the walk: stage 6, at snapshots of grouping operators. Accumulator i has the table `values<i>`: what names the group
 * (of a window also its pane), the values, and counts. A snapshot of changes tells the entries that changed, so that a large
 * group costs what came to it.
 * Failure: none; a sweep of entries makes the next table a whole one.
 */
import { assert, must } from '../base/assert.ts';
import type { Column } from '../batch/column.ts';
import { concatColumns } from '../batch/concat.ts';
import type { Field, Schema, SqlType } from '../batch/types.ts';
import { TIMESTAMP } from '../batch/types.ts';
import type { StateTable } from '../state/state-table.ts';
import type { GroupedAggregates } from './group-aggregates.ts';
import { constantTime } from './times.ts';

const PREFIX = 'values';

/** Groups of one pane; without panes there is one part, and `start` is null. */
export type EntryPart = {
  groups: GroupedAggregates;
  start: number | null;
  all: boolean;
  /** The routing hash of each group; absent: that of all columns of the index. */
  hashesOf?: (groups: Int32Array) => Uint32Array;
};

/** Which accumulator a table is of; -1: of none. */
export const entriesOf = (table: StateTable): number =>
  table.table.startsWith(PREFIX) ? Number(table.table.slice(PREFIX.length)) : -1;

/**
 * The tables of all accumulators with entries.
 *
 * @param like         groups without rows that tell the schema
 * @param whole        the tables are whole, whatever the parts are
 * @param droppedBelow panes that start before this are gone
 */
export function entryTables(
  like: GroupedAggregates,
  parts: readonly EntryPart[],
  whole: boolean,
  droppedBelow: number | null = null,
): StateTable[] {
  return like.accumulators.flatMap(({ entries }, at) => {
    if (entries === undefined) return [];
    const taken = parts.map((part) => ({
      ...part,
      changes: must(part.groups.accumulators[at]?.entries, 'entries').takeEntries(part.all),
    }));
    const paned = parts.some(({ start }) => start !== null);
    const schema = schemaOf(like, entries.valueTypes, entries.countTypes, paned);
    const width = schema.length - entries.countTypes.length;
    const rows = taken.map((part) => rowsOf(part, part.changes.groups, part.changes.columns));
    const gone = taken.map((part) =>
      rowsOf(part, part.changes.removedGroups, part.changes.removed),
    );
    // Of a pane nothing is ever removed, so that all its entries are no less than what changed.
    const isWhole = whole || (!paned && taken.some(({ changes }) => changes.whole));
    const table = joined(rows, schema);
    const removed = joined(gone, schema.slice(0, width));
    assert(!isWhole || removed.rows === 0, 'a whole table removes nothing');
    if (!isWhole && table.rows === 0 && removed.rows === 0 && droppedBelow === null) return [];
    return [
      {
        table: `${PREFIX}${at}`,
        schema,
        ...table,
        changes: isWhole
          ? null
          : { keyColumns: width, removed: removed.rows === 0 ? null : removed, droppedBelow },
      },
    ];
  });
}

type Rows = { rows: number; columns: readonly Column[]; hashes: Uint32Array };

function rowsOf(
  { groups, start, hashesOf }: EntryPart,
  owners: Int32Array,
  columns: readonly Column[],
): Rows {
  return {
    rows: owners.length,
    columns: [
      ...(start === null ? [] : [constantTime(start, owners.length)]),
      ...groups.index.keyColumns(owners),
      ...columns,
    ],
    hashes: hashesOf === undefined ? groups.index.hashesOf(owners) : hashesOf(owners),
  };
}

function joined(parts: readonly Rows[], schema: Schema): Rows {
  const [only, second] = parts;
  if (only !== undefined && second === undefined) return only;
  const hashes = new Uint32Array(parts.reduce((sum, { rows }) => sum + rows, 0));
  let at = 0;
  for (const part of parts) {
    hashes.set(part.hashes, at);
    at += part.rows;
  }
  const columns = schema.map((_, column) =>
    concatColumns(parts.map((part) => must(part.columns[column], 'a column of entries'))),
  );
  return { rows: hashes.length, columns, hashes };
}

function schemaOf(
  like: GroupedAggregates,
  values: readonly SqlType[],
  counts: readonly SqlType[],
  paned: boolean,
): Schema {
  const field = (name: string, type: SqlType): Field => ({ name, type, nullable: true });
  return [
    ...(paned ? [{ ...field('pane_start', TIMESTAMP), nullable: false }] : []),
    ...like.keySchema(),
    ...values.map((type, at) => field(`value${at}`, type)),
    ...counts.map((type, at) => field(`count${at}`, type)),
  ];
}
