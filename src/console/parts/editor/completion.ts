/** What may stand at a place of a text: columns, tables, functions, options of connectors. Pure; the catalogue is the server's. */
import type {
  CompletionConnector,
  CompletionFunction,
  CompletionOption,
  Completions,
} from '../../../api/authoring/authoring-shapes.ts';
import type { QueryTable } from '../../../api/authoring/diagnostic-shapes.ts';
import {
  type Cursor,
  cursorAt,
  functionsIn,
  openParenthesis,
  type OptionList,
  optionList,
  tablesUsed,
  wantsTable,
  wantsType,
} from './statement.ts';
import { isSign, isWord, nameOf } from './tokens.ts';

export type ProposalKind =
  | 'column'
  | 'table'
  | 'function'
  | 'keyword'
  | 'type'
  | 'option'
  | 'value'
  | 'snippet';

export type Proposal = {
  kind: ProposalKind;
  label: string;
  /** Beside the label: a type, a signature. */
  detail: string;
  /** Below: what it does. */
  doc: string;
  /** More lines of code for the documentation. */
  code: readonly string[];
  /** What is put in, with holes `${name}`; null: the label. */
  template: string | null;
  /** Higher comes first. */
  rank: number;
};

export type Proposals = { from: number; proposals: readonly Proposal[] };

export const NOTHING_KNOWN: Completions = {
  keywords: [],
  types: [],
  functions: [],
  connectors: [],
  snippets: [],
};

/** @param explicit  asked for by a key: also where no word has been begun */
export function propose(
  text: string,
  at: number,
  explicit: boolean,
  catalogue: Completions,
  tables: readonly QueryTable[],
): Proposals | null {
  const cursor = cursorAt(text, at);
  const options = optionList(cursor);
  if (options !== null) return optionProposals(text, at, cursor, options, catalogue);
  if (cursor.inside !== null) return null;
  const from = cursor.word?.from ?? at;
  const last = cursor.before.at(-1);
  if (isSign(last, '.') && last?.to === from) return { from, proposals: membersOf(cursor, tables) };
  if (cursor.word === null && !explicit && !wantsTable(cursor.before)) return null;
  if (wantsTable(cursor.before))
    return { from, proposals: [...tables.map(tableProposal), ...tableFunctions(catalogue)] };
  if (wantsType(cursor)) return { from, proposals: catalogue.types.map(typeProposal) };
  return { from, proposals: general(text, cursor, catalogue, tables) };
}

function proposal(kind: ProposalKind, label: string, more: Partial<Proposal> = {}): Proposal {
  return { kind, label, detail: '', doc: '', code: [], template: null, rank: 0, ...more };
}

const MEMBERS_OF_WINDOW = ['start', 'end'];

/** Behind a point: the columns of the table before it, or the ends of a window. */
function membersOf(cursor: Cursor, tables: readonly QueryTable[]): Proposal[] {
  const owner = cursor.before.at(-2);
  if (owner === undefined) return [];
  const name = nameOf(owner);
  const use = tablesUsed(cursor.statement).find(({ alias }) => alias === name);
  const table = find(tables, use?.table ?? name);
  if (table !== undefined) return columnsOf(table);
  const windowed = name.includes('window');
  return windowed
    ? MEMBERS_OF_WINDOW.map((label) => proposal('column', label, { detail: 'TIMESTAMP' }))
    : [];
}

const find = (tables: readonly QueryTable[], name: string): QueryTable | undefined =>
  tables.find((table) => table.name.toLowerCase() === name.toLowerCase());

const columnsOf = ({ name, columns }: QueryTable): Proposal[] =>
  columns.map((column) =>
    proposal('column', quotedIfNeeded(column.name), {
      detail: column.type + (column.required ? ' NOT NULL' : ''),
      doc: `Column of ${name}.`,
      rank: 30,
    }),
  );

/** A name with capitals or signs has to be quoted. */
const quotedIfNeeded = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;

const tableProposal = ({ name, kind, connector, columns }: QueryTable): Proposal =>
  proposal('table', quotedIfNeeded(name), {
    detail: connector ?? kind,
    doc: columns.length === 0 ? '' : 'Its columns:',
    code: columns.map((column) => `${column.name} ${column.type}`),
    rank: 20,
  });

const typeProposal = ({ name, doc }: Completions['types'][number]): Proposal =>
  proposal('type', name, { doc });

const tableFunctions = ({ functions }: Completions): Proposal[] =>
  functions.filter(({ kind }) => kind === 'table').map(functionProposal);

function functionProposal(fn: CompletionFunction): Proposal {
  const { name, kind, category, signatures, doc, example } = fn;
  return proposal('function', name, {
    detail: kind === 'scalar' ? category : kind,
    doc,
    code: [...signatures, ...(example === null ? [] : [example])],
    template: kind === 'operator' ? null : callTemplate(name, signatures),
    rank: kind === 'operator' ? 0 : 10,
  });
}

/** The cursor behind the parenthesis when there is nothing to fill in. */
function callTemplate(name: string, signatures: readonly string[]): string {
  const nothing = signatures.length > 0 && signatures.every((text) => text.includes('()'));
  return nothing ? `${name}()` : `${name}(\${})`;
}

function general(
  text: string,
  cursor: Cursor,
  catalogue: Completions,
  tables: readonly QueryTable[],
): Proposal[] {
  const beginning = cursor.before.length === 0;
  const snippets = catalogue.snippets.map(({ label, doc, template }) =>
    proposal('snippet', label, {
      doc,
      template,
      code: [plain(template)],
      rank: beginning ? 40 : -20,
    }),
  );
  const keywords = catalogue.keywords.map((word) =>
    proposal('keyword', word.toUpperCase(), { rank: beginning ? 20 : 0 }),
  );
  if (beginning) return [...snippets, ...keywords];
  const uses = tablesUsed(cursor.statement);
  const used = new Map(
    uses.flatMap(({ table }) => {
      const found = find(tables, table);
      return found === undefined ? [] : [[found.name, found] as const];
    }),
  );
  const aliases = uses
    .filter(({ table, alias }) => table !== alias)
    .map(({ table, alias }) => proposal('table', alias, { detail: table, rank: 20 }));
  return [
    ...[...used.values()].flatMap(columnsOf),
    ...aliases,
    ...functionsIn(text).map(({ name, signature }) =>
      proposal('function', name, {
        detail: 'of this text',
        code: [signature],
        template: `${name}(\${})`,
        rank: 15,
      }),
    ),
    ...catalogue.functions.filter(({ kind }) => kind !== 'table').map(functionProposal),
    ...keywords,
    ...tables.map((table) => ({ ...tableProposal(table), rank: used.has(table.name) ? 10 : -10 })),
    ...(isWord(cursor.before.at(-1), 'cast', 'as') || castOpen(cursor)
      ? catalogue.types.map(typeProposal)
      : []),
    ...snippets,
  ];
}

/** `CAST(x AS`: a type follows. */
function castOpen({ before }: Cursor): boolean {
  const open = openParenthesis(before);
  return open > 0 && isWord(before[open - 1], 'cast', 'try_cast') && isWord(before.at(-1), 'as');
}

const plain = (template: string): string => template.replace(/\$\{([^}]*)\}/g, '$1');

function optionProposals(
  text: string,
  at: number,
  { word, inside }: Cursor,
  { given, valueOf }: OptionList,
  catalogue: Completions,
): Proposals | null {
  const connector = catalogue.connectors.find(({ name }) => name === given.get('connector'));
  if (valueOf !== null) {
    const from = inside === null ? (word?.from ?? at) : inside.from + 1;
    const quote = inside === null;
    const values = valuesOf(valueOf, connector, catalogue);
    return { from, proposals: values.map((value) => inQuotes(value, quote)) };
  }
  if (inside !== null) return null;
  // Names with a point are one name here.
  const begun = /[\w.]*$/.exec(text.slice(0, at))?.[0] ?? '';
  const from = at - begun.length;
  if (connector === undefined) {
    if (given.has('connector')) return null;
    const doc = 'Where the rows come from, or go to.';
    const template = "connector = '${}'";
    return { from, proposals: [proposal('option', 'connector', { doc, template, rank: 50 })] };
  }
  const rest = connector.options.filter(({ name }) => !given.has(name));
  return { from, proposals: rest.map(optionProposal) };
}

function optionProposal(option: CompletionOption): Proposal {
  const { name, type, doc, required, choices } = option;
  const bare = type === 'integer' || type === 'number' || type === 'boolean';
  return proposal('option', name, {
    detail: required ? 'needed' : type,
    doc: doc + (option.default === null ? '' : ` By default ${String(option.default)}.`),
    code: choices === undefined ? [] : [choices.join(' | ')],
    template: bare ? `${name} = \${}` : `${name} = '\${}'`,
    rank: required ? 40 : 0,
  });
}

function valuesOf(
  name: string,
  connector: CompletionConnector | undefined,
  catalogue: Completions,
): Proposal[] {
  if (name === 'connector')
    return catalogue.connectors.map(({ name: label, doc, source, sink }) =>
      proposal('value', label, {
        doc,
        detail: source && sink ? 'source, sink' : source ? 'source' : 'sink',
      }),
    );
  const option = connector?.options.find((found) => found.name === name);
  if (option === undefined) return [];
  const { choices = option.type === 'boolean' ? ['true', 'false'] : [], doc } = option;
  return choices.map((label) =>
    proposal('value', label, {
      doc,
      detail: label === String(option.default) ? 'by default' : '',
      template: option.type === 'boolean' ? label : null,
    }),
  );
}

const inQuotes = (value: Proposal, quote: boolean): Proposal =>
  quote && value.template === null ? { ...value, template: `'${value.label}'` } : value;

export type Described = Pick<Proposal, 'label' | 'detail' | 'doc' | 'code'>;

/** What a name in the text means, for a reader who points at it. */
export function describe(
  text: string,
  at: number,
  catalogue: Completions,
  tables: readonly QueryTable[],
): (Described & { from: number; to: number }) | null {
  const cursor = cursorAt(text, at);
  const token = cursor.word ?? cursor.statement.find(({ from, to }) => from <= at && at <= to);
  if (token === undefined || cursor.inside !== null) return null;
  const place = { from: token.from, to: token.to };
  const name = nameOf(token);
  const table = find(tables, name);
  if (table !== undefined) return { ...tableProposal(table), ...place };
  const fn = catalogue.functions.find(
    (found) => found.name.toLowerCase() === name || found.aliases?.includes(name) === true,
  );
  if (
    fn !== undefined &&
    isSign(
      cursor.statement.find(({ from }) => from >= token.to),
      '(',
    )
  )
    return { ...functionProposal(fn), ...place };
  const column = tablesUsed(cursor.statement)
    .flatMap((use) => find(tables, use.table) ?? [])
    .flatMap(columnsOf)
    .find(({ label }) => label === name);
  return column === undefined ? null : { ...column, ...place };
}
