/**
 * Writes the parts of the documents that are made from code, between their markers:
 * `npm run docs` rewrites them, `test/tidy` fails while they are out of date.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DECLARATIONS } from '../src/connectors/declarations.ts';
import { AGGREGATES } from '../src/expr/aggregate-registry.ts';
import { AGGREGATE_ALIASES } from '../src/expr/aggregates/declared.ts';
import { SCALAR_FUNCTIONS } from '../src/expr/registry.ts';
import { typeName, type Schema } from '../src/batch/types.ts';
import type { ConnectorDeclaration, OptionDeclaration } from '../src/plan/declaration.ts';
import { COMMON_OPTIONS } from '../src/plan/options.ts';
import { LAYERS } from '../test/harness/layers.ts';

const ROOT = resolve(import.meta.dirname, '..');

type Section = { path: string; name: string; body: () => string };

/** The layer table as Markdown. */
export function layerTable(): string {
  const rows = LAYERS.map(({ folder, imports, typesOf, packages, purpose }) => {
    const allowed = [
      ...imports,
      ...(typesOf ?? []).map((name) => `types of ${name}`),
      ...(packages ?? []).map((name) => `*${name}*`),
    ].join(', ');
    return `| ${folder} | ${purpose} | ${allowed || '–'} |`;
  });
  return ['| folder | purpose | may import |', '|---|---|---|', ...rows].join('\n');
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  int32: 'INT',
  int64: 'BIGINT',
  float64: 'DOUBLE',
  'as-text': 'any',
  'same-list': 'ARRAY',
  each: 'any',
  list: 'ARRAY',
  any: 'any',
};

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** What can be called as `name(…)`, overloads that say the same in one row. */
export function functionTable(): string {
  const rows = new Map<
    string,
    { name: string; doc: string; forms: Map<number, Set<string>[]>; more: boolean }
  >();
  for (const { name, doc, args, rest } of SCALAR_FUNCTIONS) {
    if (!/^[a-z_0-9]+$/.test(name) || ['not', 'in', 'like', 'ilike'].includes(name)) continue;
    const key = `${name}: ${doc}`;
    const row = rows.get(key) ?? {
      name,
      doc,
      forms: new Map<number, Set<string>[]>(),
      more: rest !== undefined,
    };
    rows.set(key, row);
    const form = row.forms.get(args.length) ?? args.map(() => new Set<string>());
    row.forms.set(args.length, form);
    args.forEach((arg, at) => form[at]?.add(TYPE_NAMES[arg] ?? arg.toUpperCase()));
  }
  const lines = [...rows.values()].map(({ name, doc, forms, more }) => {
    const calls = [...forms.values()].map(
      (form) =>
        `\`${name}(${form.map((types) => [...types].join('/')).join(', ')}${more ? ', …' : ''})\``,
    );
    return `| ${calls.join(', ')} | ${cell(doc)} |`;
  });
  return ['| call | gives |', '|---|---|', ...lines].join('\n');
}

export function aggregateTable(): string {
  const others = new Map<string, string[]>();
  for (const [alias, name] of Object.entries(AGGREGATE_ALIASES))
    others.set(name, [...(others.get(name) ?? []), `\`${alias}\``]);
  const lines = AGGREGATES.map(({ call, name, doc }) => {
    const aliases = others.get(name);
    return `| \`${call}\` | ${cell(doc)}${aliases === undefined ? '' : `; also ${aliases.join(', ')}`} |`;
  });
  return ['| call | gives |', '|---|---|', ...lines].join('\n');
}

function optionTable(options: readonly OptionDeclaration[]): string {
  const lines = options.map(({ name, type, choices, required, fallback, for: side, doc }) => {
    const values =
      choices === undefined ? type : choices.map((choice) => `\`${choice}\``).join(', ');
    const absent = required ? 'required' : fallback === null ? '–' : `\`${String(fallback)}\``;
    return `| \`${name}\` | ${cell(values)} | ${absent} | ${side} | ${cell(doc)} |`;
  });
  return ['| option | value | when absent | for | |', '|---|---|---|---|---|', ...lines].join('\n');
}

/** Each connector with its options, from its declaration. */
/** The columns that a connector's tables have by themselves. */
function columnsText(
  schema: Schema | null,
  choice: ConnectorDeclaration['schemaByOption'],
): string {
  if (schema === null) return '';
  const list = (fields: Schema): string =>
    fields.map(({ name, type }) => `\`${name}\` ${typeName(type)}`).join(', ');
  if (choice === undefined) return `\n\nColumns: ${list(schema)}.`;
  const rows = Object.entries(choice.schemas).map(
    ([value, fields]) => `| \`${value}\` | ${cell(list(fields))} |`,
  );
  return `\n\n| ${choice.option} | columns |\n|---|---|\n${rows.join('\n')}`;
}

export function connectorSections(): string {
  const sections = DECLARATIONS.map(
    ({ name, description, source, sink, twoPhase, bounded, options, schema, schemaByOption }) => {
      const end =
        bounded === true
          ? 'ends by itself'
          : bounded === 'by-option'
            ? 'ends when an option bounds it'
            : 'never ends';
      const facts = [
        ...(source ? [`As a source it ${end}.`] : []),
        ...(sink
          ? [
              `As a sink its output is ${twoPhase ? 'committed: it appears once, with its epoch' : 'not committed'}.`,
            ]
          : []),
      ];
      const table = options.length === 0 ? 'No options of its own.' : optionTable(options);
      const columns = columnsText(schema, schemaByOption);
      return `### ${name}\n\n${description} ${facts.join(' ')}\n\n${table}${columns}`;
    },
  );
  return `\n${sections.join('\n\n')}\n`;
}

const SECTIONS: readonly Section[] = [
  { path: 'docs/architecture.md', name: 'layers', body: layerTable },
  { path: 'docs/sql.md', name: 'functions', body: functionTable },
  { path: 'docs/sql.md', name: 'aggregates', body: aggregateTable },
  { path: 'docs/connectors.md', name: 'common options', body: () => optionTable(COMMON_OPTIONS) },
  { path: 'docs/connectors.md', name: 'connectors', body: connectorSections },
];

/** The text with the section between its markers replaced; undefined when the markers are not there. */
export function withSection(text: string, name: string, body: string): string | undefined {
  const begin = `<!-- ${name}: begin -->`;
  const end = `<!-- ${name}: end -->`;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from === -1 || to < from) return undefined;
  return `${text.slice(0, from + begin.length)}\n${body}\n${text.slice(to)}`;
}

/** Documents whose made parts are not what the code says now, or lack their markers, with the right text. */
export function outdatedDocuments(): { path: string; text: string | undefined }[] {
  return [...new Set(SECTIONS.map(({ path }) => path))].flatMap((path) => {
    const file = join(ROOT, path);
    if (!existsSync(file)) return [{ path, text: undefined }];
    const now = readFileSync(file, 'utf8');
    const right = SECTIONS.filter((section) => section.path === path).reduce<string | undefined>(
      (text, { name, body }) => (text === undefined ? undefined : withSection(text, name, body())),
      now,
    );
    return right === now ? [] : [{ path, text: right }];
  });
}

if (import.meta.main) {
  for (const { path, text } of outdatedDocuments()) {
    if (text === undefined) {
      process.stderr.write(`${path} is not there or has no markers\n`);
      process.exitCode = 1;
    } else {
      writeFileSync(join(ROOT, path), text);
      process.stdout.write(`wrote ${path}\n`);
    }
  }
}
