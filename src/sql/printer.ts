/** Programs and statements as SQL text that parses to an equal tree, spans aside. */
import type {
  ColumnDefinition,
  CreateFunction,
  CreateTable,
  CreateView,
  FunctionParameter,
  OptionValue,
  Program,
  Statement,
  TableConstraint,
  TableOption,
} from './ast-statement.ts';
import { printColumns, printExpression, printInterval, printQuery } from './print-query.ts';
import { printIdentifier, printType, quote } from './print-type.ts';

/** One statement a line, each with its semicolon. */
export function printProgram(program: Program): string {
  return program.statements.map((statement) => `${printStatement(statement)};\n`).join('');
}

/** Without the semicolon. */
export function printStatement(statement: Statement): string {
  switch (statement.tag) {
    case 'create_table':
      return printCreateTable(statement);
    case 'create_view':
      return printCreateView(statement);
    case 'create_function':
      return printCreateFunction(statement);
    case 'insert': {
      const target = printIdentifier(statement.table) + printColumns(statement.columns);
      return `INSERT INTO ${target} ${printQuery(statement.query)}`;
    }
    case 'query_statement':
      return printQuery(statement.query);
    case 'set':
      return `SET ${printOptionKey(statement.key)} = ${printOptionValue(statement.value)}`;
    case 'explain': {
      const mode = statement.mode === null ? '' : `${statement.mode.toUpperCase()} `;
      return `EXPLAIN ${mode}${printStatement(statement.statement)}`;
    }
  }
}

function printCreateTable(table: CreateTable): string {
  let text = `CREATE ${table.temporary ? 'TEMPORARY ' : ''}TABLE ${printNewName(table)}`;
  if (table.columns !== null) {
    text += ` (${[...table.columns.map(printColumn), ...table.constraints.map(printConstraint)].join(', ')})`;
  }
  if (table.partitionedBy.length > 0) {
    text += ` PARTITIONED BY (${table.partitionedBy.map((expression) => printExpression(expression)).join(', ')})`;
  }
  if (table.options.length > 0) {
    text += ` WITH (${table.options.map(printTableOption).join(', ')})`;
  }
  return text;
}

function printNewName({ name, ifNotExists }: CreateTable | CreateView): string {
  return `${ifNotExists ? 'IF NOT EXISTS ' : ''}${printIdentifier(name)}`;
}

function printColumn(column: ColumnDefinition): string {
  const parts = [printIdentifier(column.name), printType(column.type)];
  if (column.notNull) parts.push('NOT NULL');
  if (column.primaryKey) parts.push('PRIMARY KEY');
  if (column.defaultValue !== null) parts.push(`DEFAULT ${printExpression(column.defaultValue)}`);
  if (column.generatedAs !== null)
    parts.push(`GENERATED ALWAYS AS (${printExpression(column.generatedAs)})`);
  if (column.metadataFrom !== null)
    parts.push(`METADATA FROM ${quote(column.metadataFrom.value, "'")}`);
  return parts.join(' ');
}

function printConstraint(constraint: TableConstraint): string {
  if (constraint.tag === 'primary_key') return `PRIMARY KEY${printColumns(constraint.columns)}`;
  const { column, expression } = constraint;
  return `WATERMARK FOR ${printIdentifier(column)}${expression === null ? '' : ` AS ${printExpression(expression)}`}`;
}

function printCreateView(view: CreateView): string {
  const head = `CREATE ${view.spelling.toUpperCase()} ${printNewName(view)}${printColumns(view.columns)}`;
  return `${head} AS ${printQuery(view.query)}`;
}

function printCreateFunction(definition: CreateFunction): string {
  const { kind, waits, name, returns, volatility, nullInput, options } = definition;
  const parameters = (list: readonly FunctionParameter[]): string =>
    list.map((each) => `${printIdentifier(each.name)} ${printType(each.type)}`).join(', ');
  const made = `CREATE${waits ? ' ASYNC' : ''}${kind === 'aggregate' ? ' AGGREGATE' : ''} FUNCTION`;
  const result =
    returns.tag === 'returns_value'
      ? printType(returns.type)
      : `TABLE (${parameters(returns.columns)})`;
  const clauses = [
    `${made} ${printIdentifier(name)}(${parameters(definition.parameters)}) RETURNS ${result}`,
    `LANGUAGE ${printIdentifier(definition.language)}`,
    ...(volatility === null ? [] : [volatility.toUpperCase()]),
    ...(nullInput === null
      ? []
      : [nullInput === 'called' ? 'CALLED ON NULL INPUT' : 'RETURNS NULL ON NULL INPUT']),
    ...(options.length === 0 ? [] : [`WITH (${options.map(printTableOption).join(', ')})`]),
    `AS ${quote(definition.body.value, "'")}`,
  ];
  return clauses.join(' ');
}

const printTableOption = ({ key, value }: TableOption): string =>
  `${printOptionKey(key)} = ${printOptionValue(value)}`;

/** A key is printed bare only when its dots and words read back as they are. */
function printOptionKey(key: string): string {
  return /^[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)*$/.test(key) ? key : quote(key, "'");
}

export function printOptionValue(value: OptionValue): string {
  switch (value.tag) {
    case 'string':
      return quote(value.value, "'");
    case 'number':
      return value.text;
    case 'boolean':
      return String(value.value);
    case 'interval':
      return printInterval(value);
    case 'name':
      return printIdentifier(value.name);
    case 'array_option':
      return `[${value.elements.map(printOptionValue).join(', ')}]`;
  }
}
