/** Everything an editor can offer, from the same registries and declarations that plan the query. */
import { typeName } from '../../batch/types.ts';
import { DECLARATIONS } from '../../connectors/declarations.ts';
import type { ConnectorDeclaration, OptionDeclaration } from '../../plan/declaration.ts';
import { COMMON_OPTIONS } from '../../plan/options.ts';
import { KEYWORDS } from '../../sql/keywords.ts';
import type { CompletionConnector, CompletionOption, Completions } from './authoring-shapes.ts';
import { functionCatalogue } from './function-catalogue.ts';
import { SNIPPETS } from './snippets.ts';

const TYPES: readonly (readonly [name: string, doc: string])[] = [
  ['BOOLEAN', 'true or false'],
  ['TINYINT', 'a whole number of 8 bits; TINYINT UNSIGNED from 0 to 255'],
  ['SMALLINT', 'a whole number of 16 bits; SMALLINT UNSIGNED from 0 to 65,535'],
  ['INT', 'a whole number of 32 bits; INT UNSIGNED up to 4,294,967,295'],
  ['BIGINT', 'a whole number of 64 bits, exact; BIGINT UNSIGNED up to 18,446,744,073,709,551,615'],
  ['FLOAT', 'a number of 32 bits with a floating point'],
  ['DOUBLE', 'a number of 64 bits with a floating point'],
  ['DECIMAL(10, 2)', 'an exact number of up to 38 digits, some of them behind the point'],
  ['TEXT', 'text of any length; also VARCHAR and STRING'],
  ['BYTEA', 'bytes'],
  ['JSON', 'any JSON value, kept as it is'],
  ['TIMESTAMP', 'a moment to the microsecond; TIMESTAMP(9) to the nanosecond'],
  ['TIMESTAMPTZ', 'a moment that is written with its zone'],
  ['DATE', 'a day'],
  ['TIME', 'a time of day to the microsecond'],
  ['INTERVAL', 'a length of time: months, days and microseconds'],
  ['ARRAY<TEXT>', 'a list of values of one type; also TEXT[]'],
  ['STRUCT<a INT, b TEXT>', 'named values, each of its own type'],
  ['MAP<TEXT, INT>', 'values by key'],
];

/** The catalogue; built once, since nothing of it changes while the server runs. */
export function buildCompletions(): Completions {
  return {
    keywords: [...KEYWORDS],
    types: TYPES.map(([name, doc]) => ({ name, doc })),
    functions: functionCatalogue(),
    connectors: DECLARATIONS.map(connectorOf),
    snippets: [...SNIPPETS],
  };
}

function connectorOf(declaration: ConnectorDeclaration): CompletionConnector {
  const { name, description, source, sink, schema, options } = declaration;
  // An option of its own takes the place of a common one.
  const own = new Set(options.map((option) => option.name));
  const applies = (option: OptionDeclaration): boolean =>
    option.for === 'both' || (option.for === 'source' ? source : sink);
  const common = COMMON_OPTIONS.filter((option) => !own.has(option.name) && applies(option));
  return {
    name,
    doc: description,
    source,
    sink,
    options: [...options, ...common].map((option) => optionOf(option, declaration)),
    columns: schema?.map((field) => ({ name: field.name, type: typeName(field.type) })) ?? null,
  };
}

function optionOf(option: OptionDeclaration, connector: ConnectorDeclaration): CompletionOption {
  const { name, type, doc, required, fallback } = option;
  const choices = name === 'format' ? formatsOf(connector, option) : option.choices;
  return {
    name,
    type,
    doc,
    required,
    default: fallback,
    for: option.for,
    ...(choices === undefined ? {} : { choices: [...choices] }),
  };
}

/** Of the formats there are those that the connector takes; Debezium is JSON too. */
const formatsOf = (
  { formats }: ConnectorDeclaration,
  { choices }: OptionDeclaration,
): readonly string[] =>
  (choices ?? []).filter((choice) =>
    formats.some((format) => choice === format || (format === 'json' && choice.endsWith('json'))),
  );
