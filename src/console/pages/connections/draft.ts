/**
 * A table while it is being described in the wizard, and the SQL that declares it.
 *
 * Only options that differ from the connector's defaults are written: the shorter text is the one that is understood.
 */
import type { Connector, ConnectorOption } from '../../../api/meta/connector-shapes.ts';

export type Direction = 'source' | 'sink';

export type DraftColumn = { name: string; type: string; required: boolean };

export type Draft = {
  connector: string;
  direction: Direction;
  table: string;
  /** By option, as typed; '' is not given. */
  options: Readonly<Record<string, string>>;
  columns: readonly DraftColumn[];
  /** '' when rows have no event time. */
  eventTime: string;
  /** How late rows may come, in seconds, as typed. */
  delaySeconds: string;
};

export const directionsOf = ({ source, sink }: Connector): Direction[] => [
  ...(source ? (['source'] as const) : []),
  ...(sink ? (['sink'] as const) : []),
];

export function newDraft(connector: Connector, direction: Direction): Draft {
  return {
    connector: connector.id,
    direction,
    table: direction === 'source' ? 'events' : 'results',
    options: {},
    columns: [],
    eventTime: '',
    delaySeconds: '5',
  };
}

/** Names that the form does not ask for: it decides them itself. */
const DECIDED = new Set(['connector', 'type', 'format']);

/** Needed ones first, otherwise as declared. */
export function optionsFor(connector: Connector, direction: Direction): ConnectorOption[] {
  const asked = connector.options.filter(
    ({ name, for: use }) => !DECIDED.has(name) && (use === 'both' || use === direction),
  );
  return [
    ...asked.filter(({ required }) => required),
    ...asked.filter(({ required }) => !required),
  ];
}

/** What is wrong with a value, in words; '' when nothing is. */
export function optionProblem(option: ConnectorOption, text: string): string {
  if (text === '') return option.required ? 'is needed' : '';
  if (option.type === 'integer' || option.type === 'number') {
    const value = Number(text);
    if (!Number.isFinite(value)) return 'must be a number';
    if (option.type === 'integer' && !Number.isInteger(value)) return 'must be a whole number';
    if (option.min !== undefined && value < option.min) return `must be at least ${option.min}`;
    if (option.max !== undefined && value > option.max) return `must be at most ${option.max}`;
  }
  return '';
}

const NAME = /^[a-z_][a-z0-9_]*$/;

export function tableProblem(name: string): string {
  if (name === '') return 'is needed';
  return NAME.test(name) ? '' : 'lower-case letters, digits and _, no digit first';
}

/** Everything that keeps the draft from being a table. */
export function draftProblems(draft: Draft, connector: Connector): string[] {
  const table = tableProblem(draft.table);
  const problems = table === '' ? [] : [`the name ${table}`];
  for (const option of optionsFor(connector, draft.direction)) {
    const problem = optionProblem(option, draft.options[option.name] ?? '');
    if (problem !== '') problems.push(`${option.name} ${problem}`);
  }
  if (connector.custom_schemas && draft.direction === 'source' && draft.columns.length === 0)
    problems.push('it has no columns yet: paste some rows');
  return problems;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export const identifier = (name: string): string =>
  NAME.test(name) && !RESERVED.has(name) ? name : `"${name.replaceAll('"', '""')}"`;

/** Those that rows often have as field names. The planner's own list is longer and refuses the rest with a fix. */
const RESERVED = new Set([
  'all',
  'and',
  'as',
  'by',
  'case',
  'end',
  'from',
  'group',
  'having',
  'in',
  'join',
  'limit',
  'not',
  'null',
  'on',
  'or',
  'order',
  'select',
  'table',
  'then',
  'to',
  'union',
  'user',
  'using',
  'values',
  'when',
  'where',
  'window',
  'with',
]);

/** CREATE TABLE as the planner reads it. */
export function sqlOf(draft: Draft, connector: Connector): string {
  const columns = draft.columns.map(
    ({ name, type, required }) => `  ${identifier(name)} ${type}${required ? ' NOT NULL' : ''}`,
  );
  if (draft.eventTime !== '') {
    const column = identifier(draft.eventTime);
    const delay = Number(draft.delaySeconds) || 0;
    columns.push(
      `  WATERMARK FOR ${column}${delay > 0 ? ` AS ${column} - INTERVAL '${delay} seconds'` : ''}`,
    );
  }
  const body = columns.length === 0 ? '' : ` (\n${columns.join(',\n')}\n)`;
  const given = optionsFor(connector, draft.direction).flatMap(({ name }): [string, string][] => {
    const text = draft.options[name] ?? '';
    return text === '' ? [] : [[name, text]];
  });
  const format: [string, string][] = connector.formats.includes('json') ? [['format', 'json']] : [];
  const options: [string, string][] = [
    ['connector', draft.connector],
    ...format,
    ...(directionsOf(connector).length > 1 || connector.custom_schemas
      ? ([['type', draft.direction]] as [string, string][])
      : []),
    ...given,
  ];
  const width = options.map(
    ([name, text]) => `  ${/^[a-z_]+$/.test(name) ? name : quoted(name)} = ${quoted(text)}`,
  );
  return `CREATE TABLE ${identifier(draft.table)}${body} WITH (\n${width.join(',\n')}\n);`;
}
