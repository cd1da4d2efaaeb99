/** A guessed schema as the text of a CREATE TABLE. */
import type { InferredSchema, InferredType } from '../formats/infer-schema.ts';
import { isReserved } from '../sql/keywords.ts';
import { quoteName } from './scope.ts';

/** Free as names, but the beginning of something else in a list of columns. */
const MISLEADING = new Set(['watermark', 'primary', 'foreign', 'constraint', 'unique', 'check']);

/** A name that reads back as it is, wherever it stands. */
export const nameText = (name: string): string =>
  isReserved(name) || MISLEADING.has(name) ? `"${name}"` : quoteName(name);

export function typeText(type: InferredType): string {
  switch (type.tag) {
    case 'simple':
      return type.name;
    case 'list':
      return `ARRAY<${typeText(type.element)}>`;
    case 'struct':
      return `STRUCT<${type.fields.map(({ name, type: each }) => `${nameText(name)} ${typeText(each)}`).join(', ')}>`;
  }
}

/** In the house style, as a table that rows are posted to. */
export function createTableText(
  table: string,
  { columns, timestampFormat, eventTime }: InferredSchema,
): string {
  const definitions = columns.map(
    ({ name, type, required }) =>
      `${nameText(name)} ${typeText(type)}${required ? ' NOT NULL' : ''}`,
  );
  if (eventTime !== null) {
    const name = nameText(eventTime);
    definitions.push(`WATERMARK FOR ${name} AS ${name} - INTERVAL '5 seconds'`);
  }
  const options = [
    "connector = 'http'",
    "format = 'json'",
    ...(timestampFormat === null ? [] : [`timestamp_format = '${timestampFormat}'`]),
    "type = 'source'",
  ];
  const lines = (parts: readonly string[]): string => parts.map((part) => `  ${part}`).join(',\n');
  return `CREATE TABLE ${nameText(table)} (\n${lines(definitions)}\n) WITH (\n${lines(options)}\n);\n`;
}
