/** A guessed schema as the text of a CREATE TABLE. */
import type { InferredSchema, InferredType } from '../formats/infer-schema.ts';
import { nameText } from './name-text.ts';

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
