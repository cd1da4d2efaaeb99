/** Fixes of the options of tables: one too many, one missing, one with a value it can not have. */
import { nearest } from '../../base/nearest.ts';
import type { CreateTable } from '../../sql/ast-statement.ts';
import { addDefinition, addOption, type Fix, replace } from './edits.ts';
import type { Finding } from './finding.ts';

/** What people write for the names of timestamp formats. */
const TIMESTAMP_FORMATS: Readonly<Record<string, RegExp>> = {
  rfc3339: /^(iso.*|rfc.*|string|text|datetime)$/i,
  unix_millis: /(ms|milli)/i,
  unix_micros: /(us|micro)/i,
  unix_nanos: /(ns|nano)/i,
  unix_seconds: /^(unix|epoch|s|sec.*|unix_?s.*|epoch_?s.*|timestamp)$/i,
};

export function withoutOption(finding: Finding): Fix[] {
  const found = finding.option();
  if (found === null || found.table.options.length < 2) return [];
  const { table, option, index } = found;
  const title = `Remove the option ${option.key}`;
  const next = table.options[index + 1];
  const previous = table.options[index - 1];
  const span =
    next !== undefined
      ? { start: option.span.start, end: next.span.start }
      : { start: previous?.span.end ?? option.span.start, end: option.span.end };
  return [{ title, edits: [{ span, text: '' }] }];
}

/** The values of a choice, those first that come near what was written. */
export function nearChoices(finding: Finding): Fix[] {
  if (!finding.report.message.includes(' must be one of ')) return [];
  const [, list = ''] = finding.report.message.split(' must be one of ');
  const choices = [...list.matchAll(/'([^']+)'/g)].map((match) => match[1] as string);
  const written = finding.written(finding.span).replaceAll(/['"]/g, '');
  const meant = choices.filter((choice) => TIMESTAMP_FORMATS[choice]?.test(written) === true);
  return [...meant, ...choices].map((choice) => replace(finding, finding.span, `'${choice}'`));
}

export function missingOption(finding: Finding): Fix[] {
  const { message } = finding.report;
  const table = finding.tableMeant() ?? finding.tableAt();
  if (table === null) return [];
  if (message.includes('has no PRIMARY KEY')) {
    const columns = table.columns ?? [];
    const key = columns.find(({ name }) => /(^|_)id$/.test(name.name)) ?? columns[0];
    if (key === undefined) return [];
    return addDefinition(table, `PRIMARY KEY (${finding.written(key.name.span)})`);
  }
  const name = /^option "([^"]+)" is missing/.exec(message)?.[1];
  if (name === undefined) return newConnector(finding, table);
  const near = mistypedKey(finding, table, name);
  const value = valueFor(finding, table, name);
  return [...near, ...(value === null ? [] : addOption(table, `${name} = ${value}`))];
}

function mistypedKey(finding: Finding, table: CreateTable, name: string): Fix[] {
  const key = nearest(
    name,
    table.options.map((option) => option.key),
  );
  const option = table.options.find((each) => each.key === key);
  return option === undefined ? [] : [replace(finding, option.keySpan, name)];
}

function newConnector(finding: Finding, table: CreateTable): Fix[] {
  const near = mistypedKey(finding, table, 'connector');
  if (near.length > 0) return near;
  const isWritten = finding.context.program.statements.some(
    (statement) => statement.tag === 'insert' && statement.table.name === table.name.name,
  );
  const options = isWritten
    ? ["connector = 'stdout'"]
    : ["connector = 'http', format = 'json', type = 'source'", "connector = 'http'"];
  return options.flatMap((option) => addOption(table, option));
}

/** A value that is right in kind; null: none can be guessed. */
function valueFor(finding: Finding, table: CreateTable, option: string): string | null {
  const written = table.options.find(({ key }) => key === 'connector')?.value;
  const name = written?.tag === 'string' ? written.value : null;
  const connector = finding.context.connectors.find((each) => each.name === name);
  const declared = connector?.options.find((each) => each.name === option);
  switch (declared?.type) {
    case 'text':
      return `'${table.name.name.replaceAll("'", '')}'`;
    case 'integer':
    case 'number':
      return String(Math.max(declared.min ?? 0, 1000));
    case 'choice':
      return `'${declared.choices?.[0] ?? ''}'`;
    case 'boolean':
      return 'true';
    default:
      return null;
  }
}

/** A table whose `type` says the other side. */
export function otherRole(finding: Finding): Fix[] {
  const role = finding.report.message.includes('can not be read') ? 'source' : 'sink';
  const type = finding.tableMeant()?.options.find(({ key }) => key === 'type');
  if (type === undefined) return [];
  return [replace(finding, type.value.span, `'${role}'`)];
}

export function changesFormat(finding: Finding): Fix[] {
  const { suggestion } = finding.report;
  const table = finding.tableMeant();
  if (table === null || suggestion?.startsWith('format') !== true) return [];
  const format = table.options.find(({ key }) => key === 'format');
  if (format !== undefined)
    return [replace(finding, format.span, suggestion, `Write the changes: ${suggestion}`)];
  return addOption(table, suggestion);
}
