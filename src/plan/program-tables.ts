/** What a program declares, for editors: its tables and views with their columns, as far as they are known. */
import type { Span } from '../base/errors.ts';
import type { Schema, SqlType } from '../batch/types.ts';
import type { Statement } from '../sql/ast-statement.ts';
import type { ConnectorDeclaration } from './declaration.ts';
import { Diagnostics } from './diagnostics.ts';
import type { BoundQuery } from './scope.ts';
import { type Table, bindTable } from './table.ts';

export type TableKind = 'source' | 'sink' | 'memory' | 'view' | 'lookup';

export type TableColumnInfo = { name: string; type: SqlType; required: boolean };

export type ProgramTable = {
  name: string;
  kind: TableKind;
  connector: string | null;
  columns: TableColumnInfo[];
  /** Of its name, where it is declared. */
  span: Span | null;
};

export const columnsOfSchema = (schema: Schema): TableColumnInfo[] =>
  schema.map(({ name, type, nullable }) => ({ name, type, required: !nullable }));

const columnsOfQuery = ({ columns }: BoundQuery): TableColumnInfo[] =>
  columns
    .filter(({ broken }) => !broken)
    .map(({ name, type, nullable }) => ({ name, type, required: !nullable }));

export const viewInfo = (name: string, query: BoundQuery, span: Span | null): ProgramTable => ({
  name,
  kind: 'view',
  connector: null,
  columns: columnsOfQuery(query),
  span,
});

export function tableInfo(table: Table): ProgramTable {
  return {
    name: table.name.name,
    kind: kindOf(table),
    connector: table.memory ? 'memory' : (table.connector?.name ?? null),
    columns: columnsOf(table),
    span: table.name.span,
  };
}

function kindOf({ memory, temporary, role, connector }: Table): TableKind {
  if (memory) return 'memory';
  if (temporary) return 'lookup';
  if (role !== null) return role;
  return connector?.source === false ? 'sink' : 'source';
}

/** As it is read or written where that is known, otherwise as it is declared. */
function columnsOf({ source, sink, columns, connector }: Table): TableColumnInfo[] {
  if (source !== null && source.columns.length > 0) return columnsOfQuery(source);
  if (columns !== null)
    return columns
      .filter(({ broken }) => !broken)
      .map(({ name, type, notNull }) => ({ name, type, required: notNull }));
  if (sink !== null && sink.columns !== null)
    return sink.columns.map(({ name, type, notNull }) => ({ name, type, required: notNull }));
  return columnsOfSchema(connector?.schema ?? []);
}

/** A CREATE TABLE on its own, as far as it can be read. */
export function declaredTable(
  statement: Statement,
  connectors: readonly ConnectorDeclaration[],
): ProgramTable[] {
  if (statement.tag !== 'create_table') return [];
  return [tableInfo(bindTable(statement, { connectors }, new Diagnostics()))];
}
