/**
 * CREATE TABLE → a table of the program.
 *
 * Whether a table is read or written is often told by its use only, so options and columns are bound in
 * two steps: what holds for both sides here, the rest when the side is known (`bind-source`, `bind-sink`).
 */
import type { Span } from '../base/errors.ts';
import { nearest } from '../base/nearest.ts';
import { type SqlType, TEXT } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { Expression } from '../sql/ast-expression.ts';
import type { Identifier } from '../sql/ast.ts';
import type {
  ColumnDefinition,
  CreateTable,
  TableOption,
  WatermarkConstraint,
} from '../sql/ast-statement.ts';
import { bindType } from './bind-type.ts';
import { type ConnectionProfile, withProfile } from './connection-profiles.ts';
import type { ConnectorDeclaration } from './declaration.ts';
import { type Diagnostics, withSuggestion } from './diagnostics.ts';
import type { SinkPlan } from './logical.ts';
import { nearestName } from './name-text.ts';
import {
  COMMON_OPTIONS,
  type Role,
  type WrittenOptions,
  collectOptions,
  readValue,
} from './options.ts';
import { modernOptions } from './older-options.ts';
import type { BoundQuery } from './scope.ts';

/** What tables can be made of. */
export type Catalog = {
  connectors: readonly ConnectorDeclaration[];
  /** Stored options that a table may name. */
  profiles?: readonly ConnectionProfile[];
};

export type TableColumn = {
  name: string;
  type: SqlType;
  notNull: boolean;
  definition: ColumnDefinition;
  /** Its type was refused. */
  broken: boolean;
};

export type Table = {
  name: Identifier;
  span: Span;
  connector: ConnectorDeclaration | null;
  /** It has no connector and no options: it is a name for what is inserted into it. */
  memory: boolean;
  written: WrittenOptions;
  /** Null: from the connector, or for a sink from its first INSERT. */
  columns: readonly TableColumn[] | null;
  primaryKey: readonly string[];
  partitionedBy: readonly Expression[];
  /** Read as a whole before a join with it begins. */
  temporary: boolean;
  watermark: WatermarkConstraint | null;
  role: Role | null;
  /** Bound on first reading. */
  source: BoundQuery | null;
  /** Bound on first writing. */
  sink: SinkTarget | null;
};

export type SinkTarget = Omit<SinkPlan, 'input' | 'schema' | 'keyColumns'> & {
  columns: readonly SinkColumn[] | null;
  /** Names of the PRIMARY KEY; empty: none given. */
  primaryKey: readonly string[];
  /** Whether it takes rows that are taken back later. */
  acceptsUpdates: boolean;
};

export type SinkColumn = { name: string; type: SqlType; notNull: boolean; fallback: Expr | null };

export function bindTable(
  statement: CreateTable,
  { connectors, profiles }: Catalog,
  diagnostics: Diagnostics,
): Table {
  const given = collectOptions(statement.options, diagnostics);
  const own = withProfile(given, profiles ?? [], diagnostics);
  const written = modernOptions(statement, own, diagnostics);
  const connector = bindConnector(statement, written, connectors, diagnostics);
  if (statement.temporary && connector !== null && connector.bounded === false)
    diagnostics.error(
      'UNSUPPORTED',
      `a TEMPORARY table can not be read from "${connector.name}", which never ends`,
      statement.name.span,
      {
        hint: "read a file: connector = 'single_file'; or leave the word out and join the table as it is",
      },
    );
  const watermarks = statement.constraints.filter((constraint) => constraint.tag === 'watermark');
  const [watermark, secondWatermark] = watermarks;
  if (secondWatermark !== undefined)
    diagnostics.error('INVALID_WATERMARK', 'a table has one WATERMARK FOR', secondWatermark.span);
  const columns = bindColumns(statement, written, diagnostics);
  return {
    name: statement.name,
    span: statement.name.span,
    connector,
    memory: isMemory(written),
    written,
    columns,
    primaryKey: bindPrimaryKey(statement, columns, diagnostics),
    partitionedBy: statement.partitionedBy,
    temporary: statement.temporary,
    watermark: watermark ?? null,
    role: bindRole(written.get('type'), connector, diagnostics),
    source: null,
    sink: null,
  };
}

/** `CREATE TABLE t (…)`, also with connector = 'memory'. */
function isMemory(written: WrittenOptions): boolean {
  const value = written.get('connector')?.value;
  if (value === undefined) return written.size === 0;
  return value.tag === 'string' && value.value === 'memory';
}

function bindConnector(
  statement: CreateTable,
  written: WrittenOptions,
  connectors: readonly ConnectorDeclaration[],
  diagnostics: Diagnostics,
): ConnectorDeclaration | null {
  const option = written.get('connector');
  const names = connectors.map((connector) => connector.name);
  if (isMemory(written)) return refuseOfMemory(statement, written, diagnostics);
  if (option === undefined) {
    diagnostics.error(
      'MISSING_OPTION',
      `table "${statement.name.text}" has no connector`,
      statement.name.span,
      {
        hint: `add WITH (connector = '…'), one of ${names.join(', ')}; a name for a query is made with CREATE VIEW`,
      },
    );
    return null;
  }
  const name = readValue(option, COMMON_OPTIONS[0] as (typeof COMMON_OPTIONS)[number], diagnostics);
  const found = connectors.find((connector) => connector.name === name);
  if (found === undefined && typeof name === 'string') {
    diagnostics.error(
      'UNKNOWN_CONNECTOR',
      `unknown connector "${name}"`,
      option.value.span,
      withSuggestion(nearest(name, names), `the connectors are ${names.join(', ')}`),
    );
  }
  return found ?? null;
}

/** What a table without a connector can not have. */
function refuseOfMemory(
  statement: CreateTable,
  written: WrittenOptions,
  diagnostics: Diagnostics,
): null {
  const [other] = [...written].filter(([key]) => key !== 'connector');
  if (other !== undefined)
    diagnostics.error('INVALID_OPTION', 'a memory table has no options', other[1].span, {
      hint: "set another connector: WITH (connector = '…')",
    });
  const [watermark] = statement.constraints.filter(({ tag }) => tag === 'watermark');
  if (watermark !== undefined)
    diagnostics.error('INVALID_WATERMARK', 'a memory table has no watermark', watermark.span, {
      hint: "its rows keep the event time they have; a table that is read from outside needs WITH (connector = '…')",
    });
  for (const { generatedAs } of statement.columns ?? [])
    if (generatedAs !== null)
      diagnostics.error('TYPE_ERROR', 'a memory table has no generated columns', generatedAs.span, {
        hint: 'compute the column in the INSERT',
      });
  return null;
}

function bindRole(
  option: TableOption | undefined,
  connector: ConnectorDeclaration | null,
  diagnostics: Diagnostics,
): Role | null {
  const only =
    connector === null || connector.source === connector.sink
      ? null
      : connector.source
        ? 'source'
        : 'sink';
  if (option === undefined) return only;
  const value = readValue(
    option,
    COMMON_OPTIONS[1] as (typeof COMMON_OPTIONS)[number],
    diagnostics,
  );
  if (value !== 'source' && value !== 'sink') return only;
  if (only !== null && only !== value) {
    diagnostics.error(
      'INVALID_OPTION',
      `the connector "${connector?.name}" can only be a ${only}`,
      option.value.span,
      { suggestion: `'${only}'` },
    );
  }
  return value;
}

function bindColumns(
  statement: CreateTable,
  written: WrittenOptions,
  diagnostics: Diagnostics,
): TableColumn[] | null {
  const definitions = statement.columns;
  if (definitions === null || definitions.length === 0) return null;
  const seen = new Set<string>();
  const primaryKey = new Set(
    statement.constraints.flatMap((constraint) =>
      constraint.tag === 'primary_key' ? constraint.columns.map((column) => column.name) : [],
    ),
  );
  const columns = definitions.map((definition): TableColumn => {
    const { name } = definition.name;
    if (seen.has(name))
      diagnostics.error(
        'DUPLICATE_NAME',
        `column "${definition.name.text}" is declared twice`,
        definition.name.span,
      );
    seen.add(name);
    if (definition.generatedAs !== null && definition.defaultValue !== null)
      diagnostics.error(
        'TYPE_ERROR',
        `column "${definition.name.text}" is generated and can have no DEFAULT`,
        definition.name.span,
      );
    const type = bindType(definition.type, diagnostics);
    const notNull = definition.notNull || definition.primaryKey || primaryKey.has(name);
    return { name, type: type ?? TEXT, notNull, definition, broken: type === null };
  });
  const value = written.get('json.unstructured')?.value;
  const unstructured = value?.tag === 'boolean' ? value.value : false;
  const read = columns.filter(({ definition }) => definition.metadataFrom === null);
  if (unstructured && (read.length !== 1 || read[0]?.type.tag !== 'text')) {
    diagnostics.error(
      'TYPE_ERROR',
      'a table of unstructured rows has one TEXT column',
      statement.name.span,
      { hint: 'declare (value TEXT)' },
    );
  }
  return columns;
}

function bindPrimaryKey(
  statement: CreateTable,
  columns: readonly TableColumn[] | null,
  diagnostics: Diagnostics,
): string[] {
  const ofColumns = (statement.columns ?? [])
    .filter((column) => column.primaryKey)
    .map((column) => column.name);
  const constraints = statement.constraints.filter(
    (constraint) => constraint.tag === 'primary_key',
  );
  const ofTable = constraints.flatMap((constraint) => constraint.columns);
  const [firstOfTable] = constraints;
  if (firstOfTable !== undefined && (ofColumns.length > 0 || constraints.length > 1))
    diagnostics.error('DUPLICATE_NAME', 'a table has one PRIMARY KEY', firstOfTable.span, {
      hint: 'write PRIMARY KEY (a, b) once for several columns',
    });
  const known = (columns ?? []).map((column) => column.name);
  for (const column of ofTable) {
    if (!known.includes(column.name))
      diagnostics.error(
        'UNKNOWN_COLUMN',
        `unknown column "${column.text}"`,
        column.span,
        withSuggestion(nearestName(column.name, known)),
      );
  }
  return [...ofColumns, ...ofTable].map((column) => column.name);
}
