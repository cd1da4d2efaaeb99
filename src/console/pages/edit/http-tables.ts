/** The tables of a text that take rows by HTTP: their statements, and how to send them rows. Pure. */
import type { QueryTable } from '../../../api/authoring/diagnostic-shapes.ts';
import { offsetOf } from '../../parts/editor/edits.ts';
import { isSign, tokensOf } from '../../parts/editor/tokens.ts';

/** Those that the text declares, and stored ones that it names. */
export function httpTables(tables: readonly QueryTable[], text: string): QueryTable[] {
  const words = new Set(
    tokensOf(text).map((token) => text.slice(token.from, token.to).toLowerCase()),
  );
  const isNamed = ({ name }: QueryTable): boolean =>
    words.has(name.toLowerCase()) || words.has(`"${name.replaceAll('"', '""').toLowerCase()}"`);
  return tables.filter(
    (table) =>
      table.connector === 'http' &&
      (table.kind === 'source' || (table.kind === 'stored' && isNamed(table))),
  );
}

/** The statement that declares a table, of the text that its place was told of; of a stored table one with the same columns. */
export function statementOf(text: string, table: QueryTable): string {
  const { span } = table;
  if (span === null) return declarationOf(table);
  const at = offsetOf(text, span.start);
  let from = 0;
  for (const token of tokensOf(text)) {
    if (!isSign(token, ';')) continue;
    if (token.from >= at) return text.slice(from, token.to).trim();
    from = token.to;
  }
  return text.slice(from).trim();
}

function declarationOf({ name, columns }: QueryTable): string {
  const declared = columns.map(
    (column) => `${quoted(column.name)} ${column.type}${column.required ? ' NOT NULL' : ''}`,
  );
  return `CREATE TABLE ${quoted(name)} (${declared.join(', ')}) WITH (connector = 'http', format = 'json', type = 'source');`;
}

/** A new table in front of a text; a text that does nothing yet reads from it. */
export function withTable(text: string, create: string, table: string): string {
  const statement = create.trim().endsWith(';') ? create.trim() : `${create.trim()};`;
  const rest = text.trim();
  if (rest === '') return `${statement}\n\nSELECT * FROM ${quoted(table)};\n`;
  return `${statement}\n\n${rest}\n`;
}

const quoted = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;

/** A command for a shell; a quote in the rows is written as the shell wants it. */
export function curlFor(url: string, rows: string): string {
  const type = rows.trimStart().startsWith('[') ? 'application/json' : 'application/x-ndjson';
  const body = rows.trim().replaceAll("'", String.raw`'\''`);
  return `curl -X POST '${url}' \\\n  -H 'content-type: ${type}' \\\n  --data-binary '${body}'`;
}

/** A free name for another table. */
export function freeName(wanted: string, tables: readonly QueryTable[]): string {
  const taken = new Set(tables.map(({ name }) => name.toLowerCase()));
  if (!taken.has(wanted)) return wanted;
  let number = 2;
  while (taken.has(`${wanted}_${number}`)) number++;
  return `${wanted}_${number}`;
}
